"""Which sentence pairs to leave out, and whether bitext looks like the text that will be parsed (thesis 9.3.1)."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

Words = Sequence[str]


def fault_of(source: Words, target: Words, share: float = 0.8, ratio: float = 3.0) -> str | None:
    """Why a pair is unfit to learn from, or None: `empty`, `copy`, `repetition` or `length`.

    A copy has at least `share` of its words in the source; a repetition has at least `share` of its words more than
    once. Pairs of a few words, where both say nothing, are judged by length only.

    >>> fault_of("the cat sat here".split(), "the cat sat hier".split(), share=0.7)
    'copy'
    >>> fault_of("the cat sat here".split(), "die die die die".split())
    'repetition'
    >>> fault_of("the cat sat".split(), "die Katze saß".split()) is None
    True
    """
    if not source or not target:
        return "empty"
    if max(len(source), len(target)) > ratio * min(len(source), len(target)) + 3:
        return "length"
    if len(target) < 4:
        return None
    there, counts = set(source), Counter(target)
    if sum(word in there for word in target) >= share * len(target):
        return "copy"
    if sum(counts[word] > 1 for word in target) >= share * len(target):
        return "repetition"
    return None


def mismatches(bitext: Iterable[Words], text: Iterable[Words]) -> list[str]:
    """What makes bitext unlike the text to be parsed: length, common words, punctuation; empty if nothing stands out.

    >>> print(*mismatches([["a", "b"]] * 9, [["a", "b"] * 9] * 9))
    the bitext has 2.0 words a sentence, the text to be parsed 18.0
    """
    ours, theirs = [words for words in bitext if words], [words for words in text if words]
    if not ours or not theirs:
        return []
    found: list[str] = []
    a, b = (sum(map(len, side)) / len(side) for side in (ours, theirs))
    if not 0.6 < a / b < 1.7:
        found.append(f"the bitext has {a:.1f} words a sentence, the text to be parsed {b:.1f}")
    known = {word for words in ours for word in words}
    counts = Counter(word for words in theirs for word in words).most_common(100)
    common = [word for word, count in counts if count > 2]  # rarer words may well be missing
    missing = [word for word in common if word not in known]
    if len(common) > 4 and len(missing) > 0.3 * len(common):
        some = " ".join(missing[:5])
        found.append(
            f"{len(missing)} of the {len(common)} commonest words of the text never occur in the bitext ({some} ...): "
            "another language, domain, or way of cutting words"
        )
    p, q = (sum(_is_sign(w) for words in side for w in words) / sum(map(len, side)) for side in (ours, theirs))
    if max(p, q) > 0.05 and not 0.55 < (p + 0.01) / (q + 0.01) < 1.8:
        found.append(f"{p:.0%} of the words of the bitext are punctuation, {q:.0%} in the text: cut both the same way")
    return found


def _is_sign(word: str) -> bool:
    return all(unicodedata.category(letter)[0] in "PS" for letter in word)
