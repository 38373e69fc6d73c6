"""Raw text to words as Universal Dependencies cuts them, as far as closed tables go.

Bitext must look like the text to be parsed (thesis 9.3.1): a parser that is tested on `de le` should not be trained on
`du`. Letters keep their combining marks (category M), so Devanagari and other scripts with vowel signs stay whole.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import NamedTuple

from groundling.algorithms.word_tokens import word_tokens
from groundling.errors import ConfigError

# Contractions that UD writes as two words; only those that are never anything else (French `des` is often an article).
_PREPOSITIONS = {"di": "de", "a": "a", "da": "da", "in": "ne", "su": "su", "con": "co"}
_ARTICLES = {"l": "il", "llo": "lo", "lla": "la", "i": "i", "gli": "gli", "lle": "le", "ll'": "l'"}
CONTRACTIONS: dict[str, dict[str, str]] = {
    "fr": {"du": "de le", "au": "à le", "aux": "à les"},
    "de": {
        "am": "an dem", "ans": "an das", "beim": "bei dem", "im": "in dem", "ins": "in das", "vom": "von dem",
        "zum": "zu dem", "zur": "zu der",
    },
    "it": {
        stem + tail: f"{preposition} {article}"
        for preposition, stem in _PREPOSITIONS.items()
        for tail, article in _ARTICLES.items()
        if preposition != "con" or tail in ("l", "i")
    },
}  # fmt: skip
# words before an apostrophe that is theirs: l' eau, but aujourd'hui
ELIDED = {
    "fr": r"(?:[ldjmtsnc]|qu|jusqu|lorsqu|puisqu|quoiqu)",
    "it": r"\w{1,8}",
}
HYPHENS = frozenset({"en", "de", "hi", "tr"})  # UD cuts well - known there, but not in French
WITHOUT_SPACES = frozenset({"zh", "ja", "yue"})
ENGLISH = re.compile(r"(?i)(n't|'(?:s|re|ve|ll|d|m))$")
_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st vs etc no inc ltd co corp jr sr u.s u.k u.n e.g i.e m mm mme mlle dott sig av".split()
)


class Token(NamedTuple):
    """A stretch of text and the words in it: one, or the parts of a contraction."""

    surface: str
    words: list[str]
    space_after: bool


def tokenise(text: str, language: str = "") -> list[str]:
    """Split raw text into words. `language` (a code such as `fr`) adds its elisions and contractions.

    >>> tokenise("L'ami du roi n’est pas là (1,5 %).", "fr")
    ["L'", 'ami', 'de', 'le', 'roi', "n'", 'est', 'pas', 'là', '(', '1,5', '%', ')', '.']
    >>> tokenise("They don't like Bob's well-known U.S. visit.", "en")
    ['They', 'do', "n't", 'like', 'Bob', "'s", 'well', '-', 'known', 'U.S.', 'visit', '.']
    >>> tokenise("मैं घर गया।", "hi")
    ['मैं', 'घर', 'गया', '।']
    """
    return [word for token in cut(text, language) for word in token.words]


def cut(text: str, language: str = "") -> list[Token]:
    """Split raw text into tokens that remember what stood there.

    >>> [(t.surface, t.words) for t in cut("du roi.", "fr")]
    [('du', ['de', 'le']), ('roi', ['roi']), ('.', ['.'])]
    """
    check_language(language)
    tokens: list[Token] = []
    for chunk in text.split():
        parts = word_tokens(chunk) if language in WITHOUT_SPACES else _parts(_plain_apostrophes(chunk), language)
        for part in parts:
            words = _split_word(part, language)
            if "".join(words) == part:
                tokens += [Token(word, [word], False) for word in words]
            else:
                tokens.append(Token(part, words, False))
        tokens[-1] = tokens[-1]._replace(space_after=True)
    return tokens


def check_language(language: str) -> None:
    """Raise unless it is a code of two or three letters, or nothing."""
    if language and not re.fullmatch("[a-z]{2,3}", language):
        raise ConfigError(
            f"{language!r} is no language code. Give two or three letters (ISO 639), such as de, hi or yue."
        )


def rules_of(language: str) -> str:
    """What to tell about a language whose words are cut at spaces and punctuation only; empty where all is well.

    >>> rules_of("de")
    ''
    """
    known = {"en", *CONTRACTIONS, *ELIDED, *HYPHENS, *WITHOUT_SPACES}
    if not language or language in known:
        return ""
    return (
        f"no rules of its own for language {language!r}: words are cut at spaces and punctuation (rules are known for "
        f"{', '.join(sorted(known))})"
    )


def _parts(chunk: str, language: str) -> list[str]:
    pieces = re.split(r"(?<=\w)(-)(?=\w)", chunk) if language in HYPHENS else [chunk]
    return [part for piece in pieces for part in _split_chunk(piece)]


def _plain_apostrophes(chunk: str) -> str:
    """A typographic apostrophe between letters becomes a plain one, as treebanks write it."""
    return re.sub(r"(?<=\w)[\u2019\u02bc](?=\w)", "'", chunk)


def _split_chunk(chunk: str) -> list[str]:
    """Cut punctuation and symbols off; inside a word `.`, `,`, `-`, `'` and the like stay between letters or digits."""
    parts = re.findall(_pattern(), chunk)
    for k in range(len(parts) - 1, 0, -1):
        if parts[k] == "." and _keeps_stop(parts[k - 1]):
            parts[k - 1 : k + 1] = [parts[k - 1] + "."]
    return parts


def _keeps_stop(word: str) -> bool:
    return word.lower() in _ABBREVIATIONS or re.fullmatch(r"(?:[^\W\d_]\.)*[^\W\d_]", word) is not None


@cache
def _pattern() -> str:
    """Words of letters, marks and digits with inner joints; runs of one dot or dash; single other signs."""
    marks = "".join(re.escape(c) for c in map(chr, range(0x300, 0x11000)) if unicodedata.category(c)[0] == "M")
    letter = rf"[\w{marks}\u200c\u200d]"
    return rf"{letter}+(?:[.,:'\-–@&/](?={letter}){letter}+)*|\.{{2,}}|-{{2,}}|\S"


def _split_word(word: str, language: str) -> list[str]:
    if language == "en":
        match = ENGLISH.search(word)
        return [word[: match.start()], match.group()] if match and match.start() else [word]
    head, apostrophe, tail = word.partition("'")
    if apostrophe and language in ELIDED and re.fullmatch(ELIDED[language], head.lower()):
        return [*_contracted(head + "'", language), *(_split_word(tail, language) if tail else [])]
    return _contracted(word, language)


def _contracted(word: str, language: str) -> list[str]:
    parts = CONTRACTIONS.get(language, {}).get(word.lower(), "").split()
    if not parts:
        return [word]
    return [parts[0].capitalize() if word[0].isupper() else parts[0], *parts[1:]]
