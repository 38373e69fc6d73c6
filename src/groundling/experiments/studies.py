"""The studies behind the catalogue, each called in one way: `(data, out, seed, say) -> rows`.

Imports happen inside, so that listing the catalogue costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from groundling.experiments.tables import ResultRow, Results

Say = Callable[[str], None]
Rows = list[ResultRow]


class Study(NamedTuple):
    """Where a study lives (to see whether it is there), what calls it, and its folder below the results."""

    module: str
    target: str
    folder: str


def _study(module: str, function: str, folder: str = "") -> Study:
    return Study(f"groundling.experiments.{module}", f"groundling.experiments.studies:{function}", folder or module)


STUDIES: dict[str, Study] = {
    "vgnsl": _study("vgnsl", "vgnsl"),
    "avnsl": _study("avnsl", "avnsl"),
    "avnsl-multi30k": _study("avnsl_multi30k", "avnsl_multi30k", "avnsl-multi30k"),
    "avnsl-german": _study("avnsl_german", "avnsl_german", "avnsl-german"),
    "ambiguity": _study("structiou", "ambiguity"),
    "perturbation": _study("structiou", "perturbation"),
    "correlation": _study("structiou", "correlation"),
    "clevr": _study("clevr", "clevr"),
    "scan": _study("scan", "scan"),
    "mbrexec-mbpp": _study("mbrexec", "mbpp"),
    "mbrexec-curves": _study("mbrexec", "program_curves"),
    "mbrexec-spider": _study("mbrexec", "spider"),
    "mbrexec-nl2bash": _study("mbrexec", "nl2bash"),
    "mbrexec-humaneval": _study("mbrexec", "humaneval"),
    "mlpalign": _study("mlpalign", "mlpalign"),
    "subdp": _study("subdp_rows", "subdp", "subdp"),
}


def vgnsl(data: Path, out: Path, seed: int, say: Say) -> Rows:
    """Chapter 3."""
    from groundling.experiments.vgnsl import run

    return run(data, out, seed, say)


def avnsl(data: Path | None, out: Path, seed: int, say: Say) -> Rows:
    """Chapter 4: three seeds, the given one first."""
    from groundling.experiments.avnsl import run

    return run(out, (seed, seed + 1, seed + 2), say)


def avnsl_multi30k(data: Path, out: Path, seed: int, say: Say) -> Rows:
    """Chapter 4 on captions of real images, spoken by a synthesiser: three seeds, the given one first."""
    from groundling.experiments.avnsl_multi30k import run

    return run(data, out, (seed, seed + 1, seed + 2), say)


def avnsl_german(data: Path, out: Path, seed: int, say: Say) -> Rows:
    """Table 4.5, on German captions spoken by a synthesiser: three seeds, the given one first."""
    from groundling.experiments.avnsl_german import run

    return run(data, out, (seed, seed + 1, seed + 2), say)


def ambiguity(data: Path | None, out: Path, seed: int, say: Say) -> Rows:
    """Table 5.1."""
    from groundling.experiments.structiou import ambiguity_rows

    say("ambiguous sentences")
    return Results(out).rows("ambiguity", lambda: ambiguity_rows(np.random.default_rng(seed)))


def perturbation(data: Path, out: Path, seed: int, say: Say) -> Rows:
    """Figure 5.5, drawn too."""
    from groundling.experiments.structiou import perturbation_rows, write_figures
    from groundling.experiments.structiou_data import timed_trees

    say("perturbed boundaries")
    rows = Results(out).rows("perturbation", lambda: perturbation_rows(timed_trees(data, 400), seed))
    write_figures(rows, out)
    return rows


def correlation(data: Path, out: Path, seed: int, say: Say) -> Rows:
    """Figure 5.7."""
    from groundling.experiments.structiou import correlation_rows

    say("scores of systems")
    return Results(out).rows("correlation", lambda: correlation_rows(data, seed))


def scan(data: Path | None, out: Path, seed: int, say: Say) -> Rows:
    """SCAN: ten seeds, whatever the seed given."""
    from groundling.experiments.scan import run

    return run(data, out, say=say)


def clevr(data: Path | None, out: Path, seed: int, say: Say) -> Rows:
    """CLEVR: three seeds."""
    from groundling.experiments.clevr import run

    return run(data, out, say=say)


def _programs(name: str, data: Path, out: Path, seed: int, say: Say) -> Rows:
    from groundling.experiments.mbrexec import reproduce

    say(f"programs of {name}")
    out.mkdir(parents=True, exist_ok=True)
    return Results(out).rows(f"{name}.rows", lambda: reproduce(name, data, out, seed=seed))


def mbpp(data: Path, out: Path, seed: int, say: Say) -> Rows:
    """Chapter 7 on MBPP."""
    return _programs("mbpp", data, out, seed, say)


def program_curves(data: Path, out: Path, seed: int, say: Say) -> Rows:
    """Accuracy by sample size, of every corpus whose table was run (figure 7.2; MBPP is run if it was not)."""
    import json

    _programs("mbpp", data, out, seed, say)
    rows: Rows = []
    for path in sorted(out.glob("*.json")):
        kept = json.loads(path.read_text(encoding="utf-8"))
        for point in kept["curves"] if isinstance(kept, dict) else []:
            name = f"{path.stem}: {point['method']} ({point['inputs'] or 'all'}), N = {point['size']}"
            rows.append(ResultRow(name, None, point["mean"], f"sd {point['deviation']:.2f} of the draws"))
    return rows


def spider(data: Path, out: Path, seed: int, say: Say) -> Rows:
    """Chapter 7 on Spider."""
    return _programs("spider", data, out, seed, say)


def nl2bash(data: Path, out: Path, seed: int, say: Say) -> Rows:
    """Chapter 7 on NL2Bash."""
    return _programs("nl2bash", data, out, seed, say)


def humaneval(data: Path, out: Path, seed: int, say: Say) -> Rows:
    """Chapter 7's methods on HumanEval, dual agreement among them."""
    return _programs("humaneval", data, out, seed, say)


def mlpalign(data: Path, out: Path, seed: int, say: Say) -> Rows:
    """Table 8.1: alignment error rates, a row a gold set and way of linking."""
    from groundling.experiments.mlpalign import run

    say("aligning gold sets")
    return run(data, out, seed)


def subdp(data: Path | None, out: Path, seed: int, say: Say) -> Rows:
    """Chapter 9: three seeds, the given one first; parsers with and without BiLSTM."""
    from groundling.experiments.subdp_rows import run

    return run(data, out, seed, say)
