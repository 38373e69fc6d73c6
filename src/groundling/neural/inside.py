"""The inside pass of a PCFG in Chomsky normal form, in probability space, and trees from its span marginals.

A grammar has N nonterminals and P preterminals; a symbol number below N is a nonterminal, the rest preterminals.
Nonterminals span two words or more, preterminals exactly one. Each sentence may have its own rules (compound PCFG).

Every cell of the chart is divided by its own largest entry, and the logarithm of what was taken out is carried beside
it, so that products of many small probabilities neither vanish nor need a logsumexp over all rules.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from groundling.errors import DataError
from groundling.neural.precision import in_float32

TINY = 1e-30  # a cell that no rule reaches is zero; dividing it by this keeps it zero
ABSENT = -1e9  # instead of -inf where tensors are compared, so that differences stay defined


class Grammar(NamedTuple):
    """Rules of a batch of sentences; probabilities, or any weights that are not negative."""

    root: Tensor  # (batch, N): p(S -> A)
    rules: Tensor  # (batch, N, N + P, N + P): p(A -> B C)
    emissions: Tensor  # (batch, n, P): log p(T -> w_i); logs, because rare words are rare indeed


def inside(grammar: Grammar, lengths: Tensor) -> Tensor:
    """Log Z (batch,): the logarithm of the summed weight of all derivations, with gradients to the whole grammar.

    >>> one = Grammar(torch.ones(1, 1), torch.ones(1, 1, 2, 2), torch.zeros(1, 4, 1))
    >>> round(inside(one, torch.tensor([4])).exp().item())  # the binary trees over four words
    5
    """
    return _inside(grammar, lengths, None)


def span_marginals(grammar: Grammar, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Log Z (batch,) and p(words i .. j-1 are a constituent) at [:, i, j] of (batch, n + 1, n + 1), by autograd.

    Spans over two words or more only. Those of a sentence of m words sum to m - 1.
    """
    batch, n, _ = grammar.emissions.shape
    with torch.enable_grad():
        weights = grammar.emissions.new_zeros(batch, n + 1, n + 1, requires_grad=True)
        log_z = _inside(Grammar(*(part.detach() for part in grammar)), lengths, weights)
        return log_z.detach(), torch.autograd.grad(log_z.sum(), weights)[0]


@in_float32
def _inside(grammar: Grammar, lengths: Tensor, weights: Tensor | None) -> Tensor:
    n = grammar.emissions.shape[1]
    if n < 2 or int(lengths.min()) < 2:
        raise DataError("the inside pass needs sentences of two words or more: a nonterminal spans no single word.")
    parts = _Parts(grammar)
    where = _cells(n)
    chart, scale, roots = None, None, []
    for width in range(2, n + 1):
        if chart is None or scale is None:
            value, top = parts.pairs()
        else:
            value, top = parts.join(chart, scale, where, width)
        if weights is not None:  # d log Z / d weight is the marginal, at weight 0
            value = value * (1 + weights.diagonal(width, 1, 2).unsqueeze(-1))
        most = value.detach().amax(2).clamp_min(TINY)
        value, top = value / most.unsqueeze(2), top + most.log()
        roots.append(((value[:, 0] * grammar.root).sum(1), top[:, 0]))
        chart = value if chart is None else torch.cat([chart, value], 1)
        scale = top if scale is None else torch.cat([scale, top], 1)
    sums, tops = (torch.stack(each, 1).gather(1, lengths[:, None] - 2).squeeze(1) for each in zip(*roots, strict=True))
    return sums.clamp_min(TINY).log() + tops


def _cells(n: int) -> NDArray[np.int64]:
    """Where the span of `width` words from `start` stands in the chart, (n + 1, n): narrow spans first."""
    widths = np.arange(n + 1)
    before = np.concatenate([[0, 0, 0], np.cumsum(n + 1 - widths[2:n])])
    return before[:, None] + np.arange(n)


