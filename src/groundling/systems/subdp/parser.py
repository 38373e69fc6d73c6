"""The biaffine dependency parser over frozen vectors (thesis 9.2.1)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from groundling.neural.biaffine import ArcScorer, LabelScorer, Projection, WordDropout
from groundling.neural.scalar_mix import ScalarMix
from groundling.systems.subdp.config import Config
from groundling.systems.subdp.vectors import Batch


class Scored(NamedTuple):
    """What the parser says about a batch; position 0 is the root."""

    arcs: Tensor  # (batch, n+1, n+1) log P(head | dependent); row 0 is not used
    dependents: Tensor  # (batch, n+1, label_dim), for LabelScorer
    heads: Tensor
    tags: Tensor  # (batch, n, tags) log P(tag)


class Parser(nn.Module):
    """Scalar mix, endpoint concatenation, an optional BiLSTM, then biaffine arcs and labels and a linear tagger."""

    def __init__(self, config: Config, layers: int, dim: int, labels: int, tags: int) -> None:
        super().__init__()
        self.mix = ScalarMix(layers)
        width = 2 * dim
        self.lstm = None
        if config.lstm_dim:
            self.lstm = nn.LSTM(width, config.lstm_dim, num_layers=2, batch_first=True, bidirectional=True)
            width = 2 * config.lstm_dim
        self.root = nn.Parameter(torch.randn(width) * 0.1)
        self.dropout = WordDropout(config.dropout)
        self.arc_dependent = Projection(width, config.arc_dim, config.dropout)
        self.arc_head = Projection(width, config.arc_dim, config.dropout)
        self.label_dependent = Projection(width, config.label_dim, config.dropout)
        self.label_head = Projection(width, config.label_dim, config.dropout)
        self.arc_scorer = ArcScorer(config.arc_dim)
        self.label_scorer = LabelScorer(config.label_dim, labels)
        self.tagger = nn.Linear(width, tags) if tags else None

    def words(self, batch: Batch) -> Tensor:
        """Word features (batch, words, width)."""
        mixed = self.mix(batch.pieces)
        x = torch.cat([mixed[batch.first], mixed[batch.last]], dim=-1)
        if self.lstm is not None:
            x = _run_lstm(self.lstm, self.dropout(x), batch.mask[:, 1:].sum(1))
        return self.dropout(x)

    def forward(self, batch: Batch) -> Scored:
        """Score every arc; labels are scored for the arcs that are asked for."""
        words = self.words(batch)
        x = torch.cat([self.root.expand(len(words), 1, -1), words], dim=1)
        scores = self.arc_scorer(self.arc_dependent(x), self.arc_head(x))
        banned = ~batch.mask[:, None, :] | torch.eye(x.shape[1], dtype=torch.bool, device=x.device)
        arcs = scores.float().masked_fill(banned, -1e4).log_softmax(-1)
        tags = self.tagger(words).log_softmax(-1) if self.tagger is not None else words[..., :0]
        return Scored(arcs, self.label_dependent(x), self.label_head(x), tags)

    def labels(self, scored: Scored, arcs: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        """Log P(label | arc) of the arcs (sentence, dependent, head): (arcs, labels)."""
        return self.label_scorer(scored.dependents, scored.heads, arcs).float().log_softmax(-1)


def _run_lstm(lstm: nn.LSTM, x: Tensor, lengths: Tensor) -> Tensor:
    packed = nn.utils.rnn.pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
    return nn.utils.rnn.pad_packed_sequence(lstm(packed)[0], batch_first=True, total_length=x.shape[1])[0]
