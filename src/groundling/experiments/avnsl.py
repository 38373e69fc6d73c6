"""Chapter 4: tables 4.1 to 4.6 in the thesis' shape, on the built-in spoken world.

The thesis' numbers are of SpokenCOCO (English) and stand beside ours for their order, not their size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

from groundling.algorithms.segment_insertion import uniform_words
from groundling.backbones.speech_grounded import GroundedEncoder
from groundling.experiments.avnsl_data import (
    Material,
    baseline_trees,
    boundaries,
    f1,
    prepare,
    struct_iou,
    typed_recall,
)
from groundling.experiments.tables import ResultRow, Results
from groundling.neural.compound_pcfg import CompoundConfig
from groundling.structures.segmentation import Segmentation
from groundling.structures.tree import Tree
from groundling.systems.avnsl.benepar import decode, train_benepar
from groundling.systems.avnsl.config import Config
from groundling.systems.avnsl.encoder import Listened, build_encoder, listen, train_encoder
from groundling.systems.avnsl.induce import Segmented, Spans, parse_spans, timed_tree, train_learner
from groundling.systems.avnsl.learner import Learner
from groundling.systems.avnsl.model import rows_of, segmented
from groundling.systems.avnsl.segment import Cut, learn_codes, segment_by_attention, segment_by_dpdp
from groundling.systems.avnsl.select import choose_segmentation, merge_trees, most_chosen
from groundling.systems.avnsl.units import learn_unit_grammar
from groundling.systems.avnsl.vectors import frame_ranges, segment_vectors

SETTINGS = Config(benepar_epochs=10)
SCENES, TEST, PILOT, TOP = 400, 100, 30, 10
THRESHOLDS = (("mass", 0.5), ("mass", 0.85), ("quantile", 0.6), ("quantile", 0.7), ("quantile", 0.8))
GAPS = (0.0, 0.15, 0.2, 0.3)
WORLD = f"built-in spoken world, {SCENES} training and {TEST} test utterances"
UNITS = 60  # the thesis sweeps 1,000 to 16,000; this world has some fifty words
GRAMMAR = CompoundConfig(nonterminals=10, preterminals=20, z_dim=16, state_dim=64, encoder_dim=64, epochs=5)
Say = Callable[[str], None]
Ways = dict[str, list[Segmentation]]  # of every utterance, training and test


def run(
    out: str | Path = "runs/reproduce/avnsl", seeds: Sequence[int] = (0, 1, 2), say: Say = lambda _: None
) -> list[ResultRow]:
    """All rows, averaged over seeds; what is finished is kept in `out` and not made again."""
    results = Results(out)
    made = [results.rows(f"seed-{seed}", lambda seed=seed: one_seed(seed, SETTINGS, out, say)) for seed in seeds]
    averaged: list[ResultRow] = []
    for group in zip(*made, strict=True):
        numbers = [row.ours for row in group]
        spread = f"{len(numbers)} seeds, {min(numbers):.3g}-{max(numbers):.3g}; {group[0].note}"
        averaged.append(group[0]._replace(ours=float(np.mean(numbers)), note=spread))
    return averaged


def one_seed(
    seed: int, config: Config, out: str | Path, say: Say, scenes: int = SCENES, test: int = TEST
) -> list[ResultRow]:
    """The tables of one world and one seed."""
    say(f"seed {seed}: speaking")
    return tables_of(prepare(scenes, test, seed), seed, config, out, say)


def tables_of(material: Material, seed: int, config: Config, out: str | Path, say: Say) -> list[ResultRow]:
    """Every row of chapter 4 on this speech."""
    say(f"seed {seed}: encoder")
    encoder = kept_encoder(Path(out) / f"encoder-{seed}.safetensors", config, material, seed)
    heard = listen(encoder, material.data.sounds)
    say(f"seed {seed}: segmentation")
    rows, ways = segmentation_rows(material, heard, seed)
    say(f"seed {seed}: trees")
    rows += induction_rows(config, material, heard, ways, seed) + oracle_rows(config, material, heard, seed)
    say(f"seed {seed}: grammars of units")
    return rows + grammar_rows(config, material, heard, ways, seed)


def kept_encoder(path: Path, config: Config, material: Material, seed: int) -> GroundedEncoder:
    """The trained encoder; kept, so that a killed run need not train it again."""
    from safetensors.torch import load_file, save_file

    if path.exists():
        encoder = build_encoder(config, material.data.features.shape[1])
        encoder.load_state_dict(load_file(path))
        return encoder.eval()
    encoder = train_encoder(config, material.training, seed=seed, device="cpu")
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file({name: tensor.contiguous() for name, tensor in encoder.state_dict().items()}, path)
    return encoder


def candidate_cuts(layers: int) -> list[Cut]:
    """The hyper-parameters that MBR chooses among."""
    return [Cut(layer, k, p, s) for layer, (k, p), s in product(range(layers), THRESHOLDS, GAPS)]  # type: ignore[arg-type]


def segmentation_rows(material: Material, heard: Sequence[Listened], seed: int) -> tuple[list[ResultRow], Ways]:
    """Table 4.1: word boundaries. "Supervised" picks the setting with labels of the pilot utterances, MBR without."""
    sounds, first = material.data.sounds, material.cut
    cuts = candidate_cuts(heard[0].attention.shape[0])
    pilot = range(first - PILOT, first)
    tried = [[segment_by_attention(sounds[i], heard[i], cut) for i in pilot] for cut in cuts]
    labels = [material.words[i] for i in pilot]
    scores = [boundaries(labels, column)["f1"] for column in tried]
    plain = max((k for k, cut in enumerate(cuts) if not cut.gap), key=lambda k: scores[k])
    best = max(range(len(cuts)), key=lambda k: scores[k])
    chosen = [cuts[k] for k in most_chosen(tried, TOP)]
    ways: Ways = {"uniform": [], "DPDP": dpdp_words(material, seed), "attention": [], "insertion": [], "MBR": []}
    for i, sound in enumerate(sounds):
        ways["uniform"].append(uniform_words(len(material.words[i].segments), sound.voiced, sound.duration))
        ways["attention"].append(segment_by_attention(sound, heard[i], cuts[plain]))
        ways["insertion"].append(segment_by_attention(sound, heard[i], cuts[best]))
        options = [segment_by_attention(sound, heard[i], cut) for cut in chosen]
        ways["MBR"].append(options[choose_segmentation(options)])
    thesis = {"DPDP": (17.37, 9.00, 11.85), "attention": (34.34, 29.85, 31.94), "MBR": (33.31, 34.90, 34.09)}
    rows: list[ResultRow] = []
    for name, words in {**ways, "chance": chance_words(ways["MBR"], seed)}.items():
        found = boundaries(material.gold_words, words[first:])
        for k, measure in enumerate(("precision", "recall", "f1", "r-value")):
            printed = thesis[name][k] if name in thesis and k < 3 else None
            note = f"{cuts[plain if name == 'attention' else best]}" if name in ("attention", "insertion") else WORLD
            rows.append(ResultRow(f"words, {name}, {measure}", printed, found[measure], note))
    return rows, ways


def dpdp_words(material: Material, seed: int) -> list[Segmentation]:
    """DPDP on log-Mel: no image is looked at."""
    stacks = [sound.mels.reshape(sound.frames, -1) for sound in material.data.sounds]
    codes = learn_codes(stacks[: min(200, material.cut)], 50, np.random.default_rng(seed))
    return [
        segment_by_dpdp(stack, sound.voiced, codes, sound.duration)
        for stack, sound in zip(stacks, material.data.sounds, strict=True)
    ]


def chance_words(words: Sequence[Segmentation], seed: int) -> list[Segmentation]:
    """As many segments, cut at random: what the number of boundaries alone is worth."""
    rng = np.random.default_rng([seed, 7])
    made: list[Segmentation] = []
    for found in words:
        start, end = found.segments[0].start, found.segments[-1].end
        inner = np.unique(rng.uniform(start, end, len(found.segments) - 1))
        made.append(Segmentation.from_boundaries([start, *inner.tolist(), end]))
    return made


def learn_spans(config: Config, data: Segmented, cut: int, seed: int, last: int = 5) -> tuple[list[Spans], list[Spans]]:
    """Train on the first `cut`; trees of all utterances by the last checkpoint, and by MBR over the `last` ones."""
    training = Segmented(
        data.rows[:cut], data.counts[:cut], data.images[:cut], data.features, data.owners[:cut] if data.owners else None
    )
    outputs: list[list[Spans]] = []

    def watch(learner: Learner) -> dict[str, float]:
        outputs.append(parse_spans(learner, data))
        del outputs[:-last]
        return {}

    train_learner(config, training, seed=seed, watch=watch, device="cpu")
    return outputs[-1], merge_trees(outputs)


def induction_rows(
    config: Config, material: Material, heard: Sequence[Listened], ways: Ways, seed: int
) -> list[ResultRow]:
    """Tables 4.2 (Struct-IoU on found words) and 4.3 (self-training)."""
    cut, gold = material.cut, material.gold_trees
    rng = np.random.default_rng(seed)
    rows: list[ResultRow] = []
    printed = {("MBR", "right"): 0.546, ("DPDP", "right"): 0.478}
    for way, kind in product(("MBR", "DPDP"), ("random", "left", "right")):
        score = struct_iou(gold, baseline_trees(ways[way][cut:], kind, rng))
        rows.append(ResultRow(f"trees, {kind} on {way} words, Struct-IoU", printed.get((way, kind)), score, WORLD))
    vectors = rows_of(config, heard, ways["MBR"])
    data = segmented(vectors, material.data.images, material.data.features)
    last, chosen = learn_spans(config, data, cut, seed)
    wrong = replace_images(data, cut, seed)
    shuffled = learn_spans(config, wrong, cut, seed)[1]
    again = train_benepar(config, vectors[:cut], chosen[:cut], seed=seed, device="cpu")
    outputs = {
        "AV-NSL, last checkpoint": (None, last),
        "AV-NSL, MBR": (0.521, chosen),
        "AV-NSL, images shuffled": (None, shuffled),
        "AV-NSL -> s-Benepar": (0.538, decode(again, vectors)),
    }
    for name, (thesis, spans) in outputs.items():
        trees = timed(spans[cut:], ways["MBR"][cut:])
        rows.append(ResultRow(f"trees, {name}, Struct-IoU", thesis, struct_iou(gold, trees), WORLD))
    return rows


def grammar_rows(
    config: Config, material: Material, heard: Sequence[Listened], ways: Ways, seed: int
) -> list[ResultRow]:
    """The rest of table 4.2: compound PCFGs over k-means units of the same segments."""
    cut, rows = material.cut, []
    mels = [sound.mels.reshape(sound.frames, -1) for sound in material.data.sounds]
    blind = [segment_vectors(f, w) for f, w in zip(mels, ways["DPDP"], strict=True)]
    for name, way, vectors, thesis in (
        ("AV-cPCFG", "MBR", rows_of(config, heard, ways["MBR"]), 0.499),
        ("DPDP-cPCFG", "DPDP", blind, 0.465),
    ):
        grammar = learn_unit_grammar(vectors[:cut], UNITS, GRAMMAR, seed=seed, device="cpu")
        trees = timed(grammar.spans(vectors[cut:]), ways[way][cut:])
        rows.append(ResultRow(f"trees, {name}, Struct-IoU", thesis, struct_iou(material.gold_trees, trees), WORLD))
    return rows


def replace_images(data: Segmented, cut: int, seed: int) -> Segmented:
    """The same utterances under wrong pictures."""
    images = data.images.copy()
    images[:cut] = np.random.default_rng([seed, 3]).permutation(images[:cut])
    return replace(data, images=images)


def timed(spans: Sequence[Spans], words: Sequence[Segmentation]) -> list[Tree]:
    """Trees over seconds."""
    return [timed_tree(s, w) for s, w in zip(spans, words, strict=True)]


def oracle_rows(config: Config, material: Material, heard: Sequence[Listened], seed: int) -> list[ResultRow]:
    """Tables 4.4 and 4.6, and the ablations: with the true words, so that F1 is defined."""
    cut, gold, words = material.cut, material.gold_trees, material.words
    named = [Segmentation(tuple(s._replace(word="") for s in w.segments), w.duration) for w in words]
    rng = np.random.default_rng(seed)
    rows: list[ResultRow] = []
    for kind in ("random", "left", "right"):
        trees = baseline_trees(named[cut:], kind, rng)
        rows += _scored(f"oracle words, {kind}", 57.39 if kind == "right" else None, gold, trees)
    frames = [h.layers[config.vector_layer] for h in heard]
    topline = with_owners(frames, words, material)
    means = [segment_vectors(f, w) for f, w in zip(frames, words, strict=True)]
    spans = learn_spans(config, topline, cut, seed)[1]
    again = train_benepar(config, means[:cut], spans[:cut], seed=seed, device="cpu")
    mels = [sound.mels.reshape(sound.frames, -1) for sound in material.data.sounds]
    even = [
        uniform_words(len(w.segments), s.voiced, s.duration) for w, s in zip(words, material.data.sounds, strict=True)
    ]
    random_features = rng.uniform(size=material.data.features.shape).astype(np.float32)
    runs: dict[str, tuple[float | None, list[Spans]]] = {
        "oracle AV-NSL": (55.51, spans),
        "oracle AV-NSL -> s-Benepar": (57.24, decode(again, means)),
        "uniform words": (48.97, learn_spans(config, with_owners(frames, even, material), cut, seed)[1]),
        "random images": (31.23, learn_spans(config, replace(topline, features=random_features), cut, seed)[1]),
        "shuffled images": (None, learn_spans(config, replace_images(topline, cut, seed), cut, seed)[1]),
        "log-Mel": (42.01, learn_spans(config, with_owners(mels, words, material), cut, seed)[1]),
    }
    for name, (thesis, found) in runs.items():
        segments = even if name == "uniform words" else named
        rows += _scored(f"oracle words, {name}", thesis, gold, timed(found[cut:], segments[cut:]))
    best = timed(spans[cut:], named[cut:])
    recall = {"NP": 55.5, "VP": 68.1, "PP": 66.6}
    rows += [
        ResultRow(f"oracle AV-NSL, recall of {k}", v, typed_recall(gold, best, k), WORLD) for k, v in recall.items()
    ]
    return rows


def with_owners(frames: Sequence[np.ndarray], words: Sequence[Segmentation], material: Material) -> Segmented:
    """Frames inside words, with the number of their word: the learner weighs them itself (thesis 4.3.2, topline)."""
    kept, owners = [], []
    for rows, segmentation in zip(frames, words, strict=True):
        ranges = frame_ranges(segmentation, len(rows))
        kept.append(np.concatenate([rows[a:b] for a, b in ranges]).astype(np.float32))
        owners.append(np.concatenate([np.full(b - a, k) for k, (a, b) in enumerate(ranges)]))
    counts = np.array([len(w.segments) for w in words], dtype=np.int64)
    return Segmented(kept, counts, material.data.images, material.data.features, owners)


def _scored(name: str, thesis: float | None, gold: Sequence[Tree], trees: Sequence[Tree]) -> list[ResultRow]:
    same = [replace(tree, words=reference.words) for tree, reference in zip(trees, gold, strict=True)]
    return [
        ResultRow(f"{name}, F1", thesis, f1(gold, same), WORLD),
        ResultRow(f"{name}, Struct-IoU", None, struct_iou(gold, trees), WORLD),
    ]
