"""Log-Mel spectrograms: the plainest speech features (thesis 4.4.3, ablation 3), and what our encoders hear."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy.fft
from numpy.typing import NDArray

RATE = 16_000  # samples a second, everywhere
WINDOW, HOP = 400, 160  # 25 ms every 10 ms
CHUNK = 1 << 14  # frames transformed at once: a two-hour file needs no more memory than two minutes

Samples = NDArray[np.float32]


def log_mel(samples: Samples, mels: int = 40) -> NDArray[np.float32]:
    """Log energies (frames, mels) at 100 frames a second, frame t centred at t / 100 s; one frame at the least.

    >>> log_mel(np.zeros(RATE, dtype=np.float32)).shape
    (100, 40)
    """
    return np.log(np.maximum(mel_energies(samples, mels), 1e-8)).astype(np.float32)


def mel_energies(samples: Samples, mels: int) -> NDArray[np.float32]:
    """Energies (frames, mels) under Slaney's triangular filters, edges of the sound mirrored (as Whisper does)."""
    padded = _padded(np.ascontiguousarray(samples, dtype=np.float32))
    frames = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP][: max(len(samples) // HOP, 1)]
    window, bank = _window(), mel_bank(mels)
    parts = [_power(frames[k : k + CHUNK] * window) @ bank.T for k in range(0, len(frames), CHUNK)]
    return np.concatenate(parts).astype(np.float32, copy=False)


def _power(frames: NDArray[np.float32]) -> NDArray[np.float32]:
    spectrum: NDArray[np.complex64] = np.asarray(scipy.fft.rfft(frames, axis=1))  # numpy's would go through doubles
    return spectrum.real**2 + spectrum.imag**2


def frame_energies(samples: Samples, hop: int = HOP) -> NDArray[np.float32]:
    """Mean square (frames,) of each stretch of `hop` samples, the last one shorter."""
    count = max(-(-len(samples) // hop), 1)
    squares = np.zeros(count * hop, dtype=np.float32)
    squares[: len(samples)] = samples**2
    return squares.reshape(count, hop).mean(1)


def normalised(features: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each channel at mean 0 and the whole at deviation 1 over the utterance: loudness and microphone go."""
    centred = features - features.mean(0)
    return centred / max(float(centred.std()), 1e-3)


def _padded(samples: Samples) -> Samples:
    half = WINDOW // 2
    short = max(half + 1 - len(samples), 0)  # a mirror needs something to show
    return np.pad(np.pad(samples, (0, short)), half, mode="reflect")


@lru_cache
def _window() -> NDArray[np.float32]:
    return (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)).astype(np.float32)


@lru_cache
def mel_bank(mels: int) -> NDArray[np.float32]:
    """Triangular filters (mels, frequencies) of equal area, evenly spaced in mel from 0 to 8 kHz.

    >>> mel_bank(80).shape, bool((mel_bank(80) >= 0).all())
    ((80, 201), True)
    """
    edges = _to_hertz(np.linspace(0, _to_mel(RATE / 2), mels + 2))
    frequencies = np.arange(WINDOW // 2 + 1) * RATE / WINDOW
    rising = (frequencies - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - frequencies) / (edges[2:] - edges[1:-1])[:, None]
    area = 2 / (edges[2:] - edges[:-2])[:, None]
    return (np.maximum(0, np.minimum(rising, falling)) * area).astype(np.float32)


def _to_mel(hertz: float) -> float:
    """Slaney's scale: linear to 1 kHz, logarithmic above."""
    return hertz * 3 / 200 if hertz < 1000 else 15 + 27 * np.log(hertz / 1000) / np.log(6.4)


def _to_hertz(mel: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(mel < 15, mel * 200 / 3, 1000 * np.exp((mel - 15) * np.log(6.4) / 27))
