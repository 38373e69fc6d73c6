"""Struct-IoU the slow ways: exhaustive search over alignments, and the recursion of the thesis written plainly."""

from bisect import bisect_right

from groundling.structures import Tree


def iou(a: tuple[float, float], b: tuple[float, float]) -> float:
    shared = max(0.0, min(a[1], b[1]) - max(a[0], b[0]))
    return shared / ((a[1] - a[0]) + (b[1] - b[0]) - shared)


def intervals(tree: Tree) -> list[tuple[float, float]]:
    return list(zip(tree.arrays.left.tolist(), tree.arrays.right.tolist(), strict=True))


def descendants(tree: Tree) -> list[set[int]]:
    below: list[set[int]] = [set() for _ in tree.labels]
    for node, parent in reversed(list(enumerate(tree.parents))):
        if parent >= 0:
            below[parent] |= below[node] | {node}
    return below


def total_by_enumeration(a: Tree, b: Tree, labels: bool = True) -> float:
    """Try every set of matchings without conflict (definition 5.9): exponential, for a handful of nodes."""
    spans_a, spans_b, below_a, below_b = intervals(a), intervals(b), descendants(a), descendants(b)

    def conflicted(i: int, j: int, k: int, m: int) -> bool:
        return (k in below_a[i]) != (m in below_b[j]) or (i in below_a[k]) != (j in below_b[m])

    def search(i: int, chosen: list[tuple[int, int]]) -> float:
        if i == len(a.labels):
            return sum(iou(spans_a[x], spans_b[y]) for x, y in chosen)
        best = search(i + 1, chosen)
        for j in range(len(b.labels)):
            if labels and a.labels[i] != b.labels[j]:
                continue
            if iou(spans_a[i], spans_b[j]) == 0:  # adds nothing and only restricts the others
                continue
            if all(j != y and not conflicted(i, j, x, y) for x, y in chosen):
                best = max(best, search(i + 1, [*chosen, (i, j)]))
        return best

    return search(0, [])


def total_by_recursion(a: Tree, b: Tree, labels: bool = True) -> float:
    """The recursion f, g of thesis 5.3.2 with dummy roots, in O(n^2 m^2); -inf where labels forbid f."""
    spans_a, spans_b = intervals(a), intervals(b)
    below_a, below_b = descendants(a), descendants(b)
    f: dict[tuple[int, int], float] = {}

    def g(d1: list[int], d2: list[int]) -> float:
        """Algorithm 5.1: best sum of f over same-length ordered disjoint descendant sequences."""
        ends1, ends2 = sorted({spans_a[x][1] for x in d1}), sorted({spans_b[y][1] for y in d2})
        by_end1 = [[x for x in d1 if spans_a[x][1] == e] for e in ends1]
        by_end2 = [[y for y in d2 if spans_b[y][1] == e] for e in ends2]
        table = [[0.0] * (len(ends2) + 1) for _ in range(len(ends1) + 1)]
        for i in range(1, len(ends1) + 1):
            for j in range(1, len(ends2) + 1):
                best = max(table[i - 1][j], table[i][j - 1])
                for x in by_end1[i - 1]:
                    for y in by_end2[j - 1]:
                        before = table[bisect_right(ends1, spans_a[x][0])][bisect_right(ends2, spans_b[y][0])]
                        best = max(best, f[x, y] + before)
                table[i][j] = best
        return table[-1][-1]

    for x in reversed(range(len(a.labels))):
        for y in reversed(range(len(b.labels))):
            same = not labels or a.labels[x] == b.labels[y]
            f[x, y] = iou(spans_a[x], spans_b[y]) + g(sorted(below_a[x]), sorted(below_b[y])) if same else -float("inf")
    return g(list(range(len(a.labels))), list(range(len(b.labels))))
