"""The worst items of a corpus, drawn: what a report shows under its scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from groundling.drawing.alignments import draw_grid
from groundling.drawing.arcs import draw_arcs
from groundling.drawing.trees import draw_tree_pair
from groundling.formats.aligned import AlignedPair
from groundling.metrics.base import Metric
from groundling.metrics.struct_iou import StructIoU
from groundling.reports.sections import Picture
from groundling.structures import Alignment, Dependencies, Tree

Item = TypeVar("Item")
MOST = 6
LONGEST = 60  # words of a sentence that is drawn


def lowest(metric: Metric[Item], golds: Sequence[Item], preds: Sequence[Item], sign: float = 1.0) -> list[int]:
    """The places of the items with the lowest scores, lowest first; `sign` is -1 where lower is better.

    >>> from groundling.metrics import ExecutionAccuracy
    >>> lowest(ExecutionAccuracy(), [1, 1, 1], [1, 0, 1])[0]
    1
    """
    values = [sign * metric.score(gold, pred).value for gold, pred in zip(golds, preds, strict=True)]
    return sorted(range(len(values)), key=values.__getitem__)[:MOST]


def _pictures(
    places: Sequence[int], length: Callable[[int], int], draw: Callable[[int], list[Picture]]
) -> list[Picture]:
    return [picture for place in places if length(place) <= LONGEST for picture in draw(place)]


def worst_trees(metric: Metric[Tree], golds: Sequence[Tree], preds: Sequence[Tree]) -> list[Picture]:
    """Gold tree above, predicted tree below, matched as Struct-IoU matches them."""
    over = StructIoU(labels=False)

    def draw(place: int) -> list[Picture]:
        gold, pred = golds[place], preds[place]
        svg = draw_tree_pair(gold.to_dict(), pred.to_dict(), over.alignment(gold, pred).matches)
        return [Picture(svg, f"Number {place + 1}: {metric.score(gold, pred).number()}")]

    return _pictures(lowest(metric, golds, preds), lambda place: len(golds[place].words), draw)


def worst_dependencies(
    metric: Metric[Dependencies], golds: Sequence[Dependencies], preds: Sequence[Dependencies]
) -> list[Picture]:
    """The gold tree, then what was predicted."""

    def draw(place: int) -> list[Picture]:
        gold, pred = golds[place], preds[place]
        number = metric.score(gold, pred).number()
        return [
            Picture(draw_arcs(gold.to_dict()), f"Number {place + 1}, gold."),
            Picture(draw_arcs(pred.to_dict()), f"Number {place + 1}, predicted: {metric.name} {number}"),
        ]

    return _pictures(lowest(metric, golds, preds)[: MOST // 2], lambda place: len(golds[place].words), draw)


def worst_alignments(
    metric: Metric[Alignment], pairs: Sequence[AlignedPair], preds: Sequence[Alignment]
) -> list[Picture]:
    """Gold links, then those predicted."""
    golds = [pair.alignment for pair in pairs]

    def draw(place: int) -> list[Picture]:
        words, number = pairs[place][:2], metric.score(golds[place], preds[place]).number()
        return [
            Picture(draw_grid(golds[place].to_dict(*words)), f"Number {place + 1}, gold."),
            Picture(draw_grid(preds[place].to_dict(*words)), f"Number {place + 1}, predicted: {metric.name} {number}"),
        ]

    def length(place: int) -> int:
        return max(len(pairs[place].source), len(pairs[place].target))

    return _pictures(lowest(metric, golds, preds, -1.0)[: MOST // 2], length, draw)
