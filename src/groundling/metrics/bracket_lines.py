"""Lines of bracketed text into and out of the compiled comparison."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, zip_longest

import numpy as np
from numpy.typing import NDArray

from groundling.errors import DataError
from groundling.metrics.bracket_kernels import compare_lines
from groundling.metrics.bracket_reader import Ints, Names, Rules, name_table
from groundling.metrics.evalb_prm import EvalbParameters

Pairs = list[tuple[str, str]]
_CHUNK = 4096  # pairs compared in one compiled call: a stream stays a stream


def chunks(golds: Iterable[str], preds: Iterable[str]) -> Iterator[Pairs]:
    """Pair lines off, some thousands at a time; a missing line is an error that names it."""
    pairs = _paired(golds, preds)
    while chunk := list(islice(pairs, _CHUNK)):
        yield chunk


def _paired(golds: Iterable[str], preds: Iterable[str]) -> Iterator[tuple[str, str]]:
    for number, (gold, pred) in enumerate(zip_longest(golds, preds), 1):
        if gold is None or pred is None:
            raise DataError(f"line {number}: the {'gold' if gold is None else 'test'} file has no such line.")
        yield gold, pred


def compare_pairs(pairs: Pairs, rules: Rules, prm: EvalbParameters, types: tuple[str, ...]) -> Ints:
    """One row of counts for each pair: see `bracket_kernels.COLUMNS`.

    >>> rules = Rules(True, True, True, True, True, 0)
    >>> compare_pairs([("(S (N dogs) (V bark))", "(S (N dogs) (N bark))")], rules, EvalbParameters(), ()).tolist()
    [[2, 0, 1, 1, 1, 0, 2, 1]]
    """
    golds, preds = (_text(lines) for lines in zip(*pairs, strict=True))
    delete, short, quotes = (_listed(names) for names in (prm.delete, prm.delete_for_length, prm.quotes))
    labels, words = _classes(prm.label_class), _classes(prm.word_class)
    numbered = name_table({name: number for number, name in enumerate(types)})
    return compare_lines(golds, preds, len(pairs), rules, delete, short, quotes, labels, words, numbered)


def _text(lines: Iterable[str]) -> NDArray[np.uint8]:
    # A line end inside an item would shift all that follow.
    return np.frombuffer(
        "\n".join(line.replace("\n", " ") for line in lines).encode("utf-8", "surrogatepass") + b"\n", np.uint8
    )


def _listed(names: frozenset[str]) -> Names:
    return name_table(dict.fromkeys(sorted(names), 0))


def _classes(members: Mapping[str, str]) -> Names:
    numbers = {name: number for number, name in enumerate(sorted(set(members.values())))}
    return name_table({name: numbers[group] for name, group in members.items()})
