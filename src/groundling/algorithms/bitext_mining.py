"""Which sentences translate each other: the margin score over nearest neighbours, and whom to keep (thesis 8.2.1)."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Direction = Literal["forward", "backward", "mutual", "either"]


class Neighbours(NamedTuple):
    """The k nearest of the other side for each sentence, best first: (sentences, k)."""

    places: Ints
    cosine: Floats


class Mined(NamedTuple):
    """A mined pair of sentences, counted from 0."""

    source: int
    target: int
    score: float


def mine(
    forward: Neighbours, backward: Neighbours, direction: Direction = "mutual", least: float = 1.0, share: float = 1.0
) -> list[Mined]:
    """Pairs by falling margin score: those over `least`, of these the best `share` (thesis: over 1, the top 20 %).

    `forward` takes each source's best target, `backward` each target's best source, `mutual` the pairs both choose,
    `either` walks down the scores and takes a pair while both sentences are free (the max-score method).

    score(s, t) = cos(s, t) / (mean cos(s, its k nearest) / 2 + mean cos(t, its k nearest) / 2).

    >>> near = Neighbours(np.array([[0, 1], [1, 0]]), np.array([[0.9, 0.1], [0.8, 0.2]]))
    >>> [(m.source, m.target) for m in mine(near, near)]
    [(0, 0), (1, 1)]
    """
    rows, columns = forward.cosine.mean(1) / 2, backward.cosine.mean(1) / 2
    there = _candidates(forward, rows, columns)
    back = [Mined(t, s, score) for s, t, score in _candidates(backward, columns, rows)]
    best_there, best_back = _best(there, 0), _best(back, 1)
    chosen = {
        "forward": lambda: best_there,
        "backward": lambda: best_back,
        "mutual": lambda: sorted(set(best_there) & set(best_back)),
        "either": lambda: _free_first(best_there + best_back),
    }[direction]()
    over = sorted((m for m in chosen if m.score > least), key=lambda m: (-m.score, m.source, m.target))
    return over[: int(np.ceil(share * len(over)))]


def _candidates(near: Neighbours, mine_half: Floats, other_half: Floats) -> list[Mined]:
    scores = near.cosine / np.maximum(mine_half[:, None] + other_half[near.places], 1e-9)
    return [
        Mined(i, int(j), round(float(score), 6))  # rounded: both directions must give one pair the same score
        for i, (row, values) in enumerate(zip(near.places, scores, strict=True))
        for j, score in zip(row, values, strict=True)
    ]


def _best(candidates: list[Mined], side: Literal[0, 1]) -> list[Mined]:
    """The best-scored partner of each sentence of one side; of equal ones the first."""
    best: dict[int, Mined] = {}
    for one in candidates:
        key = one.target if side else one.source
        if key not in best or one.score > best[key].score:
            best[key] = one
    return list(best.values())


def _free_first(candidates: list[Mined]) -> list[Mined]:
    sources: set[int] = set()
    targets: set[int] = set()
    kept: list[Mined] = []
    for one in sorted(set(candidates), key=lambda m: (-m.score, m.source, m.target)):
        if one.source not in sources and one.target not in targets:
            kept.append(one)
            sources.add(one.source)
            targets.add(one.target)
    return kept
