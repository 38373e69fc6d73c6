"""`groundling reproduce 9.1` and its kin: the cells of the SubDP study, stored one by one, as rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from groundling.experiments.subdp import (
    LANGUAGES,
    SIZES,
    TESTS,
    THESIS_9_1,
    THESIS_9_2,
    THESIS_9_3,
    Bench,
    Transfer,
    gold_alignment,
    several_sources,
    source_parser,
    sources_of,
    stored,
)
from groundling.experiments.tables import ResultRow
from groundling.systems.subdp.config import Config
from groundling.systems.subdp.parser import Parser

ROWS = ("DT", "ST", "Hard", "RandI", "SubDP", "SubDP 1:1")
NAMES = {"SubDP": "many-to-one", "SubDP 1:1": "one-to-one"}


class Kind(NamedTuple):
    """One kind of parser, and how much of the study was made with it."""

    folder: str
    config: Config
    few: Config  # for the curve
    sizes: tuple[int, ...] = SIZES
    several: tuple[str, ...] = ("de", "tr")  # targets of table 9.3
    end: str = ""  # of the names of its rows


LSTM = Config(source_epochs=25, patience=6, target_batch_words=2500, target_batches=0)
PLAIN = Config(source_epochs=40, lstm_dim=0, target_batches=0)
KINDS = (
    # what few pairs want was chosen on the dev sets of de, fr and it, at 50 and 200 pairs, out of six ways
    Kind("lstm", LSTM, replace(LSTM, target_batches=8, target_learning_rate=2e-4, patience=30), (50, 200, 800)),
    # the words' vectors go to the biaffine scorers as they are
    Kind("plain", PLAIN, PLAIN, several=("de",), end=", without BiLSTM"),
)
Say = Callable[[str], None]
Cell = dict[str, dict[str, float]]


class Study:
    """The cells of one kind of parser; corpora, encoder and parsers are loaded when a cell is missing, not before."""

    def __init__(self, data: Path | None, out: Path, kind: Kind, say: Say) -> None:
        self.data, self.out, self.kind, self.say = data, out / kind.folder, kind, say
        self._parsers: dict[Any, Parser] = {}

    @cached_property
    def bench(self) -> Bench:
        """Everything read and the encoder loaded."""
        from groundling.experiments.subdp_data import read_material
        from groundling.systems.subdp.word_encoder import load_encoder

        return Bench(
            read_material(self.data), load_encoder(self.kind.config.encoder), self.kind.config, self.out / "vectors"
        )

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
            made = Transfer(self.bench, self.parser(seed), language, seed).with_pairs(pairs, self.kind.few)
            return self.bench.scores(made, language, [f"{language}_pud"])

        return self.cell(f"curve-{language}-{pairs}-{seed}", compute)

    def several(self, target: str, seed: int) -> dict[str, Cell] | None:
        """Table 9.3."""

        def compute() -> dict[str, Cell]:
            made = several_sources(self.bench, self.parser(seed, sources_of(target)), target, seed)
            return {name: self.bench.scores(parser, target) for name, parser in made.items()}

        return self.cell(f"several-{target}-{seed}", compute)

    def gold(self, seed: int) -> Cell | None:
        """Gold alignment against predicted."""
        return self.cell(f"alignment-{seed}", lambda: gold_alignment(self.bench, self.parser(seed), seed))


def run(data: Path | None, out: Path, seed: int = 0, say: Say = lambda _: None, count: int = 3) -> list[ResultRow]:
    """All rows: means over `count` seeds, in percent, without punctuation; without data, what is stored."""
    seeds, rows = range(seed, seed + count), list[ResultRow]()
    for kind in KINDS:
        study = Study(data, Path(out), kind, say)
        for make in (_source_rows, _main_rows, _mean_rows, _link_rows, _several_rows, _curve_rows, _gold_rows):
            rows += [row._replace(name=row.name + kind.end) for row in make(study, seeds)]
    return rows


def _means(cells: Sequence[Cell | None], test: str) -> Iterator[tuple[str, float, str]]:
    known = [cell[test] for cell in cells if cell is not None and test in cell]
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
        tests = (f"{language}_pud", *TESTS[language])
        for test in tests:
            beside = test == tests[:2][-1]  # the thesis' test set, or PUD where there is none
            for row in ROWS:
                for metric, value, note in _means(cells[row], test):
                    thesis = THESIS_9_1[language][metric == "LAS"] if beside and row == "SubDP" else None
                    yield ResultRow(f"9.1 {test}, {row}, {metric}", thesis, value, note)


def _mean_rows(study: Study, seeds: Sequence[int]) -> Iterator[ResultRow]:
    """Figures 9.2 and 9.3 in one number a row."""
    for row in ROWS:
        cells = [_mean_of([study.row(language, row, seed) for language in LANGUAGES]) for seed in seeds]
        for metric, value, note in _means(cells, "mean"):
            yield ResultRow(f"9.1 mean of PUD, {row}, {metric}", None, value, note)


def _mean_of(cells: Sequence[Cell | None]) -> Cell | None:
    """The mean over languages of the first set of each, PUD; None where a language is missing."""
    known = [next(iter(cell.values())) for cell in cells if cell is not None]
    if len(known) < len(cells):
        return None
    return {"mean": {metric: float(np.mean([one[metric] for one in known])) for metric in ("uas", "las")}}


def _link_rows(study: Study, seeds: Sequence[int]) -> Iterator[ResultRow]:
    for language in THESIS_9_2:
        tests = (f"{language}_pud", *(name for name in TESTS[language] if name.endswith("_dev")))
        for test in tests:
            beside = test == tests[:2][-1]
            for side, row in enumerate(NAMES):
                cells = [study.row(language, row, seed) for seed in seeds]
                for metric, value, note in _means(cells, test):
                    thesis = THESIS_9_2[language][side][metric == "LAS"] if beside else None
                    yield ResultRow(f"9.2 {test}, {NAMES[row]}, {metric}", thesis, value, note)


def _several_rows(study: Study, seeds: Sequence[int]) -> Iterator[ResultRow]:
    for target in study.kind.several:
        cells = [cell for cell in (study.several(target, seed) for seed in seeds) if cell is not None]
        tests = (f"{target}_pud", *TESTS[target])
        for name, thesis in THESIS_9_3.items():
            for test in tests:
                for metric, value, note in _means([cell[name] for cell in cells], test):
                    shown = thesis.get(target) if metric == "LAS" and test == tests[:2][-1] else None
                    yield ResultRow(
                        f"9.3 {test} from {'+'.join(sources_of(target))}, {name}, {metric}", shown, value, note
                    )


def _curve_rows(study: Study, seeds: Sequence[int]) -> Iterator[ResultRow]:
    groups = {f"{language}_pud": (language,) for language in LANGUAGES}
    groups |= {"mean of de, fr, it": ("de", "fr", "it"), "mean of hi, tr": ("hi", "tr")}
    for name, languages in groups.items():
        for size in (0, *study.kind.sizes, 1997):
            cells = [_mean_of([_point(study, language, size, seed) for language in languages]) for seed in seeds]
            for metric, value, note in _means(cells, "mean"):
                yield ResultRow(f"curve {name}, {size} pairs, {metric}", None, value, note)


def _point(study: Study, language: str, size: int, seed: int) -> Cell | None:
    """DT at 0, SubDP from the whole bitext at the end."""
    ends = {0: "DT", 1997: "SubDP"}
    return study.row(language, ends[size], seed) if size in ends else study.curve(language, size, seed)


def _gold_rows(study: Study, seeds: Sequence[int]) -> Iterator[ResultRow]:
    cells = [cell for cell in map(study.gold, seeds) if cell is not None]
    for name in cells[0] if cells else ():
        for metric, value, note in _means([{"test": cell[name]} for cell in cells], "test"):
            yield ResultRow(f"9.2 alignment fr_pud, {name}, {metric}", None, value, note)
