"""Matching constituents with images (thesis 3.2.2-3.2.4): hinge triplet loss, concreteness, abstractness.

Every sum over negatives here is divided by the number of negatives, so that a reward or lambda means the same in a
batch of 8 and of 800. Hinge sums are piecewise linear: their weights are counted without gradients; the loss is one
inner product of weights and similarities.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from groundling.neural.precision import in_float32


class Matching(NamedTuple):
    """How well constituents match their own image, against other captions' constituents and against other images."""

    loss: Tensor  # (): hinge triplet loss, summed over a caption's constituents, averaged over captions
    concrete: Tensor  # (batch, J): eq. vgnsl-concreteness, no gradient
    abstract: Tensor  # (batch, J), no gradient


@in_float32
def match_all(similarity: Tensor, mask: Tensor, other: Tensor, margin: float, reward_margin: float) -> Matching:
    """The thesis' sums: each constituent against all constituents of all other captions, and all other images.

    `similarity[i, j, k]` = m(c_j of caption i, v_k), `mask` (batch, J) marks real constituents, `other[i, k]` is True
    where images i and k differ. One sort an image replaces the (batch J)^2 hinge terms.
    """
    batch, _, _ = similarity.shape
    own = similarity.diagonal(dim1=0, dim2=2).T  # (batch, J)
    rivals = mask[None] & other[..., None]  # (image, caption, J): constituents that are negatives of an image
    with torch.no_grad():
        columns = similarity.permute(2, 0, 1).masked_fill(~rivals, float("-inf")).reshape(batch, -1)
        above, below, active = _hinges(columns, own, margin, reward_margin)
        counts = rivals.sum((1, 2))[:, None].clamp_min(1)
        images = other.sum(1)[:, None].clamp_min(1)
        beside = (similarity - own[..., None]).masked_fill(~other[:, None], 0.0)
        too_near = (beside > -margin) & other[:, None] & mask[..., None]
        concrete = below / counts + ((-beside - reward_margin).clamp_min(0) * other[:, None]).sum(2) / images
        abstract = above / counts + ((beside + reward_margin).clamp_min(0) * other[:, None]).sum(2) / images
        weights = _rival_weights(columns, own, mask, active, margin) / counts
        weights = weights.view(batch, batch, -1).permute(1, 2, 0) + too_near / images[..., None]
        own_weights = (active / counts + too_near.sum(2) / images) * mask
    loss = (weights * similarity).sum() - (own_weights * (own - margin)).sum()
    return Matching(loss / batch, concrete * mask, abstract * mask)


def _hinges(columns: Tensor, own: Tensor, margin: float, reward_margin: float) -> tuple[Tensor, Tensor, Tensor]:
    """Per constituent: sum [s - own + m']+, sum [own - s - m']+ and #{s > own - m} over its image's negatives s."""
    ordered = _sorted(columns)
    absent = torch.isinf(ordered)
    values = ordered.masked_fill(absent, 0.0)
    sums = torch.nn.functional.pad(values.cumsum(1), (1, 0))
    total, missing = columns.shape[1], absent.sum(1, keepdim=True)
    upper = torch.searchsorted(ordered, (own - reward_margin).contiguous(), right=True)
    low = sums.gather(1, upper)
    above = sums[:, -1:] - low - (total - upper) * (own - reward_margin)
    below = (upper - missing) * (own - reward_margin) - low
    active = total - torch.searchsorted(ordered, (own - margin).contiguous(), right=True)
    return above.clamp_min(0), below.clamp_min(0), active


def _sorted(rows: Tensor) -> Tensor:
    """Each row in rising order; on the CPU through numpy, whose sort is several times faster than torch's."""
    return rows.sort(1).values if rows.is_cuda else torch.from_numpy(np.sort(rows.numpy(), axis=1))


def _rival_weights(columns: Tensor, own: Tensor, mask: Tensor, active: Tensor, margin: float) -> Tensor:
    """For each negative of an image: how many of the image's own constituents it comes too near to."""
    edges = (own - margin).masked_fill(~mask, float("inf")).sort(1).values
    return torch.searchsorted(edges, columns, right=False).to(own.dtype)


@in_float32
def match_aligned(similarity: Tensor, mask: Tensor, other: Tensor, margin: float, reward_margin: float) -> Matching:
    """The authors' program: a constituent meets only the constituent at the same place of each other caption.

    The caller lines the constituents up along J: the t-th from the end, as whole, as left child, as right child.
    """
    square = similarity.permute(1, 0, 2)  # (J, caption, image)
    own = square.diagonal(dim1=1, dim2=2)
    rival = (mask.T[:, :, None] & mask.T[:, None, :] & other).to(square.dtype)  # (J, caption, image)
    by_caption, by_image = square - own[:, None, :], square - own[:, :, None]  # other captions; other images
    images = other.sum(1).clamp_min(1)
    captions = rival.sum(1).clamp_min(1)
    loss = ((by_caption + margin).clamp_min(0) * rival).sum(1) / captions
    loss = loss + ((by_image + margin).clamp_min(0) * other).sum(2) / images
    with torch.no_grad():
        concrete = ((-by_caption - reward_margin).clamp_min(0) * rival).sum(1) / captions
        concrete = concrete + ((-by_image - reward_margin).clamp_min(0) * other).sum(2) / images
        abstract = ((by_caption + reward_margin).clamp_min(0) * rival).sum(1) / captions
        abstract = abstract + ((by_image + reward_margin).clamp_min(0) * other).sum(2) / images
    return Matching((loss.T * mask).sum() / len(mask), concrete.T * mask, abstract.T * mask)
