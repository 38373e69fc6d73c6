"""Chapter 4: tables 4.1 to 4.6 in the thesis' shape, on the built-in spoken world.

The thesis' numbers are of SpokenCOCO (English) and stand beside ours for their order, not their size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
    told_words,
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
from groundling.systems.avnsl.vectors import segment_vectors

SETTINGS = Config(benepar_epochs=10)
SCENES, TEST, PILOT, TOP = 400, 100, 30, 10
THRESHOLDS = (("mass", 0.5), ("mass", 0.85), ("quantile", 0.6), ("quantile", 0.7), ("quantile", 0.8))
GAPS = (0.0, 0.15, 0.2, 0.3)
WORLD = f"built-in spoken world, {SCENES} training and {TEST} test utterances"
UNITS = 60  # the thesis sweeps 1,000 to 16,000; this world has some fifty words
GRAMMAR = CompoundConfig(nonterminals=10, preterminals=20, z_dim=16, state_dim=64, encoder_dim=64, epochs=5)
Say = Callable[[str], None]
Ways = dict[str, list[Segmentation]]  # of every utterance, training and test


def candidate_cuts(layers: int) -> tuple[Cut, ...]:
    """The hyper-parameters that MBR chooses among."""
    return tuple(Cut(layer, k, p, s) for layer, (k, p), s in product(range(layers), THRESHOLDS, GAPS))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Plan:
    """What differs between one kind of speech and another."""

    config: Config = SETTINGS
    cuts: tuple[Cut, ...] = candidate_cuts(SETTINGS.encoder_layers)
    dpdp_weight: float = 3.0
    units: int = UNITS
    grammar: CompoundConfig = GRAMMAR
    device: str = "cpu"
    note: str = WORLD


def run(
    out: str | Path = "runs/reproduce/avnsl", seeds: Sequence[int] = (0, 1, 2), say: Say = lambda _: None
) -> list[ResultRow]:
    """All rows, averaged over seeds; what is finished is kept in `out` and not made again."""
    results = Results(out)
    return average([results.rows(f"seed-{seed}", lambda seed=seed: one_seed(seed, out, say)) for seed in seeds])


def average(made: Sequence[Sequence[ResultRow]]) -> list[ResultRow]:
    """The mean of each row over seeds, lowest and highest in the note."""
    averaged: list[ResultRow] = []
    for group in zip(*made, strict=True):
        numbers = [row.ours for row in group]
        spread = f"{len(numbers)} seeds, {min(numbers):.3g}-{max(numbers):.3g}; {group[0].note}"
        averaged.append(group[0]._replace(ours=float(np.mean(numbers)), note=spread))
    return averaged


def one_seed(seed: int, out: str | Path, say: Say, scenes: int = SCENES, test: int = TEST) -> list[ResultRow]:
    """The tables of one world and one seed."""
    say(f"seed {seed}: speaking")
    return tables_of(prepare(scenes, test, seed), seed, Plan(), out, say)


def tables_of(material: Material, seed: int, plan: Plan, out: str | Path, say: Say) -> list[ResultRow]:
    """Every row of chapter 4 on this speech."""
    say(f"seed {seed}: encoder")
    encoder = kept_encoder(Path(out) / f"encoder-{seed}.safetensors", plan, material, seed)
    heard = listen(encoder, material.data.sounds)
    say(f"seed {seed}: segmentation")
    rows, ways = segmentation_rows(plan, material, heard, seed)
    say(f"seed {seed}: trees")
    rows += induction_rows(plan, material, heard, ways, seed) + oracle_rows(plan, material, heard, seed)
    say(f"seed {seed}: grammars of units")
    return [row._replace(note=row.note or plan.note) for row in rows + grammar_rows(plan, material, heard, ways, seed)]


def kept_encoder(path: Path, plan: Plan, material: Material, seed: int) -> GroundedEncoder:
    """The trained encoder; kept, so that a killed run need not train it again."""
    from safetensors.torch import load_file, save_file

    if path.exists():
        encoder = build_encoder(plan.config, material.data.features.shape[1])
        encoder.load_state_dict(load_file(path))
        return encoder.eval()
    encoder = train_encoder(plan.config, material.training, seed=seed, device=plan.device)
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file({name: tensor.contiguous() for name, tensor in encoder.state_dict().items()}, path)
    return encoder


def segmentation_rows(
    plan: Plan, material: Material, heard: Sequence[Listened], seed: int
) -> tuple[list[ResultRow], Ways]:
    """Table 4.1: word boundaries. "Supervised" picks the setting with labels of the pilot utterances, MBR without."""
    sounds, first, cuts = material.data.sounds, material.cut, plan.cuts
    pilot = range(first - PILOT, first)
    tried = [[segment_by_attention(sounds[i], heard[i], cut) for i in pilot] for cut in cuts]
    labels = [material.words[i] for i in pilot]
    scores = [boundaries(labels, column)["f1"] for column in tried]
    plain = max((k for k, cut in enumerate(cuts) if not cut.gap), key=lambda k: scores[k])
    best = max(range(len(cuts)), key=lambda k: scores[k])
    chosen = [cuts[k] for k in most_chosen(tried, TOP)]
    ways: Ways = {"uniform": [], "DPDP": dpdp_words(plan, material, seed), "attention": [], "insertion": [], "MBR": []}
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
            note = f"{cuts[plain if name == 'attention' else best]}" if name in ("attention", "insertion") else ""
            rows.append(ResultRow(f"words, {name}, {measure}", printed, found[measure], note))
    return rows, ways


def dpdp_words(plan: Plan, material: Material, seed: int) -> list[Segmentation]:
    """DPDP on log-Mel: no image is looked at."""
    stacks = [sound.mels.reshape(sound.frames, -1) for sound in material.data.sounds]
    codes = learn_codes(stacks[: min(200, material.cut)], 50, np.random.default_rng(seed))
    return [
        segment_by_dpdp(stack, sound.voiced, codes, sound.duration, plan.dpdp_weight)
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


def learn_spans(
    config: Config, data: Segmented, cut: int, seed: int, last: int = 5, device: str = "cpu"
) -> tuple[list[Spans], list[Spans]]:
    """Train on the first `cut`; trees of all utterances by the last checkpoint, and by MBR over the `last` ones."""
    training = Segmented(
        data.rows[:cut], data.counts[:cut], data.images[:cut], data.features, data.owners[:cut] if data.owners else None
    )
    outputs: list[list[Spans]] = []

    def watch(learner: Learner) -> dict[str, float]:
        outputs.append(parse_spans(learner, data))
        del outputs[:-last]
        return {}

    train_learner(config, training, seed=seed, watch=watch, device=device)
    return outputs[-1], merge_trees(outputs)


def induction_rows(plan: Plan, material: Material, heard: Sequence[Listened], ways: Ways, seed: int) -> list[ResultRow]:
    """Tables 4.2 (Struct-IoU on found words) and 4.3 (self-training)."""
    cut, gold, config, device = material.cut, material.gold_trees, plan.config, plan.device
    rng = np.random.default_rng(seed)
    rows: list[ResultRow] = []
    printed = {("MBR", "right"): 0.546, ("DPDP", "right"): 0.478}
    for way, kind in product(("MBR", "DPDP"), ("random", "left", "right")):
        score = struct_iou(gold, baseline_trees(ways[way][cut:], kind, rng))
        rows.append(ResultRow(f"trees, {kind} on {way} words, Struct-IoU", printed.get((way, kind)), score))
    vectors = rows_of(config, heard, ways["MBR"])
    data = segmented(vectors, material.data.images, material.data.features)
    last, chosen = learn_spans(config, data, cut, seed, device=device)
    wrong = replace_images(data, cut, seed)
    shuffled = learn_spans(config, wrong, cut, seed, device=device)[1]
    again = train_benepar(config, vectors[:cut], chosen[:cut], seed=seed, device=device)
    outputs = {
        "AV-NSL, last checkpoint": (None, last),
        "AV-NSL, MBR": (0.521, chosen),
        "AV-NSL, images shuffled": (None, shuffled),
        "AV-NSL -> s-Benepar": (0.538, decode(again, vectors)),
    }
    for name, (thesis, spans) in outputs.items():
        trees = timed(spans[cut:], ways["MBR"][cut:])
        rows.append(ResultRow(f"trees, {name}, Struct-IoU", thesis, struct_iou(gold, trees)))
    return rows


def grammar_rows(plan: Plan, material: Material, heard: Sequence[Listened], ways: Ways, seed: int) -> list[ResultRow]:
    """The rest of table 4.2: compound PCFGs over k-means units of the same segments."""
    cut, rows = material.cut, []
    mels = [sound.mels.reshape(sound.frames, -1) for sound in material.data.sounds]
    blind = [segment_vectors(f, w) for f, w in zip(mels, ways["DPDP"], strict=True)]
    for name, way, vectors, thesis in (
        ("AV-cPCFG", "MBR", rows_of(plan.config, heard, ways["MBR"]), 0.499),
        ("DPDP-cPCFG", "DPDP", blind, 0.465),
    ):
        grammar = learn_unit_grammar(vectors[:cut], plan.units, plan.grammar, seed=seed, device=plan.device)
        trees = timed(grammar.spans(vectors[cut:]), ways[way][cut:])
        rows.append(ResultRow(f"trees, {name}, Struct-IoU", thesis, struct_iou(material.gold_trees, trees)))
    return rows


def replace_images(data: Segmented, cut: int, seed: int) -> Segmented:
    """The same utterances under wrong pictures."""
    images = data.images.copy()
    images[:cut] = np.random.default_rng([seed, 3]).permutation(images[:cut])
    return replace(data, images=images)


def timed(spans: Sequence[Spans], words: Sequence[Segmentation]) -> list[Tree]:
    """Trees over seconds."""
    return [timed_tree(s, w) for s, w in zip(spans, words, strict=True)]


def oracle_rows(plan: Plan, material: Material, heard: Sequence[Listened], seed: int) -> list[ResultRow]:
    """Tables 4.4 and 4.6, and the ablations: with the true words, so that F1 is defined."""
    cut, gold, words, config, device = material.cut, material.gold_trees, material.words, plan.config, plan.device
    named = [Segmentation(tuple(s._replace(word="") for s in w.segments), w.duration) for w in words]
    rng = np.random.default_rng(seed)
    rows: list[ResultRow] = []
    for kind in ("random", "left", "right"):
        trees = baseline_trees(named[cut:], kind, rng)
        rows += _scored(f"oracle words, {kind}", 57.39 if kind == "right" else None, gold, trees)
    frames = [h.layers[config.vector_layer] for h in heard]
    topline = told_words(config, frames, words, material)
    means = [segment_vectors(f, w, parts=config.vector_parts) for f, w in zip(frames, words, strict=True)]
    spans = learn_spans(config, topline, cut, seed, device=device)[1]
    again = train_benepar(config, means[:cut], spans[:cut], seed=seed, device=device)
    mels = [sound.mels.reshape(sound.frames, -1) for sound in material.data.sounds]
    even = [
        uniform_words(len(w.segments), s.voiced, s.duration) for w, s in zip(words, material.data.sounds, strict=True)
    ]
    count = len(material.data.images)  # one random picture an utterance: shared by five captions it would name them
    random = rng.uniform(size=(count, material.data.features.shape[1])).astype(np.float32)
    blind = replace(topline, features=random, images=np.arange(count))
    wrong = replace_images(topline, cut, seed)
    evenly, plainly = told_words(config, frames, even, material), told_words(config, mels, words, material)
    runs: dict[str, tuple[float | None, list[Spans]]] = {
        "oracle AV-NSL": (55.51, spans),
        "oracle AV-NSL -> s-Benepar": (57.24, decode(again, means)),
        "uniform words": (48.97, learn_spans(config, evenly, cut, seed, device=device)[1]),
        "random images": (31.23, learn_spans(config, blind, cut, seed, device=device)[1]),
        "shuffled images": (None, learn_spans(config, wrong, cut, seed, device=device)[1]),
        "log-Mel": (42.01, learn_spans(config, plainly, cut, seed, device=device)[1]),
    }
    for name, (thesis, found) in runs.items():
        segments = even if name == "uniform words" else named
        rows += _scored(f"oracle words, {name}", thesis, gold, timed(found[cut:], segments[cut:]))
    best = timed(spans[cut:], named[cut:])
    recall = {"NP": 55.5, "VP": 68.1, "PP": 66.6}
    rows += [ResultRow(f"oracle AV-NSL, recall of {k}", v, typed_recall(gold, best, k)) for k, v in recall.items()]
    return rows


def _scored(name: str, thesis: float | None, gold: Sequence[Tree], trees: Sequence[Tree]) -> list[ResultRow]:
    same = [replace(tree, words=reference.words) for tree, reference in zip(trees, gold, strict=True)]
    return [
        ResultRow(f"{name}, F1", thesis, f1(gold, same)),
        ResultRow(f"{name}, Struct-IoU", None, struct_iou(gold, trees)),
    ]
