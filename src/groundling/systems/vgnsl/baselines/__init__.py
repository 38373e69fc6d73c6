"""What VG-NSL is compared with (thesis 3.3.2): each learns from captions, some from images, and then parses.

>>> import numpy as np
>>> captions = Captions((("a", "cat"), ("a", "cat", "sits")), np.zeros(2, dtype=np.int64), np.zeros((1, 2), np.float32))
>>> str(train("left", captions, seed=0).parse([("a", "cat", "sits")])[0])
'( ( a cat ) sits )'
"""

from __future__ import annotations

from collections.abc import Sequence

from groundling.names import lookup
from groundling.structures.tree import Tree
from groundling.systems.vgnsl.baselines.shape import Options, Parser
from groundling.systems.vgnsl.data import Captions

__all__ = ["BASELINES", "LEARNED", "ROWS", "Options", "Parser", "parse_all", "rows", "train"]

_HERE = "groundling.systems.vgnsl.baselines"
BASELINES = {
    "random": f"{_HERE}.trivial:random",
    "left": f"{_HERE}.trivial:left",
    "right": f"{_HERE}.trivial:right",
    "pmi": f"{_HERE}.pmi:learn",
    "prpn": f"{_HERE}.prpn:learn",
    "on-lstm": f"{_HERE}.on_lstm:learn",
    "gumbel": f"{_HERE}.gumbel:learn",
    "compound-pcfg": f"{_HERE}.compound_pcfg:learn",
    "norms": f"{_HERE}.concreteness:learn_norms",
    "norms+hi": f"{_HERE}.concreteness:learn_norms_head_initial",
    "hessel": f"{_HERE}.concreteness:learn_images",
    "hessel+hi": f"{_HERE}.concreteness:learn_images_head_initial",
}
LEARNED = ("prpn", "on-lstm", "gumbel", "compound-pcfg")  # those that differ by seed beyond mere chance

# name, name in table 3.1, its F1 and self F1 there (None: not in the table, or not defined)
ROWS: tuple[tuple[str, str, float | None, float | None], ...] = (
    ("random", "Random", 27.1, 32.4),
    ("left", "Left", 23.3, None),
    ("right", "Right", 22.9, None),
    ("pmi", "PMI", 30.5, None),
    ("prpn", "PRPN", 52.5, 60.3),
    ("on-lstm", "ON-LSTM", 45.5, 69.3),
    ("gumbel", "Gumbel", 27.9, 40.1),
    ("compound-pcfg", "Compound PCFG", None, None),
    ("norms", "Brysbaert et al.", 34.1, None),
    ("norms+hi", "Brysbaert et al. + HI", 47.9, None),
    ("hessel", "Hessel et al.", 33.2, None),
    ("hessel+hi", "Hessel et al. + HI", 52.9, None),
)


def train(name: str, captions: Captions, *, seed: int, options: Options | None = None) -> Parser:
    """Learn the baseline called `name` from captions and, where it looks at them, their images."""
    return lookup(BASELINES, name, "baseline")(captions, seed, options or Options())


def parse_all(
    name: str, captions: Captions, sentences: Sequence[Sequence[str]], *, seed: int, options: Options | None = None
) -> list[Tree]:
    """Train, then parse: one tree a sentence, in order."""
    return train(name, captions, seed=seed, options=options).parse(sentences)


def rows() -> tuple[tuple[str, str, float | None, float | None], ...]:
    """Give the rows of table 3.1 that are baselines: name here, name there, F1 and self F1 there."""
    return ROWS
