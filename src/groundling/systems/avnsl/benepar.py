"""s-Benepar (thesis 4.2.2): a span classifier over segment vectors, decoded by CKY, trained on AV-NSL's own trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from groundling.algorithms.span_cky import best_binary_spans
from groundling.systems.avnsl.config import Config
from groundling.systems.avnsl.induce import Rows, Spans
from groundling.training.batching import batches_by_length
from groundling.training.loop import fit


class SpanScorer(nn.Module):
    """Both directions of a recurrent network; a span is the difference of its ends' states (Kitaev and Klein, 2018)."""

    mean: Tensor
    scale: Tensor

    def __init__(self, vector_dim: int, dim: int) -> None:
        super().__init__()
        self.enter = nn.Linear(vector_dim, dim)
        self.dropout = nn.Dropout(0.2)
        self.around = nn.GRU(dim, dim, batch_first=True, bidirectional=True)
        self.score = nn.Sequential(nn.Linear(2 * dim, dim), nn.ReLU(), nn.Linear(dim, 1))
        self.register_buffer("mean", torch.zeros(vector_dim))
        self.register_buffer("scale", torch.ones(()))

    def see(self, vectors: Tensor) -> None:
        """Learn mean and size of the vectors."""
        self.mean.copy_(vectors.mean(0))
        self.scale.fill_(float(1 / (vectors - self.mean).std().clamp_min(1e-6)))

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Scores (batch, n + 1, n + 1): [i, j] of segments i .. j-1; only i < j <= length mean something."""
        entered = self.dropout(torch.tanh(self.enter((vectors - self.mean) * self.scale)))
        packed = nn.utils.rnn.pack_padded_sequence(entered, lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, _ = nn.utils.rnn.pad_packed_sequence(self.around(packed)[0], batch_first=True)
        half = states.shape[2] // 2
        forward = nn.functional.pad(states[..., :half], (0, 0, 1, 0))  # before each place
        backward = nn.functional.pad(states[..., half:], (0, 0, 0, 1))  # after each place
        ahead = forward[:, None] - forward[:, :, None]
        behind = backward[:, :, None] - backward[:, None]
        return self.score(torch.cat([ahead, behind], dim=3)).squeeze(3)


def train_benepar(config: Config, rows: Rows, trees: Sequence[Spans], *, seed: int, device: str = "auto") -> SpanScorer:
    """Learn to tell the spans of these trees from all others (two segments or more, the whole left out)."""
    used = [i for i, spans in enumerate(trees) if len(spans) > 1]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        scorer = SpanScorer(rows[0].shape[1], config.benepar_dim)
    scorer.see(torch.from_numpy(np.concatenate([rows[i] for i in used[:2000]])))
    lengths = np.array([len(rows[i]) for i in used])

    def loss(module: SpanScorer, chosen: NDArray[np.int64], _: torch.Generator) -> Any:
        numbers = [used[i] for i in chosen]
        vectors, counts = _padded([rows[i] for i in numbers])
        n = vectors.shape[1] + 1
        goal = torch.zeros(len(numbers), n, n)
        for row, i in enumerate(numbers):
            goal[row, [a for a, _ in trees[i]], [b for _, b in trees[i]]] = 1.0
        place = torch.arange(n)
        inside = (place[None, :] - place[:, None] >= 2) & (place[None, None, :] <= counts[:, None, None])
        inside &= ~((place[:, None] == 0) & (place[None, None, :] == counts[:, None, None]))
        where = module.enter.weight.device
        scores = module(vectors.to(where), counts)
        return binary_cross_entropy_with_logits(scores[inside.to(where)], goal[inside].to(where))

    fit(
        scorer,
        batches=lambda _, rng: batches_by_length(lengths, config.batch_size, rng, window=8),
        loss=loss,
        optimizer=torch.optim.Adam(scorer.parameters(), lr=config.benepar_learning_rate),
        epochs=config.benepar_epochs,
        seed=seed,
        clip=config.clip,
        device=device,
        label="self-training s-Benepar",
    )
    return scorer.eval()


@torch.no_grad()
def decode(scorer: SpanScorer, rows: Rows, size: int = 128) -> list[Spans]:
    """The spans of the best binary tree of each utterance."""
    found: list[Spans] = [[] for _ in rows]
    order = [int(i) for i in np.argsort([len(row) for row in rows], kind="stable") if len(rows[i]) >= 2]
    for begin in range(0, len(order), size):
        chosen = order[begin : begin + size]
        vectors, counts = _padded([rows[i] for i in chosen])
        scores = scorer(vectors.to(scorer.enter.weight.device), counts).cpu().numpy()
        for i, table, count in zip(chosen, scores, counts.tolist(), strict=True):
            found[i] = best_binary_spans(table[: count + 1, : count + 1])
    return found


def _padded(rows: Rows) -> tuple[Tensor, Tensor]:
    counts = [len(row) for row in rows]
    padded = np.zeros((len(rows), max(counts), rows[0].shape[1]), dtype=np.float32)
    for place, row in zip(padded, rows, strict=True):
        place[: len(row)] = row
    return torch.from_numpy(padded), torch.tensor(counts)
