import pytest

from groundling.errors import DataError
from groundling.metrics import ParsEval, SelfF1
from groundling.structures import Tree

RUNS = [
    [Tree.from_brackets(text) for text in texts]
    for texts in (
        ["( a ( b ( c d ) ) )", "( a ( b c ) )"],
        ["( a ( ( b c ) d ) )", "( a ( b c ) )"],
        ["( ( ( a b ) c ) d )", "( ( a b ) c )"],
    )
]


def test_self_f1_is_the_mean_over_pairs_of_runs() -> None:
    metric = ParsEval("vgnsl")
    pairs = [metric.corpus(RUNS[i], RUNS[j], bootstrap=0).value for i, j in ((0, 1), (0, 2), (1, 2))]
    assert SelfF1().runs(RUNS).value == pytest.approx(sum(pairs) / 3)
    assert SelfF1().runs([RUNS[2], RUNS[0], RUNS[1]]).value == pytest.approx(sum(pairs) / 3)
    assert SelfF1().corpus(RUNS[0], RUNS[1]).value == pytest.approx(pairs[0])


def test_self_f1_is_1_where_runs_agree_and_needs_two_runs() -> None:
    assert SelfF1().runs([RUNS[0]] * 3).value == 1
    with pytest.raises(DataError, match="needs at least two runs, but 1 was given"):
        SelfF1().runs(RUNS[:1])
