"""A domain of your own in one file: days of the week. `two days after monday` is `wednesday`.

    groundling g2l2 train --domain docs/examples/calendar_domain.py --train days.tsv -o runs/days

The file to learn from has a phrase and a day a line, parted by a tab. Nothing else in groundling knows of days.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

import torch
from torch import Tensor

from groundling.errors import FormatError
from groundling.formats.files import open_text
from groundling.systems.g2l2.domain import Domain, Operation, Root, World, operations, template

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@dataclass(frozen=True)
class Phrase:
    words: tuple[str, ...]
    day: str = "monday"


# A day is a distribution over seven; moving it is a rotation, which is linear.
OPERATIONS = operations(
    *(
        Operation(
            f"day{k}", (), "Day", partial(lambda k, world: torch.eye(7)[k].expand(world.size, 7), k), partial(int, k)
        )
        for k in range(7)
    ),
    Operation("next", ("Day",), "Day", lambda _, x: x.roll(1, -1), lambda x: (x + 1) % 7),
    Operation("last", ("Day",), "Day", lambda _, x: x.roll(-1, -1), lambda x: (x - 1) % 7),
)
TEMPLATES = [
    *(template("D", f"day{k}") for k in range(7)),
    *(template(side, f"lambda x: {move}(x)") for side in ("D/D", "D\\D") for move in ("next", "last")),
    *(template("(D/D)/(D/D)", f"lambda f, x: {body}") for body in ("f(f(x))", "f(f(f(x)))")),
]


class Calendar(Domain):
    def world(self, examples: Sequence[Phrase], words: Sequence[str]) -> World:
        return World(len(examples), day=torch.tensor([DAYS.index(example.day) for example in examples]))

    def log_likelihood(self, world: World, roots: Mapping[str, Root]) -> Tensor:
        return roots["D"].value.gather(1, world["day"][:, None])[:, 0].clamp(min=1e-9).log()

    def answer(self, value: int, atom: str, words: Sequence[str]) -> str:
        return DAYS[value]

    def gold(self, example: Phrase) -> str:
        return example.day

    def ask(self, words: tuple[str, ...], place: int) -> Phrase:
        return Phrase(words)

    def read(self, path: str | Path) -> Iterator[Phrase]:
        with open_text(path) as lines:
            for line in lines:
                phrase, _, day = line.partition("\t")
                if day not in DAYS:
                    raise FormatError(f"{lines.where}: {day!r} is no day. Write a phrase, a tab and a day.")
                yield Phrase(tuple(phrase.split()), day)


def domain() -> Domain:
    return Calendar("calendar", {"D": "Day"}, ("D",), OPERATIONS, TEMPLATES, allow_empty=True)


def phrases(depth: int) -> list[Phrase]:
    """All phrases with up to `depth` moves, to learn from and to test on."""
    found = [Phrase((day,), day) for day in DAYS]
    moves = {"the day after": 1, "the day before": -1}
    moves |= {
        f"{n} days {side}": k * s
        for (n, k), (side, s) in product((("two", 2), ("three", 3)), (("after", 1), ("before", -1)))
    }
    level = found
    for _ in range(depth):
        level = [
            Phrase((*move.split(), *phrase.words), DAYS[(DAYS.index(phrase.day) + step) % 7])
            for phrase in level
            for move, step in moves.items()
        ]
        found = found + level
    return found
