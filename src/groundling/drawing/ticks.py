"""Round numbers for axes."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10


def ticks(low: float, high: float, count: int = 6) -> list[float]:
    """Round values from `low` to `high`, about `count` of them, in steps of 1, 2 or 5 times a power of ten.

    >>> ticks(0, 1, 5)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    >>> ticks(3, 3)
    [3]
    """
    if not high > low:
        return [low]
    rough = (high - low) / max(count, 1)
    power = 10.0 ** floor(log10(rough))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= rough * 0.999)
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [float(f"{i * step:.12g}") for i in range(first, last + 1)]


def tick_text(value: float, marks: Sequence[float]) -> str:
    """Write a mark with as many decimals as its axis needs.

    >>> tick_text(0.5, [0, 0.5]), tick_text(20000.0, [0, 20000.0]), tick_text(1e-5, [1e-5, 2e-5])
    ('0.5', '20k', '1e-05')
    """
    size = max(abs(mark) for mark in marks)
    if size and not 1e-2 <= size < 1e6:
        return f"{value:.3g}"
    if size >= 1e4:
        return f"{value / 1000:g}k" if value else "0"
    decimals = max((len(f"{mark:.6g}".partition(".")[2]) for mark in marks if "e" not in f"{mark:.6g}"), default=0)
    return f"{value:.{decimals}f}"
