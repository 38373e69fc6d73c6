import pytest
from hypothesis import given, settings

from golden import struct_iou as golden
from groundling.errors import ConfigError, DataError
from groundling.metrics import StructIoU
from groundling.metrics.struct_iou import with_leaves
from groundling.structures import Tree
from oracles.random_trees import small_trees
from oracles.struct_iou import total_by_recursion


@pytest.mark.parametrize(
    ("gold", "pred", "printed"),
    [
        (golden.YOUR_TURN, golden.YOUR_TURN_LEFT, 0.75),
        (golden.YOUR_TURN, golden.YOUR_TURN_RIGHT, 0.7181),  # the thesis prints 0.81; its printed times give this
        (golden.HEBREW_GOLD, golden.HEBREW_PRED, 0.635),
    ],
)
def test_figures_of_the_thesis(gold: Tree, pred: Tree, printed: float) -> None:
    score = StructIoU().score(gold, pred)
    assert score.value == pytest.approx(printed, abs=0.0005)
    assert score.value == pytest.approx(2 * total_by_recursion(gold, pred) / (len(gold.labels) + len(pred.labels)))


def test_hebrew_figure_aligns_the_nodes_of_equal_colour() -> None:
    matches = StructIoU().alignment(golden.HEBREW_GOLD, golden.HEBREW_PRED).matches
    labels = [(golden.HEBREW_GOLD.labels[a], golden.HEBREW_PRED.labels[b]) for a, b, _ in matches]
    assert labels == [(x, x) for x in ("NP", "SYN_WDT", "DTT", "NP", "SYN_NN", "NN", "SYN_yyQM", "yyQM")]


timed, words = small_trees(timed=True), small_trees(max_words=6, max_nodes=10)


@given(timed, timed)
@settings(max_examples=150, deadline=None)
def test_score_is_symmetric_in_0_1_and_1_only_for_identical_trees(a: Tree, b: Tree) -> None:
    metric = StructIoU()
    there, back = metric.score(a, b).value, metric.score(b, a).value
    assert there == pytest.approx(back) and 0 <= there <= 1 + 1e-12
    assert metric.score(a, a).value == pytest.approx(1)
    same = (a.labels, a.starts, a.ends, a.times) == (b.labels, b.starts, b.ends, b.times)
    # Bare words are not nodes, so only trees whose every word has one are told apart by their times.
    if with_leaves(a) is a and with_leaves(b) is b:
        assert (there > 1 - 1e-12) == same


@given(words, words)
@settings(max_examples=60, deadline=None)
def test_unlabelled_score_ignores_labels_and_counts_every_word(a: Tree, b: Tree) -> None:
    metric = StructIoU(labels=False)
    x, y = with_leaves(a), with_leaves(b)
    expected = 2 * total_by_recursion(x, y, labels=False) / (len(x.labels) + len(y.labels))
    assert metric.score(a, b).value == pytest.approx(expected)
    assert metric.score(a.relabelled(lambda _: "Z"), b).value == pytest.approx(expected)


def test_unlabelled_score_is_1_for_the_same_structure_with_and_without_tags() -> None:
    gold, pred = Tree.from_brackets("(S (NP (D a) (N cat)) (V runs))"), Tree.from_brackets("( ( a cat ) runs )")
    assert StructIoU(labels=False).score(gold, pred).value == 1
    assert StructIoU().score(gold, pred).value == 0


def test_corpus_average_weighs_by_nodes_and_sentence_average_does_not() -> None:
    golds = [Tree.from_brackets("(S (N dogs) (V bark))"), Tree.from_brackets("(N dogs)")]
    preds = [Tree.from_brackets("(S (N dogs) (N bark))"), Tree.from_brackets("(N dogs)")]
    assert StructIoU().corpus(golds, preds).value == pytest.approx((2 / 3 + 1) / 2)
    assert StructIoU(average="corpus").corpus(golds, preds).value == pytest.approx(2 * 3 / 8)


def test_signature_names_unit_and_choices() -> None:
    score = StructIoU(labels=False, terminals="any").score(golden.YOUR_TURN, golden.YOUR_TURN)
    assert score.signature.startswith("StructIoU|labels:no|terminals:any|average:sentence|unit:seconds|v:")
    assert "threshold:0.5" in StructIoU(threshold=0.5).signature


def test_similarities_equal_scores_one_by_one() -> None:
    trees = [Tree.from_brackets(t) for t in ("(S (N a) (V b))", "(S (X (N a)) (N b))", "(N a)")]
    matrix = StructIoU().similarities(trees)
    expected = [StructIoU().score(a, b).value for a in trees for b in trees]
    assert matrix.ravel().tolist() == pytest.approx(expected)


def test_a_wrong_unit_names_the_item() -> None:
    tree = Tree.from_brackets("(S a b)")
    with pytest.raises(DataError, match=r"item 2: a tree is measured in characters, but this score counts words"):
        StructIoU().corpus([tree, tree], [tree, tree.in_characters()])
    with pytest.raises(DataError, match=r"measured in words, but this score counts seconds. Put all trees"):
        StructIoU(unit="seconds").score(tree, tree)


def test_unknown_choices_are_errors() -> None:
    with pytest.raises(ConfigError, match=r"Use terminals 'same' or 'any'"):
        StructIoU(terminals="some")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"average 'sentence' or 'corpus'"):
        StructIoU(average="all")  # type: ignore[arg-type]


def test_parallel_scoring_gives_the_same_score() -> None:
    trees = [Tree.from_brackets(f"(S (N a) {'(V b) ' * (k % 5 + 1)})") for k in range(300)]
    preds = trees[1:] + trees[:1]
    assert StructIoU().corpus(trees, preds, n_jobs=2) == StructIoU().corpus(trees, preds)


def test_draw_shows_the_alignment() -> None:
    picture = StructIoU().draw(golden.YOUR_TURN, golden.YOUR_TURN_LEFT)
    assert picture.startswith("<svg") and 'data-match="gold-0"' in picture and "75.00" in picture
    assert (
        StructIoU(labels=False)
        .draw(Tree.from_brackets("( a b )"), Tree.from_brackets("(S (A a) (B b))"))
        .count("data-match")
        == 6
    )
