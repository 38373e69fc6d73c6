"""Choosing without labels (thesis 4.2.3): MBR over segmentations with -mIoU, and over trees with 1 - F1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from groundling.algorithms.mbr import select_from_matrix
from groundling.metrics.segment_iou import SegmentIoU
from groundling.structures.segmentation import Segmentation
from groundling.systems.avnsl.induce import Spans


def choose_segmentation(candidates: Sequence[Segmentation]) -> int:
    """The candidate of least expected -mIoU; equal ones are compared once."""
    texts = [str(candidate) for candidate in candidates]
    kinds = list(dict.fromkeys(texts))
    first = [candidates[texts.index(kind)] for kind in kinds]
    among = np.zeros((len(kinds), len(kinds)))
    metric = SegmentIoU()
    for i in range(len(kinds)):
        for j in range(i):
            among[i, j] = among[j, i] = 1 - metric.value(metric.statistics(first[i], first[j]))
    place = [kinds.index(text) for text in texts]
    return select_from_matrix(among[np.ix_(place, place)])


def most_chosen(candidates: Sequence[Sequence[Segmentation]], top: int) -> list[int]:
    """The pilot: the `top` settings that MBR picks most often; candidates[k][i] is setting k's cut of utterance i.

    Among equal counts the earlier setting comes first.
    """
    votes = Counter(choose_segmentation(list(column)) for column in zip(*candidates, strict=True))
    return sorted(range(len(candidates)), key=lambda k: (-votes[k], k))[:top]


def choose_tree(candidates: Sequence[Spans]) -> int:
    """The tree of least expected 1 - F1 over spans; all are over the same segments.

    >>> choose_tree([[(0, 3), (0, 2)], [(0, 3), (1, 3)], [(0, 3), (1, 3)]])
    1
    """
    sets = [frozenset(tree) for tree in candidates]
    losses: NDArray[np.float64] = np.array([[1 - _f1(a, b) for b in sets] for a in sets])
    return select_from_matrix(losses)


def _f1(a: frozenset[tuple[int, int]], b: frozenset[tuple[int, int]]) -> float:
    return 2 * len(a & b) / (len(a) + len(b)) if a or b else 1.0


def merge_trees(outputs: Sequence[Sequence[Spans]]) -> list[Spans]:
    """MBR utterance by utterance: outputs[k][i] is checkpoint k's tree of utterance i."""
    columns = [list(column) for column in zip(*outputs, strict=True)]
    return [column[choose_tree(column)] for column in columns]
