"""The demo of G2L2: a SCAN lexicon learned from scratch, tried on unseen combinations; a first look at CLEVR."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from groundling.drawing.parse_chart import draw_derivation
from groundling.reports.sections import Picture, Section, Table
from groundling.systems.g2l2 import Config, Model, train
from groundling.systems.g2l2.predict import make_parser
from groundling.systems.g2l2.views import answer_with_trace, derivation_nodes, show_value
from groundling.worlds import clevr_questions, clevr_scenes, scan

SENTENCE = ("walk", "around", "right", "twice")
KINDS = ("zero_hop",)


def run(say: Callable[[str], None], seed: int) -> list[Section]:
    """Learn both lexicons on built-in data and show them."""
    return [scan_section(say, seed), clevr_section(say, seed)]


def scan_section(say: Callable[[str], None], seed: int) -> Section:
    """Learn SCAN without any `around right`, and test on it."""
    say("learning SCAN")
    training, test = scan.split("around-right")
    model = train(Config(), training, seed=seed)
    score = model.accuracy(test)
    tree = make_parser(model.lexicon).derivation(SENTENCE)
    text = (
        f"{len(training):,} commands without *around right*; what words mean and how they combine is learned from the "
        f"actions alone. On the {len(test):,} commands with *around right* the accuracy is **{score:.4f}** "
        f"(training {model.info['training_accuracy']:.4f}, {model.info['attempt']} restarts)."
    )
    picture = Picture(
        draw_derivation(derivation_nodes(tree)), f"A phrase that training never had: {' '.join(SENTENCE)}"
    )
    return Section(
        "G2L2: what words mean and how they combine", text, tables=[lexicon_table(model)], pictures=[picture]
    )


def clevr_section(say: Callable[[str], None], seed: int) -> Section:
    """Learn from short questions about made scenes, for some seconds only."""
    say("learning from questions about scenes")
    rng = np.random.default_rng(seed)
    scenes = [clevr_scenes.make_scene(number, rng) for number in range(240)]
    made = [q for scene in scenes for q in clevr_questions.make_questions(scene, 6, rng, KINDS) if len(q.words) <= 6]
    training, test = made[: len(made) * 4 // 5], made[len(made) * 4 // 5 :]
    config = Config(
        domain="clevr",
        stages=(len(training),),
        steps=40,
        epochs_a_stage=4,
        concept_learning_rate=0.05,
        restarts=0,
        check_examples=100,
        usage_examples=128,
        good_enough=0.98,
    )
    model = train(config, training, seed=seed)
    clear = [question for question, answer in zip(test, model.answer(test), strict=True) if answer == question.answer]
    tables = [lexicon_table(model)]
    if clear:
        shown = max(clear, key=lambda question: len(question.words))
        model.domain.scenes = [shown.scene]  # type: ignore[attr-defined]
        answer, steps = answer_with_trace(model, shown.words)
        rows = [[program, kind, show_value(value)] for program, kind, value in steps]
        tables.append(Table(["program", "type", "value"], rows, f"{shown.text}? {answer} (as table 6.3)"))
    text = (
        f"{len(training)} short questions about made scenes: which words name objects, attributes and numbers, and "
        "what red things look like, is learned together from the answers. A few seconds take it to an accuracy of "
        f"**{len(clear) / max(1, len(test)):.2f}** on {len(test)} other questions; `groundling reproduce 6.4` goes on."
    )
    return Section("G2L2: questions about scenes", text, tables=tables)


def lexicon_table(model: Model) -> Table:
    """Return the learned lexicon."""
    rows = [[row["word"], row["type"], row["program"], round(row["share"], 2)] for row in model.table()]
    return Table(["word", "type", "program", "share"], rows, "The learned lexicon.")
