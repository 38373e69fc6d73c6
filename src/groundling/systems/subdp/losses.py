"""Partial cross-entropies between a parser and soft silver trees (thesis 9.2.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from groundling.systems.subdp.parser import Parser, Scored
from groundling.systems.subdp.silver import Silver


class Targets(NamedTuple):
    """The arcs of a batch, one after the other; what no arc names does not count."""

    arcs: tuple[Tensor, Tensor, Tensor]  # sentence, dependent, head
    weight: Tensor  # (arcs,)
    labels: Tensor  # (arcs, labels)
    tagged: tuple[Tensor, Tensor]  # sentence, word (from 0)
    tags: Tensor  # (tagged, tags)


def targets_of(trees: Sequence[Silver], device: torch.device | str) -> Targets:
    """Lay the trees of a batch end to end."""
    arcs = [tree.arcs for tree in trees]
    sentence = np.repeat(np.arange(len(trees)), [len(a.head) for a in arcs])
    words = np.concatenate([np.arange(len(tree.words)) for tree in trees])
    owner = np.repeat(np.arange(len(trees)), [len(tree.words) for tree in trees])

    def tensor(parts: Sequence[np.ndarray] | np.ndarray) -> Tensor:
        return torch.from_numpy(parts if isinstance(parts, np.ndarray) else np.concatenate(parts)).to(device)

    return Targets(
        (tensor(sentence), tensor([a.dependent for a in arcs]), tensor([a.head for a in arcs])),
        tensor([a.weight for a in arcs]),
        tensor([a.labels for a in arcs]),
        (tensor(owner), tensor(words)),
        tensor([tree.tags for tree in trees]),
    )


def partial_loss(parser: Parser, scored: Scored, targets: Targets, all_pairs: bool = False) -> dict[str, Tensor]:
    """The cross-entropies of arcs, labels and tags: sums over what is known, divided by its mass.

    L_arc = -sum_pq P^(q|p) log P(q|p), without null positions (thesis 9.2.4). The label loss weighs an arc's labels by
    the arc's probability; with `all_pairs` each arc given counts alike, as the thesis writes it.
    """
    mass = targets.weight.sum().clamp(min=1e-6)
    arc = -(targets.weight * scored.arcs[targets.arcs]).sum() / mass
    weight = torch.ones_like(targets.weight) if all_pairs else targets.weight
    spread = (targets.labels * parser.labels(scored, targets.arcs)).sum(-1)
    label = -(weight * spread).sum() / weight.sum().clamp(min=1e-6)
    tag = arc.new_zeros(())
    if scored.tags.shape[-1]:
        tag = -(targets.tags * scored.tags[targets.tagged]).sum() / targets.tags.sum().clamp(min=1e-6)
    return {"arc": arc, "label": label, "tag": tag}
