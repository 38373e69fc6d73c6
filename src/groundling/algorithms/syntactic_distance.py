"""Binary trees from syntactic distances (thesis algorithm 3.1)."""

from __future__ import annotations

from collections.abc import Sequence


def spans_from_distances(distances: Sequence[float]) -> list[tuple[int, int]]:
    """Split at the largest distance, again and again: the n - 1 spans (start, end) of a binary tree over n words.

    `distances[j]` lies between words j and j+1, so there are n - 1. All positions count alike (the thesis' fix of
    the right-branching bias in the parser of Shen et al.); of equal distances the leftmost splits first. Spans come in
    preorder.

    Reference: Shi (2024), algorithm `vgnsl-fixed-syntactic-distance`.

    >>> spans_from_distances([1.0, 3.0, 2.0])
    [(0, 4), (0, 2), (2, 4)]
    """
    found: list[tuple[int, int]] = []
    waiting = [(0, len(distances) + 1)]
    while waiting:
        left, right = waiting.pop()
        if right - left < 2:
            continue
        found.append((left, right))
        middle = max(range(left, right - 1), key=lambda j: distances[j]) + 1
        waiting += [(middle, right), (left, middle)]
    return found
