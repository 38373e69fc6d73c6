"""What a parser is trained on: trees, gold or silver, as weighted arcs with label distributions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.algorithms.projection import SparseArcs
from groundling.errors import DataError
from groundling.structures import Dependencies


class Inventory(NamedTuple):
    """The relations and the parts of speech a parser knows."""

    labels: tuple[str, ...]
    tags: tuple[str, ...]

    @classmethod
    def of(cls, trees: Iterable[Dependencies], subtypes: bool = False) -> Inventory:
        """Collect them from a treebank, in alphabetical order."""
        labels, tags = {"root"}, set[str]()
        for tree in trees:
            labels.update(plain(label, subtypes) for label in tree.labels)
            tags.update(tag for tag in tree.tags if tag != "_")
        return cls(tuple(sorted(labels)), tuple(sorted(tags)))


def plain(label: str, subtypes: bool) -> str:
    """The relation without its subtype, unless these are wanted.

    >>> plain("nsubj:pass", subtypes=False)
    'nsubj'
    """
    return label if subtypes else label.partition(":")[0]


class Silver(NamedTuple):
    """A sentence with weighted arcs; words that no arc enters, or whose row of tags is zero, say nothing."""

    words: tuple[str, ...]
    arcs: SparseArcs
    tags: NDArray[np.float32]  # (words, tags), rows of distributions or of zeros


def from_tree(tree: Dependencies, inventory: Inventory, subtypes: bool = False) -> Silver:
    """A hard tree: one arc a word, of weight 1. Labels and tags that the inventory lacks are left out.

    >>> tree = Dependencies(("dogs", "bark"), (2, 0), ("nsubj", "root"))
    >>> from_tree(tree, Inventory.of([tree])).arcs.head.tolist()
    [2, 0]
    """
    return from_heads(tree.words, tree.heads, [plain(x, subtypes) for x in tree.labels], tree.tags, inventory)


def from_heads(
    words: Sequence[str],
    heads: Sequence[int] | NDArray[np.int64],
    labels: Sequence[str],
    tags: Sequence[str],
    inventory: Inventory,
) -> Silver:
    """Trees with holes: a head of -1 is no arc."""
    known = np.flatnonzero(np.asarray(heads) >= 0)
    arcs = SparseArcs(
        known + 1,
        np.asarray(heads, dtype=np.int64)[known],
        np.ones(len(known), dtype=np.float32),
        _one_hot([labels[k] for k in known.tolist()], inventory.labels),
    )
    return Silver(tuple(words), arcs, _one_hot(tags or ["_"] * len(words), inventory.tags))


def treebank(trees: Sequence[Dependencies], inventory: Inventory, subtypes: bool = False) -> list[Silver]:
    """Gold trees to train on; a sentence that is no tree with one root is an error that names it."""
    for number, tree in enumerate(trees, 1):
        faults = tree.faults()
        if faults:
            name = f"sentence {tree.id!r}" if tree.id else f"sentence {number}"
            raise DataError(f"{name} of the treebank: {faults[0]} Run `groundling check` on it and correct or drop it.")
    return [from_tree(tree, inventory, subtypes) for tree in trees]


def _one_hot(values: Sequence[str], names: Sequence[str]) -> NDArray[np.float32]:
    place = {name: k for k, name in enumerate(names)}
    table = np.zeros((len(values), len(names)), dtype=np.float32)
    for row, value in enumerate(values):
        if value in place:
            table[row, place[value]] = 1
    return table
