"""Thesis figure 4.1: two trees that a max-duration bipartite matching takes for equal."""

from dataclasses import replace
from itertools import pairwise

from groundling.structures import Tree


def timed(text: str, edges: list[int]) -> Tree:
    times = tuple((float(a), float(b)) for a, b in pairwise(edges))
    return replace(Tree.from_brackets(text), times=times, unit="seconds")


# The figure prints the second leaf as 3-4 under a node 1-5; a node ends with its last child, so it is 3-5 here.
FIRST = timed("(X (X (X a) (X b)) (X (X c) (X d)))", [1, 3, 5, 8, 10])
SECOND = timed("(X (X a) (X (X b) (X (X c) (X d))))", [1, 2, 3, 4, 10])
