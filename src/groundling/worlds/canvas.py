"""A small canvas: things drawn as pixels, and what a fixed bank of filters sees in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SIDE = 32
SHAPES = ("square", "circle", "triangle", "cross", "ring", "bar", "diamond", "pillar")
COLOURS = {
    "red": (1.0, 0.1, 0.1),
    "green": (0.1, 0.8, 0.2),
    "blue": (0.1, 0.2, 1.0),
    "yellow": (1.0, 0.9, 0.1),
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
        "diamond": across + down < r,
        "pillar": (across < r / 3) & (down < r),
    }
    return masks[shape]


def filter_responses(pictures: NDArray[np.float32], filters: int = 64) -> NDArray[np.float32]:
    """Vectors (pictures, 3 filters) from fixed random filters: what is there, not where.

    Small filters over the colours give their mean rectified response; large ones over brightness alone, which show
    shapes, their mean and their largest. The filters are the same for every world, so worlds can be compared.
    """
    rng = np.random.default_rng(20190731)
    brightness = pictures.max(3, keepdims=True)
    colours = _responses(pictures, 3, filters, rng)
    shapes = _responses(brightness, 7, filters, rng)
    return np.concatenate([colours.mean(1), shapes.mean(1), shapes.max(1)], axis=1)


def _responses(
    pictures: NDArray[np.float32], width: int, filters: int, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Rectified responses (pictures, places, filters), at every second place."""
    channels = pictures.shape[3]
    bank = rng.normal(0, 1 / np.sqrt(width), (channels * width * width, filters)).astype(np.float32)
    thresholds = rng.uniform(0, 1.5, filters).astype(np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(pictures, (width, width), axis=(1, 2))[:, ::2, ::2]
    places = windows.shape[1] * windows.shape[2]
    return np.stack([np.maximum(w.reshape(places, -1) @ bank - thresholds, 0) for w in windows])
