"""The demo of scores: Struct-IoU and ParsEval on an ambiguous sentence, on speech, and under perturbation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from groundling.algorithms.perturbation import PERTURBATIONS
from groundling.drawing.charts import draw_curves
from groundling.metrics import DurationMatching, ParsEval, StructIoU
from groundling.reports.sections import Picture, Section, Table
from groundling.structures import Segmentation, Tree

# Thesis figure 5.8: the cat has the telescope, or the girl.
WITH_CAT = "(S (NP (DT The) (NN girl)) (VP (VBD saw) (NP (DT a) (NN cat) (PP (P with) (NP (DT a) (NN telescope))))))"
WITH_GIRL = "(S (NP (DT The) (NN girl)) (VP (VBD saw) (NP (DT a) (NN cat)) (PP (P with) (NP (DT a) (NN telescope)))))"
DELTAS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
REPEATS = 40  # one sentence only, so draw often


def run(say: Callable[[str], None], seed: int) -> list[Section]:
    """Return the sections; the seed draws the perturbations."""
    say("scoring an ambiguous sentence")
    ambiguous = _ambiguity_section()
    say("scoring speech")
    speech = _speech_section()
    say("perturbing boundaries")
    return [ambiguous, speech, _perturbation_section(np.random.default_rng(seed))]


def _ambiguity_section() -> Section:
    gold, pred = Tree.from_brackets(WITH_CAT), Tree.from_brackets(WITH_GIRL)
    metrics = [StructIoU(), StructIoU(labels=False), *map(ParsEval, ("evalb", "plain", "vgnsl", "pcfg"))]
    scores = [metric.score(gold, pred) for metric in metrics]
    rows = [(f"`{score.signature}`", round(100 * score.value, 2)) for score in scores]
    return Section(
        "Scores of trees",
        "Who has the telescope? Two readings of one sentence under each convention; a score without its signature "
        "says little.",
        tables=[Table(("signature", "score"), rows, "Six scores of the same pair")],
        pictures=[Picture(StructIoU().draw(gold, pred), "The best alignment, which is what Struct-IoU scores.")],
        command="groundling score trees gold.trees pred.trees",
    )


def _speech_section() -> Section:
    gold = _spoken("(NP (PRP Your) (NN turn))", [2.56, 2.72, 3.01])
    left = _spoken("(VP (VBP -) (NP (PRP Your) (NN turn)))", [2.55, 2.56, 2.72, 3.01])
    right = _spoken("(NP (PRP Your) (NN turn))", [2.51, 2.70, 3.10])
    pairs = {"a word too many, good boundaries": left, "right structure, bad boundaries": right}
    rows = [
        (name, round(StructIoU().score(gold, pred).value, 4), DurationMatching().score(gold, pred).value)
        for name, pred in pairs.items()
    ]
    return Section(
        "Scores of speech",
        "Figure 5.1 of the thesis: trees over seconds, with words that need not be the same.",
        tables=[Table(("prediction", "Struct-IoU", "duration matching"), rows)],
        pictures=[Picture(StructIoU().draw(gold, left), "A word too many.")],
    )


def _perturbation_section(rng: np.random.Generator) -> Section:
    tree = Tree.from_brackets(WITH_CAT)
    series = []
    for name, perturb in PERTURBATIONS.items():
        means = [
            StructIoU().corpus([tree] * REPEATS, [perturb(tree, d, rng) for _ in range(REPEATS)], bootstrap=0).value
            for d in DELTAS
        ]
        series.append({"name": name, "x": list(DELTAS), "y": means})
    picture = draw_curves(series, title="Perturbed boundaries", x_label="delta", y_label="Struct-IoU", y_range=(0, 1))
    return Section(
        "Perturbed boundaries",
        "Word boundaries moved, inserted and deleted (thesis 5.4.1): the more, the lower the score.",
        pictures=[Picture(picture, f"Means of {REPEATS} draws on one sentence.")],
    )


def _spoken(text: str, boundaries: list[float]) -> Tree:
    return Tree.from_segments(Tree.from_brackets(text), Segmentation.from_boundaries(boundaries))
