"""Duration-penalised dynamic programming: cut frames into stretches that one code each describes (Kamper, 2022)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.algorithms.compiled import compiled
from groundling.errors import DataError


class Units(NamedTuple):
    """Stretch i is frames edges[i] .. edges[i+1]-1 and is described by codes[i]."""

    edges: NDArray[np.int64]  # (stretches + 1,), from 0 to the number of frames
    codes: NDArray[np.int64]  # (stretches,)
    cost: float


def dpdp(
    frames: NDArray[np.floating],  # (frames, dim)
    codebook: NDArray[np.floating],  # (codes, dim)
    weight: float = 400.0,
    longest: int = 15,
) -> Units:
    """Minimise sum over stretches of min_k sum_t |z_t - e_k|^2 - weight (duration - 1); stretches last up to `longest`.

    Exact, by Viterbi in O(frames x longest x codes). A larger `weight` gives longer stretches.

    >>> dpdp(np.array([[0.0], [0.1], [5.0]]), np.array([[0.0], [5.0]]), weight=1.0).edges.tolist()
    [0, 2, 3]
    """
    if frames.ndim != 2 or codebook.ndim != 2 or not len(codebook) or frames.shape[1] != codebook.shape[1]:
        raise DataError(f"frames {frames.shape} and codes {codebook.shape} must be two tables of equal width.")
    if longest < 1:
        raise DataError(f"the longest stretch is {longest} frames, but it must be at least 1.")
    z, e = frames.astype(np.float64), codebook.astype(np.float64)
    # Expanded square: one matrix product instead of frames x codes x dim differences; tiny negatives are rounding.
    distances = np.maximum((z**2).sum(1)[:, None] - 2 * z @ e.T + (e**2).sum(1), 0.0)
    sums = np.concatenate([np.zeros((1, len(e))), np.cumsum(distances, axis=0)])
    edges, codes, cost = _viterbi(sums, weight, longest)
    return Units(edges, codes, cost)


@compiled
def _viterbi(
    sums: NDArray[np.float64], weight: float, longest: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], float]:
    """Best cuts from running sums (frames + 1, codes) of distances; of equals the shortest last stretch wins."""
    count, codes = sums.shape[0] - 1, sums.shape[1]
    best = np.zeros(count + 1)
    back = np.zeros(count + 1, dtype=np.int64)
    code = np.zeros(count + 1, dtype=np.int64)
    for t in range(1, count + 1):
        best[t] = np.inf
        for d in range(1, min(longest, t) + 1):
            least, which = np.inf, 0
            for k in range(codes):
                cost = sums[t, k] - sums[t - d, k]
                if cost < least:
                    least, which = cost, k
            total = best[t - d] + least - weight * (d - 1)
            if total < best[t]:
                best[t], back[t], code[t] = total, t - d, which
    stretches = 0
    t = count
    while t > 0:
        t = back[t]
        stretches += 1
    edges, chosen = np.zeros(stretches + 1, dtype=np.int64), np.zeros(stretches, dtype=np.int64)
    t = count
    for i in range(stretches, 0, -1):
        edges[i], chosen[i - 1] = t, code[t]
        t = back[t]
    return edges, chosen, float(best[count])
