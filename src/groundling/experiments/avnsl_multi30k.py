"""Multi30K spoken by eSpeak NG: English captions with real images to learn from, silver trees to test on.

The thesis has human speech (SpokenCOCO) and VG-HuBERT; this is one synthetic speaker family and our small encoder.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

from groundling.experiments.avnsl import Plan, average, tables_of
from groundling.experiments.avnsl_data import Material
from groundling.experiments.tables import ResultRow, Results
from groundling.experiments.vgnsl_data import multi30k, silver_trees
from groundling.metrics.parseval import without_punctuation
from groundling.neural.compound_pcfg import CompoundConfig
from groundling.structures.tree import Tree
from groundling.systems.avnsl.config import Config
from groundling.systems.avnsl.data import Utterances, hear
from groundling.systems.avnsl.segment import Cut
from groundling.systems.vgnsl.data import Captions
from groundling.worlds.spoken_espeak import espeak_voice

TRAINING, TEST = 14_000, 1000
# Sizes, rates and the layer of attention were chosen on validation captions, some with their labels: see docs/avnsl.md.
SETTINGS = Config(
    encoder_dim=256, encoder_heads=8, encoder_layers=3, encoder_reach=4, encoder_hide=0.3, encoder_epochs=11,
    encoder_batch_size=256, encoder_learning_rate=1e-3, encoder_warm_up=300, encoder_noise=0.1, encoder_drop=0.2,
    layer=1, heads="union", threshold=0.8, gap=0.2, vector_layer=1, vector_parts=3, embedding_dim=512, hidden_dim=512,
    scorer_hidden_dim=128, batch_size=128, epochs=4, learning_rate=5e-4, scorer_learning_rate=1e-4, bias=20.0,
    benepar_epochs=5, benepar_dim=128, benepar_learning_rate=1e-3,
)  # fmt: skip
CUTS = tuple(Cut(1, "quantile", p, s, "union") for p, s in product((0.7, 0.8, 0.85, 0.9), (0.0, 0.2, 0.3, 0.4)))
PLAN = Plan(
    config=SETTINGS, cuts=CUTS, dpdp_weight=100.0, units=500, grammar=CompoundConfig(epochs=3), device="auto",
    note="Multi30K spoken by eSpeak NG",
)  # fmt: skip


def prepare_multi30k(data: Path, training: int, test: int, seed: int) -> Material:
    """Speak so many training captions (one an image before any image has two) and test captions.

    Test images are not needed.
    """
    captions = multi30k(data, "train", punctuation=False)
    rng = np.random.default_rng(seed)
    chosen = spread_captions(captions, training, rng)
    trees = [_speakable(tree) for tree in silver_trees(data)]
    trees = [tree for tree in trees if len(tree.words) > 1][:test]
    return speak_captions(captions, chosen, trees, "en-us", rng)


def spread_captions(captions: Captions, count: int, rng: np.random.Generator) -> np.ndarray:
    """So many captions, drawn at random, one of every image before any image has two."""
    order = rng.permutation(len(captions.images))
    turn = np.zeros(len(order), dtype=np.int64)  # how many captions of its image come before it
    seen: dict[int, int] = {}
    for k, i in enumerate(order):
        image = int(captions.images[i])
        turn[k] = seen[image] = seen.get(image, -1) + 1
    return order[np.argsort(turn, kind="stable")][:count]


def speak_captions(
    captions: Captions, chosen: np.ndarray, trees: Sequence[Tree], language: str, rng: np.random.Generator
) -> Material:
    """Captions to learn from and trees to test on, all spoken; the trees of training captions are not known."""
    voice = espeak_voice(language)
    spoken = [captions.sentences[i] for i in chosen] + [tree.words for tree in trees]
    clips = [voice(words, rng) for words in spoken]
    references = [Tree.from_spans(captions.sentences[i], []) for i in chosen] + list(trees)
    timed = [Tree.from_segments(tree, clip.words) for tree, clip in zip(references, clips, strict=True)]
    images = np.concatenate([captions.images[chosen], np.zeros(len(trees), dtype=np.int64)])
    sounds = [hear(clip.samples) for clip in clips]
    return Material(Utterances(sounds, images, captions.features), [clip.words for clip in clips], timed, len(chosen))


def run(
    data: Path,
    out: str | Path = "runs/reproduce/avnsl-multi30k",
    seeds: Sequence[int] = (0, 1, 2),
    say: Callable[[str], None] = lambda _: None,
    training: int = TRAINING,
    test: int = TEST,
    plan: Plan = PLAN,
) -> list[ResultRow]:
    """The tables of chapter 4 on this speech, averaged over seeds; minutes on a GPU, hours on two cores."""
    results = Results(out)
    note = f"{plan.note}, {training} training and {test} test utterances"

    def compute(seed: int) -> list[ResultRow]:
        say(f"seed {seed}: speaking")
        return tables_of(prepare_multi30k(data, training, test, seed), seed, replace(plan, note=note), out, say)

    return average([results.rows(f"{training}-{test}-seed-{seed}", lambda seed=seed: compute(seed)) for seed in seeds])


def _speakable(tree: Tree) -> Tree:
    bare = without_punctuation(tree)
    return replace(bare, words=tuple(word.lower() for word in bare.words))
