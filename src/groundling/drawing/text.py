"""How wide text is, roughly, without a font: Latin, Chinese, Devanagari, Arabic and what else comes."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

_NARROW, _WIDE = set("iljtfrI.,:;'`|!()[]{} "), set("mwMWQO@%—")


def _ems(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    category = unicodedata.category(character)
    if category in ("Mn", "Me", "Cf"):
        return 0.0
    if character in _NARROW:
        return 0.36
    if character in _WIDE:
        return 0.95
    return 0.72 if category == "Lu" else 0.62


def width(text: str, size: float = 14) -> float:
    """Estimate the width of text in pixels, a little too much rather than too little.

    >>> width("cat") < width("CAT") < width("猫猫猫")
    True
    """
    return size * sum(map(_ems, text))


def shorten(text: str, limit: int) -> str:
    """Cut the middle out of text over `limit` characters.

    >>> shorten("Donaudampfschifffahrt", 11)
    'Donau…fahrt'
    """
    if len(text) <= limit:
        return text
    head = limit // 2
    return text[:head] + "…" + text[len(text) - (limit - head - 1) :]


def right_to_left(words: Iterable[str]) -> bool:
    """Whether most letters belong to a script that is written from right to left.

    >>> right_to_left(["שלום", "x"]), right_to_left(["नमस्ते"])
    (True, False)
    """
    kinds = [unicodedata.bidirectional(character) for word in words for character in word]
    return sum(kind in ("R", "AL") for kind in kinds) > sum(kind == "L" for kind in kinds)
