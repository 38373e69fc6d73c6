"""Binary trees that know nothing of language: the trivial baselines of thesis 3.3.2."""

from __future__ import annotations

import numpy as np


def left_branching(n: int) -> list[tuple[int, int]]:
    """Spans of ((((a b) c) d).

    >>> left_branching(4)
    [(0, 4), (0, 3), (0, 2)]
    """
    return [(0, end) for end in range(n, 1, -1)]


def right_branching(n: int) -> list[tuple[int, int]]:
    """Spans of (a (b (c d))).

    >>> right_branching(4)
    [(0, 4), (1, 4), (2, 4)]
    """
    return [(start, n) for start in range(n - 1)]


def random_branching(n: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Merge a uniformly chosen pair of neighbours until one constituent is left: a VG-NSL that has learned nothing.

    >>> len(random_branching(5, np.random.default_rng(0)))
    4
    """
    starts, ends = list(range(n)), list(range(1, n + 1))
    spans: list[tuple[int, int]] = []
    while len(starts) > 1:
        j = int(rng.integers(len(starts) - 1))
        spans.append((starts[j], ends[j + 1]))
        del starts[j + 1], ends[j]
    return spans[::-1]
