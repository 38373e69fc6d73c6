"""CLEVR-style scenes: read in CLEVR's own JSON, or made from a seed; object features from annotations.

An object's features are a random projection of its annotations plus noise, in place of a vision model: one-hot color,
shape, size and material (15 numbers) and its place along the camera's right and front directions (2 numbers, halved),
17 in all, go through one fixed Gaussian matrix to 32 numbers, and Gaussian noise of standard deviation `NOISE` is added
to each. The noise of a scene is fixed: it depends on the scene's number only. A scene may bring features of its own
(`vectors`): arrays of yours, or those of drawn crops (`clevr_crops.py`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundling.errors import FormatError
from groundling.formats.files import open_binary

ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "color": ("gray", "red", "blue", "green", "brown", "purple", "cyan", "yellow"),
    "shape": ("cube", "sphere", "cylinder"),
    "size": ("small", "large"),
    "material": ("rubber", "metal"),
}
RELATIONS = ("left", "right", "behind", "front")
MARGIN = 0.2  # a relation holds where the distance along its direction is greater
FEATURES = 32
NOISE = 0.01
_PROJECTION_SEED = 6


@dataclass(frozen=True)
class Thing:
    """One object: its attributes and its place along the camera's right and front directions."""

    color: str
    shape: str
    size: str
    material: str
    place: tuple[float, float]  # (right, front)


@dataclass(frozen=True, eq=False)
class Scene:
    """Objects in a picture. `relations[r][i]` are the objects that stand in relation r to object i."""

    number: int
    objects: tuple[Thing, ...]
    source: str = "made"
    given: Mapping[str, list[list[int]]] | None = field(default=None, repr=False)
    vectors: NDArray[np.float32] | None = field(default=None, repr=False)  # [objects, FEATURES]

    @cached_property
    def relations(self) -> Mapping[str, list[list[int]]]:
        """The relations given in the file, or those that follow from the places."""
        if self.given is not None:
            return self.given
        places = np.array([thing.place for thing in self.objects]).reshape(-1, 2)
        delta = places[None] - places[:, None]  # [i, j] = from i to j
        along = {"right": delta[..., 0], "left": -delta[..., 0], "front": delta[..., 1], "behind": -delta[..., 1]}
        return {name: [np.flatnonzero(row > MARGIN).tolist() for row in along[name]] for name in RELATIONS}

    @cached_property
    def features(self) -> NDArray[np.float32]:
        """Return the object features, [objects, FEATURES]: the given ones, or those of the annotations."""
        if self.vectors is not None:
            return self.vectors
        rng = np.random.default_rng([_PROJECTION_SEED, self.number, len(self.source)])
        clean = np.array([annotation(thing) for thing in self.objects]).reshape(-1, 17) @ projection()
        return (clean + NOISE * rng.standard_normal(clean.shape)).astype(np.float32)


def annotation(thing: Thing) -> list[float]:
    """Return the 17 numbers that the projection sees.

    >>> len(annotation(Thing("red", "cube", "small", "metal", (0.0, 1.0))))
    17
    """
    numbers = [float(getattr(thing, name) == value) for name, values in ATTRIBUTES.items() for value in values]
    return [*numbers, thing.place[0] / 2, thing.place[1] / 2]


def projection() -> NDArray[np.float64]:
    """Return the fixed matrix, [17, FEATURES]."""
    return np.random.default_rng(_PROJECTION_SEED).standard_normal((17, FEATURES)) / np.sqrt(17)


def make_scene(number: int, rng: np.random.Generator) -> Scene:
    """Make a scene of three to ten objects that do not touch.

    >>> scene = make_scene(0, np.random.default_rng(0))
    >>> 3 <= len(scene.objects) <= 10
    True
    """
    objects: list[Thing] = []
    wanted = int(rng.integers(3, 11))
    while len(objects) < wanted:
        place = (float(rng.uniform(-3, 3)), float(rng.uniform(-3, 3)))
        if all(np.hypot(place[0] - o.place[0], place[1] - o.place[1]) > 0.7 for o in objects):
            chosen = {name: str(rng.choice(values)) for name, values in ATTRIBUTES.items()}
            objects.append(Thing(**chosen, place=place))
    return Scene(number, tuple(objects))


def parse_scene(record: Mapping[str, Any], where: str = "scene") -> Scene:
    """Read one scene of CLEVR's JSON."""
    try:
        axes = [record["directions"][name] for name in ("right", "front")]
        objects = [
            Thing(
                **{name: item[name] for name in ATTRIBUTES},
                place=tuple(float(np.dot(axis, item["3d_coords"])) for axis in axes),  # type: ignore[arg-type]
            )
            for item in record["objects"]
        ]
        number = int(record.get("image_index", 0))
        return Scene(number, tuple(objects), record.get("split", "file"), record.get("relationships"))
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
        raise FormatError(
            f"{where}: not a CLEVR scene ({error!r}). It needs directions, and objects with color, shape, size, "
            "material and 3d_coords."
        ) from None


def read_json(path: str | Path, key: str) -> list[Any]:
    """Read the list `key` of one of CLEVR's JSON files (plain, gz or xz)."""
    with open_binary(path) as file:
        try:
            found = json.loads(file.read().decode("utf-8"))
            return list(found[key] if isinstance(found, dict) else found)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise FormatError(f"{path}: not CLEVR's JSON with a list {key!r} ({error!r}).") from None


def read(path: str | Path) -> Iterator[Scene]:
    """Read the scenes of a CLEVR scenes file."""
    for index, record in enumerate(read_json(path, "scenes")):
        yield parse_scene(record, f"{path}: scene {index}")
