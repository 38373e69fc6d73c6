"""BLEU-4 between all pairs of candidates at once, equal to sacrebleu's sentence BLEU (MBR-charBLEU, MBR-tokenBLEU)."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from groundling.execution.bash import tokens_of as bash_tokens
from groundling.structures.program import Language

_ORDER = 4
_TOKEN = re.compile(r"\w+|[^\w\s]")
Tokens = Sequence[str]


def characters(code: str) -> list[str]:
    """Characters without white space, as sacrebleu's `char` tokeniser gives them."""
    return [char for char in code if not char.isspace()]


def tokens(code: str, language: Language = "python") -> list[str]:
    """Words and single signs; for Bash what bashlex says, where it can parse the command.

    >>> tokens("x_1 = f(2)")
    ['x_1', '=', 'f', '(', '2', ')']
    """
    if language == "bash":
        found = bash_tokens(code)
        return found if found is not None else code.split()
    return _TOKEN.findall(code)


def pairwise_bleu(candidates: Sequence[Tokens]) -> NDArray[np.float64]:
    """`bleu[i, j]`: sentence BLEU-4 of i against the one reference j (exponential smoothing, effective order).

    >>> pairwise_bleu(["a b c d e".split(), "a b c d".split()]).round(1).tolist()
    [[100.0, 66.9], [77.9, 100.0]]
    """
    distinct = {text: index for index, text in enumerate(dict.fromkeys(map(tuple, candidates)))}
    rows = np.array([distinct[tuple(c)] for c in candidates], dtype=np.int64)
    scores = _bleu(list(distinct))
    return scores[np.ix_(rows, rows)]


def _bleu(texts: list[tuple[str, ...]]) -> NDArray[np.float64]:
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    words: dict[str, int] = {}
    numbers = np.array([words.setdefault(word, len(words)) for text in texts for word in text], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    grams, log_sum, orders = numbers, np.zeros((len(texts),) * 2), np.zeros(len(texts))
    smooth, any_match = np.ones((len(texts),) * 2), np.zeros((len(texts),) * 2, dtype=bool)
    for n in range(1, _ORDER + 1):
        totals = np.maximum(lengths - n + 1, 0)
        if n > 1:  # a longer n-gram is a pair: (number of its head, its last word)
            pairs = grams[:-1] * len(words) + numbers[n - 1 :] if len(grams) > 1 else grams[:0]
            grams = np.unique(pairs, return_inverse=True)[1].reshape(-1)
        matches = _clipped_matches(grams, starts, totals)
        any_match |= matches > 0
        smooth = np.where((matches == 0) & (totals > 0)[:, None], smooth * 2, smooth)
        with np.errstate(divide="ignore", invalid="ignore"):
            precision = np.where(matches > 0, 100 * matches, 100 / smooth) / totals[:, None]
            log_sum += np.where(totals[:, None] > 0, np.log(precision), 0.0)
        orders += totals > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        brevity = np.where(lengths[:, None] < lengths[None], np.exp(1 - lengths[None] / lengths[:, None]), 1.0)
        scores = brevity * np.exp(log_sum / orders[:, None])
    return np.where(any_match & (lengths > 0)[:, None], scores, 0.0)


def _clipped_matches(
    grams: NDArray[np.int64], starts: NDArray[np.int64], totals: NDArray[np.int64]
) -> NDArray[np.float64]:
    """`m[i, j] = sum over n-grams g of min(count_i(g), count_j(g))`; text i has the grams starts[i] : + totals[i].

    A count of c is c features (g, 1) ... (g, c), so that the minimum becomes a product of 0/1 vectors.
    """
    places = np.concatenate([np.arange(s, s + t) for s, t in zip(starts, totals, strict=True)] or [starts])
    rows = np.repeat(np.arange(len(totals)), totals)
    order = np.lexsort((grams[places], rows))
    row, gram = rows[order], grams[places][order]
    fresh = np.ones(len(row), dtype=bool)
    fresh[1:] = (row[1:] != row[:-1]) | (gram[1:] != gram[:-1])
    first = np.flatnonzero(fresh)
    copy = np.arange(len(row)) - np.repeat(first, np.diff(np.append(first, len(row))))
    feature = np.unique(gram * (int(copy.max(initial=0)) + 1) + copy, return_inverse=True)[1].reshape(-1)
    shape = (len(totals), int(feature.max(initial=0)) + 1)
    table = sparse.csr_matrix((np.ones(len(row), dtype=np.float32), (row, feature)), shape=shape)
    return np.asarray((table @ table.T).todense(), dtype=np.float64)
