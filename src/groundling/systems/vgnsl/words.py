"""From text to word numbers: tokens, and a vocabulary with one entry for the unknown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

PADDING, UNKNOWN = "<pad>", "<unk>"
# Words with inner hyphens, points or commas; English clitics; any other sign alone.
_TOKEN = re.compile(r"n't\b|[^\W_](?:(?!n't\b)[^\W_]|[-.,&](?=[^\W_]))*|'(?:s|re|ve|ll|d|m)\b|[^\w\s]|_", re.IGNORECASE)


def tokenise(text: str) -> tuple[str, ...]:
    """Cut raw text into words and punctuation marks, as treebanks do.

    >>> tokenise("A man's dog doesn't run.")
    ('A', 'man', "'s", 'dog', 'does', "n't", 'run', '.')
    """
    return tuple(_TOKEN.findall(text.replace("\u2019", "'")))


@dataclass(frozen=True)
class Vocabulary:
    """Words by number; 0 pads, 1 stands for every unknown word.

    >>> words = Vocabulary.of([("a", "dog"), ("a", "cat")], min_count=2)
    >>> words.words, words.encode(("A", "cat")).tolist()
    (('<pad>', '<unk>', 'a'), [2, 1])
    """

    words: tuple[str, ...]
    lowercase: bool = True

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]], min_count: int, lowercase: bool = True) -> Vocabulary:
        """Every word that occurs `min_count` times; rarer ones train the entry of the unknown."""
        counts = Counter(word.lower() if lowercase else word for sentence in sentences for word in sentence)
        kept = sorted(word for word, count in counts.items() if count >= min_count)
        return cls((PADDING, UNKNOWN, *kept), lowercase)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each word."""
        return {word: number for number, word in enumerate(self.words)}

    def encode(self, sentence: Sequence[str]) -> NDArray[np.int64]:
        """Word numbers of a sentence."""
        find = self.numbers.get
        if self.lowercase:
            return np.array([find(word.lower(), 1) for word in sentence], dtype=np.int64)
        return np.array([find(word, 1) for word in sentence], dtype=np.int64)

    def __len__(self) -> int:
        return len(self.words)


def pad(sentences: Sequence[NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Word numbers (batch, longest) filled up with 0, and the lengths."""
    lengths = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
    padded = np.zeros((len(sentences), int(lengths.max(initial=1))), dtype=np.int64)
    padded[np.arange(padded.shape[1]) < lengths[:, None]] = np.concatenate([*sentences, np.zeros(0, dtype=np.int64)])
    return padded, lengths
