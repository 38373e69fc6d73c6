"""Trees without linguistic information: random, left-branching, right-branching."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from groundling.algorithms.branching import left_branching, random_binary, right_branching
from groundling.structures.tree import Tree
from groundling.systems.vgnsl.baselines.shape import Options, Parser, Spans
from groundling.systems.vgnsl.data import Captions


@dataclass(frozen=True)
class Branching(Parser):
    """Trees by a rule that reads no words."""

    rule: Callable[[Sequence[str]], Tree]

    def spans(self, sentences: Sequence[Sequence[str]]) -> list[Spans]:
        """The spans of the rule's trees."""
        return [[(s.start, s.end) for s in self.rule(words).spans() if s.end - s.start > 1] for words in sentences]


def random(captions: Captions, seed: int, options: Options) -> Parser:
    """Join random neighbours."""
    rng = np.random.default_rng(seed)
    return Branching(lambda words: random_binary(words, rng))


def left(captions: Captions, seed: int, options: Options) -> Parser:
    """((a b) c)."""
    return Branching(left_branching)


def right(captions: Captions, seed: int, options: Options) -> Parser:
    """(a (b c))."""
    return Branching(right_branching)
