"""A trained AV-NSL: sound in, a tree over seconds out; no text and no image needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from groundling.backbones.speech import check_layers, load_speech_encoder
from groundling.backbones.speech_grounded import GroundedEncoder
from groundling.structures.segmentation import Segmentation
from groundling.structures.tree import Tree
from groundling.systems.avnsl.benepar import SpanScorer, decode
from groundling.systems.avnsl.config import Config
from groundling.systems.avnsl.data import Sound, hear
from groundling.systems.avnsl.encoder import Listened, build_encoder, listen
from groundling.systems.avnsl.induce import Segmented, parse_spans, timed_tree
from groundling.systems.avnsl.learner import Learner
from groundling.systems.avnsl.segment import Cut, segment_by_attention
from groundling.systems.avnsl.vectors import segment_vectors
from groundling.training.models import fill_module, load_model, save_model


class Network(nn.Module):
    """All weights: the encoder, the learner, and s-Benepar where there was self-training."""

    def __init__(self, encoder: GroundedEncoder, learner: Learner, benepar: SpanScorer | None = None) -> None:
        super().__init__()
        self.encoder, self.learner, self.benepar = encoder, learner, benepar


class Model:
    """`Model.load(dir).parse([samples])` gives trees over seconds; None where a sound has no voice."""

    def __init__(self, config: Config, network: Network, info: dict[str, Any] | None = None) -> None:
        self.config, self.network, self.info = config, network.eval(), info or {}
        self._hear = hearer(config)

    def hear(self, samples: NDArray[np.float32]) -> Sound:
        """Features and voiced regions of a sound at 16 kHz."""
        return self._hear(samples)

    def listen(self, sounds: Sequence[Sound]) -> list[Listened]:
        """What the encoder hears."""
        return listen(self.network.encoder, sounds)

    def segment(self, clips: Sequence[NDArray[np.float32]]) -> list[Segmentation]:
        """Words, without names, of each clip."""
        sounds = [self.hear(clip) for clip in clips]
        cut = Cut.of(self.config)
        return [segment_by_attention(s, h, cut) for s, h in zip(sounds, self.listen(sounds), strict=True)]

    def parse(self, clips: Sequence[NDArray[np.float32]]) -> list[Tree | None]:
        """The tree of each clip."""
        sounds = [self.hear(clip) for clip in clips]
        heard = self.listen(sounds)
        cut = Cut.of(self.config)
        words = [segment_by_attention(s, h, cut) for s, h in zip(sounds, heard, strict=True)]
        return self.parse_segments(heard, words)

    def parse_segments(self, heard: Sequence[Listened], words: Sequence[Segmentation]) -> list[Tree | None]:
        """Trees over segments that are already known."""
        rows = rows_of(self.config, heard, words)
        spans = (
            decode(self.network.benepar, rows)
            if self.network.benepar
            else parse_spans(
                self.network.learner, segmented(rows, np.zeros(len(rows), dtype=np.int64), self._no_features())
            )
        )
        return [timed_tree(s, w) if w.segments else None for s, w in zip(spans, words, strict=True)]

    def _no_features(self) -> NDArray[np.float32]:
        return np.zeros((1, len(self.network.learner.mean)), dtype=np.float32)

    def save(self, directory: str | Path) -> None:
        """Write config and weights."""
        save_model(directory, self.config, self.network.state_dict(), self.info)

    @classmethod
    def load(cls, directory: str | Path) -> Model:
        """Read what `save` wrote."""
        config, tensors, info = load_model(directory, Config)

        def build() -> Network:
            encoder = build_encoder(config, len(tensors["encoder.mean"]))
            dim = len(tensors["learner.vector_mean"])
            learner = Learner(config, dim, len(tensors["learner.mean"]))
            again = SpanScorer(dim, config.benepar_dim) if config.benepar_epochs else None
            return Network(encoder, learner, again)

        network = fill_module(build, tensors, directory)
        return cls(config, network, {k: info[k] for k in info.keys() - {"format", "config", "versions", "sha256"}})


def rows_of(config: Config, heard: Sequence[Listened], words: Sequence[Segmentation]) -> list[NDArray[np.float32]]:
    """Segment vectors of each utterance, weighted by the [CLS] attention that cut it (thesis 4.2.1)."""
    return [
        segment_vectors(frames_of(config, h), w, h.attention[config.layer], config.vector_parts)
        for h, w in zip(heard, words, strict=True)
    ]


def frames_of(config: Config, heard: Listened) -> NDArray[np.float32]:
    """The frames (frames, dim) that segment vectors are made of: our encoder's, or another speech model's."""
    if config.vectors == "encoder":
        return heard.layers[config.vector_layer]
    assert heard.given is not None, "`hearer(config)` gives them"
    return heard.given


def hearer(config: Config) -> Callable[[NDArray[np.float32]], Sound]:
    """What turns a sound at 16 kHz into features under this config; loads the other speech model where one is named."""
    other = None if config.vectors == "encoder" else load_speech_encoder(config.vectors)
    if other is not None:
        check_layers(other, [config.vector_layer])
    return lambda samples: hear(samples, config.mels, config.vad, other, config.vector_layer)


def segmented(
    rows: Sequence[NDArray[np.float32]], images: NDArray[np.int64], features: NDArray[np.float32]
) -> Segmented:
    """Segment vectors with their images."""
    return Segmented(rows, np.array([len(row) for row in rows], dtype=np.int64), images, features)


def trees_or_words(words: Segmentation, tree: Tree | None) -> Tree:
    """The tree, or one leaf over nothing: a sound without voice still needs an answer when it is scored."""
    if tree is not None:
        return tree
    end = max(words.duration or 0.0, 1e-3)
    return Tree(("1",), ("",), (0,), (1,), ((0.0, end),), "seconds")
