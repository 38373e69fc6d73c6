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
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from groundling.errors import ConfigError
from groundling.experiments.tables import ResultRow, print_rows
from groundling.formats.files import atomic_write
from groundling.training.progress import track
from groundling.worlds import clevr_questions, clevr_scenes
from groundling.worlds.clevr_questions import Question
from groundling.worlds.clevr_scenes import Scene, make_scene

SPLITS: tuple[str, ...] = ("standard-10", "standard-100", "purple", "right", "count", "depth")
THESIS: dict[str, dict[str, float]] = {
    "g2l2": dict(zip(SPLITS, (98.11, 98.25, 97.82, 98.59, 96.76, 98.49), strict=True)),
    "attention": dict(zip(SPLITS, (85.39, 98.61, 97.14, 90.85, 54.87, 77.40), strict=True)),  # MAC in the thesis
}
MADE, MADE_FOR_TEST = 60, 4
KEPT_WORDS = {"purple": 6, "right": 11, "count": 8}
PARTS = {"train": (1000, 1), "val": (500, 2)}  # scenes, seed


@dataclass(frozen=True)
class Options:
    """What a run may change: settings of the training (`key=value`), and where object features come from."""

    settings: tuple[str, ...] = ()
    features: str = "annotations"


@lru_cache(maxsize=4)
def load_questions(part: str, data: Path | None, features: str = "annotations") -> list[Question]:
    """Return the questions of the training or validation scenes, given and made.

    `features` of the objects come from the scenes' annotations, or from crops that are drawn and shown to a backbone.
    """
    scenes = load_scenes(features, data)[list(PARTS).index(part)]
    rng = np.random.default_rng(PARTS[part][1])
    given: list[Question] = []
    if data is not None:
        path = data / "programs" / "clevr" / "questions" / f"CLEVR_{part}_questions_generated.json.gz"
        given = list(clevr_questions.read(path, scenes))
    each = MADE if part == "train" else MADE_FOR_TEST
    return given + [question for scene in scenes for question in clevr_questions.make_questions(scene, each, rng)]


@lru_cache(maxsize=2)
def load_scenes(features: str, data: Path | None) -> tuple[list[Scene], ...]:
    """Return training and validation scenes: CLEVR's own where the corpora are, else made from a seed."""
    found: list[list[Scene]] = []
    for part, (count, seed) in PARTS.items():
        rng = np.random.default_rng(seed)
        if data is None:
            found.append([make_scene(number, rng) for number in range(count)])
        else:
            folder = data / "programs" / "clevr" / "scenes"
            found.append(list(clevr_scenes.read(folder / f"CLEVR_{part}_scenes_{count}.json.gz")))
    if features == "annotations":
        return tuple(found)
    if features != "crops":
        raise ConfigError(f"features are 'annotations' or 'crops', not {features!r}.")
    from groundling.backbones.images import load_image_encoder
    from groundling.worlds.clevr_crops import with_crops

    return with_crops(found[0], found[1], load_image_encoder())


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


def run_one(
    split: str, seed: int, data: Path | None, settings: Iterable[str] = (), features: str = "annotations"
) -> dict[str, Any]:
    """Train on one split and test."""
    import torch

    from groundling.systems.g2l2 import PRESETS, Config, train
    from groundling.training.config import load_config

    torch.set_num_threads(1)
    begin, cpu = time.perf_counter(), time.process_time()
    known, unseen = load_questions("train", data, features), load_questions("val", data, features)
    training, test = make_split(split, known, unseen, seed)
    model = train(load_config(Config, overrides=[*PRESETS["clevr"], *settings]), training, seed=seed)
    given = model.answer(test)
    return {
        "split": split,
        "seed": seed,
        "settings": list(settings),
        "features": features,
        "accuracy": sum(answer == item.answer for answer, item in zip(given, test, strict=True)) / len(test),
        "by_form": by_form(test, given),
        "training_accuracy": model.info["training_accuracy"],
        "train": len(training),
        "test": len(test),
        "seconds": round(time.perf_counter() - begin, 1),
        "cpu_seconds": round(time.process_time() - cpu, 1),
        "lexicon": {row["word"]: f"{row['type']} : {row['program']} ({row['share']:.2f})" for row in model.table()},
    }


def _job(system: str, split: str, seed: int, data: Path | None, options: Options, path: Path) -> str:
    if system == "g2l2":
        found = run_one(split, seed, data, options.settings, options.features)
    else:
        from groundling.experiments.clevr_baselines import run_attention

        found = run_attention(split, seed, data)
    with atomic_write(path) as file:
        file.write(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    return path.name


def compute(
    systems: Iterable[str],
    splits: Iterable[str],
    seeds: int,
    data: Path | None,
    out: Path,
    jobs: int,
    options: Options = Options(),
) -> None:
    """Make the runs that are not there yet, `jobs` at a time."""
    out.mkdir(parents=True, exist_ok=True)
    wanted = [(system, split, seed) for seed in range(seeds) for system in systems for split in splits]
    todo = [(*key, out / "{}-{}-{}.json".format(*key)) for key in wanted]
    todo = [item for item in todo if not item[3].exists()]
    if jobs < 2:
        for system, split, seed, path in track(todo, "CLEVR"):
            _job(system, split, seed, data, options, path)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        running = [pool.submit(_job, system, split, seed, data, options, path) for system, split, seed, path in todo]
        for done in track(as_completed(running), "CLEVR", total=len(running)):
            done.result()


def rows(out: Path, systems: Iterable[str] = tuple(THESIS), splits: Iterable[str] = SPLITS) -> list[ResultRow]:
    """Return the table, in percent, from the runs that are there."""
    made: list[ResultRow] = []
    for system, split in product(systems, splits):
        runs = [
            json.loads(path.read_text())
            for path in sorted(out.glob(f"{system}-{split}-*.json"))
            if path.stem.removeprefix(f"{system}-{split}-").isdigit()
        ]
        if runs:
            values = 100 * np.array([run["accuracy"] for run in runs])
            note = f"{len(runs)} seeds, sd {values.std():.1f}, lowest {values.min():.1f}, "
            note += f"{runs[0]['train']} train, {runs[0]['test']} test"
            made.append(ResultRow(f"{system}, {split}", THESIS[system][split], float(values.mean()), note))
    return made


def run(
    data: Path | None = None,
    out: str | Path = "runs/reproduce/clevr",
    seeds: int = 3,
    jobs: int = 1,
    splits: Iterable[str] = SPLITS,
    say: Callable[[str], None] = lambda _: None,
) -> list[ResultRow]:
    """Return the rows of table 6.1; what was computed before is not computed again, baselines are shown if stored."""
    say(f"{seeds} seeds of {', '.join(splits)}")
    compute(["g2l2"], splits, seeds, data, Path(out), jobs)
    return rows(Path(out), splits=splits)


def main() -> None:
    """Run the table from the command line."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--out", default="runs/reproduce/clevr")
    options.add_argument("--data", type=Path)
    options.add_argument("--systems", default="g2l2")
    options.add_argument("--splits", default=",".join(SPLITS))
    options.add_argument(
        "--features", default="annotations", help="annotations, or crops (drawn, and seen by a backbone)"
    )
    options.add_argument("--set", action="append", default=[], dest="settings")
    given = options.parse_args()
    systems, splits = given.systems.split(","), given.splits.split(",")
    chosen = Options(tuple(given.settings), given.features)
    compute(systems, splits, given.seeds, given.data, Path(given.out), given.jobs, chosen)
    print(print_rows(rows(Path(given.out), systems, splits)))


if __name__ == "__main__":
    main()
