"""All dependency trees over a few words, by enumeration."""

from itertools import product

import numpy as np


def all_trees(n: int, single_root: bool = True):
    """Every head vector over words 1..n (heads[0] = -1) that is a tree under 0."""
    for heads in product(range(n + 1), repeat=n):
        vector = (-1, *heads)
        if single_root and heads.count(0) != 1:
            continue
        if all(reaches_root(vector, word) for word in range(1, n + 1)):
            yield vector


def reaches_root(heads, word: int) -> bool:
    for _ in range(len(heads)):
        if word == 0:
            return True
        word = heads[word]
    return False


def is_projective(heads) -> bool:
    arcs = [(min(w, h), max(w, h)) for w, h in enumerate(heads) if w]
    return not any(a < c < b < d for a, b in arcs for c, d in arcs)


def total(scores: np.ndarray, heads) -> float:
    return float(sum(scores[w, heads[w]] for w in range(1, len(heads))))
