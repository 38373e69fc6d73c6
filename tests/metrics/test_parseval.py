from pathlib import Path

import pytest
from hypothesis import given, settings

from groundling.errors import ConfigError, DataError
from groundling.metrics import ParsEval
from groundling.structures import Tree
from oracles.random_trees import small_trees

GOLD = Tree.from_brackets("(S (NP (DT The) (NN cat)) (VP (V sat) (PP (IN on) (NP (DT the) (NN mat)))))")
PRED = Tree.from_brackets("(S (NP (DT The) (NN cat)) (VP (V sat) (NP (DT on) (NN the) (NN mat))))")


def test_figure_2_2_of_the_thesis() -> None:
    score = ParsEval("plain").score(GOLD, PRED)
    assert (score.details["precision"], score.details["recall"]) == (3 / 4, 3 / 5)
    assert score.value == pytest.approx(2 / 3)


def counts_by_lists(convention: str, labels: bool, gold: Tree, pred: Tree) -> tuple[int, int, int]:
    """The rules of METHODS written as list operations: cross off matches one by one."""
    sides = []
    for tree in (gold, pred):
        spans = [x for x, tag in zip(tree.spans(), tree.preterminals, strict=True) if not tag]
        if convention in ("vgnsl", "pcfg"):
            spans = [s for s in spans if s.end - s.start > 1]
        if convention == "pcfg":
            spans = [s for s in spans if (s.start, s.end) != (0, len(tree.words))]
        keys: list[object] = [tuple(s) if labels else (s.start, s.end) for s in spans]
        sides.append(keys if convention in ("plain", "evalb") else list(dict.fromkeys(keys)))
    left, matched = list(sides[1]), 0
    for key in sides[0]:
        if key in left:
            left.remove(key)
            matched += 1
    return matched, len(sides[0]), len(sides[1])


@given(small_trees(max_words=5, max_nodes=9), small_trees(max_words=5, max_nodes=9))
@settings(max_examples=150, deadline=None)
def test_counts_equal_crossing_off_a_list(a: Tree, b: Tree) -> None:
    for convention in ("plain", "evalb", "vgnsl", "pcfg"):
        for labels in (True, False):
            metric = ParsEval(convention, labels=labels)
            if len(a.words) != len(b.words):
                with pytest.raises(DataError, match=r"words|Length unmatch"):
                    metric.statistics(a, b)
                continue
            assert tuple(metric.statistics(a, b)[:3]) == counts_by_lists(convention, labels, a, b)


@given(small_trees(max_words=5, max_nodes=9))
@settings(max_examples=50, deadline=None)
def test_a_tree_scores_1_with_itself(tree: Tree) -> None:
    for convention in ("plain", "evalb", "vgnsl", "pcfg"):
        assert ParsEval(convention).score(tree, tree).value == 1


def test_conventions_differ_as_documented() -> None:
    gold = Tree.from_brackets("(S (NP (NP (N dogs))) (VP (V bark) (ADVP (RB loudly))) (. .))")
    pred = Tree.from_brackets("(S (NP (N dogs)) (VP (V bark) (PRT (RB loudly))) (. .))")
    counts = {name: ParsEval(name).statistics(gold, pred)[:3].tolist() for name in ("plain", "evalb", "vgnsl", "pcfg")}
    assert counts["plain"] == [3, 5, 4]  # ADVP and PRT differ; NP over NP counts twice
    assert counts["evalb"] == [4, 5, 4]  # ADVP = PRT
    assert counts["vgnsl"] == [2, 2, 2]  # whole sentence and "bark loudly"
    assert counts["pcfg"] == [1, 1, 1]


def test_evalb_deletes_punctuation_and_top_and_cuts_functions() -> None:
    gold = Tree.from_brackets("(TOP (S (NP-SBJ (N dogs) (, ,) (-NONE- *)) (VP (V bark)) (. .)))")
    pred = Tree.from_brackets("(S (NP (N dogs)) (VP (V bark)))")
    score = ParsEval().score(gold, pred)
    assert score.value == 1 and score.details["complete"] == 1 and score.details["tagging"] == 1


def test_sentence_average_is_the_mean_of_sentences() -> None:
    a, b = Tree.from_brackets("( a ( b c ) )"), Tree.from_brackets("( ( a b ) c )")
    assert ParsEval("vgnsl", average="sentence").corpus([a, a], [a, b]).value == pytest.approx(0.75)
    assert ParsEval("pcfg").corpus([a, a], [a, b]).value == pytest.approx(0.5)
    flat = Tree.from_brackets("( a b c )")
    assert ParsEval("pcfg").score(flat, flat).value == 1  # nothing to find, nothing claimed
    assert ParsEval("pcfg").score(flat, a).value == 0


def test_typed_recall_counts_gold_constituents_of_a_type() -> None:
    pred = Tree.from_brackets("( ( The cat ) ( ( sat on ) ( the mat ) ) )")
    details = ParsEval("vgnsl").score(GOLD, pred).details
    assert {key: details[key] for key in details if key.startswith("recall ")} == {
        "recall NP": 1.0,
        "recall VP": 1.0,
        "recall PP": 0.0,
    }
    assert ParsEval("plain", types=("NP",)).score(GOLD, PRED).details["recall NP"] == 0.5


def test_punctuation_can_be_dropped_first() -> None:
    gold, pred = Tree.from_brackets("( a ( b c ) . )"), Tree.from_brackets("( a ( b ( c . ) ) )")
    assert ParsEval("vgnsl").score(gold, pred).value < 1
    assert ParsEval("vgnsl", punctuation=False).score(gold, pred).value == 1


def test_signature_is_resolved(tmp_path: Path) -> None:
    assert "|labels:no|average:corpus|" in ParsEval("vgnsl").signature
    assert "|labels:yes|average:corpus|punctuation:yes|prm:COLLINS|" in ParsEval().signature
    prm = tmp_path / "mine.prm"
    prm.write_text("LABELED 0\nDELETE_LABEL X\n")
    assert "|labels:no|" in ParsEval(prm=str(prm)).signature and "prm:mine-" in ParsEval(prm=str(prm)).signature


def test_errors_say_what_to_do() -> None:
    with pytest.raises(ConfigError, match=r"no convention is called 'evalbb'. Did you mean 'evalb'\?"):
        ParsEval("evalbb")
    with pytest.raises(ConfigError, match=r"average is 'all'. Use 'corpus' or 'sentence'"):
        ParsEval(average="all")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"belongs to the convention 'evalb', not to 'vgnsl'"):
        ParsEval("vgnsl", prm="x.prm")
    with pytest.raises(DataError, match=r"the gold tree has 2 words, the predicted one 3. ParsEval compares"):
        ParsEval("vgnsl").score(Tree.from_brackets("( a b )"), Tree.from_brackets("( a b c )"))
    with pytest.raises(DataError, match=r"item 2: Words unmatch \(dogs\|cats\)"):
        dogs, cats = Tree.from_brackets("(S (N dogs))"), Tree.from_brackets("(S (N cats))")
        ParsEval().corpus([dogs, dogs], [dogs, cats])
