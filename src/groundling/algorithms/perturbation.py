"""Perturb word boundaries under a tree: noise, insertion and deletion (thesis 5.4.1, figure 5.4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np

from groundling.structures.nesting import preorder
from groundling.structures.tree import Tree

Perturbation = Callable[[Tree, float, np.random.Generator], Tree]
Times = tuple[tuple[float, float], ...]


def boundaries(tree: Tree) -> list[float]:
    """Word boundaries b_0 .. b_n with silence between words cut out, as the thesis assumes.

    >>> boundaries(replace(Tree.from_brackets("(S a b)"), times=((0.0, 1.0), (3.0, 4.0)), unit="seconds"))
    [0.0, 1.0, 2.0]
    """
    times = tree.times or tuple((float(i), i + 1.0) for i in range(len(tree.words)))
    edges = [times[0][0]]
    for start, end in times:
        edges.append(edges[-1] + (end - start))
    return edges


def without_silence(tree: Tree) -> Tree:
    """The same tree with words that touch."""
    return replace(tree, times=_times(boundaries(tree)))


def noise(tree: Tree, delta: float, rng: np.random.Generator) -> Tree:
    """Noise-delta: each inner boundary in turn moves by |r| of the way to a neighbour, r from U(-delta, delta)."""
    edges = boundaries(tree)
    for i in range(1, len(edges) - 1):
        r = float(rng.uniform(-delta, delta))
        neighbour = edges[i + 1] if r >= 0 else edges[i - 1]
        moved = edges[i] + abs(r) * (neighbour - edges[i])
        if edges[i - 1] < moved < edges[i + 1]:  # never onto a neighbour by rounding
            edges[i] = moved
    return replace(tree, times=_times(edges))


def insert(tree: Tree, delta: float, rng: np.random.Generator) -> Tree:
    """Insert-delta: with probability delta a word breaks in two at a uniform place, each half under the word's tag.

    Longer constituents stay as they are; in a tree of one word the root stays over both halves.
    """
    edges, where, new_edges = boundaries(tree), [0], [boundaries(tree)[0]]
    words: list[str] = []
    for word, (start, end) in zip(tree.words, pairwise(edges), strict=True):
        cut = float(rng.uniform(start, end)) if rng.random() < delta else start
        halves = [cut, end] if start < cut < end else [end]
        words += [word] * len(halves)
        new_edges += halves
        where.append(len(words))
    nodes: list[tuple[int, int, str]] = []
    for node, (start, end) in enumerate(zip(tree.starts, tree.ends, strict=True)):
        first, last = where[start], where[end]
        split = tree.preterminals[node] and last - first == 2
        spans = [(first, first + 1), (first + 1, last)] if split and node else [(first, last)]
        nodes += [(s, e, tree.labels[node]) for s, e in spans]
    return Tree(tuple(words), *preorder(nodes), _times(new_edges), tree.unit)


def delete(tree: Tree, delta: float, rng: np.random.Generator) -> Tree:
    """Delete-delta: each inner boundary goes with probability delta, and the words on its sides become one.

    Deviation: the thesis parses the new words again with its supervised parser; here a joined word takes the place
    of its first part, and constituents that held only later parts vanish.
    """
    edges = boundaries(tree)
    gone = [i for i in range(1, len(edges) - 1) if rng.random() < delta]
    shorter = tree.without(gone)  # word i begins at boundary i
    assert shorter is not None, "the first word always stays"
    kept = [edge for i, edge in enumerate(edges) if i not in set(gone)]
    return replace(shorter, times=_times(kept))


def _times(edges: list[float]) -> Times:
    return tuple(pairwise(edges))


PERTURBATIONS: dict[str, Perturbation] = {"noise": noise, "insert": insert, "delete": delete}