class _Parts:
    """The rules by what their children are. Rules with a word as child meet each word once, not once a span."""

    def __init__(self, grammar: Grammar) -> None:
        batch, nonterminals, symbols, _ = grammar.rules.shape
        self.most = grammar.emissions.detach().amax(2).clamp_min(ABSENT)  # (batch, n)
        self.words = (grammar.emissions - self.most.unsqueeze(2)).exp()
        phrase, word = slice(nonterminals), slice(nonterminals, symbols)
        rules = grammar.rules
        self.both = rules[:, :, phrase, phrase].reshape(batch, nonterminals, -1).transpose(1, 2)
        self.neither = rules[:, :, word, word].reshape(batch, nonterminals, -1).transpose(1, 2)
        self.first = torch.einsum("bapc,bip->biac", rules[:, :, word, phrase], self.words)  # (batch, n, A, C)
        self.last = torch.einsum("bacp,bip->biac", rules[:, :, phrase, word], self.words)

    def pairs(self) -> tuple[Tensor, Tensor]:
        """Spans of two words: values (batch, n - 1, N) and the logarithm of what they lack."""
        outer = self.words[:, :-1, :, None] * self.words[:, 1:, None, :]
        return outer.flatten(2) @ self.neither, self.most[:, :-1] + self.most[:, 1:]

    def join(self, chart: Tensor, scale: Tensor, where: NDArray[np.int64], width: int) -> tuple[Tensor, Tensor]:
        """All spans of `width` words, three or more, from narrower ones: word + phrase, phrase + word, two phrases."""
        count = where.shape[1] - width + 1
        narrow = int(where[width - 1, 0])
        start, end = slice(narrow, narrow + count), slice(narrow + 1, narrow + 1 + count)
        found = [
            (_apply(self.first[:, :count], chart[:, end]), scale[:, end] + self.most[:, :count]),
            (_apply(self.last[:, width - 1 :], chart[:, start]), scale[:, start] + self.most[:, width - 1 :]),
        ]
        if width > 3:
            found.append(self._two_phrases(chart, scale, where, width))
        top = torch.stack([each for _, each in found]).amax(0)
        return torch.stack([value * (each - top).exp().unsqueeze(2) for value, each in found]).sum(0), top

    def _two_phrases(self, chart: Tensor, scale: Tensor, where: NDArray[np.int64], width: int) -> tuple[Tensor, Tensor]:
        """Every cut that leaves two words or more on either side."""
        count = where.shape[1] - width + 1
        cuts, starts = np.arange(2, width - 1), np.arange(count)[:, None]
        left = torch.from_numpy(where[cuts, starts].ravel()).to(chart.device)
        right = torch.from_numpy(where[width - cuts, starts + cuts].ravel()).to(chart.device)
        lacking = (scale[:, left] + scale[:, right]).view(len(chart), count, -1)
        top = lacking.amax(2)
        shape = (len(chart) * count, len(cuts), chart.shape[2])
        before = chart[:, left].view(shape) * (lacking - top.unsqueeze(2)).exp().view(*shape[:2], 1)
        outer = before.transpose(1, 2) @ chart[:, right].view(shape)
        return outer.view(len(chart), count, -1) @ self.both, top


def _apply(rules: Tensor, values: Tensor) -> Tensor:
    """Rules (batch, m, A, C) on values (batch, m, C)."""
    return (rules @ values.unsqueeze(3)).squeeze(3)


def best_spans(marginals: Tensor, lengths: Tensor) -> list[list[tuple[int, int]]]:
    """The binary tree of each sentence whose spans have the largest summed marginal (minimum Bayes risk), in preorder.

    CKY over all sentences at once; of equal splits the leftmost wins. A single word has no spans.

    >>> best_spans(torch.tensor([[[0, 0, 0, 1], [0, 0, 0, 0.7], [0, 0, 0, 0], [0, 0, 0, 0]]]), torch.tensor([3]))
    [[(0, 3), (1, 3)]]
    """
    scores = marginals.detach().double().cpu().numpy()
    n = scores.shape[1] - 1
    best, cut = np.zeros_like(scores), np.zeros(scores.shape, dtype=np.int64)
    for width in range(2, n + 1):
        for i in range(n - width + 1):
            splits = best[:, i, i + 1 : i + width] + best[:, i + 1 : i + width, i + width]
            cut[:, i, i + width] = i + 1 + splits.argmax(1)
            best[:, i, i + width] = splits.max(1) + scores[:, i, i + width]
    return [_walk(cut[row], length) for row, length in enumerate(lengths.tolist())]


def _walk(cut: NDArray[np.int64], length: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    waiting = [(0, length)]
    while waiting:
        i, j = waiting.pop()
        if j - i > 1:
            found.append((i, j))
            waiting += [(int(cut[i, j]), j), (i, int(cut[i, j]))]
    return found
