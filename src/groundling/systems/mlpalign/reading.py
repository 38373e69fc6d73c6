"""Sentence pairs from files: two texts, `source ||| target`, TSV or JSON lines; and a bilingual lexicon from links."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from groundling.algorithms.word_tokens import word_tokens
from groundling.errors import DataError, FormatError
from groundling.formats.files import Source, open_text
from groundling.structures import Alignment
from groundling.systems.mlpalign.counts import ALIGNED, ONE_TO_ONE, TOGETHER, count
from groundling.systems.mlpalign.streams import Words, paired


def read_pairs(source: Source, target: Source | None = None, tokenize: bool = False) -> Iterator[tuple[Words, Words]]:
    """Sentence pairs in a stream: line i of two texts, or one text whose lines hold both sides.

    One text: `source ||| target`, two or more columns with tabs, or JSON with `source` and `target` (text or lists of
    words). Empty sides are kept. Words are cut at spaces, or by `word_tokens` with `tokenize`.

    >>> import io
    >>> list(read_pairs(io.BytesIO(b"a cat ||| un chat")))
    [(['a', 'cat'], ['un', 'chat'])]
    """
    cut = word_tokens if tokenize else str.split
    if target is not None:
        yield from paired(_lines(source, cut), _lines(target, cut))
        return
    with open_text(source) as lines:
        for line in lines:
            first, second = _sides(line, lines.where)
            yield (
                first if isinstance(first, list) else cut(first),
                second if isinstance(second, list) else cut(second),
            )


def _lines(source: Source, cut: Any) -> Iterator[Words]:
    with open_text(source) as lines:
        for line in lines:
            yield cut(line)


def _sides(line: str, where: str) -> tuple[str | list[str], str | list[str]]:
    if line.startswith("{"):
        return _json_sides(line, where)
    if "\t" in line:
        first, second = line.split("\t")[:2]
    elif "|||" in line:
        first, second = line.split("|||", 1)
    elif not line.strip():
        return "", ""
    else:
        raise FormatError(
            f"{where}: no two sides. Write `source ||| target`, put a tab between them, use JSON with `source` and "
            "`target`, or give two files."
        )
    return first, second


def _json_sides(line: str, where: str) -> tuple[str | list[str], str | list[str]]:
    try:
        item = json.loads(line)
        sides = item["source"], item["target"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FormatError(f"{where}: not JSON with `source` and `target` ({error}).") from None
    for side in sides:
        if not (isinstance(side, str) or (isinstance(side, list) and all(isinstance(w, str) and w for w in side))):
            raise FormatError(f"{where}: `source` and `target` must be text or lists of words.")
    return sides


class Entry(NamedTuple):
    """Two words that translate each other: links, one-to-one links, meetings, and the score of both directions."""

    source: str
    target: str
    linked: int
    one_to_one: int
    together: int
    score: float


def lexicon(
    items: Iterable[tuple[Words, Words, Alignment]], least: int = 1, *, n_jobs: int = 1, backend: str | None = None
) -> list[Entry]:
    """Word pairs linked at least `least` times, best first. The score is links^2 / (count of source x of target)."""
    counts = count(items, expect=False, n_jobs=n_jobs, backend=backend)
    entries: list[Entry] = []
    for key, row in zip(counts.keys.tolist(), counts.values, strict=True):
        if row[ALIGNED] >= least:
            s, t = key >> 32, key & 0xFFFFFFFF
            score = float(row[ALIGNED] ** 2 / (counts.source_count[s] * counts.target_count[t]))
            linked, single, together = (int(row[k]) for k in (ALIGNED, ONE_TO_ONE, TOGETHER))
            entries.append(Entry(counts.source[s], counts.target[t], linked, single, together, round(score, 6)))
    return sorted(entries, key=lambda e: (-e.score * e.linked / (e.linked + 1), e.source, e.target))


def read_lines(path: str | Path) -> list[Sequence[str]]:
    """All sentences of a text, cut at spaces; empty lines are kept, so that numbers are line numbers."""
    with open_text(path) as lines:
        found: list[Sequence[str]] = [line.split() for line in lines]
    if not found:
        raise DataError(f"{path}: empty. Give a text with one sentence a line.")
    return found
