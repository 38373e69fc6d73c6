"""Bracketed trees (Penn Treebank style), one a line or printed over several lines.

Between trees, blank lines and comments (lines that begin with `#` or `%%`) are skipped; inside a tree `#` is a word
or label like any other. Where most of the first lines hold a whole tree, or once one has been seen, a `(` in the first
column begins a new tree, so that a missing bracket spoils one tree and not the file.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice

from groundling.errors import FormatError, GroundlingError
from groundling.formats.files import MAX_LINE, Source, TextLines, open_text, raise_faults, write_lines
from groundling.structures import Tree
from groundling.structures.bracket_text import BracketError, Labelled

_SNIFFED = 50  # trees that decide whether a file has labels
_TOKEN = re.compile(r"\(([^\s()]*)|(\))|([^\s()]+)")


@dataclass
class _Chunk:
    """The lines of one tree, the first of them at line `number`."""

    number: int
    lines: list[str] = field(default_factory=list[str])

    @property
    def text(self) -> str:
        return self.lines[0] if len(self.lines) == 1 else "\n".join(self.lines)


def read(source: Source, labelled: Labelled = "auto") -> Iterator[Tree]:
    r"""Read trees one by one.

    `labelled="auto"` decides by the first trees whether words touch their brackets, as in `((a cat) sleeps)`: see
    `looks_unlabelled`. True and False decide it for you.

    >>> import io
    >>> [str(tree) for tree in read(io.BytesIO(b"((a cat) sleeps)\n(a (black cat))\n"))]
    ['( ( a cat ) sleeps )', '( a ( black cat ) )']
    """
    with open_text(source) as lines:
        yield from raise_faults(scan(lines, labelled))


def write(path: str | os.PathLike[str], trees: Iterable[Tree]) -> None:
    """Write trees, one a line."""
    write_lines(path, map(str, trees))


def scan(lines: TextLines, labelled: Labelled = "auto") -> Iterator[Tree | GroundlingError]:
    """Yield each tree, or in its place what is wrong with it."""
    chunks = _chunks(lines)
    if labelled == "auto":
        first = list(islice(chunks, _SNIFFED))
        if looks_unlabelled(chunk.text for chunk in first if isinstance(chunk, _Chunk)):
            labelled = False
        chunks = chain(first, chunks)
    for chunk in chunks:
        yield chunk if isinstance(chunk, GroundlingError) else _parse(chunk, lines.name, labelled)


def _parse(chunk: _Chunk, name: str, labelled: Labelled) -> Tree | GroundlingError:
    try:
        return Tree.from_brackets(chunk.text, labelled)
    except BracketError as error:
        before = chunk.text[: error.offset].split("\n")
        return FormatError(f"{name}:{chunk.number + len(before) - 1}: column {len(before[-1]) + 1}: {error.what}")
    except GroundlingError as error:
        return error.at(f"{name}:{chunk.number}")


def _chunks(lines: TextLines) -> Iterator[_Chunk | GroundlingError]:
    """Cut a file into trees by counting brackets; the text inside is not looked at."""
    name = lines.name
    again = deque(enumerate(islice(lines, _SNIFFED), 1))  # lines to read (again): those looked at before
    one_a_line = _mostly_whole([line for _, line in again])
    chunk, depth, size = _Chunk(0), 0, 0
    while True:
        number, line = again.popleft() if again else (lines.number + 1, next(lines, None))
        if not chunk.lines:
            if line is None:
                return
            if not line or line.isspace() or line.startswith(("#", "%%")):
                continue
            chunk, depth, size = _Chunk(number), 0, 0
        elif line is None or (one_a_line and line.startswith("(")):
            yield _unclosed(name, chunk, depth)
            rest = chunk.lines[1:]
            again.extend(enumerate(rest, chunk.number + 1) if not one_a_line and _restarts(rest) else ())
            one_a_line = one_a_line or line is None
            if line is not None:
                again.appendleft((number, line))
            chunk = _Chunk(0)
            continue
        assert line is not None
        chunk.lines.append(line)
        depth += line.count("(") - line.count(")")
        size += len(line)
        if depth <= 0:
            yield chunk
            one_a_line = one_a_line or (depth == 0 and len(chunk.lines) == 1 and line.startswith("("))
            chunk = _Chunk(0)
        elif size > MAX_LINE:
            yield FormatError(f"{name}:{chunk.number}: the tree that begins here has over {MAX_LINE:,} characters.")
            return


def _mostly_whole(lines: list[str]) -> bool:
    balance = [line.count("(") == line.count(")") for line in lines if line.startswith("(")]
    return sum(balance) > 0.8 * len(balance)


def _restarts(rest: list[str]) -> bool:
    return any(line.startswith("(") for line in rest)


def _unclosed(name: str, chunk: _Chunk, depth: int) -> FormatError:
    return FormatError(
        f"{name}:{chunk.number}: {depth} bracket(s) of the tree that begins here are not closed. Add the missing ')'; "
        "in a tree over several lines, begin all lines but the first with a space."
    )


def looks_unlabelled(texts: Iterable[str]) -> bool:
    """Whether trees hold words where labels would stand, as in `((a (young man)) (at night))`.

    Yes, if most tokens that touch their opening bracket begin with a letter that is not upper-case, and most trees
    would be odd with them as labels: a bracket without label below the root or with two parts, a word that shares its
    bracket, a bracket without a word, or one word alone under several brackets.

    >>> looks_unlabelled(["(a (young man))"]), looks_unlabelled(["(NP (D a) (N man))"]), looks_unlabelled(["( a man )"])
    (True, False, False)
    """
    trees = odd = labels = lower = 0
    for text in texts:
        touching = [label for label in re.findall(r"\(([^\s()]+)", text)]
        labels += len(touching)
        lower += sum(label[0].isalpha() and not label[0].isupper() for label in touching)
        trees += 1
        odd += _odd_with_labels(text)
    return 2 * lower > labels > 0 and 2 * odd > trees


def _odd_with_labels(text: str) -> bool:
    parts: list[list[int]] = []  # for each open bracket: has a label, words, brackets
    words = brackets = 0
    for match in _TOKEN.finditer(text):
        if match.lastindex == 1:
            if parts:
                parts[-1][2] += 1
                if not match[1]:
                    return True
            parts.append([bool(match[1]), 0, 0])
            brackets += 1
        elif match.lastindex == 3 and parts:
            parts[-1][1] += 1
            words += 1
        elif parts:
            label, inner_words, inner = parts.pop()
            if (inner_words != 1 and not inner) or (inner_words and inner) or (not label and inner > 1):
                return True
    return words == 1 and brackets > 1
