"""EVALB's table and summary, column by column, to the last digit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from groundling.errors import DataError, GroundlingError
from groundling.metrics.bracket_lines import chunks, compare_pairs
from groundling.metrics.bracket_reader import FIRST_TOKEN, Rules
from groundling.metrics.bracketing import bracketing_of_line, crossing, evalb_pair
from groundling.metrics.evalb_prm import EvalbParameters

_FEW = 500  # below, loading the compiled reader costs more than it saves
_HEADER = """\
  Sent.                        Matched  Bracket   Cross        Correct Tag
 ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy
============================================================================"""


class Row(NamedTuple):
    """One sentence. Status 0: scored; 1: words do not fit; 2: nothing predicted."""

    length: int
    status: int
    matched: int
    gold: int
    test: int
    crossing: int
    words: int
    tags: int
    note: str = ""  # what does not fit


def evalb_row(gold_line: str, test_line: str, prm: EvalbParameters) -> Row:
    """Compare two lines as EVALB does.

    >>> evalb_row("(S (N dogs) (V bark))", "(S (N dogs) (N bark))", EvalbParameters())
    Row(length=2, status=0, matched=1, gold=1, test=1, crossing=0, words=2, tags=1, note='')
    """
    gold, test = bracketing_of_line(gold_line), bracketing_of_line(test_line)
    length = sum(tag not in prm.delete_for_length for tag in gold.tags)
    kept = sum(tag not in prm.delete for tag in gold.tags)
    if not any(tag not in prm.delete for tag in test.tags):
        return Row(length, 2, 0, 0, 0, 0, kept, 0)
    try:
        gold, test = evalb_pair(gold, test, prm)
    except DataError as error:
        return Row(length, 1, 0, 0, 0, 0, kept, 0, str(error).partition(":")[0])
    keys = [Counter(b if prm.labelled else b[:2] for b in side.brackets) for side in (gold, test)]
    tags = sum(map(prm.same_label, gold.tags, test.tags))
    counts = len(gold.brackets), len(test.brackets), crossing(gold.brackets, test.brackets)
    return Row(length, 0, (keys[0] & keys[1]).total(), *counts, len(gold.words), tags)


@dataclass(frozen=True)
class Summary:
    """What EVALB prints under its table, in percent."""

    sentences: int
    errors: int
    skipped: int
    valid: int
    recall: float
    precision: float
    fmeasure: float
    complete: float
    average_crossing: float
    no_crossing: float
    two_or_less: float
    tagging: float

    def __str__(self) -> str:
        counts = [
            f"Number of sentence        = {self.sentences:6d}",
            f"Number of Error sentence  = {self.errors:6d}",
            f"Number of Skip  sentence  = {self.skipped:6d}",
            f"Number of Valid sentence  = {self.valid:6d}",
        ]
        names = (
            "Bracketing Recall",
            "Bracketing Precision",
            "Bracketing FMeasure",
            "Complete match",
            "Average crossing",
        )
        names += ("No crossing", "2 or less crossing", "Tagging accuracy")
        values = (self.recall, self.precision, self.fmeasure, self.complete, self.average_crossing)
        values += (self.no_crossing, self.two_or_less, self.tagging)
        return "\n".join([*counts, *(f"{n:<26}= {v:6.2f}" for n, v in zip(names, values, strict=True))])


@dataclass(frozen=True)
class Report:
    """The whole output of EVALB; `str` prints it."""

    rows: tuple[Row, ...]
    cutoff: int

    def summary(self, longest: int | None = None) -> Summary:
        """Summary over sentences of at most `longest` words."""
        rows = [row for row in self.rows if longest is None or row.length <= longest]
        valid = [row for row in rows if row.status == 0]
        matched = sum(row.matched for row in valid)
        recall = _percent(matched, sum(row.gold for row in valid))
        precision = _percent(matched, sum(row.test for row in valid))
        total = recall + precision
        return Summary(
            sentences=len(rows),
            errors=sum(row.status == 1 for row in rows),
            skipped=sum(row.status == 2 for row in rows),
            valid=len(valid),
            recall=recall,
            precision=precision,
            fmeasure=2 * precision * recall / total if total else float("nan"),
            complete=_percent(sum(row.matched == row.gold == row.test for row in valid), len(valid)),
            average_crossing=_percent(sum(row.crossing for row in valid), len(valid)) / 100,
            no_crossing=_percent(sum(row.crossing == 0 for row in valid), len(valid)),
            two_or_less=_percent(sum(row.crossing <= 2 for row in valid), len(valid)),
            tagging=_percent(sum(row.tags for row in valid), sum(row.words for row in valid)),
        )

    def __str__(self) -> str:
        total = self.summary()
        valid = [row for row in self.rows if row.status == 0]
        columns = [(row.matched, row.gold, row.test, row.words, row.tags) for row in valid]
        sums = [sum(column) for column in zip(*columns, strict=True)] or [0] * 5
        # EVALB prints the number of sentences without crossing in the column of crossings.
        free = sum(row.crossing == 0 for row in valid)
        last = (
            f"                {total.recall:6.2f} {total.precision:6.2f} {sums[0]:6d} {sums[1]:6d} {sums[2]:4d} "
            f"{free:6d} {sums[3]:6d} {sums[4]:5d}   {total.tagging:6.2f}"
        )
        table = [_line(number, row) for number, row in enumerate(self.rows, 1)]
        rule = _HEADER.splitlines()[-1]
        parts = [_HEADER, *table, rule, last, "=== Summary ===", "", "-- All --", str(total), ""]
        return "\n".join([*parts, f"-- len<={self.cutoff} --", str(self.summary(self.cutoff))])


def evalb(golds: Iterable[str], tests: Iterable[str], prm: EvalbParameters | None = None) -> Report:
    """Compare two bracketed files line by line; an empty predicted line is a skipped sentence."""
    prm = prm or EvalbParameters()
    rules = Rules(evalb=True, labels=prm.labelled, multiset=True, whole=True, words=True, mode=FIRST_TOKEN)
    rows: list[Row] = []
    for pairs in chunks(golds, tests):
        if len(pairs) < _FEW:
            rows += [_explained(len(rows) + i, *pair, prm) for i, pair in enumerate(pairs, 1)]
            continue
        for (gold, test), found in zip(pairs, compare_pairs(pairs, rules, prm, ()).tolist(), strict=True):
            # The slow reader gives the reason where a pair does not fit.
            rows.append(Row(*found) if found[1] in (0, 2) else _explained(len(rows) + 1, gold, test, prm))
    return Report(tuple(rows), prm.cutoff)


def _explained(number: int, gold: str, test: str, prm: EvalbParameters) -> Row:
    try:
        return evalb_row(gold, test, prm)
    except GroundlingError as error:
        raise error.at(f"line {number}") from None


def _line(number: int, row: Row) -> str:
    recall, precision = _percent(row.matched, row.gold), _percent(row.matched, row.test)
    return (
        f"{number:4d} {row.length:4d} {row.status:4d}  {recall:6.2f} {precision:6.2f} {row.matched:5d} {row.gold:6d} "
        f"{row.test:4d} {row.crossing:6d} {row.words:6d} {row.tags:5d}   {_percent(row.tags, row.words):6.2f}"
    )


def _percent(part: float, whole: float) -> float:
    return 100 * part / whole if whole else 0.0
