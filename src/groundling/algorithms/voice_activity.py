"""Where there is sound: an energy threshold that adapts to the recording. The default VAD."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from groundling.algorithms.attention_segments import runs


def voiced_by_energy(
    energies: NDArray[np.floating],  # (frames,), mean square of the samples of each frame
    rate: float,  # frames a second
    below_peak: float = 35.0,  # dB under the loud frames at which silence begins
    shortest: float = 0.05,  # seconds; shorter voice is a click
    bridge: float = 0.1,  # seconds; shorter silence is part of a word (stops, pauses of the breath)
) -> list[tuple[float, float]]:
    """Voiced regions in seconds: frames less than `below_peak` dB under the 95th percentile, and not near silence.

    >>> voiced_by_energy(np.array([0, 0, 1, 1, 1, 0, 0, 0]), rate=10, shortest=0.2)
    [(0.2, 0.5)]
    """
    level = 10 * np.log10(energies + 1e-12)
    if not len(level) or level.max() < -70:  # digital silence, or under what 12 bits can hold
        return []
    found = runs(level > max(float(np.percentile(level, 95)) - below_peak, -80.0))
    joined: list[tuple[int, int]] = []
    for start, end in found:
        if joined and start - joined[-1][1] < bridge * rate:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return [(a / rate, b / rate) for a, b in joined if b - a >= shortest * rate]
