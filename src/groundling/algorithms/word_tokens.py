r"""Cut raw text into words, in any script: `\w` would break Devanagari at its vowel signs, `split` keeps the commas."""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from unicodedata import category

_ENGLISH = r"n['’]t|['’](?:s|re|ve|ll|d|m)"  # treebank style: do n't, dog 's
_ASIAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # no spaces between words: a Han character is a word,
_KANA = ("\u3041-\u309f", "\u30a0-\u30ff\u31f0-\u31ff")  # and so is a run of hiragana or of katakana


def word_tokens(text: str) -> list[str]:
    """The words and the punctuation marks of a text, in order; nothing but white space is dropped.

    Numbers and hyphenated words stay whole. English clitics go with their apostrophe, others keep it at their end.

    >>> word_tokens("L'homme n'a pas 3,50 euros, isn't it? मैं घर जाता हूँ।")
    ["L'", 'homme', "n'", 'a', 'pas', '3,50', 'euros', ',', 'is', "n't", 'it', '?', 'मैं', 'घर', 'जाता', 'हूँ', '।']
    """
    return _pattern().findall(text)


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    letter = rf"(?:[^\W_{_ASIAN}{''.join(_KANA)}]|[{_marks()}])"
    clitic = rf"(?:{_ENGLISH})(?!{letter})"
    run = rf"(?:(?!{clitic}){letter})+"
    elision = rf"['’](?={letter})(?!(?:s|re|ve|ll|d|m)(?!{letter}))"
    word = rf"{run}(?:[-‐‑]{run})*(?:{elision})?"
    number = r"\d+(?:[.,:]\d+)*(?!\w)"
    parts = (number, clitic, word, f"[{_ASIAN}]", *(f"[{kana}]+" for kana in _KANA), r"\.{2,}", r"\S")
    return re.compile("|".join(parts))


def _marks() -> str:
    """Every combining mark, as ranges of a character class."""
    ranges: list[list[int]] = []
    for code in range(min(sys.maxunicode, 0x1FFFF)):
        if category(chr(code))[0] == "M":
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(a)}-{chr(b)}" for a, b in ranges)
