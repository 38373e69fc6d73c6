"""Trees without linguistic knowledge: left-branching, right-branching and random binary (thesis 3.3, 4.3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from groundling.structures.tree import Tree


def left_branching(words: Sequence[str]) -> Tree:
    """((a b) c) ...

    >>> str(left_branching(["a", "black", "cat"]))
    '( ( a black ) cat )'
    """
    return Tree.from_spans(words, [(0, end) for end in range(2, len(words) + 1)])


def right_branching(words: Sequence[str]) -> Tree:
    """(a (b c)) ...

    >>> str(right_branching(["a", "black", "cat"]))
    '( a ( black cat ) )'
    """
    return Tree.from_spans(words, [(start, len(words)) for start in range(len(words) - 1)])


def random_binary(words: Sequence[str], rng: np.random.Generator) -> Tree:
    """Join two random neighbours, words or groups, until one is left (thesis 5.4.2).

    >>> random_binary(["a", "cat"], np.random.default_rng(0)).spans()
    [Span(start=0, end=2, label='')]
    """
    edges = list(range(len(words) + 1))  # where the groups begin and end
    spans: list[tuple[int, int]] = []
    while len(edges) > 2:
        place = int(rng.integers(1, len(edges) - 1))
        spans.append((edges[place - 1], edges[place + 1]))
        del edges[place]
    return Tree.from_spans(words, spans)
