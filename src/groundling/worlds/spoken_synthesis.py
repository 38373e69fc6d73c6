"""A small synthesiser: each syllable has its own spectral shape, a word is its syllables in a row, speakers differ.

Nothing like a human voice, but it has what matters to a learner: no pauses between words, no two utterances alike.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.structures.segmentation import Segment, Segmentation

RATE = 16_000
HOP, WINDOW = 160, 320  # the filter changes every 10 ms
FREQUENCIES = np.arange(WINDOW // 2 + 1) * RATE / WINDOW
_SYLLABLE = re.compile(r"[^aeiouy]*[aeiouy]+(?:[^aeiouy]+$)?|[^aeiouy]+$")


class Clip(NamedTuple):
    """A recording and where its words are."""

    samples: NDArray[np.float32]  # at 16 kHz, within -1 .. 1
    words: Segmentation


class Speaker(NamedTuple):
    """What one utterance has in common."""

    pitch: float  # Hz
    tract: float  # formants are multiplied by it
    rate: float  # lengths are multiplied by it
    noise: float  # amplitude of what is always there


def random_speaker(rng: np.random.Generator) -> Speaker:
    """A speaker, in a room."""
    return Speaker(rng.uniform(90, 230), rng.uniform(0.88, 1.14), rng.uniform(0.85, 1.2), 10 ** rng.uniform(-3, -2.3))


def speak(words: Sequence[str], speaker: Speaker, rng: np.random.Generator) -> Clip:
    """Say words without pauses between them, a moment of silence before and after.

    >>> rng = np.random.default_rng(0)
    >>> clip = speak(("a", "cat"), random_speaker(rng), rng)
    >>> clip.words.words, clip.samples.dtype.name, bool(abs(clip.samples).max() <= 1)
    (('a', 'cat'), 'float32', True)
    """
    lead, tail = (int(n) for n in rng.integers(5, 16, 2))
    shapes: list[NDArray[np.float64]] = [np.zeros((lead, len(FREQUENCIES)))]
    voices: list[NDArray[np.float64]] = [np.zeros(lead)]
    edges = [lead]
    for word in words:
        for syllable in syllables(word):
            first, last, voice = _shapes(syllable, round(speaker.tract, 2))
            length = (8.0 if len(word) < 4 else 15.0) * speaker.rate * rng.uniform(0.8, 1.25)
            glide = np.linspace(0, 1, max(3, round(length)))[:, None]
            shapes.append(((1 - glide) * first + glide * last) * rng.uniform(0.8, 1.2))
            voices.append(np.full(len(glide), voice))
        edges.append(sum(map(len, shapes)))
    shapes.append(np.zeros((tail, len(FREQUENCIES))))
    voices.append(np.zeros(tail))
    filters = _smooth(np.concatenate(shapes))
    samples = _filter(_source(np.concatenate(voices), speaker, rng), filters)
    samples = samples / max(float(np.abs(samples).max()), 1e-6) * 0.5 + rng.normal(0, speaker.noise, len(samples))
    times = [edge * HOP / RATE for edge in edges]
    segments = tuple(Segment(a, b, word) for a, b, word in zip(times[:-1], times[1:], words, strict=True))
    return Clip(samples.clip(-1, 1).astype(np.float32), Segmentation(segments, len(samples) / RATE))


def syllables(word: str) -> list[str]:
    """Consonants and the vowels after them; what stands at the end belongs to the last.

    >>> syllables("triangle"), syllables("square"), syllables("x")
    (['tria', 'ngle'], ['squa', 're'], ['x'])
    """
    return _SYLLABLE.findall(word.lower()) or [word]


@lru_cache(maxsize=65536)
def _shapes(syllable: str, tract: float) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Spectra at its beginning and end, and voicing (0-1): drawn at random, once and for ever, by its letters."""
    rng = np.random.default_rng(list(syllable.encode()))
    centres = np.sort(np.exp(rng.uniform(np.log(250), np.log(5500), 3)))
    widths, levels = centres * rng.uniform(0.08, 0.2, 3) + 60, rng.uniform(0.4, 1.0, 3)
    moved = centres * rng.uniform(0.85, 1.18, 3)
    voice = float(rng.choice([1.0, 1.0, 0.3]))
    first, last = (
        np.sum(levels[:, None] * np.exp(-(((FREQUENCIES - at[:, None] * tract) / widths[:, None]) ** 2)), axis=0)
        for at in (centres, moved)
    )
    return first, last, voice


def _smooth(filters: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mouth moves: each 10 ms is the mean of itself and its neighbours."""
    padded = np.pad(filters, ((1, 1), (0, 0)))
    return (padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4


def _source(voices: NDArray[np.float64], speaker: Speaker, rng: np.random.Generator) -> NDArray[np.float64]:
    """Pulses at a falling pitch where voiced, noise elsewhere."""
    count = len(voices) * HOP
    pitch = speaker.pitch * np.linspace(1.1, 0.9, count)
    pulses = np.diff(np.floor(np.cumsum(pitch / RATE)), prepend=0) * np.sqrt(RATE / speaker.pitch)
    voice = np.repeat(voices, HOP)
    return voice * pulses + (1 - voice) * 0.6 * rng.normal(size=count)


def _filter(source: NDArray[np.float64], filters: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shape the source's spectrum every 10 ms, overlap and add."""
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)  # halves that overlap sum to 1
    padded = np.pad(source, (HOP // 2, WINDOW))
    frames = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP][: len(filters)] * window
    shaped = np.fft.irfft(np.fft.rfft(frames, axis=1) * filters, n=WINDOW, axis=1)
    out = np.zeros((len(filters) + 1) * HOP)
    for half in range(2):
        part = shaped[:, half * HOP : (half + 1) * HOP].ravel()
        out[half * HOP : half * HOP + len(part)] += part
    return out[HOP // 2 : HOP // 2 + len(source)]
