"""What `make bench` measures. A file here with `run() -> list[Row]` is a part of it."""

import math
import time
from collections.abc import Callable
from typing import NamedTuple


class Row(NamedTuple):
    """One comparison. Times in seconds; `peer` is the time of a peer, or the limit we set ourselves.

    `ratio` says how much better ours is (peer / ours); it must not fall under `floor`.
    """

    name: str
    ours: float
    peer: float
    ratio: float  # nan: the peer is not installed here
    floor: float
    unit: str = "s"

    @property
    def holds(self) -> bool:
        """Whether the claim stands; one that cannot be measured here is not held against us."""
        return math.isnan(self.ratio) or self.ratio >= self.floor


def best_of(work: Callable[[], object], repeats: int = 3) -> float:
    """CPU seconds of the best of some repeats."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def against(name: str, ours: float, peer: float, floor: float = 1.0, unit: str = "s") -> Row:
    """A row from two measurements; with a limit as peer, the floor is 1."""
    return Row(name, ours, peer, peer / ours, floor, unit)


def absent(name: str, floor: float) -> Row:
    """A row whose peer is not here: named in the table all the same."""
    return Row(name, math.nan, math.nan, math.nan, floor, "")
