"""Word segmentation (thesis 4.2.1): [CLS] attention, insertion in gaps, DPDP, uniform."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2

from groundling.algorithms.attention_segments import Heads, Keep, attention_segments
from groundling.algorithms.dpdp import dpdp
from groundling.algorithms.segment_insertion import insert_segments, words_between
from groundling.errors import DataError
from groundling.structures.segmentation import Segment, Segmentation
from groundling.systems.avnsl.config import Config
from groundling.systems.avnsl.data import Regions, Sound
from groundling.systems.avnsl.encoder import Listened

RATE = 50.0  # frames a second
NO_GAP = 1e9  # seconds; no insertion


class Cut(NamedTuple):
    """One way to cut: the hyper-parameters that MBR chooses among."""

    layer: int
    keep: Keep
    threshold: float
    gap: float  # seconds; 0: no insertion
    heads: Heads = "separate"

    @classmethod
    def of(cls, config: Config) -> Cut:
        """What a config says."""
        return cls(config.layer, config.keep, config.threshold, config.gap, config.heads)


def segment_by_attention(sound: Sound, heard: Listened, cut: Cut) -> Segmentation:
    """Words that fill the voiced regions; silence has none. Times in seconds."""
    found = attention_segments(heard.attention[cut.layer], cut.threshold, cut.keep, cut.heads)
    segments = [(a / RATE, b / RATE) for a, b in found]
    inserted = insert_segments(segments, sound.voiced, cut.gap or NO_GAP)
    return words_between(inserted, sound.voiced, sound.duration)


def learn_codes(frames: Sequence[NDArray[np.floating]], codes: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """K-means over frames (n, dim) of all sounds: the codebook of DPDP; at most 20,000 frames are looked at."""
    rows = np.concatenate([np.asarray(part, dtype=np.float64) for part in frames])
    if not len(rows):
        raise DataError("there is no voiced frame to learn units from. Is everything silent?")
    chosen = rows[rng.choice(len(rows), min(len(rows), 20_000), replace=False)]
    count = min(codes, len(chosen))
    start = chosen[rng.choice(len(chosen), count, replace=False)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a code that nothing is nearest to stays where it was, unused
        return kmeans2(chosen, start, iter=10, minit="matrix")[0]


def segment_by_dpdp(
    frames: NDArray[np.floating],  # (frames, dim) of the whole sound at 50 Hz
    voiced: Regions,
    codes: NDArray[np.float64],
    duration: float,
    weight: float = 3.0,
    longest: int = 25,
) -> Segmentation:
    """DPDP inside each voiced region. `weight` is in units of the mean distance of a frame from its code.

    Deviation: Kamper's words come from a second pass with an autoencoder's cost; here units of up to 0.5 s are words.
    """
    words: list[Segment] = []
    for start, end in voiced:
        first, last = int(start * RATE), min(max(round(end * RATE), int(start * RATE) + 1), len(frames))
        part = np.asarray(frames[first:last], dtype=np.float64)
        if not len(part):
            continue
        nearest = ((part[:, None] - codes) ** 2).sum(2).min(1).mean()
        edges = dpdp(part, codes, weight * nearest, longest).edges / RATE + first / RATE
        edges[0], edges[-1] = start, end
        words += [Segment(float(a), float(b)) for a, b in itertools.pairwise(edges) if b > a]
    return Segmentation(tuple(words), duration)
