"""The demo of AV-NSL: it learns to cut and parse speech by listening to captions and looking at drawings."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from groundling.algorithms.segment_insertion import uniform_words
from groundling.drawing.timeline import draw_segments, draw_timed_tree
from groundling.experiments.avnsl import timed
from groundling.experiments.avnsl_data import Material, baseline_trees, boundaries, prepare, struct_iou, with_owners
from groundling.reports.sections import Picture, Section, Table
from groundling.structures.segmentation import Segmentation
from groundling.structures.tree import Tree
from groundling.systems.avnsl import Config, Model, Utterances, train
from groundling.systems.avnsl.encoder import Listened, recall_at
from groundling.systems.avnsl.induce import Segmented, parse_spans, train_learner
from groundling.systems.avnsl.segment import Cut, segment_by_attention
from groundling.worlds.spoken_captions import make_spoken_world

TRAINING, TEST = 400, 60
SETTINGS = Config(epochs=12)


def run(say: Callable[[str], None], seed: int) -> list[Section]:
    """Speak a world, learn it, and show words and trees over time."""
    say("speaking captions")
    material = prepare(TRAINING, TEST, seed)
    model = train(SETTINGS, material.training, seed=seed, say=say, device="cpu")
    say("parsing speech never heard")
    sounds = material.data.sounds[material.cut :]
    heard = model.listen(sounds)
    words = [segment_by_attention(s, h, Cut.of(SETTINGS)) for s, h in zip(sounds, heard, strict=True)]
    trees = [tree for tree in model.parse_segments(heard, words) if tree is not None]
    say("the same with the true words")
    oracle = _oracle(material, model, seed)
    return [_segment_section(material, model, words, seed), _tree_section(material, words, trees, oracle, seed)]


def _oracle(material: Material, model: Model, seed: int) -> list[Tree]:
    heard: list[Listened] = model.listen(material.data.sounds)
    whole = with_owners([h.layers[SETTINGS.vector_layer] for h in heard], material.words, material)
    cut = material.cut
    assert whole.owners is not None
    training = Segmented(whole.rows[:cut], whole.counts[:cut], whole.images[:cut], whole.features, whole.owners[:cut])
    learner = train_learner(SETTINGS, training, seed=seed, device="cpu")
    return timed(parse_spans(learner, whole)[cut:], material.words[cut:])


def _segment_section(material: Material, model: Model, words: Sequence[Segmentation], seed: int) -> Section:
    even = [
        uniform_words(len(gold.segments), sound.voiced, sound.duration)
        for gold, sound in zip(material.gold_words, material.data.sounds[material.cut :], strict=True)
    ]
    ways = {"uniform (told the number of words)": even, "[CLS] attention + segment insertion": words}
    rows = [
        (name, *(round(boundaries(material.gold_words, found)[m], 1) for m in ("precision", "recall", "f1")))
        for name, found in ways.items()
    ]
    cut, data = material.cut, material.data
    unheard = Utterances(data.sounds[cut:], data.images[cut:] - data.images[cut], data.features[data.images[cut] :])
    found = recall_at(model.network.encoder, unheard, 5)
    clip = make_spoken_world(TRAINING + TEST, seed).clip(material.cut)
    picture = draw_segments(words[0].to_dict(), clip.samples.tolist(), clip.words.to_dict())
    return Section(
        "AV-NSL: words in speech",
        f"{TRAINING} drawn scenes were described aloud by a built-in synthesiser, a new speaker each time, without "
        "pauses between words. A small transformer learned to find the picture of a description "
        f"(of {TEST} new pictures it ranks the right one among the first five for {100 * found:.0f} % of new "
        "descriptions). It was never told what a word is; where its [CLS] token looks tells.",
        tables=[Table(("word boundaries within 20 ms", "precision", "recall", "F1"), rows)],
        pictures=[
            Picture(picture, "A description never heard before: what was found, and the words that were spoken.")
        ],
    )


def _tree_section(
    material: Material, words: Sequence[Segmentation], trees: Sequence[Tree], oracle: Sequence[Tree], seed: int
) -> Section:
    gold, rng = material.gold_trees, np.random.default_rng(seed)
    rows = [
        (f"{kind} trees", round(struct_iou(gold, baseline_trees(words, kind, rng)), 3))
        for kind in ("left", "random", "right")
    ]
    rows += [
        ("AV-NSL", round(struct_iou(gold, trees), 3)),
        ("AV-NSL told the true words", round(struct_iou(gold, oracle), 3)),
    ]
    clip = make_spoken_world(TRAINING + TEST, seed).clip(material.cut)
    samples, end = clip.samples.tolist(), clip.words.duration
    return Section(
        "AV-NSL: trees over speech",
        "VG-NSL's parser works on vectors of those stretches of sound and prefers to join what pictures show. No text "
        "was read; the reference trees are for the scores only. Right-branching trees suit English word order, and "
        "win in the thesis too.",
        tables=[Table(("trees over seconds", "Struct-IoU"), rows)],
        pictures=[
            Picture(draw_timed_tree(trees[0].to_dict(), samples, duration=end), "The tree that was found."),
            Picture(draw_timed_tree(gold[0].to_dict(), samples, duration=end), "The reference, with its words."),
        ],
    )
