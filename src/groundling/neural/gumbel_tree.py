"""Trees by the straight-through Gumbel softmax (Choi et al. 2018), on VG-NSL's scores and composition."""

from __future__ import annotations

import torch
from torch import Tensor

from groundling.neural.easy_first import Scorer
from groundling.neural.tree_composition import TINY


def gumbel_tree(
    scorer: Scorer,
    words: Tensor,  # (batch, n, dim)
    lengths: Tensor,  # (batch,), at least 1
    generator: torch.Generator | None = None,  # None: argmax, as at test time
    temperature: float = 1.0,
) -> tuple[Tensor, Tensor]:
    """Merge neighbours until one constituent is left: its vector (batch, dim), and the spans (batch, n - 1, 2) made.

    Forward each step takes one pair; backward it is the softmax mixture of all choices, so that a loss on the root
    teaches the scorer. Spans of steps that a shorter sentence does not have are (0, 0).

    >>> root, spans = gumbel_tree(Scorer(2, 3), torch.eye(2)[None], torch.tensor([2]))
    >>> spans.tolist()
    [[[0, 2]]]
    """
    batch, n, _ = words.shape
    nodes, edges = words, torch.arange(n + 1, device=words.device).repeat(batch, 1)
    spans: list[Tensor] = []
    for step in range(n - 1):
        count = n - 1 - step  # pairs that stand, padding included
        sides = scorer.sides(nodes)
        real = torch.arange(1, count + 1, device=words.device) < (lengths - step)[:, None]
        busy = real[:, :1]  # a finished sentence has no pair left
        scores = scorer.score(sides[:, :-1], sides[:, 1:])
        if generator is not None:
            uniform = torch.rand(scores.shape, generator=generator, device=words.device, dtype=words.dtype)
            scores = scores - torch.log(-torch.log(uniform.clamp(1e-10, 1 - 1e-7)))
        first = torch.arange(count, device=words.device) == 0  # a finished sentence needs one finite score
        scores = scores.masked_fill(~(real | (first & ~busy)), float("-inf"))
        choice = scores.argmax(1, keepdim=True)
        soft = (scores / temperature).softmax(1)
        pick = torch.zeros_like(soft).scatter(1, choice, 1.0) + soft - soft.detach()
        nodes = torch.where(busy.unsqueeze(2), _merge(nodes, pick), nodes[:, :-1])
        ends = torch.cat([edges.gather(1, choice), edges.gather(1, choice + 2)], 1)
        spans.append(ends * busy)
        kept = torch.arange(count + 1, device=words.device)
        shifted = edges.gather(1, kept + (kept > choice))
        edges = torch.where(busy, shifted, edges[:, :-1])
    made = torch.stack(spans, 1) if spans else edges.new_zeros(batch, 0, 2)
    return nodes[:, 0], made


def _merge(nodes: Tensor, pick: Tensor) -> Tensor:
    """Nodes (batch, m, dim) -> (batch, m - 1, dim): before the picked pair as they stand, after it moved up by one."""
    total = nodes[:, :-1] + nodes[:, 1:]
    joined = total / torch.linalg.vector_norm(total, dim=2, keepdim=True).clamp_min(TINY)
    before = pick.cumsum(1) - pick  # the pair was picked further left
    after = pick.sum(1, keepdim=True) - before - pick
    return pick.unsqueeze(2) * joined + after.unsqueeze(2) * nodes[:, :-1] + before.unsqueeze(2) * nodes[:, 1:]
