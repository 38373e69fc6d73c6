"""Utterances with the images they describe: what training reads. No text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from groundling.backbones.log_mel import RATE, log_mel, normalised
from groundling.backbones.speech import SpeechEncoder
from groundling.backbones.speech_activity import Vad, voiced_regions
from groundling.errors import DataError

Regions = list[tuple[float, float]]


@dataclass(frozen=True)
class Sound:
    """What is kept of a recording: 3 % of its size, and frames of another speech model where one is used."""

    mels: NDArray[np.float32]  # (2 frames, mels): normalised log-Mel, an even number of rows
    voiced: Regions  # seconds
    duration: float
    given: NDArray[np.float32] | None = None  # (frames, dim) of that model

    @property
    def frames(self) -> int:
        """Frames at 50 Hz."""
        return len(self.mels) // 2


@dataclass(frozen=True)
class Utterances:
    """Sound i describes the picture whose vector is `features[images[i]]`."""

    sounds: Sequence[Sound]
    images: NDArray[np.int64]
    features: NDArray[np.float32]

    def __post_init__(self) -> None:
        if len(self.sounds) != len(self.images):
            raise DataError(
                f"{len(self.sounds)} recordings but {len(self.images)} image numbers. Give one a recording."
            )
        if len(self.images) and not 0 <= self.images.min() <= self.images.max() < len(self.features):
            raise DataError(
                f"recordings name images up to {self.images.max()}, but there are features of {len(self.features)}."
            )

    def shuffled(self, rng: np.random.Generator) -> Utterances:
        """The same speech under the wrong pictures."""
        return Utterances(self.sounds, rng.permutation(self.images), self.features)


def hear(
    samples: NDArray[np.float32],
    mels: int = 40,
    vad: Vad = "energy",
    other: SpeechEncoder | None = None,
    layer: int = 0,
) -> Sound:
    """Turn sound into what training and parsing read; `other` is a speech model whose frames of `layer` are kept too.

    >>> hear(np.zeros(1, dtype=np.float32)).frames
    1
    """
    found = normalised(log_mel(samples, mels))
    found = found[: len(found) // 2 * 2] if len(found) > 1 else np.repeat(found, 2, axis=0)
    given = None if other is None else _at_50_hz(other, samples, layer, len(found) // 2)
    return Sound(found, voiced_regions(samples, vad), len(samples) / RATE, given)


def _at_50_hz(other: SpeechEncoder, samples: NDArray[np.float32], layer: int, count: int) -> NDArray[np.float32]:
    """Its frames (count, dim), each the nearest in time: HuBERT's convolutions lose a frame at the end."""
    frames = other.frames(samples, [layer])[0].numpy()
    nearest = np.round(np.arange(count) * other.rate / 50).astype(np.int64)
    return frames[np.minimum(nearest, len(frames) - 1)].astype(np.float32)


def pad_mels(sounds: Iterable[Sound]) -> tuple[Tensor, Tensor]:
    """Log-Mel (batch, 2 longest, mels) filled up with 0, and frames at 50 Hz (batch,)."""
    held = list(sounds)
    lengths = [sound.frames for sound in held]
    padded = np.zeros((len(held), 2 * max(lengths), held[0].mels.shape[1]), dtype=np.float32)
    for row, sound in zip(padded, held, strict=True):
        row[: len(sound.mels)] = sound.mels
    return torch.from_numpy(padded), torch.tensor(lengths)
