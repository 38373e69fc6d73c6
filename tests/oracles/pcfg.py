"""A PCFG one derivation at a time, and its inside pass in logarithms: slow and obviously right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import torch
from torch import Tensor

Spans = frozenset[tuple[int, int]]


def derivations(rules: Tensor, words: Tensor, symbol: int, i: int, j: int) -> Iterator[tuple[float, Spans]]:
    """Weight and spans of every derivation of words i .. j-1 from `symbol`; `words` (n, P) are probabilities."""
    nonterminals, symbols, _ = rules.shape
    if symbol >= nonterminals:
        if j == i + 1:
            yield float(words[i, symbol - nonterminals]), frozenset()
        return
    for k in range(i + 1, j):
        for left in range(symbols):
            for right in range(symbols):
                for a, first in derivations(rules, words, left, i, k):
                    for b, second in derivations(rules, words, right, k, j):
                        yield float(rules[symbol, left, right]) * a * b, first | second | {(i, j)}


def trees_by_enumeration(root: Tensor, rules: Tensor, words: Tensor) -> dict[Spans, float]:
    """The summed weight of each unlabelled tree over all its derivations."""
    found: defaultdict[Spans, float] = defaultdict(float)
    for symbol, start in enumerate(root.tolist()):
        for weight, spans in derivations(rules, words, symbol, 0, len(words)):
            found[spans] += start * weight
    return dict(found)


def inside_in_logs(root: Tensor, rules: Tensor, emissions: Tensor) -> Tensor:
    """Log Z (batch,) of sentences of one length: logsumexp over splits and rules, cell by cell; logs in, logs out."""
    batch, n, preterminals = emissions.shape
    nonterminals = root.shape[1]
    chart: dict[tuple[int, int], Tensor] = {}
    for i in range(n):
        chart[i, i + 1] = torch.cat([emissions.new_full((batch, nonterminals), -1e9), emissions[:, i]], 1)
    for width in range(2, n + 1):
        for i in range(n - width + 1):
            j = i + width
            pairs = [chart[i, k][:, :, None] + chart[k, j][:, None, :] for k in range(i + 1, j)]
            cell = (torch.stack(pairs).logsumexp(0)[:, None] + rules).flatten(2).logsumexp(2)
            chart[i, j] = torch.cat([cell, cell.new_full((batch, preterminals), -1e9)], 1)
    return (chart[0, n][:, :nonterminals] + root).logsumexp(1)
