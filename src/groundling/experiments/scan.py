"""Table 6.2: SCAN accuracy of G2L2 and of sequence-to-sequence baselines, a file a run, so that a killed table goes on.

`python -m groundling.experiments.scan --jobs 16 --seeds 20` needs torch and numpy only.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from groundling.experiments.tables import ResultRow, print_rows
from groundling.formats.files import atomic_write
from groundling.training.progress import track
from groundling.worlds import scan

SPLITS = ("simple-10", "simple-100", "jump", "around-right", "length")
THESIS = {
    "g2l2": dict.fromkeys(SPLITS, 1.0),
    "lstm": {"simple-10": 0.93, "simple-100": 0.99, "jump": 0.0, "around-right": 0.0, "length": 0.15},
    "transformer": {"simple-10": 0.71, "simple-100": 0.78, "jump": 0.0, "around-right": 0.10, "length": 0.02},
}
SIMPLE = "programs/scan/simple_split/tasks_{}_simple.txt.gz"


def load_split(name: str, seed: int, data: Path | None = None) -> tuple[list[scan.Instruction], list[scan.Instruction]]:
    """Return (train, test). `simple` is the published split where the corpora are, else a random 80 % by the seed.

    `simple-10` is a random tenth of the training commands of `simple`, another one for each seed.
    """
    if not name.startswith("simple"):
        return scan.split(name)
    rng = np.random.default_rng(seed)
    train, test = (
        [list(scan.read(data / SIMPLE.format(part))) for part in ("train", "test")]
        if data
        else scan.split("simple", rng)
    )
    if name == "simple-10":
        train = [train[i] for i in sorted(rng.choice(len(train), len(train) // 10, replace=False))]
    return train, test


def run_g2l2(split: str, seed: int, data: Path | None = None) -> dict[str, Any]:
    """Train G2L2 on one split without restart, then, if it failed, with restarts; measure on the test commands."""
    import torch

    from groundling.systems.g2l2 import Config, train

    torch.set_num_threads(1)
    begin, cpu = time.perf_counter(), time.process_time()
    training, test = load_split(split, seed, data)
    model = train(Config(), training, seed=seed)
    seconds, cpu_seconds = time.perf_counter() - begin, time.process_time() - cpu
    return {
        "split": split,
        "seed": seed,
        "accuracy": model.accuracy(test),
        "training_accuracy": model.info["training_accuracy"],
        "restarts": model.info["attempt"],
        "train": len(training),
        "test": len(test),
        "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu_seconds, 1),
        "lexicon": {row["word"]: f"{row['type']} : {row['program']}" for row in model.table()},
    }


def _job(system: str, split: str, seed: int, data: Path | None, path: Path) -> str:
    if system == "g2l2":
        found = run_g2l2(split, seed, data)
    else:
        from groundling.experiments.scan_baselines import run_baseline

        found = run_baseline(system, split, seed, data)
    with atomic_write(path) as file:
        file.write(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    return path.name


def compute(systems: Iterable[str], splits: Iterable[str], seeds: int, data: Path | None, out: Path, jobs: int) -> None:
    """Make the runs that are not there yet, `jobs` at a time, each in a process with one thread."""
    out.mkdir(parents=True, exist_ok=True)
    wanted = [(system, split, seed) for seed in range(seeds) for system in systems for split in splits]
    todo = [(*key, out / "{}-{}-{}.json".format(*key)) for key in wanted]
    todo = [item for item in todo if not item[3].exists()]
    if jobs < 2:
        for system, split, seed, path in track(todo, "SCAN"):
            _job(system, split, seed, data, path)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        running = [pool.submit(_job, system, split, seed, data, path) for system, split, seed, path in todo]
        for done in track(as_completed(running), "SCAN", total=len(running)):
            done.result()


def rows(out: Path, systems: Iterable[str] = ("g2l2",), splits: Iterable[str] = SPLITS) -> list[ResultRow]:
    """Return the table from the runs that are there."""
    made: list[ResultRow] = []
    everything: list[dict[str, Any]] = []
    for system in systems:
        for split in splits:
            runs = [json.loads(path.read_text()) for path in sorted(out.glob(f"{system}-{split}-*.json"))]
            if runs:
                made.append(_row(system, split, runs))
                everything += runs if system == "g2l2" else []
    if everything:
        made += _summary(everything)
    return made


def _row(system: str, split: str, runs: list[dict[str, Any]]) -> ResultRow:
    values = np.array([run["accuracy"] for run in runs])
    seconds = np.mean([run["seconds"] for run in runs])
    note = f"{len(runs)} seeds, sd {values.std():.3f}, lowest {values.min():.3f}, {seconds:.0f} s a run"
    return ResultRow(f"{system}, {split}", THESIS[system][split], float(values.mean()), note)


def _summary(runs: list[dict[str, Any]]) -> list[ResultRow]:
    first = sum(run["restarts"] == 0 and run["training_accuracy"] == 1 for run in runs)
    slowest = max(run["cpu_seconds"] for run in runs)
    return [
        ResultRow(
            "share of runs perfect on training data without restart", 0.74, first / len(runs), f"{first} of {len(runs)}"
        ),
        ResultRow("slowest run, CPU seconds, one thread", None, slowest, "must be under 300 seconds on two cores"),
    ]


def run(
    data: Path | None = None,
    out: str | Path = "runs/reproduce/scan",
    seeds: int = 10,
    jobs: int = 1,
    systems: Iterable[str] = ("g2l2",),
    splits: Iterable[str] = SPLITS,
    say: Callable[[str], None] = lambda _: None,
) -> list[ResultRow]:
    """Return the rows of table 6.2; what was computed before is not computed again, baselines are shown if stored."""
    say(f"{seeds} seeds of {', '.join(splits)}")
    compute(systems, splits, seeds, data, Path(out), jobs)
    return rows(Path(out), THESIS, splits)


def main() -> None:
    """Run the table from the command line."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--seeds", type=int, default=10)
    options.add_argument("--out", default="runs/reproduce/scan")
    options.add_argument("--data", type=Path)
    options.add_argument("--systems", default="g2l2")
    options.add_argument("--splits", default=",".join(SPLITS))
    given = options.parse_args()
    table = run(given.data, given.out, given.seeds, given.jobs, given.systems.split(","), given.splits.split(","))
    print(print_rows(table))


if __name__ == "__main__":
    main()
