"""Compiled kernels of the ordered tree mapping: Zhang and Shasha's key-root programme, gains instead of costs.

Nodes are renumbered along one path decomposition: postorder for leftmost paths, reversed preorder (the postorder of
the mirrored tree) for rightmost ones. In both, the subtree of x is the run FIRST of x .. x. A tree is two tables:
spans (where each node begins and ends) and nodes (its kind, the first node of its subtree, its preorder number).
Few and wide arrays, because each array handed to a compiled function costs some nanoseconds of reference counting.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from groundling.algorithms.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
BEGIN, END = 0, 1  # rows of spans
KIND, FIRST, NUMBER = 0, 1, 2  # rows of nodes
XS, X_JOIN, YS, Y_JOIN = 0, 1, 2, 3  # rows of scratch: kept nodes, and how many kept ones come before their subtrees


@compiled
def renumber(
    left: Floats, right: Floats, kind: Ints, size: Ints, depth: Ints, mirrored: bool
) -> tuple[Floats, Ints, Ints]:
    """Spans, nodes and key roots of one tree (given by preorder slices) in path order."""
    n = size.shape[0]
    spans, nodes = np.empty((2, n), np.float64), np.empty((3, n), np.int64)
    for node in range(n):
        place = n - 1 - node if mirrored else node - depth[node] + size[node] - 1
        spans[BEGIN, place], spans[END, place] = left[node], right[node]
        nodes[KIND, place], nodes[FIRST, place], nodes[NUMBER, place] = kind[node], place - size[node] + 1, node
    seen = np.zeros(n, np.bool_)
    roots = np.empty(n, np.int64)
    count = 0
    for place in range(n - 1, -1, -1):
        if not seen[nodes[FIRST, place]]:
            seen[nodes[FIRST, place]] = True
            roots[n - 1 - count] = place
            count += 1
    return spans, nodes, roots[n - count :]


@compiled
def keep_overlapping(root: int, spans: Floats, nodes: Ints, start: float, end: float, scratch: Ints, row: int) -> int:
    """List the nodes under root that overlap (start, end), in order, with their join positions; returns how many.

    Going backwards, a node that does not overlap is skipped with its whole subtree.
    """
    count, x, low = 0, root, nodes[FIRST, root]
    while x >= low:
        if spans[BEGIN, x] < end and spans[END, x] > start:
            scratch[row, count] = x
            count += 1
            x -= 1
        else:
            x = nodes[FIRST, x] - 1
    for p in range(count // 2):
        scratch[row, p], scratch[row, count - 1 - p] = scratch[row, count - 1 - p], scratch[row, p]
    for p in range(count):
        q, first = p, nodes[FIRST, scratch[row, p]]
        while q > 0 and scratch[row, q - 1] >= first:
            q = scratch[row + 1, q - 1]
        scratch[row + 1, p] = q
    return count


@compiled
def fill_forest(
    x0: int, y0: int, spans1: Floats, nodes1: Ints, spans2: Floats, nodes2: Ints, threshold: float,
    best: Floats, forest: Floats, scratch: Ints,
) -> tuple[int, int]:  # fmt: skip
    """Fill the forest table of subtrees x0, y0; writes best[x, y] for x, y on their paths. Returns the table's size.

    Nodes that overlap nothing of the other subtree can gain nothing and are left out of the table; deleting them is
    free, so the optimum stays. forest[p, q] is the best over the first p kept nodes of one, q of the other.
    """
    low1, low2 = nodes1[FIRST, x0], nodes2[FIRST, y0]
    n = keep_overlapping(x0, spans1, nodes1, spans2[BEGIN, y0], spans2[END, y0], scratch, XS)
    m = keep_overlapping(y0, spans2, nodes2, spans1[BEGIN, x0], spans1[END, x0], scratch, YS)
    for q in range(m + 1):
        forest[0, q] = 0.0
    for p in range(1, n + 1):
        x, join = scratch[XS, p - 1], scratch[X_JOIN, p - 1]
        on_path, kind, begin, end = nodes1[FIRST, x] == low1, nodes1[KIND, x], spans1[BEGIN, x], spans1[END, x]
        above, row, joined, wholes = forest[p - 1], forest[p], forest[join], best[x]
        value = row[0] = 0.0
        for q in range(m):
            y = scratch[YS, q]
            if above[q + 1] > value:
                value = above[q + 1]
            if on_path and nodes2[FIRST, y] == low2:
                if kind == nodes2[KIND, y]:
                    # The IoU of thesis 5.2.1, written out: this is the innermost line.
                    shared = min(end, spans2[END, y]) - max(begin, spans2[BEGIN, y])
                    union = (end - begin) + (spans2[END, y] - spans2[BEGIN, y]) - shared
                    if shared > 0 and shared >= threshold * union and above[q] + shared / union > value:
                        value = above[q] + shared / union
                wholes[y] = value
            elif joined[scratch[Y_JOIN, q]] + wholes[y] > value:
                value = joined[scratch[Y_JOIN, q]] + wholes[y]
            row[q + 1] = value
    return n, m


@compiled
def fill_leaf(
    x: int, spans1: Floats, nodes1: Ints, spans2: Floats, nodes2: Ints, threshold: float, best: Floats, scratch: Ints
) -> None:
    """best[x, y] for a node x with none below, and every y: the best single partner in the subtree of y."""
    begin, end = spans1[BEGIN, x], spans1[END, x]
    count = keep_overlapping(nodes2.shape[1] - 1, spans2, nodes2, begin, end, scratch, YS)
    for p in range(count):
        y = scratch[YS, p]
        value = 0.0
        shared = min(end, spans2[END, y]) - max(begin, spans2[BEGIN, y])
        union = (end - begin) + (spans2[END, y] - spans2[BEGIN, y]) - shared
        if nodes1[KIND, x] == nodes2[KIND, y] and shared >= threshold * union:
            value = shared / union
        child = p
        while child > scratch[Y_JOIN, p]:
            value = max(value, best[x, scratch[YS, child - 1]])
            child = scratch[Y_JOIN, child - 1]
        best[x, y] = value


@compiled
def fill_best(
    spans1: Floats, nodes1: Ints, roots1: Ints, spans2: Floats, nodes2: Ints, roots2: Ints, threshold: float,
    best: Floats, forest: Floats, scratch: Ints,
) -> None:  # fmt: skip
    """best[x, y]: the largest total of IoU over mappings between the subtrees of x and y.

    Key roots without nodes below, about half of them, need no forest.
    """
    for x in range(nodes1.shape[1]):
        for y in range(nodes2.shape[1]):
            best[x, y] = 0.0
    for x in roots1:
        if nodes1[FIRST, x] == x:
            fill_leaf(x, spans1, nodes1, spans2, nodes2, threshold, best, scratch)
    for y in roots2:
        if nodes2[FIRST, y] == y:
            fill_leaf(y, spans2, nodes2, spans1, nodes1, threshold, best.T, scratch)
    for x0 in roots1:
        begin, end, inner = spans1[BEGIN, x0], spans1[END, x0], nodes1[FIRST, x0] < x0
        for y0 in roots2:
            if inner and nodes2[FIRST, y0] < y0 and begin < spans2[END, y0] and spans2[BEGIN, y0] < end:
                fill_forest(x0, y0, spans1, nodes1, spans2, nodes2, threshold, best, forest, scratch)


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
    scratch = np.empty((4, widest), np.int64)
    for i in range(firsts.shape[0]):
        t1, t2 = firsts[i], seconds[i]
        a, b, c, d = offsets[t1], offsets[t1 + 1], offsets[t2], offsets[t2 + 1]
        mirrored = cost[t1, 1] * cost[t2, 1] < cost[t1, 0] * cost[t2, 0]
        spans1, nodes1, roots1 = renumber(left[a:b], right[a:b], kind[a:b], size[a:b], depth[a:b], mirrored)
        spans2, nodes2, roots2 = renumber(left[c:d], right[c:d], kind[c:d], size[c:d], depth[c:d], mirrored)
        fill_best(spans1, nodes1, roots1, spans2, nodes2, roots2, threshold, best, forest, scratch)
        result[i] = best[b - a - 1, d - c - 1]
    return result


@compiled
def pairs(
    offsets: Ints, left: Floats, right: Floats, kind: Ints, size: Ints, depth: Ints, cost: Floats, threshold: float
) -> tuple[Ints, Ints]:
    """The matched nodes (preorder numbers) of trees 0 and 1, in no order: fill the tables, then walk them back."""
    n, m = offsets[1], offsets[2] - offsets[1]
    mirrored = cost[0, 1] * cost[1, 1] < cost[0, 0] * cost[1, 0]
    spans1, nodes1, roots1 = renumber(left[:n], right[:n], kind[:n], size[:n], depth[:n], mirrored)
    spans2, nodes2, roots2 = renumber(left[n:], right[n:], kind[n:], size[n:], depth[n:], mirrored)
    best, forest = np.empty((n, m), np.float64), np.empty((n + 1, m + 1), np.float64)
    scratch = np.empty((4, max(n, m)), np.int64)
    fill_best(spans1, nodes1, roots1, spans2, nodes2, roots2, threshold, best, forest, scratch)
    todo = np.empty((n + m + 2, 2), np.int64)
    todo[0, 0], todo[0, 1] = n - 1, m - 1
    waiting, found = 1, 0
    first, second = np.empty(n, np.int64), np.empty(n, np.int64)
    while waiting:
        waiting -= 1
        x0, y0 = todo[waiting, 0], todo[waiting, 1]
        p, q = fill_forest(x0, y0, spans1, nodes1, spans2, nodes2, threshold, best, forest, scratch)
        while p and q and forest[p, q] > 0:
            x, y = scratch[XS, p - 1], scratch[YS, q - 1]
            if forest[p, q] == forest[p - 1, q]:
                p -= 1
            elif forest[p, q] == forest[p, q - 1]:
                q -= 1
            elif nodes1[FIRST, x] == nodes1[FIRST, x0] and nodes2[FIRST, y] == nodes2[FIRST, y0]:
                first[found], second[found] = nodes1[NUMBER, x], nodes2[NUMBER, y]
                found += 1
                p, q = p - 1, q - 1
            else:  # the two subtrees pair as wholes: come back to them
                todo[waiting, 0], todo[waiting, 1] = x, y
                waiting += 1
                p, q = scratch[X_JOIN, p - 1], scratch[Y_JOIN, q - 1]
    return first[:found], second[:found]
