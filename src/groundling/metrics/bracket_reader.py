"""Reading bracketed text, compiled: what `bracketing.py` does to one line, on bytes.

A side of a pair is two tables of byte offsets and word numbers. words: begin, end, tag begin, tag end, kept.
brackets: first word, end word, label begin, label end, state (FREE, USED or GONE).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.algorithms.compiled import compiled

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]
BEGIN, END, TAG, TAG_END, KEPT = 0, 1, 2, 3, 4
FIRST, LAST, LABEL, LABEL_END, STATE = 0, 1, 2, 3, 4
FREE, USED, GONE = 0, 1, 2
TOUCHING, FIRST_TOKEN, NO_LABELS = 0, 1, 2
FAULT = -1  # the line is no tree: the slow reader will say why
_SPACE, _TAB, _RETURN, _OPEN, _CLOSE = 32, 9, 13, 40, 41
MINUS, EQUALS = 45, 61


class Names(NamedTuple):
    """A list of short texts as bytes, and the class each belongs to."""

    text: Bytes
    offsets: Ints
    classes: Ints


class Rules(NamedTuple):
    """What the kernel counts: see `parseval.Convention`."""

    evalb: bool
    labels: bool
    multiset: bool
    whole: bool
    words: bool
    mode: int  # TOUCHING: `( a cat )` has no label; FIRST_TOKEN: it always is one; NO_LABELS: it never is


@compiled
def same(a: Bytes, a0: int, a1: int, b: Bytes, b0: int, b1: int) -> bool:
    """Whether two slices are equal."""
    if a1 - a0 != b1 - b0:
        return False
    for k in range(a1 - a0):  # noqa: SIM110  a loop is what compiles
        if a[a0 + k] != b[b0 + k]:
            return False
    return True


@compiled
def find(text: Bytes, begin: int, end: int, names: Names) -> int:
    """The class of a slice, or -1."""
    for k in range(names.classes.shape[0]):
        if same(text, begin, end, names.text, names.offsets[k], names.offsets[k + 1]):
            return names.classes[k]
    return -1


@compiled
def equal(a: Bytes, a0: int, a1: int, b: Bytes, b0: int, b1: int, names: Names) -> bool:
    """Whether two slices are equal or of one class."""
    if same(a, a0, a1, b, b0, b1):
        return True
    first = find(a, a0, a1, names)
    return first >= 0 and first == find(b, b0, b1, names)


@compiled
def blank(byte: int) -> bool:
    """Whether a byte is ASCII white space."""
    return byte == _SPACE or _TAB <= byte <= _RETURN


@compiled
def read_line(
    text: Bytes, at: int, end: int, rules: Rules, words: Ints, brackets: Ints, stack: Ints
) -> tuple[int, int]:
    """Fill words and brackets from text[at:end]; returns how many of each, FAULT where the line is no tree."""
    n, m, depth = 0, 0, 0
    while at < end:
        byte = text[at]
        if blank(byte):
            at += 1
        elif byte == _OPEN:
            if not rules.evalb and depth == 0 and n > 0:
                return FAULT, FAULT  # a second tree
            at += 1
            while rules.mode == FIRST_TOKEN and at < end and blank(text[at]):
                at += 1
            stack[0, depth], stack[1, depth], stack[3, depth] = at, n, 0
            while (
                rules.mode != NO_LABELS
                and at < end
                and not blank(text[at])
                and text[at] != _OPEN
                and text[at] != _CLOSE
            ):
                at += 1
            stack[2, depth] = at
            depth += 1
        elif byte == _CLOSE:
            depth -= 1
            if depth < 0 or (stack[1, depth] == n and not rules.evalb):
                return FAULT, FAULT
            if stack[1, depth] == n - 1 and stack[3, depth] == 0:  # one word and no node below: its tag
                words[TAG, n - 1], words[TAG_END, n - 1] = stack[0, depth], stack[2, depth]
            else:
                brackets[FIRST, m], brackets[LAST, m] = stack[1, depth], n
                brackets[LABEL, m], brackets[LABEL_END, m] = stack[0, depth], stack[2, depth]
                m += 1
            if depth > 0:
                stack[3, depth - 1] = 1
            at += 1
        else:
            if depth == 0:
                return FAULT, FAULT
            words[BEGIN, n], words[TAG, n], words[TAG_END, n] = at, -1, -1
            while at < end and not blank(text[at]) and text[at] != _OPEN and text[at] != _CLOSE:
                at += 1
            words[END, n] = at
            n += 1
    return (n, m) if depth == 0 else (FAULT, FAULT)


@compiled
def line_ends(text: Bytes, count: int) -> Ints:
    """Where each of `count` lines ends."""
    ends = np.empty(count, np.int64)
    line = 0
    for at in range(text.shape[0]):
        if text[at] == 10:
            ends[line] = at
            line += 1
    ends[line:] = text.shape[0]
    return ends


def name_table(names: dict[str, int]) -> Names:
    """Put names and their classes into bytes.

    >>> name_table({"NP": 0, "S": 1}).offsets.tolist()
    [0, 2, 3]
    """
    texts = [name.encode() for name in names]
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    # One spare byte: numba wants a type even for an empty table.
    return Names(np.frombuffer(b"".join(texts) + b"\0", np.uint8), offsets, np.array([*names.values()], np.int64))
