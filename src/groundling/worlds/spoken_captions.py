"""The caption world, spoken: pictures, spoken captions, and (for evaluation only) trees over seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.errors import ConfigError
from groundling.structures.tree import Tree
from groundling.worlds.captions import CaptionWorld, make_world
from groundling.worlds.spoken_synthesis import Clip, random_speaker, speak

Voice = Callable[[Sequence[str], np.random.Generator], Clip]


def built_in_voice(words: Sequence[str], rng: np.random.Generator) -> Clip:
    """A new speaker for each caption; needs nothing installed."""
    return speak(words, random_speaker(rng), rng)


def voice_called(name: str) -> Voice:
    """`built-in`, `espeak`, or `espeak:LANGUAGE` (`espeak:de`)."""
    kind, _, language = name.partition(":")
    if kind == "built-in":
        return built_in_voice
    if kind != "espeak":
        raise ConfigError(f"no voice is called {name!r}. There are: built-in, espeak, espeak:de ...")
    from groundling.worlds.spoken_espeak import espeak_voice

    return espeak_voice(language or "en-us")


class SpokenWorld(NamedTuple):
    """Caption i, of picture `images[i]`, is spoken when asked for: sound is large and made again at will."""

    trees: list[Tree]  # over words, no punctuation
    images: NDArray[np.int64]
    features: NDArray[np.float32]
    seed: int
    voice: Voice

    def clip(self, i: int) -> Clip:
        """The sound of caption i; the same each time."""
        return self.voice(self.trees[i].words, np.random.default_rng([self.seed, i]))

    def clips(self) -> Iterator[Clip]:
        """All captions in order, one in memory at a time."""
        return (self.clip(i) for i in range(len(self.trees)))

    def timed_tree(self, i: int, clip: Clip) -> Tree:
        """The reference: the tree of caption i over the seconds of its words."""
        return Tree.from_segments(self.trees[i], clip.words)


def speak_world(world: CaptionWorld, seed: int, voice: Voice = built_in_voice) -> SpokenWorld:
    """Give a caption world a voice; words without a letter or digit are not spoken and leave the trees."""
    trees = [_spoken(tree) for tree in world.trees]
    return SpokenWorld(trees, world.images, world.features, seed, voice)


def make_spoken_world(scenes: int, seed: int, captions: int = 1, voice: Voice = built_in_voice) -> SpokenWorld:
    """Draw scenes, caption them, speak the captions.

    >>> world = make_spoken_world(2, seed=0)
    >>> clip = world.clip(0)
    >>> clip.words.words == world.trees[0].words, world.timed_tree(0, clip).unit
    (True, 'seconds')
    """
    return speak_world(make_world(scenes, np.random.default_rng([seed, 1]), captions), seed, voice)


def _spoken(tree: Tree) -> Tree:
    silent = [i for i, word in enumerate(tree.words) if not any(c.isalnum() for c in word)]
    heard = tree.without(silent)
    if heard is None:
        raise AssertionError("a caption of the world has words")
    return heard
