"""Settings of VG-NSL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from groundling.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Config:
    """Thesis section 3.3.3 unless a comment says otherwise.

    >>> Config(bias=-1.0)
    Traceback (most recent call last):
    groundling.errors.ConfigError: bias is -1.0, but it must be at least 0. 0 turns the abstract-initial bias off.
    """

    embedding_dim: int = 512
    scorer_hidden_dim: int = 128
    margin: float = 0.2  # delta; the thesis gives no value, this is the released program's
    reward_margin: float = 0.2  # delta', the same
    negatives: Literal["all", "aligned"] = "all"  # "all": the thesis' sums, which learn better; or the program's
    bias: float = 100.0  # lambda of the abstract-initial bias; the released program has 20; 0: plain VG-NSL
    head: Literal["initial", "final"] = "initial"  # "final" mirrors the bias: it looks at the left child
    share_gradient: bool = False  # the released program lets the reward's gradient reach the word vectors
    unit_words: bool = False  # scale word vectors to length 1 before they are combined
    init: float = 0.1  # word vectors start uniform in -init .. init
    batch_size: int = 128
    epochs: int = 10  # the thesis: 30, of twelve times as many captions
    learning_rate: float = 5e-4
    # Deviation: the thesis has one rate. Trees chosen before words are grounded are hard to unlearn, so Theta waits.
    scorer_learning_rate: float = 5e-5
    # "linear": Theta's rate falls to 0 over the epochs. What is most concrete drifts from nouns to whole scenes as
    # the embeddings learn their pictures by heart; a parser that has come to rest does not follow. Not in the thesis.
    scorer_schedule: Literal["constant", "linear"] = "linear"
    drop_epoch: int = 15  # the learning rate is divided by 10 after this epoch
    clip: float = 2.0  # of the gradient's norm, the released program's
    min_count: int = 3  # rarer words train the vector of the unknown word; not in the thesis
    max_length: int = 40  # longer captions are left out of training; not in the thesis
    lowercase: bool = True

    def __post_init__(self) -> None:
        if self.bias < 0:
            raise ConfigError(f"bias is {self.bias}, but it must be at least 0. 0 turns the abstract-initial bias off.")
        for name in (
            "embedding_dim",
            "scorer_hidden_dim",
            "batch_size",
            "epochs",
            "max_length",
            "clip",
            "learning_rate",
            "scorer_learning_rate",
        ):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name} is {getattr(self, name)}, but it must be above 0.")
        if self.batch_size < 2:
            raise ConfigError("batch_size is 1, but a caption needs others in its batch as negatives. Use 2 or more.")
