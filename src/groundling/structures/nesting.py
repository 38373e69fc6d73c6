"""Surgery on nested spans in preorder: binarise, drop leaves, restore preorder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple


class Nodes(NamedTuple):
    """Labels, starts and ends of nodes in preorder."""

    labels: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]


def preorder(nodes: Iterable[tuple[int, int, str]]) -> Nodes:
    """Order nested (start, end, label): outer before inner, equal spans as they come.

    >>> preorder([(1, 2, "N"), (0, 2, "NP")]).labels
    ('NP', 'N')
    """
    ordered = sorted(nodes, key=lambda node: (node[0], -node[1]))
    return Nodes(tuple(n[2] for n in ordered), tuple(n[0] for n in ordered), tuple(n[1] for n in ordered))


def child_spans(starts: Sequence[int], ends: Sequence[int], parents: Sequence[int]) -> list[list[tuple[int, int]]]:
    """For each node the spans of its children, words that hang from it directly included, left to right."""
    nodes: list[list[tuple[int, int]]] = [[] for _ in starts]
    for node, parent in enumerate(parents):
        if parent >= 0:
            nodes[parent].append((starts[node], ends[node]))
    return [_fill(starts[k], ends[k], inner) for k, inner in enumerate(nodes)]


def _fill(start: int, end: int, inner: list[tuple[int, int]]) -> list[tuple[int, int]]:
    filled: list[tuple[int, int]] = []
    position = start
    for span in [*inner, (end, end)]:
        filled.extend((i, i + 1) for i in range(position, span[0]))
        if span[0] < span[1]:
            filled.append(span)
        position = span[1]
    return filled


def binarise(
    starts: Sequence[int],
    ends: Sequence[int],
    labels: Sequence[str],
    parents: Sequence[int],
    direction: Literal["left", "right"],
) -> list[tuple[int, int, str]]:
    """Add an unlabelled node for each split of a node with more than two children."""
    nodes: list[tuple[int, int, str]] = []
    for k, children in enumerate(child_spans(starts, ends, parents)):
        nodes.append((starts[k], ends[k], labels[k]))
        inner = children[1:-1]
        if direction == "right":
            nodes.extend((start, ends[k], "") for start, _ in inner)
        else:
            nodes.extend((starts[k], end, "") for _, end in inner)
    return nodes


def keep_leaves(starts: Sequence[int], ends: Sequence[int], labels: Sequence[str], kept: Sequence[int]) -> Nodes:
    """Keep only the words at positions `kept` (rising); nodes left without a word go."""
    before = [0] * (max(ends) + 1)  # how many kept words stand before each position
    for position in kept:
        before[position + 1] = 1
    for position in range(1, len(before)):
        before[position] += before[position - 1]
    nodes = [(before[s], before[e], x) for s, e, x in zip(starts, ends, labels, strict=True) if before[s] < before[e]]
    return Nodes(tuple(n[2] for n in nodes), tuple(n[0] for n in nodes), tuple(n[1] for n in nodes))
