from pathlib import Path

import numpy as np
import pytest

from groundling.algorithms.branching import left_branching, right_branching
from groundling.errors import DataError
from groundling.experiments import vgnsl, vgnsl_baselines, vgnsl_data
from groundling.experiments.vgnsl_runs import VARIANTS, Kept, choose, trees_of, unflat
from groundling.metrics.parseval import ParsEval
from groundling.structures.tree import Tree
from groundling.systems.vgnsl import Captions

WORDS = [("a", "b", "c"), ("d",), ("e", "f")]
LEFT = np.array([[0, 2], [0, 3], [0, 2]], dtype=np.uint8)
RIGHT = np.array([[1, 3], [0, 3], [0, 2]], dtype=np.uint8)


def kept(*checkpoints: np.ndarray) -> Kept:
    spans = np.stack(checkpoints)
    return Kept(np.arange(len(spans)) + 1.0, np.zeros(len(spans)), spans, spans, [{"a": 0.5}] * len(spans), 1.5)


def test_runs_are_read_back_as_they_were_kept(tmp_path: Path) -> None:
    run = kept(LEFT, RIGHT)
    run.write(tmp_path / "x.npz")
    again = Kept.load(tmp_path / "x.npz")
    assert np.array_equal(again.test, run.test) and again.concreteness == run.concreteness and again.seconds == 1.5


def test_flat_spans_become_trees_again() -> None:
    assert [len(own) for own in unflat(LEFT, WORDS)] == [2, 0, 1]
    assert [str(tree) for tree in trees_of(LEFT, WORDS)] == ["( ( a b ) c )", "( d )", "( e f )"]


def test_checkpoints_that_agree_are_chosen() -> None:
    chosen, agreement = choose([kept(RIGHT, LEFT), kept(LEFT, LEFT), kept(LEFT, RIGHT)], WORDS)
    assert agreement == 1
    assert chosen[0] == 1 and chosen[2] == 0
    assert vgnsl.self_f1([kept(RIGHT, LEFT), kept(LEFT)], [1, 0], WORDS) == 1


def test_a_stop_hangs_from_the_root() -> None:
    tree = vgnsl_data.with_stop(Tree.from_brackets("(S (NP dogs) (VP bark loudly))"))
    assert str(tree) == "(S (NP dogs) (VP bark loudly) .)"


def test_missing_corpora_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"efficientnet_lite0_f16\.npz: not there"):
        vgnsl_data.multi30k(tmp_path)


def test_the_real_corpora_have_the_sizes_of_the_text(data_dir: Path) -> None:
    captions = vgnsl_data.multi30k(data_dir)
    assert len(captions.sentences) == 34_965 and captions.features.shape == (6_993, 1_280)
    assert captions.sentences[0][-1] == "."
    one = vgnsl_data.one_caption(data_dir, "de")
    assert len(one.sentences) == 6_993
    dogs = [i for i, words in enumerate(captions.sentences) if "dog" in words]
    assert len(dogs) > 5_000  # Flickr8k likes dogs: captions and images are joined rightly only if features agree
    mean = captions.features[captions.images].mean(0)
    aligned = np.abs(captions.features[captions.images[dogs]].mean(0) - mean).sum()
    assert aligned > 3 * np.abs(captions.features[captions.images[np.array(dogs) - 1]].mean(0) - mean).sum()


def test_silver_validation_trees_and_unseen_images(data_dir: Path) -> None:
    trees = vgnsl_data.silver_validation(data_dir)
    assert len(trees) == 2_535 and all(tree.words[-1] == "." for tree in trees)
    unseen = vgnsl_data.unseen(data_dir)
    assert len(unseen.sentences) == 5 * 485 and len(np.unique(unseen.images)) == 485


def test_branching_baselines_are_those_of_the_thesis(data_dir: Path) -> None:
    """Golden: left 23.32, right 21.36 with the final stop (thesis 23.3, 22.9); right is strong without punctuation."""
    metric, gold = ParsEval("vgnsl"), vgnsl_data.mscoco_trees(data_dir)
    assert len(gold) == 5_000
    left = metric.corpus(gold, [left_branching(tree.words) for tree in gold], bootstrap=0)
    right = metric.corpus(gold, [right_branching(tree.words) for tree in gold], bootstrap=0)
    assert (left.value, right.value) == pytest.approx((0.2332, 0.2136), abs=1e-4)
    bare = vgnsl_data.mscoco_trees(data_dir, punctuation=False)
    right = metric.corpus(bare, [right_branching(tree.words) for tree in bare], bootstrap=0)
    assert right.value == pytest.approx(0.566, abs=1e-3)


def test_baseline_rows_score_kept_spans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gold = tuple(Tree.from_brackets(text) for text in ("(S (NP a b) c)", "(S d e)"))
    monkeypatch.setattr(vgnsl_data, "mscoco_trees", lambda data: gold)
    for seed, spans in enumerate(([[0, 2], [0, 3], [0, 2]], [[1, 3], [0, 3], [0, 2]], [[0, 2], [0, 3], [0, 2]])):
        np.savez(tmp_path / f"baseline_gumbel-{seed}.npz", test=np.array(spans, dtype=np.uint8))
    rows = vgnsl_baselines.baseline_rows("gumbel", tmp_path, tmp_path, pytest.fail)
    assert [row.name for row in rows] == ["Gumbel, F1", "Gumbel, self F1"]
    assert rows[0].ours == pytest.approx(100 * (1 + 2 / 3 + 1) / 3)
    assert rows[1].ours == pytest.approx(100 * (2 / 3 + 1 + 2 / 3) / 3)


def test_concreteness_is_compared_on_words_seen_often(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the frequent words `odd` was seen once where concreteness was measured: it does not count."""
    words = [("dog", "grass", "of", "the", "odd")]
    seen = Captions((("dog", "grass", "of", "the"),) * 9 + (("odd",),), np.zeros(10, dtype=np.int64), np.ones((1, 2)))
    norms = {"dog": 4.9, "grass": 4.8, "of": 1.5, "the": 1.4, "odd": 2.0}
    monkeypatch.setattr(vgnsl, "texts", lambda *_: (words, words))
    monkeypatch.setattr(vgnsl, "read_norms", lambda _: norms)
    monkeypatch.setattr(vgnsl_data, "unseen", lambda _: seen)
    monkeypatch.setattr(vgnsl_data, "multi30k", lambda _: seen.take(np.zeros(50, dtype=np.int64)))
    spans = np.array([[[0, 2], [0, 3], [0, 4], [0, 5]]], dtype=np.uint8)
    learned = [{word: rating / 10 for word, rating in norms.items()} | {"odd": 9.0}]
    runs = [Kept(np.ones(1), np.zeros(1), spans, spans, learned, 1.0, learned)] * 2
    rows = vgnsl.concreteness_rows("VG-NSL+AI", runs, tmp_path)
    assert [row.ours for row in rows] == pytest.approx([1, 1])
    assert "4 of the 100 words; unseen images" in rows[0].note


def test_every_variant_says_what_it_runs_on() -> None:
    assert {variant.data for variant in VARIANTS.values()} == {"multi30k", "no punctuation", "en", "de", "fr"}
    assert all(name == variant.name for name, variant in VARIANTS.items())
