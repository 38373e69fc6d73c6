"""Object features of CLEVR-style scenes from pictures: each object is drawn, and an image backbone looks at it.

A crop shows one object at the crop's scale, so that its size can be seen: its outline (cube, sphere, cylinder), color,
shading, and on metal a highlight; position, brightness and pixel noise vary. Where the object stands cannot be seen in
its crop: the last two features are its place, as a detector's box would give it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from groundling.backbones.images import ImageEncoder
from groundling.worlds.clevr_scenes import FEATURES, Scene, Thing

SIDE = 64  # pixels
PAINT = {
    "gray": (125, 130, 138),
    "red": (192, 57, 43),
    "blue": (47, 98, 201),
    "green": (47, 143, 78),
    "brown": (133, 85, 45),
    "purple": (125, 63, 176),
    "cyan": (42, 165, 181),
    "yellow": (217, 179, 16),
}
RADIUS = {"small": 0.5, "large": 0.85}  # of half a crop
SEEN = FEATURES - 2  # numbers that describe the crop; two more are the place


def draw_crop(thing: Thing, rng: np.random.Generator) -> NDArray[np.float32]:
    """Return one object as pixels 0 .. 255, [3, SIDE, SIDE].

    >>> red = Thing("red", "cube", "large", "metal", (0.0, 0.0))
    >>> draw_crop(red, np.random.default_rng(0)).shape
    (3, 64, 64)
    """
    down, across = np.mgrid[-1 : 1 : SIDE * 1j, -1 : 1 : SIDE * 1j] - rng.uniform(-0.08, 0.08, (2, 1, 1))
    r = RADIUS[thing.size] * rng.uniform(0.95, 1.05)
    x, y = across / r, down / r
    shade = np.where(_inside(thing.shape, x, y), _shading(thing.shape, x, y), 0.0)
    picture = 200 + np.zeros((SIDE, SIDE, 3))
    body = shade > 0
    picture[body] = shade[body, None] * np.array(PAINT[thing.color])
    if thing.material == "metal":
        shine = np.exp(-((x + 0.35) ** 2 + (y + 0.35) ** 2) / 0.05) * body
        picture += (255 - picture) * 0.9 * shine[..., None]
    picture = picture * rng.uniform(0.9, 1.1) + rng.normal(0, 4, picture.shape)
    return picture.clip(0, 255).astype(np.float32).transpose(2, 0, 1)


def _inside(shape: str, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.bool_]:
    if shape == "sphere":
        return np.hypot(x, y) < 1
    if shape == "cube":
        return (np.abs(x) < 0.9) & (np.abs(y) < 0.9) & (x - y < 1.5) & (y - x < 1.5)
    return (np.abs(x) < 0.7) & (np.abs(y) < 0.7 + 0.25 * np.sqrt((1 - (x / 0.7) ** 2).clip(0)))


def _shading(shape: str, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how bright each place of the surface is: faces of a cube, the curve of a sphere or a cylinder."""
    if shape == "sphere":
        return 0.45 + 0.55 * np.sqrt((1 - (x + 0.2) ** 2 / 1.5 - (y + 0.2) ** 2 / 1.5).clip(0))
    if shape == "cube":
        return np.where(y < -0.45, 1.15, np.where(x > 0.4, 0.6, 0.9))
    return np.where(y < -0.5, 1.15, 0.5 + 0.5 * np.sqrt((1 - ((x + 0.2) / 0.95) ** 2).clip(0)))


@torch.no_grad()
def look(scenes: Sequence[Scene], encoder: ImageEncoder, batch: int = 64) -> list[NDArray[np.float32]]:
    """Return what the backbone sees of each scene's objects, [objects, dim] a scene; the same for the same scene."""
    crops = []
    for scene in scenes:
        rng = np.random.default_rng([scene.number, len(scene.source)])
        crops += [draw_crop(thing, rng) for thing in scene.objects]
    seen = []
    for start in range(0, len(crops), batch):
        pixels = torch.from_numpy(np.stack(crops[start : start + batch]))
        seen.append(encoder.encode(encoder.prepare(pixels)).float().numpy())
    ends = np.cumsum([len(scene.objects) for scene in scenes])[:-1]
    return np.split(np.concatenate(seen), ends)


@dataclass(frozen=True)
class Reduction:
    """Principal components of the training crops, each scaled to deviation one."""

    mean: NDArray[np.float32]  # [dim]
    components: NDArray[np.float32]  # [dim, SEEN]

    @classmethod
    def fit(cls, vectors: NDArray[np.float32]) -> Reduction:
        """Fit on what was seen of training objects, [objects, dim]."""
        mean = vectors.mean(0)
        _, deviations, axes = np.linalg.svd(vectors - mean, full_matrices=False)
        kept = axes[:SEEN].T / (deviations[:SEEN] / np.sqrt(len(vectors)) + 1e-6)
        return cls(mean, kept.astype(np.float32))

    def features(self, scene: Scene, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the features of one scene's objects, [objects, FEATURES]."""
        places = np.array([thing.place for thing in scene.objects], dtype=np.float32).reshape(-1, 2) / 2
        return np.concatenate([(vectors - self.mean) @ self.components, places], 1).astype(np.float32)


def with_crops(training: Sequence[Scene], other: Sequence[Scene], encoder: ImageEncoder) -> tuple[list[Scene], ...]:
    """Return both lists of scenes with features from crops; the reduction is fitted on the training scenes."""
    seen = look(training, encoder)
    reduction = Reduction.fit(np.concatenate(seen))
    pairs = zip((training, other), (seen, look(other, encoder) if other else []), strict=True)
    return tuple(
        [replace(scene, vectors=reduction.features(scene, rows)) for scene, rows in zip(scenes, found, strict=True)]
        for scenes, found in pairs
    )
