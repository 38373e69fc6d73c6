"""Batches of like length, shuffled."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


def batches_by_length(
    lengths: NDArray[np.int64], size: int, rng: np.random.Generator, window: int = 50
) -> Iterator[NDArray[np.int64]]:
    """Shuffle, sort within windows of `window` batches, cut, shuffle the batches; one alone has no negatives.

    >>> [len(b) for b in batches_by_length(np.array([3, 1, 2, 9]), 2, np.random.default_rng(0), 2)]
    [2, 2]
    """
    order = rng.permutation(len(lengths))
    found: list[NDArray[np.int64]] = []
    for begin in range(0, len(order), size * window):
        chunk = order[begin : begin + size * window]
        chunk = chunk[np.argsort(lengths[chunk], kind="stable")]
        found += [chunk[k : k + size] for k in range(0, len(chunk), size)]
    yield from (found[i] for i in rng.permutation(len(found)) if len(found[i]) > 1)
