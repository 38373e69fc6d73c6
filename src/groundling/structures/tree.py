"""Constituency trees over words, characters or seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import InitVar, dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.errors import DataError, FormatError
from groundling.structures import bracket_text
from groundling.structures.nesting import binarise, keep_leaves, preorder

if TYPE_CHECKING:
    from groundling.structures.segmentation import Segmentation

Unit = Literal["words", "characters", "seconds"]


class Span(NamedTuple):
    """One node: it covers words start .. end-1."""

    start: int
    end: int
    label: str = ""


class NodeArrays(NamedTuple):
    """What the kernels read, nodes in preorder."""

    left: NDArray[np.float64]  # where the node begins, in the tree's unit
    right: NDArray[np.float64]  # where it ends
    parent: NDArray[np.int32]  # -1 for the root
    label: NDArray[np.int32]  # equal labels have equal numbers within this process
    terminal: NDArray[np.bool_]  # no node below it


@dataclass(frozen=True)
class Tree:
    """A tree in flat form: nodes in preorder, node k covers words starts[k] .. ends[k]-1.

    Words are not nodes; words that no child covers hang from the node itself. Any arity, unary chains and
    unlabelled nodes (label "") are allowed. There is always one root over all words. `times` gives each
    leaf its interval in `unit`; without it leaf i is (i, i+1).

    >>> tree = Tree.from_brackets("(NP (D a) (N cat))")
    >>> tree.spans()
    [Span(start=0, end=2, label='NP'), Span(start=0, end=1, label='D'), Span(start=1, end=2, label='N')]
    >>> str(tree)
    '(NP (D a) (N cat))'
    """

    words: tuple[str, ...]
    labels: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    times: tuple[tuple[float, float], ...] | None = None
    unit: Unit = "words"
    check: InitVar[bool] = True

    def __post_init__(self, check: bool) -> None:
        if check:
            _check_nodes(self)
            _check_times(self)

    @classmethod
    def from_brackets(cls, text: str, labelled: bracket_text.Labelled = "auto") -> Tree:
        """Read one bracketed tree; see `bracket_text.parse` for what counts as a label."""
        return cls(*bracket_text.parse(text, labelled), check=False)

    @classmethod
    def from_spans(cls, words: Sequence[str], spans: Iterable[Sequence[Any]]) -> Tree:
        """Build a tree from (start, end) or (start, end, label), in any order; a missing root is added.

        Equal spans form a unary chain in the order given, the first on top.

        >>> str(Tree.from_spans(["a", "black", "cat"], [(1, 3, "N")]))
        '( a (N black cat))'
        """
        nodes = [Span(int(s[0]), int(s[1]), str(s[2]) if len(s) > 2 else "") for s in spans]
        if not any(node.start == 0 and node.end == len(words) for node in nodes):
            nodes.insert(0, Span(0, len(words)))
        nodes.sort(key=lambda node: (node.start, -node.end))
        starts, ends, labels = zip(*nodes, strict=True)
        return cls(tuple(words), labels, starts, ends)

    @classmethod
    def from_segments(cls, tree: Tree, segmentation: Segmentation) -> Tree:
        """Put a tree over words on the time axis: leaf i takes the i-th segment, in seconds."""
        if len(segmentation.segments) != len(tree.words):
            raise DataError(
                f"the tree has {len(tree.words)} words but the segmentation has {len(segmentation.segments)} segments. "
                "Drop silences from the segmentation (`without_silence()`) or check that both are the same sentence."
            )
        return replace(tree, times=tuple((s.start, s.end) for s in segmentation.segments), unit="seconds")

    def in_characters(self) -> Tree:
        """Measure the same tree in characters: each word is as long as its text (thesis 5.4.3)."""
        edges = np.concatenate([[0], np.cumsum([len(word) for word in self.words])]).tolist()
        return replace(self, times=tuple(pairwise(edges)), unit="characters")

    def spans(self) -> list[Span]:
        """All nodes in preorder, pre-terminals and root included."""
        return [Span(*node) for node in zip(self.starts, self.ends, self.labels, strict=True)]

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """The parent of each node, -1 for the root."""
        parents: list[int] = []
        stack: list[int] = []
        for node, start in enumerate(self.starts):
            while stack and self.ends[stack[-1]] <= start:
                stack.pop()
            parents.append(stack[-1] if stack else -1)
            stack.append(node)
        return tuple(parents)

    @cached_property
    def arrays(self) -> NodeArrays:
        """Flat arrays for the kernels, computed once."""
        starts, ends = np.array(self.starts), np.array(self.ends)
        times = np.array(self.times) if self.times is not None else None
        terminal = np.ones(len(self.labels), dtype=np.bool_)
        terminal[[p for p in self.parents if p >= 0]] = False
        return NodeArrays(
            left=(starts if times is None else times[starts, 0]).astype(np.float64),
            right=(ends if times is None else times[ends - 1, 1]).astype(np.float64),
            parent=np.array(self.parents, dtype=np.int32),
            label=np.array([_LABEL_NUMBERS.setdefault(x, len(_LABEL_NUMBERS)) for x in self.labels], dtype=np.int32),
            terminal=terminal,
        )

    @cached_property
    def preterminals(self) -> tuple[bool, ...]:
        """Whether each node is a pre-terminal: one word, no node below it."""
        above = set(self.parents)
        return tuple(
            end - start == 1 and node not in above
            for node, (start, end) in enumerate(zip(self.starts, self.ends, strict=True))
        )

    @property
    def tags(self) -> tuple[str, ...]:
        """The pre-terminal label of each word, "" where it has none."""
        tags = [""] * len(self.words)
        for node, is_tag in enumerate(self.preterminals):
            if is_tag:
                tags[self.starts[node]] = self.labels[node]
        return tuple(tags)

    def relabelled(self, rename: Callable[[str], str]) -> Tree:
        """Rename every label, e.g. `lambda label: label.split("-")[0]`."""
        return replace(self, labels=tuple(rename(label) for label in self.labels))

    def unlabelled(self) -> Tree:
        """Drop labels and pre-terminals, and collapse unary chains: the bare bracketing."""
        spans = {Span(s, e) for s, e in zip(self.starts, self.ends, strict=True) if e - s > 1 or len(self.words) == 1}
        bare = Tree.from_spans(self.words, spans)
        return replace(bare, times=self.times, unit=self.unit)

    def binarised(self, direction: Literal["left", "right"] = "right") -> Tree:
        """Split nodes of three or more children with unlabelled nodes, branching to the given side."""
        nodes = binarise(self.starts, self.ends, self.labels, self.parents, direction)
        return Tree(self.words, *preorder(nodes), self.times, self.unit)

    def without(self, drop: Iterable[int]) -> Tree | None:
        """Remove the words at these positions and every node left empty; None when no word is left."""
        gone = set(drop)
        kept = [i for i in range(len(self.words)) if i not in gone]
        if not kept:
            return None
        nodes = keep_leaves(self.starts, self.ends, self.labels, kept)
        times = tuple(self.times[i] for i in kept) if self.times is not None else None
        if nodes.starts[:1] != (0,) or nodes.ends[:1] != (len(kept),):
            raise AssertionError("the root covers all words, so it survives unless all words go")
        return Tree(tuple(self.words[i] for i in kept), *nodes, times, self.unit)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for drawing and JSON."""
        nodes = zip(self.labels, self.starts, self.ends, self.parents, strict=True)
        return {
            "words": list(self.words),
            "nodes": [dict(zip(("label", "start", "end", "parent"), node, strict=True)) for node in nodes],
            "times": [list(pair) for pair in self.times] if self.times is not None else None,
            "unit": self.unit,
        }

    def __str__(self) -> str:
        return bracket_text.write(self.words, self.labels, self.starts, self.ends)

    def _repr_svg_(self) -> str:
        from groundling.drawing.trees import draw_tree

        return draw_tree(self.to_dict())


