"""Chapter 5: perturbed boundaries (figure 5.5), ambiguity (table 5.1), correlation with ParsEval (figure 5.7)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from groundling.algorithms.ambiguity import plausible_trees
from groundling.algorithms.branching import random_binary
from groundling.algorithms.perturbation import PERTURBATIONS, without_silence
from groundling.drawing.charts import draw_curves
from groundling.experiments.structiou_data import system_trees, timed_trees
from groundling.experiments.tables import ResultRow, Results
from groundling.formats.files import atomic_write
from groundling.metrics import ParsEval, StructIoU
from groundling.metrics.struct_iou import with_leaves
from groundling.structures import Tree

DELTAS = tuple(round(0.1 * k, 1) for k in range(11))
BUCKET = 10  # sentences a dot of figure 5.7


def run(data: Path, out: str | Path = "runs/reproduce/structiou", seed: int = 0) -> list[ResultRow]:
    """All rows of chapter 5 that we can make; figures go to `out` as SVG. Stored rows are not computed again."""
    results = Results(out)
    rows = results.rows("ambiguity", lambda: ambiguity_rows(np.random.default_rng(seed)))
    rows += results.rows("correlation", lambda: correlation_rows(data, seed))
    rows += results.rows("perturbation", lambda: perturbation_rows(timed_trees(data, 400), seed))
    write_figures(rows, Path(out))
    return rows


def ambiguity_rows(rng: np.random.Generator, repeats: int = 8, truths: int = 20) -> list[ResultRow]:
    """Table 5.1 on N (P N){repeats}, averaged over some ground truths (the thesis draws one), in percent."""
    trees = plausible_trees(repeats)
    draws = [random_binary(trees[0].words, rng) for _ in range(100)]
    chosen = rng.choice(len(trees), min(truths, len(trees)), replace=False).tolist()
    bare = [with_leaves(tree.unlabelled()) for tree in trees]
    parseval = _study(ParsEval("vgnsl"), trees, draws, chosen)
    drawn = _study(StructIoU(labels=False), trees, draws, chosen)
    collapsed = _study(StructIoU(labels=False), bare, draws, chosen)
    note = "as drawn in figure 5.9: tags and NP over each N are nodes"
    return [
        ResultRow(
            "ambiguity, random, ParsEval F1", 27.3, parseval[0], f"{len(chosen)} ground truths x 100 random trees"
        ),
        ResultRow("ambiguity, random, Struct-IoU", 61.9, drawn[0], note),
        ResultRow("ambiguity, random, Struct-IoU, unary collapsed", 61.9, collapsed[0], "each word once"),
        ResultRow("ambiguity, plausible, lowest ParsEval F1", 12.5, parseval[1], "exact"),
        ResultRow("ambiguity, plausible, lowest Struct-IoU", 63.6, drawn[1], note),
        ResultRow("ambiguity, plausible, lowest Struct-IoU, unary collapsed", 63.6, collapsed[1], "each word once"),
    ]


def _study(
    metric: ParsEval | StructIoU, trees: list[Tree], draws: list[Tree], chosen: list[int]
) -> tuple[float, float]:
    """Percent: mean score against random trees, and the lowest against other plausible trees (mean over truths)."""
    random, lowest = [], []
    for number in chosen:
        others = trees[:number] + trees[number + 1 :]
        random.append(_scores(metric, [trees[number]] * len(draws), draws).mean())
        lowest.append(_scores(metric, [trees[number]] * len(others), others).min())
    return 100 * float(np.mean(random)), 100 * float(np.mean(lowest))


def _scores(metric: ParsEval | StructIoU, golds: Sequence[Tree], preds: Sequence[Tree]) -> np.ndarray:
    return metric.values(metric.matrix(golds, preds))


def correlation_rows(data: Path, seed: int) -> list[ResultRow]:
    """Scores of given systems under both metrics, and Spearman's rank correlation over random ten-sentence buckets."""
    rows: list[ResultRow] = []
    points: list[np.ndarray] = []
    for name, golds, preds, skipped in system_trees(data):
        parseval, struct = ParsEval("vgnsl", types=()), StructIoU(labels=False)
        f1, iou = parseval.matrix(golds, preds), struct.matrix(golds, preds)
        both = bucket_values(parseval, f1, struct, iou, np.random.default_rng(seed))
        points.append(both)
        note = f"{len(golds)} sentences, {skipped} left out"
        rows.append(ResultRow(f"{name}: ParsEval F1", None, 100 * parseval.value(f1.sum(axis=0)), note))
        rows.append(ResultRow(f"{name}: Struct-IoU", None, 100 * struct.value(iou.sum(axis=0)), note))
        rows.append(
            ResultRow(f"{name}: Spearman", 0.821, spearman(both), f"{len(both)} buckets; thesis: Benepar on PTB")
        )
    pooled = np.concatenate(points)
    means = np.array([[a.ours, b.ours] for a, b in zip(rows[::3], rows[1::3], strict=True)])
    rows.append(
        ResultRow("all systems: Spearman", 0.821, spearman(pooled), f"{len(pooled)} buckets; thesis: Benepar on PTB")
    )
    rows.append(ResultRow("between systems: Spearman", None, spearman(means), f"{len(means)} systems"))
    return rows


def bucket_values(
    first: ParsEval, a: np.ndarray, second: StructIoU, b: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """The two scores of each random bucket of ten sentences, shape (buckets, 2)."""
    order = rng.permutation(len(a))
    buckets = order[: len(order) // BUCKET * BUCKET].reshape(-1, BUCKET)
    return np.stack([first.values(a[buckets].sum(axis=1)), second.values(b[buckets].sum(axis=1))], axis=1)


def spearman(points: np.ndarray) -> float:
    """Spearman's rank correlation of the two columns."""
    from scipy.stats import rankdata

    ranks = rankdata(points, axis=0)
    return float(np.corrcoef(ranks, rowvar=False)[0, 1])


def perturbation_rows(trees: Sequence[Tree], seed: int, repeats: int = 5) -> list[ResultRow]:
    """Figure 5.5: Struct-IoU in percent of perturbed trees against the same trees, five times for each delta."""
    golds = [without_silence(tree) for tree in trees]
    rows: list[ResultRow] = []
    for kind, perturb in PERTURBATIONS.items():
        for delta in DELTAS:
            rng = np.random.default_rng([seed, list(PERTURBATIONS).index(kind), int(10 * delta)])
            runs = [
                StructIoU().corpus(golds, [perturb(tree, delta, rng) for tree in golds], bootstrap=0).value
                for _ in range(repeats)
            ]
            rows.append(
                ResultRow(f"{kind} {delta}", None, 100 * float(np.mean(runs)), f"sd {100 * float(np.std(runs)):.2f}")
            )
    return rows


def write_figures(rows: Sequence[ResultRow], out: Path) -> None:
    """Figure 5.5 as SVG."""
    series = []
    for kind in PERTURBATIONS:
        mine = [row for row in rows if row.name.split()[0] == kind]
        spread = [float(row.note.split()[-1]) for row in mine]
        series.append(
            {
                "name": kind,
                "x": [float(row.name.split()[1]) for row in mine],
                "y": [row.ours for row in mine],
                "low": [row.ours - sd for row, sd in zip(mine, spread, strict=True)],
                "high": [row.ours + sd for row, sd in zip(mine, spread, strict=True)],
            }
        )
    picture = draw_curves(series, title="Struct-IoU of perturbed trees", x_label="delta", y_label="Struct-IoU")
    with atomic_write(out / "perturbation.svg") as handle:
        handle.write(picture)
