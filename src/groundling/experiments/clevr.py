"""Table 6.1: accuracy of G2L2 on the CLEVR subset, a file a run, so that a killed table goes on.

Data. Scenes: CLEVR's own where the corpora are (1,000 training, 500 validation), else made from a seed. Questions:
those of the corpora that lie in the subset (`worlds/clevr_questions.py`) and made ones, `MADE` a training scene and
`MADE_FOR_TEST` a validation scene. Tests are always on validation scenes.

Splits (thesis 6.3.1). standard: all training questions, or a random tenth of them. purple, right, count: of the
training questions with the word (for count: with a number as answer) only those of at most 6, 11 and 8 words are kept;
the test has all validation questions with the word. depth: training on zero and one hop (and `or`, which has none),
test on two hops.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from groundling.experiments.tables import ResultRow, print_rows
from groundling.formats.files import atomic_write
from groundling.training.progress import track
from groundling.worlds import clevr_questions, clevr_scenes
from groundling.worlds.clevr_questions import Question

THESIS = {
    "standard-10": 98.11,
    "standard-100": 98.25,
    "purple": 97.82,
    "right": 98.59,
    "count": 96.76,
    "depth": 98.49,
}
MADE, MADE_FOR_TEST = 60, 4
KEPT_WORDS = {"purple": 6, "right": 11, "count": 8}
PARTS = {"train": (1000, 1), "val": (500, 2)}  # scenes, seed
SETTINGS = (
    "domain=clevr",
    "longest=[6,8,11,14,20]",
    "steps=50",
    "epochs_a_stage=8",
    "batch_size=64",
    "good_enough=0.995",
    "learning_rate=0.1",
    "concept_learning_rate=0.05",
    "stage_decay=0.8",
    "parse_weight=0.3",
    "balance=0.5",
    "reach=5.0",
    "least_share=0.02",
    "least_use=8.0",
    "unlikely=0.02",
    "first_pruned_stage=1",  # `what is the color of ...` has 7 words: before, `the` and `of` may mean anything
    "decide_every=4",
    "give_up=0.8",
    "usage_examples=500",
    "check_examples=500",
    "whole_examples=2000",
    "restarts=2",
    "restart_below=0.97",
)


@lru_cache(maxsize=4)
def load_questions(part: str, data: Path | None) -> list[Question]:
    """Return the questions of the training or validation scenes, given and made."""
    count, seed = PARTS[part]
    rng = np.random.default_rng(seed)
    if data is None:
        scenes = [clevr_scenes.make_scene(number, rng) for number in range(count)]
        given: list[Question] = []
    else:
        folder = data / "programs" / "clevr"
        scenes = list(clevr_scenes.read(folder / "scenes" / f"CLEVR_{part}_scenes_{count}.json.gz"))
        path = folder / "questions" / f"CLEVR_{part}_questions_generated.json.gz"
        given = list(clevr_questions.read(path, scenes))
    each = MADE if part == "train" else MADE_FOR_TEST
    return given + [question for scene in scenes for question in clevr_questions.make_questions(scene, each, rng)]


def concerns(split: str, question: Question) -> bool:
    """Whether a question is of the kind that a split holds out."""
    return question.counts if split == "count" else split in question.words


def make_split(
    name: str, train: Sequence[Question], test: Sequence[Question], seed: int
) -> tuple[list[Question], list[Question]]:
    """Return (train, test) of a split."""
    if name == "standard-10":
        chosen = np.random.default_rng(seed).choice(len(train), len(train) // 10, replace=False)
        return [train[i] for i in sorted(chosen)], list(test)
    if name in KEPT_WORDS:
        kept = [q for q in train if not concerns(name, q) or len(q.words) <= KEPT_WORDS[name]]
        return kept, [q for q in test if concerns(name, q)]
    if name == "depth":
        shallow = [q for q in train if q.form in ("zero_hop", "one_hop", "single_or")]
        return shallow, [q for q in test if q.form == "two_hop"]
    return list(train), list(test)


def by_form(questions: Sequence[Question], given: Sequence[str | None]) -> dict[str, list[float]]:
    """Return accuracy and number of questions of each form."""
    forms: dict[str, list[bool]] = {}
    for question, answer in zip(questions, given, strict=True):
        forms.setdefault(question.form, []).append(answer == question.answer)
    return {form: [float(np.mean(rights)), len(rights)] for form, rights in sorted(forms.items())}


def run_one(split: str, seed: int, data: Path | None, settings: Iterable[str] = ()) -> dict[str, Any]:
    """Train on one split and test."""
    import torch

    from groundling.systems.g2l2 import Config, train
    from groundling.training.config import load_config

    torch.set_num_threads(1)
    begin, cpu = time.perf_counter(), time.process_time()
    training, test = make_split(split, load_questions("train", data), load_questions("val", data), seed)
    model = train(load_config(Config, overrides=[*SETTINGS, *settings]), training, seed=seed)
    given = model.answer(test)
    return {
        "split": split,
        "seed": seed,
        "settings": list(settings),
        "accuracy": sum(answer == item.answer for answer, item in zip(given, test, strict=True)) / len(test),
        "by_form": by_form(test, given),
        "training_accuracy": model.info["training_accuracy"],
        "train": len(training),
        "test": len(test),
        "seconds": round(time.perf_counter() - begin, 1),
        "cpu_seconds": round(time.process_time() - cpu, 1),
        "lexicon": {row["word"]: f"{row['type']} : {row['program']} ({row['share']:.2f})" for row in model.table()},
    }


def _job(split: str, seed: int, data: Path | None, settings: tuple[str, ...], path: Path) -> str:
    found = run_one(split, seed, data, settings)
    with atomic_write(path) as file:
        file.write(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    return path.name


def compute(
    splits: Iterable[str], seeds: int, data: Path | None, out: Path, jobs: int, settings: tuple[str, ...] = ()
) -> None:
    """Make the runs that are not there yet, `jobs` at a time."""
    out.mkdir(parents=True, exist_ok=True)
    todo = [(split, seed, out / f"{split}-{seed}.json") for seed in range(seeds) for split in splits]
    todo = [item for item in todo if not item[2].exists()]
    if jobs < 2:
        for split, seed, path in track(todo, "CLEVR"):
            _job(split, seed, data, settings, path)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        running = [pool.submit(_job, split, seed, data, settings, path) for split, seed, path in todo]
        for done in track(as_completed(running), "CLEVR", total=len(running)):
            done.result()


def rows(out: Path, splits: Iterable[str] = tuple(THESIS)) -> list[ResultRow]:
    """Return the table, in percent, from the runs that are there."""
    made = []
    for split in splits:
        runs = [json.loads(path.read_text()) for path in sorted(out.glob(f"{split}-*.json")) if _is_run(path, split)]
        if runs:
            values = 100 * np.array([run["accuracy"] for run in runs])
            note = f"{len(runs)} seeds, lowest {values.min():.1f}, {runs[0]['train']} train, {runs[0]['test']} test"
            made.append(ResultRow(f"g2l2, {split}", THESIS[split], float(values.mean()), note))
    return made


def _is_run(path: Path, split: str) -> bool:
    return path.stem.removeprefix(f"{split}-").isdigit()


def run(
    data: Path | None = None,
    out: str | Path = "runs/reproduce/clevr",
    seeds: int = 3,
    jobs: int = 1,
    splits: Iterable[str] = tuple(THESIS),
    say: Callable[[str], None] = lambda _: None,
) -> list[ResultRow]:
    """Return the rows of table 6.1; what was computed before is not computed again."""
    say(f"{seeds} seeds of {', '.join(splits)}")
    compute(splits, seeds, data, Path(out), jobs)
    return rows(Path(out), splits)


def main() -> None:
    """Run the table from the command line."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--out", default="runs/reproduce/clevr")
    options.add_argument("--data", type=Path)
    options.add_argument("--splits", default=",".join(THESIS))
    options.add_argument("--set", action="append", default=[], dest="settings")
    given = options.parse_args()
    splits = given.splits.split(",")
    compute(splits, given.seeds, given.data, Path(given.out), given.jobs, tuple(given.settings))
    print(print_rows(rows(Path(given.out), splits)))


if __name__ == "__main__":
    main()
