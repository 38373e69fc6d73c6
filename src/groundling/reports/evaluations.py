"""What each system's `evaluate`, `transfer` and lexicon put on their page beside what all reports have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groundling.drawing.arcs import draw_arcs, draw_soft_arcs
from groundling.drawing.parse_chart import draw_derivation
from groundling.formats import brackets
from groundling.formats.aligned import AlignedPair
from groundling.metrics import AER, LAS
from groundling.metrics.base import Score
from groundling.metrics.execution_accuracy import ExecutionAccuracy
from groundling.metrics.parseval import ParsEval
from groundling.reports.job import write_report
from groundling.reports.sections import Picture, Section, Table
from groundling.reports.worst import worst_alignments, worst_dependencies, worst_trees
from groundling.structures import Alignment, Dependencies, SoftDependencies

if TYPE_CHECKING:
    from groundling.systems.g2l2 import Model as Lexicon

Place = str | Path
_SHOWN = 12  # wrong answers


def report_trees(
    path: Path, model: Path, gold: Place, scores: Mapping[str, Score], convention: str, punctuation: bool, command: str
) -> None:
    """`vgnsl evaluate`: scores, and the worst trees beside gold; gold from a pipe is gone, so nothing is drawn then."""
    from groundling.systems.vgnsl.model import Model

    worst: list[Picture] = []
    if Path(gold).is_file():
        trees = list(brackets.read(gold))
        parsed = list(Model.load(model).parse(tree.words for tree in trees))
        worst = worst_trees(ParsEval(convention, punctuation=punctuation), trees, parsed)
    write_report(
        path, "VG-NSL: scores", command=command, model=model, data=[gold], scores=list(scores.items()), worst=worst
    )


def report_dependencies(
    path: Path, model: Path, gold: Place, scores: Sequence[Score], trees: Sequence[Dependencies],
    found: Sequence[Dependencies], command: str,
) -> None:  # fmt: skip
    """`subdp evaluate`: scores, and the worst sentences, gold and predicted."""
    worst = worst_dependencies(LAS(punctuation="punctuation:yes" in scores[0].signature), trees, found)
    named = [(str(model), score) for score in scores]
    write_report(path, "SubDP: scores", command=command, model=model, data=[gold], scores=named, worst=worst)


def report_alignments(
    path: Path, model: Path | None, gold: Place, score: Score, pairs: Sequence[AlignedPair],
    found: Sequence[Alignment], command: str,
) -> None:  # fmt: skip
    """`mlpalign evaluate`: the error rate, and the worst pairs."""
    name, worst = str(model or "no model"), worst_alignments(AER(), pairs, found)
    write_report(
        path, "MLPAlign: scores", command=command, model=model, data=[gold], scores=[(name, score)], worst=worst
    )


def report_transfer(path: Path, out: Path, data: Iterable[Place], command: str) -> None:
    """`subdp transfer`: curves of both parsers, what was carried over, and what the new parser makes of it."""
    from groundling.systems.subdp import Model
    from groundling.systems.subdp.shards import read_shards

    more: list[Section] = []
    if any((out / "silver").glob("*.npz")):
        silver = list(islice((one for one in read_shards(out / "silver")[0] if len(one.words) <= 20), 3))
        trees = Model.load(out, device="cpu").parse([one.words for one in silver])
        pictures: list[Picture] = []
        for one, tree in zip(silver, trees, strict=True):
            arcs = np.zeros((len(one.words) + 1, len(one.words) + 1))
            arcs[one.arcs.dependent, one.arcs.head] = one.arcs.weight
            pictures.append(Picture(draw_soft_arcs(SoftDependencies(one.words, arcs).to_dict()), "Carried over."))
            pictures.append(Picture(draw_arcs(tree.to_dict()), "The new parser's tree."))
        more.append(Section("What was carried over", "Thickness is probability.", pictures=pictures))
    write_report(path, "SubDP: transfer", command=command, model=out, data=data, curves=True, more=more)


def report_lexicon(path: Path, out: Path, model: Lexicon, data: Iterable[Place | None], command: str) -> None:
    """`g2l2 train`: the lexicon, and curves where the run kept some."""
    rows = [[row["word"], row["type"], f"`{row['program']}`", f"{row['share']:.2f}"] for row in model.table()]
    text = (
        f"Right on {100 * float(model.info['training_accuracy']):.2f} % of the training examples, "
        f"after {model.info['attempt']} restarts."
    )
    tables = [Table(["word", "type", "program", "share"], rows, "Share: of the word's use in right derivations")]
    more = [Section("The learned lexicon", text, tables=tables)]
    write_report(path, "G2L2: training", command=command, model=out, data=data, curves=True, more=more)


def report_answers(path: Path, run: Path, model: Lexicon, files: Sequence[Place], command: str) -> None:
    """`g2l2 evaluate`: accuracy with its interval, and the first wrong answers with their derivations."""
    scores: list[tuple[str, Score]] = []
    rows: list[list[Any]] = []
    pictures: list[Picture] = []
    for file in files:
        examples = list(model.domain.read(file))
        golds, found = [str(model.domain.gold(one)) for one in examples], [str(a) for a in model.answer(examples)]
        score = ExecutionAccuracy().corpus(golds, found)
        scores.append((str(file), replace(score, signature=f"accuracy|domain:{model.domain.name}|answers:exact")))
        wrong = [k for k, (gold, answer) in enumerate(zip(golds, found, strict=True)) if gold != answer]
        rows += [[" ".join(examples[k].words), golds[k], found[k]] for k in wrong[:_SHOWN]]
        pictures += [one for k in wrong[:3] for one in _derivation(model, examples[k].words)]
    more = [
        Section("Wrong answers", "The first of each file.", [Table(["sentence", "right", "answered"], rows)], pictures)
    ]
    write_report(path, "G2L2: scores", command=command, model=run, data=files, scores=scores, more=more if rows else ())


def _derivation(model: Lexicon, words: Sequence[str]) -> list[Picture]:
    from groundling.errors import GroundlingError
    from groundling.systems.g2l2.predict import make_parser
    from groundling.systems.g2l2.views import derivation_nodes

    try:
        tree = make_parser(model.lexicon).derivation(tuple(words))
    except GroundlingError:  # a sentence without any derivation has no picture
        return []
    return [Picture(draw_derivation(derivation_nodes(tree)), " ".join(words))]
