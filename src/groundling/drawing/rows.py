"""Words in a row: how wide each slot is, so that nothing that spans some of them is too narrow for its own text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from groundling.drawing.text import right_to_left, shorten, width

MARGIN = 14.0
WORD_LIMIT = 24  # longer words are cut in pictures; the whole word is in the tooltip


class Row(NamedTuple):
    """Where each word stands: its left and right edge, and the width of the picture."""

    left: tuple[float, ...]
    right: tuple[float, ...]
    total: float

    def centre(self, start: int, end: int | None = None) -> float:
        """The middle of words start .. end-1 (one word when `end` is left out)."""
        edges = (
            self.left[start],
            self.right[start],
            self.left[(end or start + 1) - 1],
            self.right[(end or start + 1) - 1],
        )
        return (min(edges) + max(edges)) / 2


def lay_words(
    words: Sequence[str],
    needs: Iterable[tuple[int, int, float]] = (),
    distances: Iterable[tuple[int, int, float]] = (),
    gap: float = 16,
) -> Row:
    """Give each word a slot; `needs` are (start, end, width): words start .. end-1 must be that wide together.

    `distances` are (first, last, width): the middles of these two words must be that far apart.

    Sentences in a right-to-left script run from right to left.

    >>> row = lay_words(["a", "cat"], [(0, 2, 200.0)])
    >>> round(row.right[1] - row.left[0])
    200
    """
    slots = [max(width(shorten(word, WORD_LIMIT)), 8) + gap for word in words]
    for start, end, needed in sorted(needs, key=lambda need: need[1] - need[0]):
        missing = needed - sum(slots[start:end])
        if missing > 0:
            for i in range(start, end):
                slots[i] += missing / (end - start)
    for first, last, needed in sorted(distances, key=lambda need: need[1] - need[0]):
        missing = needed - sum(slots[first + 1 : last]) - (slots[first] + slots[last]) / 2
        if missing > 0:
            for i in range(first, last + 1):
                slots[i] += missing / (last - first)
    edges = list(pairwise(accumulate(slots, initial=MARGIN)))
    total = sum(slots) + 2 * MARGIN
    if right_to_left(words):
        edges = [(total - b, total - a) for a, b in edges]
    return Row(tuple(a for a, _ in edges), tuple(b for _, b in edges), total)
