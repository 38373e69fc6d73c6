from itertools import permutations

import pytest
from hypothesis import given, settings

from golden.duration_matching import FIRST, SECOND
from groundling.errors import DataError
from groundling.metrics import StructIoU
from groundling.metrics.duration_matching import DurationMatching
from groundling.structures import Tree
from oracles.random_trees import small_trees
from oracles.struct_iou import intervals


def test_figure_4_1_is_perfect_here_and_not_in_struct_iou() -> None:
    assert DurationMatching().score(FIRST, SECOND).value == 1
    assert StructIoU().score(FIRST, SECOND).value < 0.8


def pairs_by_enumeration(a: Tree, b: Tree) -> int:
    """Try every matching: the most overlap, then the most overlapping pairs."""
    x, y = sorted((intervals(a), intervals(b)), key=len)
    best = (0.0, 0)
    for chosen in permutations(y, len(x)):
        overlaps = [min(p[1], q[1]) - max(p[0], q[0]) for p, q in zip(x, chosen, strict=True)]
        kept = [o for o in overlaps if o > 0]
        best = max(best, (round(sum(kept), 6), len(kept)))
    return best[1]


trees = small_trees(max_nodes=5, timed=True)


@given(trees, trees)
@settings(max_examples=60, deadline=None)
def test_pairs_equal_enumeration_of_all_matchings(a: Tree, b: Tree) -> None:
    matched, gold, pred = DurationMatching().statistics(a, b).tolist()
    assert (matched, gold, pred) == (pairs_by_enumeration(a, b), len(a.labels), len(b.labels))


def test_different_units_are_an_error() -> None:
    with pytest.raises(DataError, match="Put both on the same axis"):
        DurationMatching().score(FIRST, Tree.from_brackets("(S a b)"))
