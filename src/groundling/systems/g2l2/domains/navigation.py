"""Language-driven navigation (SCAN, thesis 6.3.2): strings of actions with concat and repeat, 178 candidate entries.

Learning needs only P(string = target[i:j]) for the spans of the known target: a matrix M over target positions. Then
concat is the matrix product and repeat a masked lookup; both are linear, so expected execution is exact.
`navigation_by_strings` has the thesis' representation instead, a length distribution with characters independent of
each other given the length (`strings.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from groundling.systems.g2l2 import strings
from groundling.systems.g2l2.domain import Domain, Operation, Root, World, operations
from groundling.systems.g2l2.enumeration import enumerate_templates
from groundling.worlds.scan import ACTIONS, Instruction, read

TIMES = (2, 3, 4)
ATOMS = {"V": "ActSeq", "S": "ActSeq"}
# The thesis' list. V and S are both strings; a sentence of type S takes no modifier, so `and` binds most loosely.
CATEGORIES = ["V", "V/V", "V\\V", "V\\V/V", "S\\V/V", "V\\V/(V\\V)"]
TINY = 1e-30


def _empty(world: World) -> Tensor:
    return torch.eye(world["target"].shape[1] + 1, device=world["target"].device).expand(world.size, -1, -1)


def _action(index: int, world: World) -> Tensor:
    """M[i, i + 1] = 1 where the target has this action at i."""
    return torch.diag_embed((world["target"] == index).float(), offset=1)


def _times(index: int, world: World) -> Tensor:
    return torch.eye(len(TIMES), device=world["target"].device)[index].expand(world.size, -1)


def _concat(_: World, x: Tensor, y: Tensor) -> Tensor:
    return x @ y


def _repeat(world: World, x: Tensor, times: Tensor) -> Tensor:
    """M_z[i, j] = M_x[i, i + (j - i) / m] where target[i:j] is m times the same, else 0.

    Only the cells (m, i, j) that repeat themselves in some target of the batch are touched; they are few.
    """
    flat, side = x.flatten(-2), x.shape[-1]
    which, source, cell = world["repeats"][0]
    holds = world.lift("holds", flat.dim() - 1)
    found = times[..., which] * holds * flat[..., source]
    return torch.zeros_like(flat).index_add(-1, cell, found).unflatten(-1, (side, side))


def repeats(target: Tensor) -> tuple[Tensor, Tensor]:
    """Find the cells (m, i, j) where target[i:j] is m equal parts: rows (m, cell of one part, cell), and for whom."""
    batch, length = target.shape
    side = length + 1
    rows, holds = [], []
    starts = torch.arange(side)
    for index in range(len(TIMES)):  # the empty string is any number of empty strings
        rows.append(torch.stack([torch.full_like(starts, index), starts * (side + 1), starts * (side + 1)]))
        holds.append(torch.ones(batch, side))
    for part in range(1, length // min(TIMES) + 1):
        differs = torch.nn.functional.pad((target[:, part:] != target[:, :-part]).cumsum(1), (1, 0))
        for index, times in enumerate(TIMES):
            i = starts[: max(0, side - times * part)]
            equal = differs[:, i + (times - 1) * part] == differs[:, i]
            i, equal = i[equal.any(0)], equal[:, equal.any(0)]
            rows.append(torch.stack([torch.full_like(i, index), i * side + i + part, i * side + i + times * part]))
            holds.append(equal.float())
    return torch.cat(rows, 1), torch.cat(holds, 1)


def _operations(soft: Mapping[str, Callable[..., Tensor]]) -> dict[str, Operation]:
    return operations(
        *(Operation(a, (), "ActSeq", partial(soft["action"], i), partial(tuple, (a,))) for i, a in enumerate(ACTIONS)),
        Operation("empty", (), "ActSeq", soft["empty"], tuple),
        *(Operation(f"times{m}", (), "Integer", partial(_times, i), partial(int, m)) for i, m in enumerate(TIMES)),
        Operation("concat", ("ActSeq", "ActSeq"), "ActSeq", soft["concat"], lambda x, y: x + y),
        Operation("repeat", ("ActSeq", "Integer"), "ActSeq", soft["repeat"], lambda x, m: x * m),
    )


OPERATIONS = _operations({"action": _action, "empty": _empty, "concat": _concat, "repeat": _repeat})


class Navigation(Domain):
    """SCAN: the answer is the string of actions."""

    def world(self, examples: Sequence[Instruction], words: Sequence[str]) -> World:
        """Return the targets, padded with -1, and where they repeat themselves."""
        longest = max(1, *(len(example.actions) for example in examples))
        codes = [[ACTIONS.index(action) for action in example.actions] for example in examples]
        target = torch.tensor([row + [-1 - k for k in range(longest - len(row))] for row in codes])
        lengths = torch.tensor([len(row) for row in codes])
        rows, holds = repeats(target)
        return World(len(examples), target=target, lengths=lengths, repeats=rows[None], holds=holds)

    def probability(self, world: World, value: Tensor) -> Tensor:
        """Return P(string = target), [batch]."""
        return value[:, 0].gather(1, world["lengths"][:, None])[:, 0]

    def log_likelihood(self, world: World, roots: Mapping[str, Root]) -> Tensor:
        """Mix the readings S and V by their weights."""
        weights = torch.softmax(torch.stack([root.log_weight for root in roots.values()]), 0)
        found = torch.stack([self.probability(world, root.value) for root in roots.values()])
        return (weights * found).sum(0).clamp(min=TINY).log()

    def answer(self, value: Any, atom: str, words: Sequence[str]) -> str:
        """Return the actions, parted by spaces."""
        return " ".join(value)

    def gold(self, example: Instruction) -> str:
        """Return the actions of the command."""
        return " ".join(example.actions)

    def ask(self, words: tuple[str, ...], place: int) -> Instruction:
        """Return a command whose actions are not known."""
        return Instruction(words, ())

    def effort(self, example: Instruction) -> float:
        """Return about what the chart costs: length cubed, times what grows with the target."""
        return len(example.words) ** 3 * (len(example.actions) + 12)

    def read(self, path: str | Path) -> Iterator[Instruction]:
        """Read `IN: ... OUT: ...` lines."""
        return read(path)


class NavigationByStrings(Navigation):
    """The same with probabilistic strings as the thesis has them."""

    def probability(self, world: World, value: Tensor) -> Tensor:
        """Return L_l * prod_k C[l, k, target_k]."""
        return strings.probability(world, value)


def navigation(by_strings: bool = False) -> Domain:
    """Return the domain with its 178 candidates a word.

    They are 61 constants (empty, 6 actions, 36 pairs, 18 repeated actions), 15 programs of one string in either
    direction, 20 of two strings for each of V and S, and 47 of a function and a string.

    >>> domain = navigation()
    >>> len(domain.templates)
    178
    """
    table = _operations(strings.SOFT) if by_strings else OPERATIONS
    templates = enumerate_templates(table, ATOMS, CATEGORIES, neutral=("empty",))
    made = NavigationByStrings if by_strings else Navigation
    return made("scan-strings" if by_strings else "scan", ATOMS, ("S", "V"), table, templates)


def navigation_by_strings() -> Domain:
    """Return the domain that learns with the thesis' probabilistic strings."""
    return navigation(by_strings=True)
