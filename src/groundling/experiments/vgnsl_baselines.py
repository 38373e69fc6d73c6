"""The baselines of table 3.1: trained on the same captions, tested on the same trees, kept run by run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundling.experiments import vgnsl_data as corpus
from groundling.experiments.tables import ResultRow
from groundling.experiments.vgnsl_runs import trees_of, unflat
from groundling.formats.files import atomic_write
from groundling.metrics.parseval import ParsEval
from groundling.systems.vgnsl.baselines import ROWS, Options, train
from groundling.systems.vgnsl.selection import agreement, span_keys

NORMS = "vision/concreteness/Concreteness_ratings_Brysbaert_et_al_BRM.txt.gz"
TRIVIAL = ("random", "left", "right")  # these have rows of their own
SEEDS = {"prpn": 5, "on-lstm": 5, "gumbel": 3, "compound-pcfg": 3}  # the others have no chance in them
NAMES = tuple(row[0] for row in ROWS if row[0] not in TRIVIAL)


def baseline_rows(name: str, data: Path, folder: Path, say: Callable[[str], None]) -> list[ResultRow]:
    """F1, and self F1 of those that learn from a random start; trainings in `folder` are not made again."""
    gold = corpus.mscoco_trees(data)
    words = [tree.words for tree in gold]
    runs = [kept_spans(name, data, folder, seed, say) for seed in range(SEEDS.get(name, 1))]
    values = np.array([100 * ParsEval("vgnsl").corpus(gold, trees_of(run, words), bootstrap=0).value for run in runs])
    _, title, thesis, thesis_self = next(row for row in ROWS if row[0] == name)
    note = (f"{len(runs)} seeds, sd {values.std():.1f}" if len(runs) > 1 else "learned once") + _remark(folder, name)
    rows = [ResultRow(f"{title}, F1", thesis, float(values.mean()), note)]
    if len(runs) > 1:
        keys = [span_keys(unflat(run, words)) for run in runs]
        agreed = [agreement(a, b) for i, a in enumerate(keys) for b in keys[i + 1 :]]
        rows.append(ResultRow(f"{title}, self F1", thesis_self, 100 * float(np.mean(agreed)), note))
    return rows


def kept_spans(name: str, data: Path, folder: Path, seed: int, say: Callable[[str], None]) -> NDArray[np.uint8]:
    """The spans of all test captions in one array, read from `folder` or learned."""
    path = folder / f"baseline_{name}-{seed}.npz"
    if not path.exists():
        say(f"training the baseline {name}, seed {seed}")
        parser = train(name, corpus.multi30k(data), seed=seed, options=Options(norms=data / NORMS))
        found = parser.spans([tree.words for tree in corpus.mscoco_trees(data)])
        rows = [sorted(spans) for spans in found]
        flat = np.array([span for spans in rows for span in spans], dtype=np.uint8).reshape(-1, 2)
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_write(path, binary=True) as file:
            np.savez_compressed(file, test=flat)
    with np.load(path) as kept:
        return kept["test"]


def _remark(folder: Path, name: str) -> str:
    """What the maker of a kept training said of it (for example that it was stopped early)."""
    with np.load(folder / f"baseline_{name}-0.npz") as kept:
        return f"; {kept['remark']}" if "remark" in kept else ""
