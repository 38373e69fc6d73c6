"""ON-LSTM (Shen et al. 2019): a language model whose neurons are ordered from long to short memory."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from groundling.systems.vgnsl.baselines.language_model import (
    DistanceParser,
    LanguageConfig,
    LanguageModel,
    learn_language,
)
from groundling.systems.vgnsl.baselines.shape import Options
from groundling.systems.vgnsl.data import Captions

LAYERS, CHUNK = 3, 8  # neurons of a chunk share their master gates
READ_AT = 1  # the layer whose distances make trees: the second, as published


class OrderedCell(nn.Module):
    """One layer. Master gates are cumulative softmaxes: up to where memory is kept, from where it is written."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim, self.chunks = dim, dim // CHUNK
        self.given = nn.Linear(dim, 4 * dim + 2 * self.chunks)
        self.before = nn.Linear(dim, 4 * dim + 2 * self.chunks, bias=False)

    def forward(self, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """Vectors (batch, n, dim) -> states (batch, n, dim), distances (batch, n) = 1 - mean master forget gate."""
        given = self.given(vectors)
        hidden = cell = vectors.new_zeros(len(vectors), self.dim)
        states, distances = [], []
        for t in range(vectors.shape[1]):
            hidden, cell, kept = self.step(given[:, t] + self.before(hidden), cell)
            states.append(hidden)
            distances.append(1 - kept.mean(1))
        return torch.stack(states, 1), torch.stack(distances, 1)

    def step(self, gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The new hidden and cell state (batch, dim), and the master forget gate (batch, chunks)."""
        master, inner = gates[:, : 2 * self.chunks], gates[:, 2 * self.chunks :]
        keep, write = master.view(len(gates), 2, self.chunks).softmax(2).cumsum(2).unbind(1)
        write = 1 - write
        both = (keep * write).repeat_interleave(CHUNK, 1)
        forget, into, out = inner[:, : 3 * self.dim].sigmoid().chunk(3, 1)
        forget = forget * both + keep.repeat_interleave(CHUNK, 1) - both
        into = into * both + write.repeat_interleave(CHUNK, 1) - both
        cell = forget * cell + into * inner[:, 3 * self.dim :].tanh()
        return out * cell.tanh(), cell, keep


class OrderedLSTM(LanguageModel):
    """Three layers of ordered neurons."""

    def __init__(self, config: LanguageConfig, words: int) -> None:
        super().__init__(config, words)
        self.cells = nn.ModuleList(OrderedCell(config.dim) for _ in range(LAYERS))

    def read(self, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """States of the last layer, distances of the second."""
        distances = []
        for layer, cell in enumerate(self.cells):
            vectors, distance = cell(self.dropout(vectors) if layer else vectors)
            distances.append(distance)
        return vectors, distances[READ_AT]


def learn(captions: Captions, seed: int, options: Options, config: LanguageConfig | None = None) -> DistanceParser:
    """Train as a language model; distances are read from the master forget gates."""
    return learn_language(OrderedLSTM, captions, seed, options, config, "training ON-LSTM")
