"""The caption world: drawn scenes, captions from a small grammar with known trees, image features from the drawing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.structures.tree import Tree
from groundling.worlds.canvas import COLOURS, SHAPES, Thing, draw, filter_responses

# As many small words as great ones, so that being frequent does not give a word away: only the pictures do.
DETERMINERS = ("a", "the", "one", "this", "that", "some")
RELATIONS = ("above", "below", "beside", "near", "with", "by", "behind", "under", "past", "over")
VERBS = ("sits", "lies", "is", "stands", "waits", "rests", "stays", "hangs")
ASIDES = ("in the picture", "on the canvas", "in the scene")


class CaptionWorld(NamedTuple):
    """`trees[i]` is the tree of a caption about picture `images[i]`, whose vector is `features[images[i]]`."""

    scenes: list[tuple[Thing, ...]]
    trees: list[Tree]
    images: NDArray[np.int64]
    features: NDArray[np.float32]

    @property
    def sentences(self) -> tuple[tuple[str, ...], ...]:
        """The captions as words."""
        return tuple(tree.words for tree in self.trees)

    def split(self, scenes: int) -> tuple[CaptionWorld, CaptionWorld]:
        """The first so many scenes with their captions, and the rest."""
        cut = int(np.searchsorted(self.images, scenes))
        first = CaptionWorld(self.scenes[:scenes], self.trees[:cut], self.images[:cut], self.features[:scenes])
        rest = (self.scenes[scenes:], self.trees[cut:], self.images[cut:] - scenes, self.features[scenes:])
        return first, CaptionWorld(*rest)


def make_world(scenes: int, rng: np.random.Generator, captions: int = 2) -> CaptionWorld:
    """Draw scenes of two or three things and describe each `captions` times.

    >>> world = make_world(3, np.random.default_rng(0))
    >>> len(world.trees), world.features.shape[0], str(world.trees[0])[:3]
    (6, 3, '(S ')
    """
    drawn = [_scene(rng) for _ in range(scenes)]
    features = filter_responses(np.stack([draw(things, rng) for things in drawn]))
    trees = [Tree.from_brackets(_caption(things, rng)) for things in drawn for _ in range(captions)]
    return CaptionWorld(drawn, trees, np.arange(scenes * captions) // captions, features)


def _scene(rng: np.random.Generator) -> tuple[Thing, ...]:
    count = int(rng.integers(2, 4))
    return tuple(
        Thing(str(rng.choice(SHAPES)), str(rng.choice(list(COLOURS))), str(rng.choice(("small", "large"))))
        for _ in range(count)
    )


def _caption(things: tuple[Thing, ...], rng: np.random.Generator) -> str:
    """One sentence of the grammar: S -> NP VP . | NP PP . | there is NP PP ."""
    order = [things[i] for i in rng.permutation(len(things))]
    first, second = _noun_phrase(order[0], rng), _noun_phrase(order[1], rng)
    if len(order) > 2 and rng.random() < 0.3:
        second = f"(NP {second} (PP (P {rng.choice(RELATIONS)}) {_noun_phrase(order[2], rng)}))"
    place = f"(PP (P {rng.choice(RELATIONS)}) {second})"
    kind = rng.random()
    if kind < 0.4:
        return f"(S {first} (VP (V {rng.choice(VERBS)}) {place}) (. .))"
    if kind < 0.7:
        return f"(S (NP {first} {place}) (. .))"
    if kind < 0.85:
        head, *rest = str(rng.choice(ASIDES)).split()
        aside = f"(PP (P {head}) (NP (D {rest[0]}) (N {rest[1]})))"
        return f"(S {first} (VP (V {rng.choice(VERBS)}) {aside}) (. .))"
    return f"(S (X there) (VP (V is) (NP {first} {place})) (. .))"


def _noun_phrase(thing: Thing, rng: np.random.Generator) -> str:
    noun = f"(N {thing.shape})"
    if rng.random() < 0.7:
        noun = f"(N (A {thing.colour}) {noun})"
    if rng.random() < 0.35:
        noun = f"(N (A {thing.size}) {noun})"
    return f"(NP (D {rng.choice(DETERMINERS)}) {noun})"
