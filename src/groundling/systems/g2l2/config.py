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
    longest: tuple[int, ...] = ()  # instead of both: the longest sentence, in words, of each stage
    epochs_a_stage: int = 4  # at most; a stage is left when its examples are all right
    steps: int = 25  # optimiser steps an epoch
    batch_size: int = 32
    usage_examples: int = 256  # on how many of them the use of entries is counted
    check_examples: int = 1000  # on how many of them accuracy is measured after each epoch
    whole_examples: int = 100_000  # on how many the accuracy on the whole training set is measured
    balance: float = 0.0  # examples are drawn by (how many have the answer * how many the rarest word) ** -balance
    learning_rate: float = 0.1  # of the lexicon weights
    concept_learning_rate: float = 0.02  # of the concepts of words
    stage_decay: float = 1.0  # the learning rate of concepts is multiplied by this from stage to stage
    parse_weight: float = 0.2  # of having any derivation at all, beside the answer; makes words unambiguous
    reach: float = 0.0  # no weight falls further than this below the best of its word (0: no limit), so all can recover
    least_share: float = 1e-3  # entries with less of their word's successful use are pruned after a stage ...
    least_use: float = 0.5  # ... if the word was used so often ...
    unlikely: float = 1.0  # ... and the entry is less probable than this
    first_pruned_stage: int = 0  # before, nothing is pruned or decided
    decide_every: int = 0  # epochs after which words that are still ambiguous are decided (0: never)
    give_up: float = 0.0  # a stage that ends below this accuracy ends the attempt
    good_enough: float = 1.0  # training accuracy that ends the training
    restarts: int = 5  # how often to begin again when it stays below ...
    restart_below: float = 1.0  # ... this, where it is less
    device: str = "cpu"

    def __post_init__(self) -> None:
        if not self.stages or min(self.stages) < 1 or list(self.stages) != sorted(self.stages):
            raise ConfigError(f"stages is {self.stages}: give rising numbers of examples, e.g. 100,200,400.")
        if list(self.longest) != sorted(self.longest):
            raise ConfigError(f"longest is {self.longest}: give rising numbers of words, e.g. 6,9,12,20.")
        if not 0 <= self.least_share < 1:
            raise ConfigError(f"least_share is {self.least_share}: give a share from 0 to 1.")


# Settings that suit a built-in domain; what is given beside them wins.
PRESETS: dict[str, tuple[str, ...]] = {
    "clevr": (
        "domain=clevr",
        "longest=[6,8,11,14,20]",
        "steps=50",
        "epochs_a_stage=8",
        "batch_size=64",
        "good_enough=0.997",
        "learning_rate=0.1",
        "concept_learning_rate=0.05",
        "stage_decay=0.8",
        "parse_weight=0.3",
        "balance=0.5",
        "reach=5.0",
        "least_share=0.1",
        "least_use=5.0",
        "unlikely=0.3",
        "first_pruned_stage=1",  # `what is the color of ...` has 7 words: before, `the` and `of` may mean anything
        "decide_every=2",
        "give_up=0.8",
        "usage_examples=300",
        "check_examples=500",
        "whole_examples=2000",
        "restarts=2",
        "restart_below=0.97",
    ),
}
