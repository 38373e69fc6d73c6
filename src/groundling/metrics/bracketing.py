"""What ParsEval compares: words, their tags, and labelled brackets, taken from a tree or straight from text."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from groundling.errors import DataError, FormatError
from groundling.metrics.evalb_prm import EvalbParameters
from groundling.structures.tree import Tree

_TOKEN = re.compile(r"\(\s*([^\s()]+)\s+([^\s()]+)\s*\)|\(\s*([^\s()]*)|(\))|([^\s()]+)", re.ASCII)
_QUOTE_WORDS = ("'", '"', "/")  # the words EVALB takes for quotation marks


class Bracket(NamedTuple):
    """A non-terminal over words start .. end-1."""

    start: int
    end: int
    label: str


class Bracketing(NamedTuple):
    """Words with their tags, and brackets in order of closing."""

    words: list[str]
    tags: list[str]
    brackets: list[Bracket]


def bracketing_of_tree(tree: Tree) -> Bracketing:
    """Pre-terminals give tags, all other nodes brackets.

    >>> bracketing_of_tree(Tree.from_brackets("(NP (D a) (N cat))"))
    Bracketing(words=['a', 'cat'], tags=['D', 'N'], brackets=[Bracket(start=0, end=2, label='NP')])
    """
    nodes = zip(tree.starts, tree.ends, tree.labels, tree.preterminals, strict=True)
    return Bracketing(list(tree.words), list(tree.tags), [Bracket(s, e, x) for s, e, x, is_tag in nodes if not is_tag])


def bracketing_of_line(line: str) -> Bracketing:
    """Read one line as EVALB does: any number of trees, `(tag word)` pairs; an empty line has no words.

    >>> bracketing_of_line("(N dogs) (V bark)").tags
    ['N', 'V']
    """
    words: list[str] = []
    tags: list[str] = []
    brackets: list[Bracket] = []
    stack: list[tuple[str, int]] = []
    for tag, word, label, close, bare in _TOKEN.findall(line):
        if word:
            words.append(word)
            tags.append(tag)
        elif close:
            if not stack:
                raise FormatError("')' closes nothing. Remove it or add its '('.")
            label, start = stack.pop()
            brackets.append(Bracket(start, len(words), label))
        elif bare:
            raise FormatError(f"the word {bare[:40]!r} has no tag of its own. EVALB reads (TAG word) pairs only.")
        else:
            stack.append((label, len(words)))
    if stack:
        raise FormatError(f"{len(stack)} bracket(s) are not closed. Add the missing ')'.")
    return Bracketing(words, tags, brackets)


def evalb_pair(gold: Bracketing, test: Bracketing, prm: EvalbParameters) -> tuple[Bracketing, Bracketing]:
    """Delete what the parameters delete, on both sides; raise where words do not fit.

    A quotation mark deleted on one side only (tagged POS or NN by a parser, say) is kept on both where the parameter
    file names QUOTE_LABELs, as EVALB does.
    """
    kept_gold, kept_test = _kept(gold, prm), _kept(test, prm)
    if prm.quotes and sum(kept_gold) != sum(kept_test):
        _rescue_quotes(gold, test, kept_gold, kept_test, prm)
    gold, test = _reduced(gold, kept_gold, prm), _reduced(test, kept_test, prm)
    if len(gold.words) != len(test.words):
        raise DataError(f"Length unmatch ({len(gold.words)}|{len(test.words)}): both trees must have the same words.")
    for a, b in zip(gold.words, test.words, strict=True):
        if not prm.same_word(a, b):
            raise DataError(f"Words unmatch ({a}|{b}): both trees must have the same words.")
    return gold, test


def _kept(side: Bracketing, prm: EvalbParameters) -> list[bool]:
    return [tag not in prm.delete for tag in side.tags]


def _rescue_quotes(
    gold: Bracketing, test: Bracketing, kept_g: list[bool], kept_t: list[bool], prm: EvalbParameters
) -> None:
    marks_g, marks_t = _quote_places(gold, prm), _quote_places(test, prm)
    for g, t in zip(marks_g, marks_t, strict=False):
        if kept_g[g] != kept_t[t]:
            kept_g[g] = kept_t[t] = True


def _quote_places(side: Bracketing, prm: EvalbParameters) -> list[int]:
    pairs = enumerate(zip(side.words, side.tags, strict=True))
    return [i for i, (word, tag) in pairs if word in _QUOTE_WORDS and tag in prm.quotes]


def _reduced(side: Bracketing, kept: list[bool], prm: EvalbParameters) -> Bracketing:
    """Keep some words; cut functions off labels (NP-SBJ-1 -> NP); drop deleted and empty brackets."""
    before = [0]
    for keep in kept:
        before.append(before[-1] + keep)
    brackets: list[Bracket] = []
    for start, end, label in side.brackets:
        name = strip_function(label)
        if name not in prm.delete and before[start] < before[end]:
            brackets.append(Bracket(before[start], before[end], prm.label_class.get(name, name)))
    words = [word for word, keep in zip(side.words, kept, strict=True) if keep]
    return Bracketing(words, [tag for tag, keep in zip(side.tags, kept, strict=True) if keep], brackets)


@lru_cache(maxsize=4096)
def strip_function(label: str) -> str:
    """Cut at the first - or =, as EVALB does.

    >>> strip_function("NP-SBJ-1"), strip_function("NP=2"), strip_function("S")
    ('NP', 'NP', 'S')
    """
    for place, character in enumerate(label):
        if character in "-=":
            return label[:place]
    return label


def crossing(gold: list[Bracket], test: list[Bracket]) -> int:
    """How many test brackets cross some gold bracket.

    >>> crossing([Bracket(0, 2, "X")], [Bracket(1, 3, "X"), Bracket(0, 3, "X")])
    1
    """
    spans = {bracket[:2] for bracket in gold}
    odd = [bracket[:2] for bracket in test if bracket[:2] not in spans]  # what stands in the gold tree crosses nothing
    return sum(any(s < start < e < end or start < s < end < e for s, e in spans) for start, end in odd)
