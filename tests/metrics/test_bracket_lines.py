"""The compiled reader must equal the plain one: both were written apart from each other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.errors import DataError, FormatError
from groundling.metrics import ParsEval
from groundling.metrics.bracket_lines import compare_pairs
from groundling.metrics.bracket_reader import FIRST_TOKEN, Rules
from groundling.metrics.evalb import evalb_row
from groundling.metrics.evalb_prm import EvalbParameters, parse_prm
from groundling.structures import Tree
from oracles.random_trees import small_trees

LABELS = ("NP", "VP", "NP-SBJ", "ADVP", "PRT", ",", "TOP", "")
trees = small_trees(max_words=4, max_nodes=9, labels=LABELS)  # type: ignore[arg-type]
METRICS = [
    ParsEval(name, labels=labels) for name in ("plain", "vgnsl", "pcfg", "evalb") for labels in (None, True, False)
]
METRICS += [ParsEval("vgnsl", punctuation=False), ParsEval("pcfg", average="corpus", types=("ADVP",))]


@given(st.lists(st.tuples(trees, trees), min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
def test_statistics_of_lines_equal_those_of_trees(pairs: list[tuple[Tree, Tree]]) -> None:
    for metric in METRICS:
        fitting = []
        for gold, pred in pairs:
            try:
                fitting.append((str(gold), str(pred), metric.statistics(gold, pred)))
            except DataError:
                with pytest.raises(DataError):
                    metric.matrix_lines([str(gold)], [str(pred)])
        if fitting:
            golds, preds, expected = zip(*fitting, strict=True)
            assert np.allclose(metric.matrix_lines(golds, preds), np.array(expected))


PRM = parse_prm("DELETE_LABEL ,\nDELETE_LABEL ``\nQUOTE_LABEL ``\nQUOTE_LABEL NN\nEQ_LABEL A B\nEQ_WORD x y\n")
pieces = st.sampled_from(
    ["(S ", "(A ", "(B-1 ", "( ", ")", ") ", "(N x)", "(N y)", "(A x) ", "(, ,)", '(`` ")', '(NN ")', "x "]
)
texts = st.lists(pieces, max_size=12).map("".join)


@given(texts, texts)
@settings(max_examples=400, deadline=None)
def test_any_text_gives_the_same_row_or_a_fault_in_both_readers(gold: str, test: str) -> None:
    for labelled in (True, False):
        rules = Rules(evalb=True, labels=labelled, multiset=True, whole=True, words=True, mode=FIRST_TOKEN)
        prm = EvalbParameters(PRM.delete, PRM.delete, PRM.quotes, PRM.label_class, PRM.word_class, labelled)
        found = compare_pairs([(gold, test)], rules, prm, ()).tolist()[0]
        try:
            expected = evalb_row(gold, test, prm)
        except FormatError:
            assert found[1] == -1
            continue
        assert tuple(found) == expected[:8]


def test_bare_words_and_unlabelled_styles_are_read_as_trees_are() -> None:
    metric = ParsEval("vgnsl")
    golds, preds = ["((a cat) sleeps)", "dogs"], ["(a (cat sleeps))", "dogs"]
    by_trees = [
        metric.statistics(Tree.from_brackets(a, False), Tree.from_brackets(b, False))
        for a, b in zip(golds, preds, strict=True)
    ]
    assert np.allclose(metric.matrix_lines(golds, preds, labelled=False), by_trees)
    score = metric.corpus_lines(["( a ( b c ) )"], ["(S (A a) (B (C b) (D c)))"])
    assert score == metric.score(Tree.from_brackets("( a ( b c ) )"), Tree.from_brackets("(S (A a) (B (C b) (D c)))"))


def test_faults_name_the_line() -> None:
    metric = ParsEval("vgnsl")
    with pytest.raises(DataError, match="item 2: the gold tree has 2 words, the predicted one 3"):
        metric.corpus_lines(["( a b )", "( a b )"], ["( a b )", "( a b c )"])
    with pytest.raises(DataError, match="line 2: the test file has no such line"):
        metric.corpus_lines(["( a b )", "( a b )"], ["( a b )"])
    with pytest.raises(FormatError, match="item 1: 1 bracket"):
        metric.corpus_lines(["( a b"], ["( a b )"])
    with pytest.raises(DataError, match="nothing to score"):
        metric.corpus_lines([], [])
