"""Every plausible tree of the ambiguous string N (P N){n} (thesis 5.4.2, figure 5.9)."""

from __future__ import annotations

from functools import cache

from groundling.structures.tree import Tree


def plausible_trees(repeats: int) -> list[Tree]:
    """All trees of N (P N){repeats} under NP -> N | NP PP, PP -> P NP; the Catalan number of `repeats`.

    >>> [str(tree) for tree in plausible_trees(1)]
    ['(NP (NP (N n0)) (PP (P p0) (NP (N n1))))']
    >>> len(plausible_trees(8))
    1430
    """
    return [Tree.from_brackets(text) for text in _noun_phrases(0, repeats)]


@cache
def _noun_phrases(first: int, last: int) -> tuple[str, ...]:
    """Noun phrases from noun `first` to noun `last`: a smaller one, then one PP with the rest."""
    if first == last:
        return (f"(NP (N n{first}))",)
    return tuple(
        f"(NP {head} (PP (P p{split}) {inner}))"
        for split in range(first, last)
        for head in _noun_phrases(first, split)
        for inner in _noun_phrases(split + 1, last)
    )
