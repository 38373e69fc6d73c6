"""Vectors of constituents from those of words, given the merges: the l2-normalised sum of thesis 3.2.1."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from groundling.neural.precision import in_float32

TINY = 1e-8  # two opposite unit vectors sum to zero; their constituent is then the zero vector, not a NaN


@in_float32
def compose(words: Tensor, merges: Tensor) -> Tensor:
    """All 2n - 1 constituent vectors (batch, 2n - 1, dim): the words as given, then combine(a, b) = (a + b) / |a + b|.

    `merges` (batch, n - 1, 2) holds node numbers: words 0 .. n-1, then n + t for what merge t makes.

    >>> compose(torch.tensor([[[3.0, 0.0], [0.0, 4.0]]]), torch.tensor([[[0, 1]]]))[0, 2].tolist()
    [0.6000000238418579, 0.800000011920929]
    """
    return _Compose.apply(words, merges)  # pyright: ignore[reportReturnType]


def take(nodes: Tensor, index: Tensor) -> Tensor:
    """Nodes (batch, m, dim) at index (batch, k) -> (batch, k, dim): whole rows at once, much faster than gather."""
    return nodes.reshape(-1, nodes.shape[2]).index_select(0, flat_rows(index, nodes.shape[1])).view(*index.shape, -1)


def flat_rows(index: Tensor, m: int) -> Tensor:
    """Rows of a (batch, m, dim) tensor seen as (batch m, dim), for an index (batch, k)."""
    return (index + torch.arange(0, len(index) * m, m, device=index.device)[:, None]).flatten()


class _Compose(torch.autograd.Function):
    """One buffer, written merge by merge; autograd over n slices of it would copy the buffer n times."""

    @staticmethod
    def forward(ctx: Any, words: Tensor, merges: Tensor) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        batch, n, dim = words.shape
        steps = merges.shape[1]
        nodes = words.new_empty(batch, n + steps, dim)
        nodes[:, :n] = words
        norms = words.new_empty(batch, steps, 1)
        rows = flat_rows(merges.flatten(1), n + steps).view_as(merges)
        for t in range(steps):
            left, right = (nodes.view(-1, dim).index_select(0, rows[:, t, side]) for side in (0, 1))
            total = left.add_(right)
            norms[:, t] = torch.linalg.vector_norm(total, dim=1, keepdim=True).clamp_min(TINY)
            torch.div(total, norms[:, t], out=nodes[:, n + t])
        ctx.save_for_backward(nodes, merges, norms)
        return nodes

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        nodes, merges, norms = ctx.saved_tensors
        steps = merges.shape[1]
        n = nodes.shape[1] - steps
        grad = grad.clone(memory_format=torch.contiguous_format)
        rows = flat_rows(merges.flatten(1), nodes.shape[1]).view_as(merges)
        for t in reversed(range(steps)):
            above, made = grad[:, n + t], nodes[:, n + t]
            below = (above - (above * made).sum(1, keepdim=True) * made) / norms[:, t]
            for side in (0, 1):
                grad.view(-1, grad.shape[2]).index_add_(0, rows[:, t, side], below)
        return grad[:, :n], None
