"""What chapter 4 must show, on the built-in spoken world."""

from dataclasses import replace

import numpy as np
import pytest

from groundling.experiments import demo_avnsl
from groundling.experiments.avnsl import learn_spans, replace_images, timed
from groundling.experiments.avnsl_data import baseline_trees, f1, prepare, typed_recall
from groundling.structures.tree import Tree
from groundling.systems.avnsl.config import Config
from groundling.systems.avnsl.model import segmented
from groundling.systems.avnsl.vectors import segment_vectors


def test_pictures_teach_phrases_and_wrong_pictures_do_not() -> None:
    material = prepare(240, 60, 0)
    cut, gold = material.cut, material.gold_trees
    mels = [sound.mels.reshape(sound.frames, -1) for sound in material.data.sounds]
    vectors = [segment_vectors(frames, words) for frames, words in zip(mels, material.words, strict=True)]
    data = segmented(vectors, material.data.images, material.data.features)

    def score(trees: list[Tree]) -> float:
        return f1(gold, [replace(tree, words=reference.words) for tree, reference in zip(trees, gold, strict=True)])

    config = Config(epochs=12, embedding_dim=64, hidden_dim=64)
    learned, blind = (
        score(timed(learn_spans(config, part, cut, 0)[1][cut:], material.words[cut:]))
        for part in (data, replace_images(data, cut, 0))
    )
    rng = np.random.default_rng(0)
    random, left = (score(baseline_trees(material.words[cut:], kind, rng)) for kind in ("random", "left"))
    assert learned > random + 8 and learned > left + 20
    assert learned > blind + 8


def test_typed_recall_counts_labelled_phrases_of_two_words() -> None:
    gold = [Tree.from_brackets("(S (NP (D a) (N cat)) (VP (V sees) (NP (N dogs))))")]
    found = [Tree.from_brackets("( ( a cat ) ( sees dogs ) )")]
    assert typed_recall(gold, found, "NP") == 100 and typed_recall(gold, found, "PP") == 0
    assert typed_recall(gold, [Tree.from_brackets("( a ( cat ( sees dogs ) ) )")], "NP") == 0


@pytest.mark.slow
def test_words_and_trees_of_the_demo_beat_their_baselines() -> None:
    words, trees = demo_avnsl.run(lambda _: None, 0)
    scores = {row[0]: row[-1] for section in (words, trees) for row in section.tables[0].rows}
    assert scores["[CLS] attention + segment insertion"] > 1.5 * scores["uniform (told the number of words)"]
    assert scores["AV-NSL"] > scores["random trees"] > scores["left trees"]
    assert scores["AV-NSL told the true words"] > scores["AV-NSL"] + 0.2
