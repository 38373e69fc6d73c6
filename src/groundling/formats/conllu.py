"""CoNLL-U dependency trees. Comments, multiword ranges and empty nodes survive byte for byte."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from conllu.exceptions import ParseException
from conllu.parser import parse_id_value

from groundling.errors import FormatError, GroundlingError
from groundling.formats.files import Source, TextLines, open_text, raise_faults, write_lines
from groundling.structures import Dependencies
from groundling.structures.dependencies import DEPREL, FORM, HEAD, ID, UPOS, Row

_MAX_LINES = 100_000  # of one sentence; more means that the blank lines between sentences are missing
_BREAKS = ("\t", "\n", "\r")


def read(source: Source) -> Iterator[Dependencies]:
    r"""Read sentences one by one. Loops and several roots are let through: `Dependencies.faults` names them.

    >>> import io
    >>> [tree] = read(io.BytesIO("1\tdogs\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n".encode()))
    >>> tree.words, tree.heads
    (('dogs',), (0,))
    """
    with open_text(source) as lines:
        yield from raise_faults(scan(lines))


def write(path: str | os.PathLike[str], sentences: Iterable[Dependencies]) -> None:
    """Write sentences, each with a blank line after it."""
    write_lines(path, (_checked(sentence) + "\n" for sentence in sentences))


def scan(lines: TextLines, trees: bool = False) -> Iterator[Dependencies | GroundlingError]:
    """Yield each sentence, or in its place all that is wrong with it; with `trees`, loops and several roots, too."""
    for number, block in _blocks(lines):
        sentence = _Sentence(lines.name, number, block)
        if trees and not sentence.faults:
            for what in sentence.tree().faults():
                sentence.fault(number, f"{what} Correct the HEAD column.")
        yield from sentence.faults or [sentence.tree()]


def _blocks(lines: TextLines) -> Iterator[tuple[int, list[str]]]:
    block: list[str] = []
    for line in lines:
        if line and not line.isspace():
            block.append(line)
            if len(block) > _MAX_LINES:
                raise FormatError(
                    f"{lines.where}: a sentence of over {_MAX_LINES:,} lines. Put a blank line after each."
                )
        elif block:
            yield lines.number - len(block), block
            block = []
    if block:
        yield lines.number - len(block) + 1, block


class _Sentence:
    """The lines of one sentence on their way to a tree; `faults` holds all that is wrong with them."""

    def __init__(self, name: str, number: int, block: list[str]) -> None:
        self.name, self.number = name, number
        self.faults: list[GroundlingError] = []
        self.comments: list[str] = []
        self.rows: list[Row] = []
        self.words: list[tuple[int, Row]] = []  # line number, columns
        self.heads: list[int] = []
        for at, line in enumerate(block, number):
            if line[0] == "#":
                self._comment(at, line)
            else:
                self._row(at, tuple(line.split("\t")))
        if not self.words:
            self.fault(number, "no word. Remove the comments or add the sentence.")
        self._range(number + len(block) - 1, len(self.words))
        for at, row in self.words:
            self.heads.append(self._head(at, row))

    def fault(self, at: int, what: str) -> None:
        sentence = next(
            (f"sentence {line.partition('=')[2].strip()!r}: " for line in self.comments if _names(line)), ""
        )
        self.faults.append(FormatError(f"{self.name}:{at}: {sentence}{what}"))

    def _comment(self, at: int, line: str) -> None:
        if self.rows:
            self.fault(at, "a comment inside the sentence. Move it above the first word.")
        self.comments.append(line)

    def _row(self, at: int, row: Row) -> None:
        if len(row) != 10:
            return self.fault(at, f"{len(row)} columns instead of 10. Put one tab between columns, `_` where empty.")
        if not all(row):
            return self.fault(at, f"column {row.index('') + 1} is empty. Write `_`.")
        self.rows.append(row)
        if row[ID] == str(len(self.words) + 1):
            self.words.append((at, row))
        else:
            self._other_id(at, row[ID])

    _open_range = (0, 0)  # line and last word of the multiword range that is open

    def _other_id(self, at: int, text: str) -> None:
        """Check an ID that is not the next word's."""
        expected = len(self.words) + 1
        try:
            value = parse_id_value(text) if len(text) <= 20 else None
        except ParseException:
            value = None
        if isinstance(value, tuple):
            first, mark, last = value
            if mark == "." and first == expected - 1:
                return
            if mark == "-" and first == expected and last >= first:
                self._range(at, expected - 1)
                self._open_range = (at, last)
                return
        self.fault(
            at,
            f"ID is {text[:20]!r} where word {expected} should come. Number the words 1, 2, 3 ..., a range as 3-4 "
            "before its first word, an empty node as 3.1 after word 3.",
        )

    def _range(self, at: int, words: int) -> None:
        line, last = self._open_range
        if last > words:
            self.fault(line, f"the range goes to word {last}, but the next range or the end comes after word {words}.")
        self._open_range = (0, 0)

    def _head(self, at: int, row: Row) -> int:
        text, count = row[HEAD], len(self.words)
        if not (text.isascii() and text.isdigit()) or (text[0] == "0" and text != "0"):
            self.fault(
                at, f"HEAD is {text[:20]!r}, which is no number. Give each word the ID of its head, 0 for the root."
            )
        elif len(text) > 9 or int(text) > count:
            self.fault(
                at,
                f"HEAD is {text[:20]} but the sentence has {count} words. Heads count from 1 and skip ranges.",
            )
        elif text == row[ID]:
            self.fault(at, f"word {text} is its own head. Heads count from 1; 0 is the root.")
        else:
            return int(text)
        return 0

    def tree(self) -> Dependencies:
        rows = [row for _, row in self.words]
        tags = tuple(row[UPOS] for row in rows)
        return Dependencies(
            words=tuple(row[FORM] for row in rows),
            heads=tuple(self.heads),
            labels=tuple(row[DEPREL] for row in rows),
            tags=tags if any(tag != "_" for tag in tags) else (),
            comments=tuple(self.comments),
            rows=tuple(self.rows),
        )


def _names(comment: str) -> bool:
    return comment.partition("=")[0].lstrip("# ").strip() == "sent_id"


def _checked(sentence: Dependencies) -> str:
    text = str(sentence)
    columns = [column for row in sentence.rows for column in row] or [*sentence.words, *sentence.labels, *sentence.tags]
    if not sentence.words or any(not x or any(mark in x for mark in _BREAKS) for x in columns):
        raise FormatError(
            f"sentence {sentence.id!r}: no words, or a column that is empty or holds a tab or line break: CoNLL-U "
            "cannot hold it. Write `_` for nothing and a space for a tab."
        )
    if any(not line.startswith("#") or "\n" in line or "\r" in line for line in sentence.comments):
        raise FormatError(f"sentence {sentence.id!r}: each comment is one line that begins with '#'.")
    return text
