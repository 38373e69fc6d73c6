"""SCAN, exactly: its grammar gives the 20,910 commands with their actions, and all splits but the random one follow.

A command is an `Instruction`: words in, actions out. Files hold `IN: jump twice OUT: I_JUMP I_JUMP` lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from groundling.errors import ConfigError, FormatError
from groundling.formats.files import open_text, write_lines
from groundling.names import did_you_mean

PRIMITIVES = {"walk": "I_WALK", "look": "I_LOOK", "run": "I_RUN", "jump": "I_JUMP"}
TURNS = {"left": "I_TURN_LEFT", "right": "I_TURN_RIGHT"}
ACTIONS = (*PRIMITIVES.values(), *TURNS.values())
LONGEST_TRAINING = 22  # actions; the length split tests on longer ones

_LINE = re.compile(r"IN: (?P<words>.+?) OUT:(?P<actions>.*)")


@dataclass(frozen=True)
class Instruction:
    """One command and what it does."""

    words: tuple[str, ...]
    actions: tuple[str, ...]

    @property
    def text(self) -> str:
        """The command as it is typed."""
        return " ".join(self.words)

    def __str__(self) -> str:
        return f"IN: {self.text} OUT: {' '.join(self.actions)}"


def phrases() -> Iterator[Instruction]:
    """Yield the 34 verb phrases (V of the published grammar): `walk`, `turn left`, `run opposite right` ...

    >>> len(list(phrases()))
    34
    """
    for word, action in PRIMITIVES.items():
        yield Instruction((word,), (action,))
    for verb in (*PRIMITIVES, "turn"):
        act = (PRIMITIVES[verb],) if verb in PRIMITIVES else ()
        for side, turn in TURNS.items():
            yield Instruction((verb, side), (turn, *act))
            yield Instruction((verb, "opposite", side), (turn, turn, *act))
            yield Instruction((verb, "around", side), (turn, *act) * 4)


def commands() -> list[Instruction]:
    """Return all 20,910 commands of the grammar, in a fixed order.

    >>> everything = commands()
    >>> len(everything), max(len(item.actions) for item in everything)
    (20910, 48)
    """
    repeated = list(phrases())
    for word, times in (("twice", 2), ("thrice", 3)):
        repeated += [Instruction((*item.words, word), item.actions * times) for item in phrases()]
    joined = [Instruction((*a.words, "and", *b.words), a.actions + b.actions) for a in repeated for b in repeated]
    after = [Instruction((*a.words, "after", *b.words), b.actions + a.actions) for a in repeated for b in repeated]
    return repeated + joined + after


def has_phrase(item: Instruction, phrase: str) -> bool:
    """Whether the command contains the words of `phrase` in a row."""
    return f" {phrase} " in f" {item.text} "


# name -> which commands are held out for the test (Lake and Baroni 2018; Loula et al. 2018)
HELD_OUT: dict[str, Callable[[Instruction], bool]] = {
    "jump": lambda item: "jump" in item.words and item.text != "jump",
    "turn-left": lambda item: has_phrase(item, "turn left") and item.text != "turn left",
    "around-right": lambda item: has_phrase(item, "around right"),
    "jump-around-right": lambda item: has_phrase(item, "jump around right"),
    "length": lambda item: len(item.actions) > LONGEST_TRAINING,
}
TEMPLATES = ("around-right", "jump-around-right")


def split(name: str, rng: np.random.Generator | None = None) -> tuple[list[Instruction], list[Instruction]]:
    """Return (train, test). All splits are deterministic but `simple`, which takes a random 80 % for training.

    In the published files of `jump` and `turn left` the held-out primitive is repeated until it is a tenth of the
    training data; here each command stands once.

    >>> [len(part) for part in split("length")]
    [16990, 3920]
    """
    everything = commands()
    if name == "simple":
        if rng is None:
            raise ConfigError("the simple split is random: give it a generator, or read the published files.")
        order = rng.permutation(len(everything))
        cut = len(everything) * 8 // 10
        return [everything[i] for i in order[:cut]], [everything[i] for i in order[cut:]]
    if name not in HELD_OUT:
        known = ["simple", *HELD_OUT]
        raise ConfigError(f"SCAN has no split {name!r}.{did_you_mean(name, known)} There are: {', '.join(known)}.")
    held_out = HELD_OUT[name]
    if name in TEMPLATES:  # the published template splits leave out `turn around right` on both sides
        everything = [c for c in everything if not has_phrase(c, "turn around right")]
    return [c for c in everything if not held_out(c)], [c for c in everything if held_out(c)]


def parse_line(line: str) -> Instruction:
    """Read one line of a SCAN file.

    >>> parse_line("IN: jump twice OUT: I_JUMP I_JUMP").actions
    ('I_JUMP', 'I_JUMP')
    """
    match = _LINE.fullmatch(line.strip())
    if not match:
        raise FormatError(f"not a SCAN line: {line.strip()[:60]!r}. Write `IN: jump twice OUT: I_JUMP I_JUMP`.")
    return Instruction(tuple(match["words"].split()), tuple(match["actions"].split()))


def read(path: str | Path) -> Iterator[Instruction]:
    """Read a SCAN file (plain, gz or xz; `-` is stdin), a command a line; blank lines are skipped."""
    with open_text(path) as lines:
        for line in lines:
            if line.strip():
                try:
                    yield parse_line(line)
                except FormatError as error:
                    raise error.at(lines.where) from None


def write(path: str | Path, items: Iterable[Instruction]) -> None:
    """Write a SCAN file."""
    write_lines(path, (str(item) for item in items))
