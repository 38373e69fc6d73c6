"""Multi30K spoken by eSpeak NG: English captions with real images to learn from, silver trees to test on.

The thesis has human speech (SpokenCOCO) and VG-HuBERT; this is one synthetic speaker family and our small encoder.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from groundling.experiments.avnsl import SETTINGS, tables_of
from groundling.experiments.avnsl_data import Material
from groundling.experiments.tables import ResultRow, Results
from groundling.experiments.vgnsl_data import multi30k, silver_trees
from groundling.metrics.parseval import without_punctuation
from groundling.structures.tree import Tree
from groundling.systems.avnsl.data import Utterances, hear
from groundling.worlds.spoken_espeak import espeak_voice


def prepare_multi30k(data: Path, training: int, test: int, seed: int) -> Material:
    """Speak so many training captions (one an image) and test captions; test images are not needed."""
    captions = multi30k(data, "train", punctuation=False)
    rng = np.random.default_rng(seed)
    firsts = np.unique(captions.images, return_index=True)[1]  # one caption an image
    chosen = rng.permutation(firsts)[:training]
    trees = [_speakable(tree) for tree in silver_trees(data)]
    trees = [tree for tree in trees if len(tree.words) > 1][:test]
    voice = espeak_voice("en-us")
    clips = [voice(captions.sentences[i], rng) for i in chosen] + [voice(tree.words, rng) for tree in trees]
    references = [Tree.from_spans(captions.sentences[i], []) for i in chosen] + trees  # training trees are not known
    timed = [Tree.from_segments(tree, clip.words) for tree, clip in zip(references, clips, strict=True)]
    images = np.concatenate([captions.images[chosen], np.zeros(len(trees), dtype=np.int64)])
    sounds = [hear(clip.samples) for clip in clips]
    return Material(Utterances(sounds, images, captions.features), [clip.words for clip in clips], timed, training)


def run(
    data: Path,
    out: str | Path = "runs/reproduce/avnsl-multi30k",
    seed: int = 0,
    say: Callable[[str], None] = lambda _: None,
    training: int = 2000,
    test: int = 200,
) -> list[ResultRow]:
    """The tables of chapter 4 on this speech; many minutes on two cores."""

    def compute() -> list[ResultRow]:
        say("speaking")
        rows = tables_of(prepare_multi30k(data, training, test, seed), seed, SETTINGS, out, say)
        note = f"Multi30K spoken by eSpeak NG, {training} training and {test} test utterances, seed {seed}"
        return [row._replace(note=note) for row in rows]

    return Results(out).rows(f"{training}-{test}-seed-{seed}", compute)


def _speakable(tree: Tree) -> Tree:
    bare = without_punctuation(tree)
    return replace(bare, words=tuple(word.lower() for word in bare.words))