_LABEL_NUMBERS: dict[str, int] = {}


def _check_nodes(tree: Tree) -> None:
    count = len(tree.words)
    if not len(tree.labels) == len(tree.starts) == len(tree.ends) or not tree.labels:
        raise FormatError("labels, starts and ends must have one entry a node, and a tree has at least its root.")
    for start, end in zip(tree.starts, tree.ends, strict=True):
        if not 0 <= start < end <= count:
            raise FormatError(f"the span ({start}, {end}) does not lie inside the {count} words 0 .. {count}.")
    if tree.starts[0] != 0 or tree.ends[0] != count:
        raise FormatError(f"the first node must be the root over all {count} words. Add the span (0, {count}).")
    stack: list[int] = []
    previous = 0
    for start, end in zip(tree.starts, tree.ends, strict=True):
        while stack and stack[-1] <= start:
            stack.pop()
        if start < previous or (stack and stack[-1] < end):
            raise FormatError(f"the span ({start}, {end}) crosses another. Constituents must nest.")
        stack.append(end)
        previous = start


def _check_times(tree: Tree) -> None:
    if tree.times is None:
        return
    if len(tree.times) != len(tree.words):
        raise FormatError(f"{len(tree.words)} words but {len(tree.times)} time intervals. Give one a word.")
    last = -float("inf")
    for word, (start, end) in zip(tree.words, tree.times, strict=True):
        if not last <= start < end < float("inf"):
            raise FormatError(
                f"the interval ({start}, {end}) of {word!r} is empty or begins before {last}, where the last one ends."
            )
        last = end
