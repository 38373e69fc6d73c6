"""Bring the gold and the predictions of several systems together, item by item, and name what does not fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

from groundling.errors import DataError

_NAMED = 5  # mismatches that an error spells out; the rest are counted


class Entry(NamedTuple):
    """One item of a file: its key (a sentence number, an id) and itself."""

    key: str
    item: Any


class Case(NamedTuple):
    """One system's answer to one gold item, or in `fault` why there is none to score."""

    system: int
    key: str
    gold: Any
    pred: Any
    fault: str = ""


Check = Callable[[Any, Any], str]  # what keeps two items from being compared, "" if nothing does


@dataclass(frozen=True)
class Mismatches:
    """Items of one system that could not be scored."""

    system: str
    faults: tuple[str, ...]

    def __str__(self) -> str:
        more = len(self.faults) - _NAMED
        named = "; ".join(fault.rstrip(".") for fault in self.faults[:_NAMED]) + (
            f"; and {more} more" if more > 0 else ""
        )
        return f"{self.system}: {len(self.faults)} item(s) do not match the gold: {named}"


def in_order(golds: Iterable[Entry], systems: Sequence[Iterable[Entry]], check: Check) -> Iterator[Case]:
    """Pair the first with the first, the second with the second ...; all files are read as streams.

    >>> list(in_order([Entry("sentence 1", "a")], [[]], lambda gold, pred: ""))[0].fault
    'sentence 1 is missing'
    """
    for gold, *preds in zip_longest(golds, *systems):
        for system, pred in enumerate(preds):
            if gold is not None or pred is not None:
                yield _case(system, gold, pred, check)


def by_key(golds: Iterable[Entry], systems: Sequence[Iterable[Entry]], check: Check) -> Iterator[Case]:
    """Pair items of equal keys, whatever their order; the predictions are held in memory.

    >>> cases = by_key([Entry("a", 1), Entry("b", 2)], [[Entry("b", 3), Entry("c", 4)]], lambda gold, pred: "")
    >>> [case.fault for case in cases]
    ['a is missing', '', 'c is extra']
    """
    tables = [_table(entries) for entries in systems]
    seen: set[str] = set()
    for gold in golds:
        if gold.key in seen:
            raise DataError(f"the gold has {gold.key} twice. Give each item a name of its own.")
        seen.add(gold.key)
        for system, table in enumerate(tables):
            yield _case(system, gold, table.get(gold.key), check)
    for system, table in enumerate(tables):
        for key, pred in table.items():
            if key not in seen:
                yield _case(system, None, pred, check)


def _table(entries: Iterable[Entry]) -> dict[str, Entry]:
    table: dict[str, Entry] = {}
    for entry in entries:
        if entry.key in table:
            raise DataError(f"the predictions have {entry.key} twice. Give each item a name of its own.")
        table[entry.key] = entry
    return table


def _case(system: int, gold: Entry | None, pred: Entry | None, check: Check) -> Case:
    if gold is None or pred is None:
        key = (gold or pred or Entry("", None)).key
        return Case(system, key, None, None, f"{key} is {'extra' if gold is None else 'missing'}")
    fault = check(gold.item, pred.item)
    return Case(system, gold.key, gold.item, pred.item, fault and f"{gold.key}: {fault}")
