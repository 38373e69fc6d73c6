"""Settings of AV-NSL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from groundling.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Config:
    """Sizes fit the built-in spoken world; the thesis' own, where it names them, stand in the comments.

    >>> Config(threshold=90.0)
    Traceback (most recent call last):
    groundling.errors.ConfigError: threshold is 90.0, but it must lie between 0 and 1.
    """

    # The visually grounded speech encoder (the thesis takes VG-HuBERT: 12 layers x 768).
    mels: int = 40
    encoder_dim: int = 32
    encoder_heads: int = 4
    encoder_layers: int = 1
    encoder_reach: int = 2  # frames that a frame sees on each side
    encoder_epochs: int = 25
    encoder_batch_size: int = 50
    encoder_learning_rate: float = 3e-3
    encoder_hide: float = 0.4  # share of the frames that [CLS] is not shown in training
    encoder_warm_up: int = 0  # steps in which the rate rises before it falls as a cosine; 0: it stays the same
    encoder_noise: float = 0.0  # deviation of the noise put on log-Mel in training
    encoder_drop: float = 0.0  # share of the image features that are hidden in training
    # Segmentation (4.2.1).
    layer: int = -1  # whose [CLS] attention; -1 is the last
    keep: Literal["mass", "quantile"] = "quantile"  # VG-HuBERT's program; "mass" is the thesis' wording
    heads: Literal["union", "separate"] = "separate"  # "union" is VG-HuBERT's; see docs/deviations.md
    threshold: float = 0.7  # p; the thesis sweeps it
    gap: float = 0.15  # s, seconds; 0: no segment insertion
    vad: Literal["energy", "rvad", "silero"] = "energy"  # the thesis takes rVAD
    # Segment vectors and induction (4.2.1; ch. 3).
    vectors: str = (
        "encoder"  # whose frames: our encoder's, "log-mel", "whisper-tiny", or a folder of HuBERT or its like
    )
    vector_parts: int = 1  # 1: one weighted mean a segment (thesis); 3: of its beginning, middle and end, side by side
    vector_layer: int = 1  # of that model; of our encoder: 0 convolutions, then its layers
    embedding_dim: int = 128  # 512
    hidden_dim: int = 128  # of the map from segment vectors to the joint space; 0 is a linear map
    scorer_hidden_dim: int = 64  # 128
    margin: float = 0.2
    reward_margin: float = 0.2
    bias: float = 0.0  # lambda of the abstract-initial bias; the thesis uses none for speech
    batch_size: int = 64
    epochs: int = 15
    learning_rate: float = 2e-3
    scorer_learning_rate: float = 1e-3
    clip: float = 2.0
    # Self-training with s-Benepar (4.2.2); 0 epochs: none.
    benepar_epochs: int = 0
    benepar_dim: int = 64
    benepar_learning_rate: float = 2e-3

    def __post_init__(self) -> None:
        if not 0 < self.threshold < 1:
            raise ConfigError(f"threshold is {self.threshold}, but it must lie between 0 and 1.")
        if self.gap < 0:
            raise ConfigError(f"gap is {self.gap}, but it must be at least 0. 0 turns segment insertion off.")
        if self.encoder_heads < 1 or self.encoder_dim % self.encoder_heads or self.encoder_dim % 2:
            raise ConfigError(f"encoder_dim {self.encoder_dim} must be even and shared by {self.encoder_heads} heads.")
        if self.vector_parts < 1:
            raise ConfigError(f"vector_parts is {self.vector_parts}, but a segment has at least 1 part.")
        own = self.vectors == "encoder"
        if (own and not 0 <= self.vector_layer <= self.encoder_layers) or not -1 <= self.layer < self.encoder_layers:
            raise ConfigError(f"the encoder has layers 0 to {self.encoder_layers}; see layer and vector_layer.")
        for name in ("encoder_batch_size", "batch_size"):
            if getattr(self, name) < 2:
                raise ConfigError(f"{name} must be at least 2: others in the batch are the negatives.")
