"""Struct-IoU: the structured average IoU of two trees over time, words or characters (thesis ch. 5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import ClassVar, Literal

import numpy as np

from groundling.algorithms.node_tables import Terminals
from groundling.algorithms.tree_mapping import Mapping, best_mapping, mapping_totals
from groundling.drawing.trees import draw_tree_pair
from groundling.errors import ConfigError, DataError, GroundlingError
from groundling.metrics.base import Metric, Score, Statistics, ratio
from groundling.structures.nesting import preorder
from groundling.structures.tree import Tree, Unit


@dataclass(frozen=True)
class StructIoU(Metric[Tree]):
    """2 / (n + m) times the largest total IoU of an alignment that keeps ancestors (thesis def. 5.10, corpus 5.11).

    Nodes are non-terminals and pre-terminals. `labels=True` aligns equal labels only; `terminals="any"` lets a
    pre-terminal match any pre-terminal. `labels=False` ignores labels, and then every word counts as a node, whether or
    not its tree has a pre-terminal there. `average="corpus"` weighs each pair by its nodes. `unit="auto"` takes the
    unit of the first tree, and says it in the signature.
    The score is symmetric, in [0, 1], and 1 for equal trees only.

    >>> gold, pred = Tree.from_brackets("(S (N dogs) (V bark))"), Tree.from_brackets("(S (N dogs) (N bark))")
    >>> print(StructIoU().score(gold, pred))
    StructIoU|labels:yes|terminals:same|average:sentence|unit:words|v:0.1.0 = 66.67 (n=1)
    """

    name: ClassVar[str] = "StructIoU"
    labels: bool = True
    terminals: Terminals = "same"
    average: Literal["sentence", "corpus"] = "sentence"
    threshold: float = 0.0
    unit: Unit | Literal["auto"] = "auto"

    def __post_init__(self) -> None:
        if self.terminals not in ("same", "any") or self.average not in ("sentence", "corpus"):
            raise ConfigError(
                f"terminals is {self.terminals!r} and average {self.average!r}. "
                "Use terminals 'same' or 'any', average 'sentence' or 'corpus'."
            )

    def choices(self) -> dict[str, object]:
        """The threshold is named only where there is one."""
        listed = super().choices()
        return listed if self.threshold else {key: value for key, value in listed.items() if key != "threshold"}

    def statistics(self, gold: Tree, pred: Tree) -> Statistics:
        """(score, 1, total IoU, nodes of both trees)."""
        return self._rows([(gold, pred)])[0]

    def value(self, total: Statistics) -> float:
        """Mean over sentences, or over nodes."""
        return ratio(total[0], total[1]) if self.average == "sentence" else ratio(2 * total[2], total[3])

    def details(self, total: Statistics) -> dict[str, float]:
        """Both averages, whichever is the score."""
        return {"sentence": ratio(total[0], total[1]), "corpus": ratio(2 * total[2], total[3])}

    def score(self, gold: Tree, pred: Tree) -> Score:
        """Score one pair."""
        return super(StructIoU, self._in_unit(gold)).score(gold, pred)

    def corpus(
        self, golds: Iterable[Tree], preds: Iterable[Tree], *, n_jobs: int = 1, bootstrap: int = 1000, seed: int = 0
    ) -> Score:
        """Score many pairs as a stream."""
        first, golds = _peek(iter(golds))
        metric = self if first is None else self._in_unit(first)
        return super(StructIoU, metric).corpus(golds, preds, n_jobs=n_jobs, bootstrap=bootstrap, seed=seed)

    def alignment(self, gold: Tree, pred: Tree) -> Mapping:
        """Which node matched which, with its IoU; node numbers are those of the given trees.

        With `labels=False` numbers count the leaves added for words without pre-terminal: see `with_leaves`.
        """
        gold, pred = self._prepared(gold), self._prepared(pred)
        return best_mapping(gold, pred, labels=self.labels, terminals=self.terminals, threshold=self.threshold)

    def draw(self, gold: Tree, pred: Tree) -> str:
        """The two trees face to face as SVG, matched nodes coloured by their IoU."""
        pair = self._prepared(gold).to_dict(), self._prepared(pred).to_dict()
        return draw_tree_pair(*pair, self.alignment(gold, pred).matches, title=str(self.score(gold, pred)))

    def similarities(self, trees: list[Tree]) -> Statistics:
        """Struct-IoU between all pairs of trees, shape (n, n): what minimum Bayes risk decoding needs."""
        rows, columns = np.triu_indices(len(trees))
        prepared = [self._prepared(tree) for tree in trees]
        total = self._totals(prepared, list(zip(rows.tolist(), columns.tolist(), strict=True)))
        nodes = np.array([len(tree.labels) for tree in prepared])
        matrix = np.zeros((len(trees), len(trees)))
        matrix[rows, columns] = matrix[columns, rows] = 2 * total / (nodes[rows] + nodes[columns])
        return matrix

    def _chunk(self, pairs: list[tuple[int, Tree, Tree]]) -> list[Statistics]:
        try:
            return list(self._rows([(gold, pred) for _, gold, pred in pairs]))
        except GroundlingError:
            return super()._chunk(pairs)  # one by one, to name the item at fault

    def _rows(self, pairs: list[tuple[Tree, Tree]]) -> Statistics:
        trees = [self._prepared(tree) for pair in pairs for tree in pair]
        total = self._totals(trees, [(i, i + 1) for i in range(0, len(trees), 2)])
        nodes = np.array([len(tree.labels) for tree in trees], dtype=np.float64).reshape(-1, 2).sum(axis=1)
        return np.stack([2 * total / nodes, np.ones(len(pairs)), total, nodes], axis=1)

    def _totals(self, trees: list[Tree], pairs: list[tuple[int, int]]) -> Statistics:
        return mapping_totals(trees, pairs, labels=self.labels, terminals=self.terminals, threshold=self.threshold)

    def _prepared(self, tree: Tree) -> Tree:
        if self.unit not in ("auto", tree.unit):
            raise DataError(
                f"a tree is measured in {tree.unit}, but this score counts {self.unit}. Put all trees on one axis: "
                "`Tree.from_segments` for seconds, `.in_characters()` for characters."
            )
        return tree if self.labels else with_leaves(tree)

    def _in_unit(self, tree: Tree) -> StructIoU:
        return replace(self, unit=tree.unit) if self.unit == "auto" else self


def with_leaves(tree: Tree) -> Tree:
    """Give each word that has none an unlabelled node of its own (every leaf is a node in thesis def. 5.4).

    >>> str(with_leaves(Tree.from_brackets("( a (N cat))")))
    '( ( a) (N cat))'
    """
    nodes = list(zip(tree.starts, tree.ends, tree.labels, strict=True))
    covered = {start for start, end, _ in nodes if end - start == 1}
    if len(covered) == len(tree.words):
        return tree
    nodes += [(i, i + 1, "") for i in range(len(tree.words)) if i not in covered]
    return Tree(tree.words, *preorder(nodes), tree.times, tree.unit, check=False)


def _peek(trees: Iterator[Tree]) -> tuple[Tree | None, Iterable[Tree]]:
    first = next(trees, None)
    return first, trees if first is None else chain([first], trees)
