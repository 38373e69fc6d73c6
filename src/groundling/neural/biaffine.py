"""Biaffine scores of arcs and labels between the words of a sentence (thesis 9.2.1; Dozat and Manning, 2017)."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class WordDropout(nn.Module):
    """Dropout of whole dimensions of a sentence: one mask (batch, 1, dim) shared by its words."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, x: Tensor) -> Tensor:
        """(batch, words, dim) -> the same shape; in evaluation nothing changes."""
        if not self.training or self.rate == 0:
            return x
        keep = torch.empty(x.shape[0], 1, x.shape[2], device=x.device).bernoulli_(1 - self.rate)
        return x * keep / (1 - self.rate)


class Projection(nn.Module):
    """One layer, LeakyReLU 0.1 and shared dropout: the features of a word as a head or as a dependent."""

    def __init__(self, inputs: int, outputs: int, dropout: float) -> None:
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        nn.init.orthogonal_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)
        self.dropout = WordDropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, words, inputs) -> (batch, words, outputs)."""
        return self.dropout(nn.functional.leaky_relu(self.linear(x), 0.1))


class ArcScorer(nn.Module):
    """S = D W H^T with a constant feature beside D, so that some words are likelier heads (eq. `bi-affine`).

    >>> scorer = ArcScorer(4)
    >>> scorer(torch.ones(2, 3, 4), torch.ones(2, 3, 4)).shape  # weights start at 0
    torch.Size([2, 3, 3])
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(dim + 1, dim))

    def forward(self, dependents: Tensor, heads: Tensor) -> Tensor:
        """Scores (batch, dependent, head) of two (batch, words, dim)."""
        return _with_one(dependents) @ self.weight @ heads.transpose(1, 2)


class LabelScorer(nn.Module):
    """S[i, j, l] = D_i W_l H_j with a constant feature beside both, for chosen arcs only.

    All n^2 L scores of a sentence are rarely needed: a tree has n arcs.
    """

    def __init__(self, dim: int, labels: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(dim + 1, labels, dim + 1))

    def forward(self, dependents: Tensor, heads: Tensor, arcs: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        """Scores (arcs, labels) of the arcs (sentence, dependent, head), each of shape (arcs,)."""
        sentence, dependent, head = arcs
        left = torch.einsum("bnp,plq->bnlq", _with_one(dependents), self.weight)
        return torch.einsum("klq,kq->kl", left[sentence, dependent], _with_one(heads)[sentence, head])

    def all_pairs(self, dependents: Tensor, heads: Tensor) -> Tensor:
        """Scores (batch, dependent, head, label) of every pair."""
        left = torch.einsum("bnp,plq->bnlq", _with_one(dependents), self.weight)
        return torch.einsum("bnlq,bmq->bnml", left, _with_one(heads))


def _with_one(x: Tensor) -> Tensor:
    return torch.cat([x, x.new_ones(*x.shape[:-1], 1)], dim=-1)
