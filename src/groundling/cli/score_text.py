"""How a report of scores reads in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from groundling.metrics.base import Score
from groundling.metrics.scoring import Report

_SHOWN = ("precision", "recall", "f1", "r-value")  # details that stand beside their score


def lines(report: Report, per_item: bool = False) -> Iterator[str]:
    """The lines of the answer: one system line by line, several as a table, then paired tests."""
    if per_item:
        yield from _items(report)
        yield ""
    if len(report.systems) == 1:
        yield from _one(report.systems[0].scores)
    else:
        yield from _table(report)
    for base, system, metric, result in report.comparisons:
        yield f"{system} against {base}, {metric}: {result}"


def _one(scores: Sequence[Score]) -> Iterator[str]:
    for score in scores:
        yield str(score)
        beside = [f"{key} {score.number(score.details[key])}" for key in _beside(score)]
        if beside:
            yield "  " + "  ".join(beside)


def _beside(score: Score) -> list[str]:
    """Details that are not the score itself."""
    return [key for key in _SHOWN if key in score.details and f"|measure:{key}|" not in score.signature]


def _table(report: Report) -> Iterator[str]:
    first = report.systems[0].scores
    header = ["system", *(title for score in first for title in (score.name, "95% CI", *_beside(score))), "n"]
    rows = [header]
    for system in report.systems:
        row = [system.name]
        for score, model in zip(system.scores, first, strict=True):
            row += [score.number(), score.interval, *(score.number(score.details[key]) for key in _beside(model))]
        rows.append([*row, str(system.scores[0].n)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        yield "  ".join([row[0].ljust(widths[0]), *cells])
    yield ""
    yield from (score.signature for score in first)


def _items(report: Report) -> Iterator[str]:
    scales = [metric.scale for metric in report.metrics]
    yield "\t".join(["item", "system", *(metric.name for metric in report.metrics)])
    for key, system, values in report.per_item():
        yield "\t".join([key, system, *(f"{x * scale:.2f}" for x, scale in zip(values, scales, strict=True))])
