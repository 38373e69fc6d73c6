"""Settings of G2L2."""

from __future__ import annotations

from dataclasses import dataclass

from groundling.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Config:
    """Thesis chapter 6 leaves these open; the values are ours.

    Training goes in stages: the easiest examples first (by sentence length), then more and more of them.
    """

    domain: str = "scan"  # a built-in domain, or a Python file
    stages: tuple[int, ...] = (100, 200, 400, 800)  # how many of the easiest examples each stage has
    each_word: int = 8  # ... and at least this many with each word
    epochs_a_stage: int = 4  # at most; a stage is left when its examples are all right
    steps: int = 25  # optimiser steps an epoch
    batch_size: int = 32
    usage_examples: int = 256  # on how many of them the use of entries is counted
    check_examples: int = 1000  # on how many of them accuracy is measured after each epoch
    learning_rate: float = 0.1  # of the lexicon weights
    concept_learning_rate: float = 0.02  # of the concepts of words
    parse_weight: float = 0.2  # of having any derivation at all, beside the answer; makes words unambiguous
    least_share: float = 1e-3  # entries with less of their word's successful use are pruned after a stage
    first_pruned_stage: int = 0  # earlier stages end without pruning
    good_enough: float = 1.0  # training accuracy that ends the training
    restarts: int = 5  # how often to begin again when it stays below
    device: str = "cpu"

    def __post_init__(self) -> None:
        if not self.stages or min(self.stages) < 1 or list(self.stages) != sorted(self.stages):
            raise ConfigError(f"stages is {self.stages}: give rising numbers of examples, e.g. 100,200,400.")
        if not 0 <= self.least_share < 1:
            raise ConfigError(f"least_share is {self.least_share}: give a share from 0 to 1.")
