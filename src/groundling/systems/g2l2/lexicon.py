"""Lexical items of a batch: candidate entries grouped by (syntactic type, residual program), constants in expectation.

Entries of one word that differ only in constants (`concat(WALK, x)`, `concat(LOOK, x)`) are merged before the chart
begins: weights by logsumexp, constants by their expectation. What remains is linear in the number of entries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from groundling.systems.g2l2.chart import Item, Row, State, evaluate
from groundling.systems.g2l2.domain import Domain, World
from groundling.systems.g2l2.programs import Call, Concept, Program, Slot, partially_evaluate, rebuild

OFF = -1e9  # the weight of a pruned entry: finite, so that gradients stay finite


@dataclass(frozen=True)
class Skeleton:
    """Slot programs of several entries that differ in their constants only.

    `program` has `Slot(i)` for constant i; `leaves[i]` holds, for each entry, which constant stands there.
    """

    program: Program
    rows: list[int]  # which entries of the group these are
    leaves: list[list[Program]]


@dataclass(frozen=True)
class Group:
    """All entries that start in one state."""

    state: State
    entries: list[int]  # template numbers
    slots: list[list[Skeleton]]  # for each slot of the state


def group_templates(domain: Domain) -> list[Group]:
    """Sort the candidate entries by the state they start in."""
    found: dict[State, tuple[list[int], list[tuple[Program, ...]]]] = {}
    for index, template in enumerate(domain.templates):
        residual, slots = partially_evaluate(template.program)
        for category in template.categories:
            entries, programs = found.setdefault((category, residual), ([], []))
            entries.append(index)
            programs.append(slots)
    return [
        Group(state, entries, [_skeletons([row[k] for row in programs]) for k in range(len(programs[0]))])
        for state, (entries, programs) in found.items()
    ]


def _skeletons(programs: list[Program]) -> list[Skeleton]:
    found: dict[Program, Skeleton] = {}
    for row, program in enumerate(programs):
        leaves: list[Program] = []

        def open_leaves(node: Program, leaves: list[Program] = leaves) -> Program:
            if isinstance(node, Concept) or (isinstance(node, Call) and not node.arguments):
                leaves.append(node)
                return Slot(len(leaves) - 1)
            return rebuild(node, open_leaves)

        shape = open_leaves(program)
        kept = found.setdefault(shape, Skeleton(shape, [], [[] for _ in leaves]))
        kept.rows.append(row)
        for place, leaf in enumerate(leaves):
            kept.leaves[place].append(leaf)
    return list(found.values())


@dataclass(frozen=True)
class Leaves:
    """Values of constants and concepts in one batch, each [batch, 1 or word, *type]."""

    domain: Domain
    world: World
    concepts: Mapping[str, Tensor]  # type -> [batch, word, *type]

    def stack(self, leaves: Sequence[Program]) -> Tensor:
        """Return [batch, word, entry, *type]."""
        values: dict[Program, Tensor] = {}
        for leaf in leaves:
            if leaf not in values:
                values[leaf] = self._value(leaf)
        if len(values) == 1:
            return next(iter(values.values()))[:, :, None]
        return torch.stack([values[leaf] for leaf in leaves], 2)

    def _value(self, leaf: Program) -> Tensor:
        if isinstance(leaf, Concept):
            return self.concepts[leaf.type]
        assert isinstance(leaf, Call)
        return self.domain.operations[leaf.operation].soft(self.world)[:, None]

    def slot(self, skeletons: list[Skeleton], entries: int) -> Tensor:
        """Evaluate one slot of all entries of a group: [batch, word, entry, *type]."""
        parts, order = [], []
        for skeleton in skeletons:
            stacked = [self.stack(leaves) for leaves in skeleton.leaves]
            value = evaluate(skeleton.program, self.domain, self.world, stacked, None)
            assert isinstance(value, Tensor)
            parts.append(value.expand(-1, -1, len(skeleton.rows), *value.shape[3:]))
            order += skeleton.rows
        if len(parts) == 1:
            return parts[0]
        widest = max(part.shape[1] for part in parts)
        joined = torch.cat([part.expand(-1, widest, *part.shape[2:]) for part in parts], 2)
        back = torch.tensor(order, device=joined.device).argsort()
        assert joined.shape[2] == entries
        return joined[:, :, back]


def lexical_items(groups: list[Group], leaves: Leaves, log_weights: Tensor, positions: Tensor) -> Row:
    """Return the items of every position: log weight [batch, length], slots [batch, length, *type].

    `log_weights` is [word, entry] of the batch's own words; `positions` [batch, length] says which word stands where.
    Groups whose entries are pruned for all these words are left out.
    """
    row: Row = {}
    sentences = torch.arange(len(positions), device=positions.device)[:, None]
    for group, weights in _alive(groups, log_weights):
        shares = torch.softmax(weights, 1)
        slots = []
        for skeletons in group.slots:
            values = leaves.slot(skeletons, len(group.entries))
            mixed = torch.einsum("we,bwef->bwf", shares, values.expand(-1, len(shares), *values.shape[2:]).flatten(3))
            slots.append(mixed[sentences, positions].unflatten(2, values.shape[3:] or (1,)))
        row[group.state] = Item(torch.logsumexp(weights, 1)[positions], tuple(slots))
    return row


def _alive(groups: list[Group], log_weights: Tensor) -> Iterator[tuple[Group, Tensor]]:
    highest = log_weights.detach().amax(0).tolist()
    for group in groups:
        if max(highest[entry] for entry in group.entries) > OFF / 2:
            yield group, log_weights[:, group.entries]
