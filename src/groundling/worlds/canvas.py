"""A small canvas: things drawn as pixels, and what a fixed bank of filters sees in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SIDE = 32
SHAPES = ("square", "circle", "triangle", "cross", "ring", "bar")
COLOURS = {
    "red": (1.0, 0.1, 0.1),
    "green": (0.1, 0.8, 0.2),
    "blue": (0.1, 0.2, 1.0),
    "yellow": (1.0, 0.9, 0.1),
    "purple": (0.6, 0.1, 0.8),
    "white": (1.0, 1.0, 1.0),
}
RADIUS = {"small": 3.6, "large": 6.2}  # pixels


class Thing(NamedTuple):
    """What stands in a scene; where it stands is the drawing's affair."""

    shape: str
    colour: str
    size: str


def draw(things: Sequence[Thing], rng: np.random.Generator) -> NDArray[np.float32]:
    """Paint things at random places on a dark canvas (SIDE, SIDE, 3), each in its own quarter: none is hidden."""
    canvas = np.full((SIDE, SIDE, 3), 0.05, dtype=np.float32) + rng.normal(0, 0.02, (SIDE, SIDE, 3)).astype(np.float32)
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32)
    quarter = SIDE / 4
    places = rng.permutation(4)[: len(things)]
    for thing, place in zip(things, places, strict=True):
        shift = rng.uniform(-1.5, 1.5, 2)
        row, column = divmod(int(place), 2)
        dy, dx = y - quarter * (1 + 2 * row) - shift[0], x - quarter * (1 + 2 * column) - shift[1]
        canvas[_inside(thing.shape, dx, dy, RADIUS[thing.size])] = COLOURS[thing.colour]
    return canvas


def _inside(shape: str, dx: NDArray[np.float32], dy: NDArray[np.float32], r: float) -> NDArray[np.bool_]:
    far, across, down = np.hypot(dx, dy), np.abs(dx), np.abs(dy)
    masks = {
        "square": (across < r) & (down < r),
        "circle": far < r,
        "triangle": (dy < r) & (dy > -r) & (across < (dy + r) / 2),
        "cross": ((across < r / 3) & (down < r)) | ((down < r / 3) & (across < r)),
        "ring": (far < r) & (far > r / 2),
        "bar": (across < r) & (down < r / 3),
    }
    return masks[shape]


def filter_responses(pictures: NDArray[np.float32], filters: int = 128, width: int = 5) -> NDArray[np.float32]:
    """Mean rectified response (pictures, filters) of fixed random filters: what is there, not where.

    The filters are the same for every world, so features of two worlds can be compared.
    """
    bank_rng = np.random.default_rng(20190731)
    bank = bank_rng.normal(0, 1, (3 * width * width, filters)).astype(np.float32)
    thresholds = bank_rng.uniform(0, 2.5, filters).astype(np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(pictures, (width, width), axis=(1, 2))[:, ::2, ::2]
    count = windows.shape[1] * windows.shape[2]
    return np.stack([np.maximum(w.reshape(count, -1) @ bank - thresholds, 0).mean(0) for w in windows])
