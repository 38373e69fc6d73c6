"""One tree as bracketed text, both ways, without recursion: depth is bounded by memory, not by the stack."""

from __future__ import annotations

import re
from itertools import islice
from typing import Literal, NamedTuple

from groundling.errors import FormatError

Labelled = Literal["auto"] | bool

# `(` with its label, a closing bracket, or a word. The three modes differ in what may follow `(`.
_TOKENS = {
    "auto": re.compile(r"\([^\s()]*|\)|[^\s()]+"),
    True: re.compile(r"\(\s*[^\s()]*|\)|[^\s()]+"),
    False: re.compile(r"\(|\)|[^\s()]+"),
}
_ESCAPES = {"-LRB-": "(", "-RRB-": ")"}
_UNESCAPES = {"(": "-LRB-", ")": "-RRB-"}
_UNWRITABLE = re.compile(r"[\s()]")


class BracketError(FormatError):
    """A fault at a place of the text, counted from 0."""

    def __init__(self, what: str, offset: int | None = None) -> None:
        super().__init__(what if offset is None else f"column {offset + 1}: {what}")
        self.what = what
        self.offset = offset or 0


class Parsed(NamedTuple):
    """A tree in flat form: nodes in preorder, node k covers words starts[k] .. ends[k]-1."""

    words: tuple[str, ...]
    labels: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]


def parse(text: str, labelled: Labelled = "auto") -> Parsed:
    """Parse one bracketed tree.

    `labelled="auto"`: a token that touches its opening bracket is a label (`(NP ...)`), after a space it is a word
    (`( a cat )`). True: the first token after a bracket is always the label. False: it is always a word.
    A bare word is a tree of one word.

    >>> parse("(NP (D a) (N cat))").labels
    ('NP', 'D', 'N')
    >>> parse("(a (black cat))", labelled=False).words
    ('a', 'black', 'cat')
    """
    words: list[str] = []
    labels: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    stack: list[int] = []
    tokens: list[str] = _TOKENS[labelled].findall(text)
    for index, token in enumerate(tokens):
        if token == ")":
            if not stack or starts[stack[-1]] == len(words):
                raise _error(text, labelled, index, bool(stack))
            ends[stack.pop()] = len(words)
        elif token[0] == "(":
            if words and not stack:
                raise _error(text, labelled, index, bool(labels))
            stack.append(len(labels))
            labels.append(token[1:].lstrip())
            starts.append(len(words))
            ends.append(-1)
        else:
            if labels and not stack:
                raise _error(text, labelled, index)
            words.append(_ESCAPES.get(token, token))
    return _finish(words, labels, starts, ends, stack)


def _error(text: str, labelled: Labelled, index: int, inside: bool = False) -> BracketError:
    """What is wrong with token number `index`; only now is it worth finding where it stands."""
    match = next(islice(_TOKENS[labelled].finditer(text), index, None))
    if match[0] == ")":
        empty = "this constituent has no word. Remove it or fill it."
        return BracketError(empty if inside else "')' closes nothing. Remove it or add its '('.", match.start())
    if match[0][0] == "(" and inside:
        return BracketError("a second tree begins here. Write one tree at a time.", match.start())
    word = match[0] if match[0][0] != "(" else text.split(None, 1)[0].partition("(")[0]
    return BracketError(f"the word {word[:40]!r} stands outside the tree.", match.start() if word == match[0] else 0)


def _finish(words: list[str], labels: list[str], starts: list[int], ends: list[int], stack: list[int]) -> Parsed:
    if stack:
        raise FormatError(f"{len(stack)} bracket(s) are not closed. Add the missing ')'.")
    if not words:
        raise FormatError("no tree here. Write one such as (S (NP (N dogs)) (VP (V bark))).")
    if not labels:
        if len(words) > 1:
            raise FormatError(f"{len(words)} words but no bracket. Write ( a cat ) for a tree without labels.")
        labels, starts, ends = [""], [0], [1]
    return Parsed(tuple(words), tuple(labels), tuple(starts), tuple(ends))


def write(words: tuple[str, ...], labels: tuple[str, ...], starts: tuple[int, ...], ends: tuple[int, ...]) -> str:
    """Write a flat tree in one line: `(NP (D a) (N cat))`, or `( a cat )` where a label is empty.

    >>> write(("a", "cat"), ("",), (0,), (2,))
    '( a cat )'
    """
    pieces: list[str] = []
    stack: list[int] = []
    node, count = 0, len(labels)
    for position, word in enumerate(words):
        while node < count and starts[node] == position:
            pieces.append(f"({_writable(labels[node], 'label')}")
            stack.append(ends[node])
            node += 1
        pieces.append(_UNESCAPES[word] if word in _UNESCAPES else _writable(word, "word"))
        while stack and stack[-1] == position + 1:
            stack.pop()
            pieces.append(")")
    unlabelled = not any(labels)
    return " ".join(pieces) if unlabelled else " ".join(pieces).replace(" )", ")")


def _writable(text: str, kind: str) -> str:
    if (not text and kind == "word") or _UNWRITABLE.search(text):
        raise FormatError(f"the {kind} {text!r} cannot stand in brackets. Replace its spaces and parentheses first.")
    return text
