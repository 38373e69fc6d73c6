"""A linear map of the encoder's vectors under which linked words are near, learnt from bitext without links."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from groundling.algorithms.mutual_argmax import argmax
from groundling.backbones.text import Encoded
from groundling.systems.mlpalign.streams import Pair

_EVERY = 3  # pieces whose variance is measured: one in three is plenty


def learn_metric(pairs: Sequence[Pair], rank: int, rounds: int = 2, shrinkage: float = 1.0) -> Tensor:
    """The map M, (layers, dim, rank): a piece becomes sum_l h_l M_l, and cosines between such are compared.

    The layers of a piece are joined, the pair's mean is removed. The differences of pieces that choose each other
    (mutual argmax) say which directions differ though the meaning does not: their covariance C, `shrinkage` times its
    mean variance added to the diagonal, is whitened away (M = C^-1/2), as speaker recognition does with the voices of
    one speaker (Hatch et al. 2006). The `rank` directions of greatest variance are kept, pieces are linked again under
    M, and so on, `rounds` times. Every pair must have words on both sides.

    Deviation: the thesis compares the vectors as they are.
    """
    sides = [_joined(pair) for pair in pairs]
    total = _covariance(torch.cat([side for both in sides for side in both])[::_EVERY])
    mix = torch.eye(len(total), device=total.device)
    for _ in range(rounds):
        root = _inverse_root(_covariance(_differences(sides, mix)), shrinkage)
        mix = root @ torch.linalg.eigh(root @ total @ root).eigenvectors[:, -rank:]
    assert pairs[0].encoded is not None
    layers, _, dim = pairs[0].encoded[0].vectors.shape
    return mix.reshape(layers, dim, -1)


def mixed(pair: Pair, mix: Tensor) -> Pair:
    """A pair encoded in all layers, as `encode` would give it with `mix`."""
    assert pair.encoded is not None
    sides = (torch.einsum("lpd,ldr->pr", side.vectors, mix.to(side.vectors))[None] for side in pair.encoded)
    source, target = (Encoded(vectors, side.owner) for vectors, side in zip(sides, pair.encoded, strict=True))
    return pair._replace(encoded=(source, target))


def _joined(pair: Pair) -> tuple[Tensor, Tensor]:
    """The pieces of both sentences, (pieces, layers x dim): layers joined, the pair's mean removed, unit rows."""
    assert pair.encoded is not None
    source, target = (side.vectors.transpose(0, 1).flatten(1).float() for side in pair.encoded)
    mean = torch.cat([source, target]).mean(0)
    return torch.nn.functional.normalize(source - mean, dim=1), torch.nn.functional.normalize(target - mean, dim=1)


def _differences(sides: Sequence[tuple[Tensor, Tensor]], mix: Tensor) -> Tensor:
    """Source less target of each two pieces that choose each other under the map: (links, layers x dim)."""
    parts: list[Tensor] = []
    for source, target in sides:
        first, second = (torch.nn.functional.normalize(side @ mix, dim=1) for side in (source, target))
        rows, columns = argmax((first @ second.T).cpu().numpy()).nonzero()
        parts.append(source[rows] - target[columns])
    return torch.cat(parts)


def _covariance(rows: Tensor) -> Tensor:
    return rows.T @ rows / len(rows)


def _inverse_root(covariance: Tensor, shrinkage: float) -> Tensor:
    values, directions = torch.linalg.eigh(covariance)
    floor = shrinkage * values.mean() + 1e-8  # equal words on both sides leave no difference
    return (directions * (values.clamp_min(0) + floor) ** -0.5) @ directions.T
