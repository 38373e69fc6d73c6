"""The one shape of a baseline: `learn(captions, seed, options) -> Parser`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from groundling.structures.tree import Tree

Spans = list[tuple[int, int]]


@dataclass(frozen=True)
class Options:
    """What a baseline may be told; each reads what concerns it.

    `watch(parser)` is called after each epoch, or each `every` steps; a `finished` that is not 0 in its
    answer ends the training.
    """

    epochs: int | None = None  # None: the baseline's own number
    norms: str | Path | None = None  # table of human ratings, for the concreteness trees
    device: str = "auto"
    watch: Callable[[Parser], dict[str, float]] | None = None
    every: int | None = None


class Parser(ABC):
    """What has learned to bracket sentences."""

    @abstractmethod
    def spans(self, sentences: Sequence[Sequence[str]]) -> list[Spans]:
        """The n - 1 spans of the binary tree of each sentence; none for one word."""

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        """The tree of each sentence, in order; an empty sentence has none and is an error."""
        found = self.spans(sentences)
        return [
            Tree.from_spans(words, spans or [(0, len(words))]) for words, spans in zip(sentences, found, strict=True)
        ]
