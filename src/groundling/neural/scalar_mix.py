"""A learned weighted sum of an encoder's layers (thesis 9.3)."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class ScalarMix(nn.Module):
    """gamma * sum_l softmax(w)_l x_l: one scalar a layer, learned with the rest; the weights start equal.

    >>> ScalarMix(2)(torch.tensor([[[1.0, 1.0], [3.0, 5.0]]])).tolist()
    [[2.0, 3.0]]
    """

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.scores = nn.Parameter(torch.zeros(layers))
        self.scale = nn.Parameter(torch.ones(()))

    @property
    def weights(self) -> Tensor:
        """The share of each layer; they sum to 1."""
        return self.scores.softmax(0)

    def forward(self, vectors: Tensor) -> Tensor:
        """(n, layers, dim) -> (n, dim)."""
        return self.scale * torch.einsum("l,nld->nd", self.weights, vectors.to(self.scores.dtype))
