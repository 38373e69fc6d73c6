"""`groundling reproduce 9.1` and its kin: the cells of the SubDP study, stored one by one, as rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from groundling.experiments.subdp import (
    LANGUAGES,
    SIZES,
    SOURCES,
    TESTS,
    THESIS_9_1,
    THESIS_9_2,
    THESIS_9_3,
    Bench,
    Transfer,
    gold_alignment,
    several_sources,
    source_parser,
    stored,
)
from groundling.experiments.tables import ResultRow
from groundling.systems.subdp.config import Config
from groundling.systems.subdp.parser import Parser

LSTM = Config(source_epochs=25, patience=6, target_batch_words=2500)
PLAIN = Config(source_epochs=40, lstm_dim=0)  # the words' vectors go to the biaffine scorers as they are
ROWS = ("DT", "ST", "Hard", "RandI", "SubDP", "SubDP 1:1", "SubDP + gold", "SubDP + fill")
NAMES = {"SubDP": "many-to-one", "SubDP 1:1": "one-to-one"}
Say = Callable[[str], None]
Cell = dict[str, dict[str, float]]


class Study:
    """The cells of one kind of parser; corpora, encoder and parsers are loaded when a cell is missing, not before."""

    def __init__(self, data: Path | None, out: Path, config: Config, say: Say) -> None:
        self.data, self.out, self.config, self.say = data, out, config, say
        self._parsers: dict[Any, Parser] = {}

    @cached_property
    def bench(self) -> Bench:
        """Everything read and the encoder loaded."""
        from groundling.experiments.subdp_data import read_material
        from groundling.systems.subdp.word_encoder import load_encoder

        return Bench(read_material(self.data), load_encoder(self.config.encoder), self.config, self.out / "vectors")

    def parser(self, seed: int, languages: Sequence[str] = ("en",)) -> Parser:
        """A source parser, trained once a run."""
        key = (seed, *languages)
        if key not in self._parsers:
            self.say(f"source parser of {'+'.join(languages)}, seed {seed}")
            self._parsers[key] = source_parser(self.bench, seed, languages)
        return self._parsers[key]

    def cell(self, name: str, compute: Callable[[], Any]) -> Any:
        """A stored cell, or a computed one; None where it is missing and there is no data to compute it from."""
        if self.data is None and not (self.out / f"{name}.json").exists():
            return None

        def told() -> Any:
            self.say(name)
            return compute()

        return stored(self.out, name, told)

    def source(self, seed: int) -> Cell | None:
        """English itself."""
        return self.cell(
            f"source-{seed}",
            lambda: {name: self.bench.score(self.parser(seed), name) for name in ("en_ewt", "en_pud")},
        )

    def row(self, language: str, row: str, seed: int) -> Cell | None:
        """One row of the ablation on the test sets of a language."""

        def compute() -> Cell:
            made = Transfer(self.bench, self.parser(seed), language, seed).rows()[row]()
            return self.bench.scores(made, language)

        return self.cell(f"{language}-{row.replace(' ', '').replace(':', '-')}-{seed}", compute)

    def curve(self, language: str, pairs: int, seed: int) -> Cell | None:
        """SubDP from few pairs."""

        def compute() -> Cell:
            made = Transfer(self.bench, self.parser(seed), language, seed).with_pairs(pairs)
            return self.bench.scores(made, language, [f"{language}_pud"])

        return self.cell(f"curve-{language}-{pairs}-{seed}", compute)

    def several(self, seed: int, target: str = "de") -> dict[str, Cell] | None:
        """Table 9.3."""

        def compute() -> dict[str, Cell]:
            made = several_sources(self.bench, self.parser(seed, SOURCES), target, seed)
            return {name: self.bench.scores(parser, target) for name, parser in made.items()}

        return self.cell(f"several-{target}-{seed}", compute)

    def gold(self, seed: int) -> Cell | None:
        """Gold alignment against predicted."""
        return self.cell(f"alignment-{seed}", lambda: gold_alignment(self.bench, self.parser(seed), seed))


def run(data: Path | None, out: Path, seed: int = 0, say: Say = lambda _: None, count: int = 3) -> list[ResultRow]:
    """All rows: means over `count` seeds, in percent, without punctuation; without data, what is stored."""
    seeds, rows = range(seed, seed + count), list[ResultRow]()
    for kind, config in (("lstm", LSTM), ("plain", PLAIN)):
        study = Study(data, Path(out) / kind, config, say)
        for make in (_source_rows, _main_rows, _link_rows, _several_rows, _curve_rows, _gold_rows):
            end = "" if kind == "lstm" else ", without BiLSTM"
            rows += [row._replace(name=row.name + end) for row in make(study, seeds)]
    return rows


def _means(cells: Sequence[Cell | None], test: str) -> Iterator[tuple[str, float, str]]:
    known = [cell[test] for cell in cells if cell is not None]
    for metric in ("uas", "las") if known else ():
        values = [cell[metric] for cell in known]
        note = f"{len(values)} seeds, sd {np.std(values):.1f}" if len(values) > 1 else "one seed"
        yield metric.upper(), float(np.mean(values)), note


def _source_rows(study: Study, seeds: Sequence[int]) -> Iterator[ResultRow]:
    cells = [study.source(seed) for seed in seeds]
    for test in ("en_ewt", "en_pud"):
        for metric, value, note in _means(cells, test):
            yield ResultRow(f"9.1 source, {test}, {metric}", None, value, note)


def _main_rows(study: Study, seeds: Sequence[int]) -> Iterator[ResultRow]:
    for language in LANGUAGES:
        cells = {row: [study.row(language, row, seed) for seed in seeds] for row in ROWS}
        for test in (f"{language}_pud", *([TESTS[language]] if language in TESTS else [])):
            beside = language not in TESTS or test == TESTS[language]
            for row in ROWS:
                for metric, value, note in _means(cells[row], test):
                    thesis = THESIS_9_1[language][metric == "LAS"] if beside and row == "SubDP" else None
                    yield ResultRow(f"9.1 {test}, {row}, {metric}", thesis, value, note)


def _link_rows(study: Study, seeds: Sequence[int]) -> Iterator[ResultRow]:
    for language in THESIS_9_2:
        for side, row in enumerate(NAMES):
            cells = [study.row(language, row, seed) for seed in seeds]
            for metric, value, note in _means(cells, f"{language}_pud"):
                thesis = THESIS_9_2[language][side][metric == "LAS"]
                yield ResultRow(f"9.2 {language}_pud, {NAMES[row]}, {metric}", thesis, value, note)


def _several_rows(study: Study, seeds: Sequence[int]) -> Iterator[ResultRow]:
    cells = [cell for cell in map(study.several, seeds) if cell is not None]
    for name, thesis in THESIS_9_3.items():
        for test in ("de_pud", "de_gsd"):
            for metric, value, note in _means([cell[name] for cell in cells], test):
                shown = thesis if metric == "LAS" and test == "de_gsd" else None
                yield ResultRow(f"9.3 {test} from {'+'.join(SOURCES)}, {name}, {metric}", shown, value, note)


def _curve_rows(study: Study, seeds: Sequence[int]) -> Iterator[ResultRow]:
    for language in LANGUAGES:
        points = {0: [study.row(language, "DT", seed) for seed in seeds]}
        points |= {size: [study.curve(language, size, seed) for seed in seeds] for size in SIZES}
        points[1997] = [study.row(language, "SubDP", seed) for seed in seeds]
        for size, cells in points.items():
            for metric, value, note in _means(cells, f"{language}_pud"):
                yield ResultRow(f"curve {language}_pud, {size} pairs, {metric}", None, value, note)


def _gold_rows(study: Study, seeds: Sequence[int]) -> Iterator[ResultRow]:
    cells = [cell for cell in map(study.gold, seeds) if cell is not None]
    for name in cells[0] if cells else ():
        for metric, value, note in _means([{"test": cell[name]} for cell in cells], "test"):
            yield ResultRow(f"9.2 alignment fr_pud, {name}, {metric}", None, value, note)
