"""Compiled kernels of the ordered tree mapping: Zhang and Shasha's key-root programme, gains instead of costs.

Nodes are renumbered along one path decomposition: postorder for leftmost paths, reversed preorder (the postorder of
the mirrored tree) for rightmost ones. In both, the subtree of x is the run first[x] .. x.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from groundling.algorithms.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@compiled
def renumber(
    left: Floats, right: Floats, kind: Ints, size: Ints, depth: Ints, mirrored: bool
) -> tuple[Floats, Floats, Ints, Ints, Ints, Ints]:
    """Nodes of one tree (preorder slices) in path order: left, right, kind, first, key roots, preorder number."""
    n = size.shape[0]
    begin, end = np.empty(n, np.float64), np.empty(n, np.float64)
    k, first, number = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    for node in range(n):
        place = n - 1 - node if mirrored else node - depth[node] + size[node] - 1
        begin[place], end[place], k[place], number[place] = left[node], right[node], kind[node], node
        first[place] = place - size[node] + 1
    seen = np.zeros(n, np.bool_)
    roots = np.empty(n, np.int64)
    count = 0
    for place in range(n - 1, -1, -1):
        if not seen[first[place]]:
            seen[first[place]] = True
            roots[n - 1 - count] = place
            count += 1
    return begin, end, k, first, roots[n - count :], number


@compiled
def overlapping(
    low: int, high: int, lefts: Floats, rights: Floats, start: float, end: float, kept: Ints, before: Ints
) -> int:
    """List the nodes low .. high that overlap (start, end); before[x - low] counts those that come before x."""
    count = 0
    for x in range(low, high + 1):
        before[x - low] = count
        if lefts[x] < end and rights[x] > start:
            kept[count] = x
            count += 1
    return count


@compiled
def weight(x: int, y: int, l1: Floats, r1: Floats, l2: Floats, r2: Floats, threshold: float) -> float:
    """IoU of nodes x and y, 0 below the threshold (thesis 5.2.1)."""
    shared = min(r1[x], r2[y]) - max(l1[x], l2[y])
    if shared <= 0:
        return 0.0
    iou = shared / ((r1[x] - l1[x]) + (r2[y] - l2[y]) - shared)
    return iou if iou >= threshold else 0.0


@compiled
def fill_forest(
    x0: int, y0: int, l1: Floats, r1: Floats, k1: Ints, f1: Ints, l2: Floats, r2: Floats, k2: Ints, f2: Ints,
    threshold: float, best: Floats, forest: Floats, xs: Ints, ys: Ints, bx: Ints, by: Ints,
) -> tuple[int, int]:  # fmt: skip
    """Fill the forest table of subtrees x0, y0; writes best[x, y] for x, y on their paths.

    Nodes that overlap nothing of the other subtree can gain nothing and are left out of the table; deleting them is
    free, so the optimum stays. forest[p, q] is the best over the first p kept nodes of one, q of the other.
    """
    low1, low2 = f1[x0], f2[y0]
    n = overlapping(low1, x0, l1, r1, l2[y0], r2[y0], xs, bx)
    m = overlapping(low2, y0, l2, r2, l1[x0], r1[x0], ys, by)
    for q in range(m + 1):
        forest[0, q] = 0.0
    for p in range(1, n + 1):
        x = xs[p - 1]
        on_path = f1[x] == low1
        above, row, joined = forest[p - 1], forest[p], forest[bx[f1[x] - low1]]
        row[0] = 0.0
        value = 0.0
        for q in range(1, m + 1):
            y = ys[q - 1]
            value = max(value, above[q])
            if on_path and f2[y] == low2:
                if k1[x] == k2[y]:
                    value = max(value, above[q - 1] + weight(x, y, l1, r1, l2, r2, threshold))
                best[x, y] = value
            else:
                value = max(value, joined[by[f2[y] - low2]] + best[x, y])
            row[q] = value
    return n, m


@compiled
def fill_best(
    l1: Floats, r1: Floats, k1: Ints, f1: Ints, roots1: Ints, l2: Floats, r2: Floats, k2: Ints, f2: Ints, roots2: Ints,
    threshold: float, best: Floats, forest: Floats, xs: Ints, ys: Ints, bx: Ints, by: Ints,
) -> None:  # fmt: skip
    """best[x, y]: the largest total of IoU over mappings between the subtrees of x and y."""
    best[: l1.shape[0], : l2.shape[0]] = 0.0
    for x0 in roots1:
        for y0 in roots2:
            if l1[x0] < r2[y0] and l2[y0] < r1[x0]:
                fill_forest(x0, y0, l1, r1, k1, f1, l2, r2, k2, f2, threshold, best, forest, xs, ys, bx, by)


@compiled
def totals(
    offsets: Ints, left: Floats, right: Floats, kind: Ints, size: Ints, depth: Ints, cost: Floats,
    firsts: Ints, seconds: Ints, threshold: float,
) -> Floats:  # fmt: skip
    """Total IoU of the best mapping of tree firsts[i] with tree seconds[i], for every i."""
    result = np.empty(firsts.shape[0], np.float64)
    widest = 0
    for tree in range(offsets.shape[0] - 1):
        widest = max(widest, offsets[tree + 1] - offsets[tree])
    best, forest = np.empty((widest, widest), np.float64), np.empty((widest + 1, widest + 1), np.float64)
    xs, ys = np.empty(widest, np.int64), np.empty(widest, np.int64)
    bx, by = np.empty(widest, np.int64), np.empty(widest, np.int64)
    for i in range(firsts.shape[0]):
        t1, t2 = firsts[i], seconds[i]
        a, b, c, d = offsets[t1], offsets[t1 + 1], offsets[t2], offsets[t2 + 1]
        mirrored = cost[t1, 1] * cost[t2, 1] < cost[t1, 0] * cost[t2, 0]
        l1, r1, k1, f1, roots1, _ = renumber(left[a:b], right[a:b], kind[a:b], size[a:b], depth[a:b], mirrored)
        l2, r2, k2, f2, roots2, _ = renumber(left[c:d], right[c:d], kind[c:d], size[c:d], depth[c:d], mirrored)
        fill_best(l1, r1, k1, f1, roots1, l2, r2, k2, f2, roots2, threshold, best, forest, xs, ys, bx, by)
        result[i] = best[b - a - 1, d - c - 1]
    return result


@compiled
def pairs(
    offsets: Ints, left: Floats, right: Floats, kind: Ints, size: Ints, depth: Ints, cost: Floats, threshold: float
) -> tuple[Ints, Ints, Floats]:
    """The matched nodes (preorder numbers) of trees 0 and 1, with their IoU: fill, then walk the tables back."""
    n, m = offsets[1], offsets[2] - offsets[1]
    mirrored = cost[0, 1] * cost[1, 1] < cost[0, 0] * cost[1, 0]
    l1, r1, k1, f1, roots1, n1 = renumber(left[:n], right[:n], kind[:n], size[:n], depth[:n], mirrored)
    l2, r2, k2, f2, roots2, n2 = renumber(left[n:], right[n:], kind[n:], size[n:], depth[n:], mirrored)
    best, forest = np.empty((n, m), np.float64), np.empty((n + 1, m + 1), np.float64)
    xs, ys, bx, by = np.empty(n, np.int64), np.empty(m, np.int64), np.empty(n, np.int64), np.empty(m, np.int64)
    fill_best(l1, r1, k1, f1, roots1, l2, r2, k2, f2, roots2, threshold, best, forest, xs, ys, bx, by)
    todo = np.empty((n + m + 2, 2), np.int64)
    todo[0, 0], todo[0, 1] = n - 1, m - 1
    waiting, found = 1, 0
    first, second, iou = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.float64)
    while waiting:
        waiting -= 1
        x0, y0 = todo[waiting, 0], todo[waiting, 1]
        p, q = fill_forest(x0, y0, l1, r1, k1, f1, l2, r2, k2, f2, threshold, best, forest, xs, ys, bx, by)
        while p and q and forest[p, q] > 0:
            x, y = xs[p - 1], ys[q - 1]
            if forest[p, q] == forest[p - 1, q]:
                p -= 1
            elif forest[p, q] == forest[p, q - 1]:
                q -= 1
            elif f1[x] == f1[x0] and f2[y] == f2[y0]:
                first[found], second[found] = n1[x], n2[y]
                iou[found] = weight(x, y, l1, r1, l2, r2, threshold)
                found += 1
                p, q = p - 1, q - 1
            else:  # the two subtrees pair as wholes: come back to them
                todo[waiting, 0], todo[waiting, 1] = x, y
                waiting += 1
                p, q = bx[f1[x] - f1[x0]], by[f2[y] - f2[y0]]
    order = np.argsort(first[:found])
    return first[order], second[order], iou[order]
