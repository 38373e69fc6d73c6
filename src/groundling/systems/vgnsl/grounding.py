"""What the image says about a sampled tree: loss of the embeddings, and concreteness and abstractness of each merge."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from groundling.neural.easy_first import Parse, take
from groundling.neural.retrieval_losses import match_aligned, match_all
from groundling.systems.vgnsl.config import Config


class Grounding(NamedTuple):
    """Loss of the batch, and what each merge is worth; no gradient in the last two."""

    loss: Tensor  # ()
    concrete: Tensor  # (batch, T): of what merge t made
    abstract: Tensor  # (batch, T): of the child that the bias looks at

    def reward(self, bias: float) -> Tensor:
        """The reward r' = concrete / (lambda abstract + 1), eq. vgnsl-inductive-bias; lambda 0 is the plain reward."""
        return self.concrete / (bias * self.abstract + 1)


def ground(units: Tensor, found: Parse, images: Tensor, other: Tensor, config: Config) -> Grounding:
    """Match all constituents with all images of the batch.

    `units` (batch, 2n - 1, dim) and `images` (batch, dim) have unit length, so m(c, v) is their dot product. `other`
    (batch, batch) is False where two captions describe the same picture: those are not negatives of each other.
    """
    similarity = (units.flatten(0, 1) @ images.T).view(*units.shape[:2], -1)
    child = 1 if config.head == "initial" else 0  # an abstract right child is what a head-initial language avoids
    margins = (config.margin, config.reward_margin)
    if config.negatives == "all":
        all_ = match_all(similarity, found.node_mask(), other, *margins)
        words = found.slot_pairs.shape[2]
        return Grounding(all_.loss, all_.concrete[:, words:], all_.abstract.gather(1, found.merges[..., child]))
    return _ground_aligned(similarity, found, other, margins, child)


def _ground_aligned(
    similarity: Tensor, found: Parse, other: Tensor, margins: tuple[float, float], child: int
) -> Grounding:
    """The released program's way: whole, left child and right child of the t-th merge from the end meet their like."""
    steps = found.mask.shape[1]
    order = steps_from_end(found.mask)
    children = found.merges.gather(1, order[..., None].expand(-1, -1, 2))
    nodes = torch.cat([order + found.slot_pairs.shape[2], children[..., 0], children[..., 1]], dim=1)
    real = torch.arange(steps, device=order.device) < found.mask.sum(1, keepdim=True)
    lined_up = match_aligned(take(similarity, nodes), real.repeat(1, 3), other, *margins)
    back = torch.zeros_like(lined_up.concrete[:, :steps])
    at = slice((1 + child) * steps, (2 + child) * steps)
    concrete = back.scatter(1, order, lined_up.concrete[:, :steps])
    return Grounding(lined_up.loss, concrete, back.scatter(1, order, lined_up.abstract[:, at]))


def steps_from_end(mask: Tensor) -> Tensor:
    """The step (batch, T) that is the k-th from each caption's last; steps that a caption does not have stay in place.

    >>> steps_from_end(torch.tensor([[True, True, False]])).tolist()
    [[1, 0, 2]]
    """
    count = mask.sum(1, keepdim=True)
    k = torch.arange(mask.shape[1], device=mask.device)
    return torch.where(k < count, count - 1 - k, k)
