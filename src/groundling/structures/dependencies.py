"""Dependency trees, hard and soft."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundling.errors import DataError, FormatError

Row = tuple[str, ...]  # the ten CoNLL-U columns of one line, as they were read
ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(10)


@dataclass(frozen=True)
class Dependencies:
    """A dependency tree over words: heads count from 1, 0 is the root.

    `rows` and `comments` keep a CoNLL-U sentence as it was read, multiword ranges and empty nodes included,
    so that writing gives back the same bytes. A tree without rows is written with `_` in the other columns.

    >>> print(Dependencies(("dogs", "bark"), (2, 0), ("nsubj", "root")).heads)
    (2, 0)
    """

    words: tuple[str, ...]
    heads: tuple[int, ...]
    labels: tuple[str, ...]
    tags: tuple[str, ...] = ()  # UPOS
    comments: tuple[str, ...] = ()  # whole lines, '#' included
    rows: tuple[Row, ...] = ()

    def __post_init__(self) -> None:
        count = len(self.words)
        if not len(self.heads) == len(self.labels) == count or len(self.tags) not in (0, count):
            raise FormatError("words, heads, labels (and tags, if given) must have one entry a word.")
        for word, head in enumerate(self.heads, 1):
            if not 0 <= head <= count or head == word:
                raise FormatError(
                    f"HEAD of word {word} ({self.words[word - 1]!r}) is {head}, but the sentence has {count} words "
                    "and no word is its own head. Heads count from 1; 0 is the root."
                )

    @property
    def id(self) -> str:
        """The sentence id from `# sent_id = ...`, or ''."""
        for line in self.comments:
            key, _, value = line.lstrip("# ").partition("=")
            if key.strip() == "sent_id":
                return value.strip()
        return ""

    def faults(self) -> list[str]:
        """What keeps this from being a tree with exactly one root; empty when it is one."""
        roots = [word for word, head in enumerate(self.heads, 1) if head == 0]
        faults = [] if len(roots) == 1 else [f"{len(roots)} words hang from the root; there must be exactly one."]
        loop = _find_cycle(self.heads)
        if loop:
            faults.append(f"words {' -> '.join(map(str, loop))} form a cycle.")
        return faults

    def with_arcs(self, heads: Sequence[int], labels: Sequence[str]) -> Dependencies:
        """The same words under another tree; HEAD and DEPREL change, all other columns stay."""
        if len(heads) != len(self.words) or len(labels) != len(self.words):
            raise DataError(f"{len(self.words)} words but {len(heads)} heads and {len(labels)} labels.")
        new = iter(zip(map(str, heads), labels, strict=True))
        rows = tuple((*row[:HEAD], *next(new), *row[DEPS:]) if row[ID].isdigit() else row for row in self.rows)
        return Dependencies(self.words, tuple(map(int, heads)), tuple(labels), self.tags, self.comments, rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for drawing and JSON."""
        return {"words": list(self.words), "heads": list(self.heads), "labels": list(self.labels), "id": self.id}

    def __str__(self) -> str:
        """The sentence in CoNLL-U, without the blank line that ends it."""
        return "\n".join([*self.comments, *("\t".join(row) for row in self.rows or self._plain_rows())])

    def _plain_rows(self) -> tuple[Row, ...]:
        tags = self.tags or ("_",) * len(self.words)
        columns = zip(self.words, tags, self.heads, self.labels, strict=True)
        return tuple((str(i), w, "_", t, "_", "_", str(h), x, "_", "_") for i, (w, t, h, x) in enumerate(columns, 1))

    def _repr_svg_(self) -> str:
        from groundling.drawing.arcs import draw_arcs

        return draw_arcs(self.to_dict())


@dataclass(frozen=True, eq=False)
class SoftDependencies:
    """Arc and label distributions. Position 0 is the root, word i stands at i (as in the thesis' dummy word).

    `arcs[i, j]` = P(head of i is j); rows sum to 1, or to less where mass was lost to unaligned words. Row 0 is
    not used. `label_probabilities[i, j, l]` = P(label l | arc j -> i).
    """

    words: tuple[str, ...]
    arcs: NDArray[np.floating[Any]]  # (n+1, n+1)
    label_probabilities: NDArray[np.floating[Any]] | None = None  # (n+1, n+1, labels)
    label_names: tuple[str, ...] = ()
    id: str = ""

    def __post_init__(self) -> None:
        side = len(self.words) + 1
        if self.arcs.shape != (side, side):
            raise DataError(f"{side - 1} words need arcs of shape ({side}, {side}), not {self.arcs.shape}.")
        labels = self.label_probabilities
        if labels is not None and labels.shape != (side, side, len(self.label_names)):
            raise DataError(f"label probabilities of shape {labels.shape} do not fit ({side}, {side}, label names).")
        if not np.isfinite(self.arcs).all() or (self.arcs < 0).any() or (self.arcs[1:].sum(1) > 1 + 1e-4).any():
            raise DataError("arc rows must be distributions: finite, not negative, summing to at most 1.")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for drawing and JSON."""
        return {"words": list(self.words), "arcs": self.arcs.tolist(), "id": self.id}

    def __str__(self) -> str:
        pairs = zip(self.words, self.arcs[1:].argmax(1), strict=True)
        return " ".join(f"{w}<-{h}:{self.arcs[i, h]:.2f}" for i, (w, h) in enumerate(pairs, 1))

    def _repr_svg_(self) -> str:
        from groundling.drawing.arcs import draw_soft_arcs

        return draw_soft_arcs(self.to_dict())


def _find_cycle(heads: Sequence[int]) -> list[int]:
    state = [0] * (len(heads) + 1)  # 0 new, 1 on the current path, 2 done
    for start in range(1, len(heads) + 1):
        path: list[int] = []
        word = start
        while word and not state[word]:
            state[word] = 1
            path.append(word)
            word = heads[word - 1]
        if word and state[word] == 1:
            return [*path[path.index(word) :], word]
        for seen in path:
            state[seen] = 2
    return []
