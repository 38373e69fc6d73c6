"""From one format to another that holds the same structure."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from groundling.errors import DataError
from groundling.formats import format_of, load_format

HOLDS = {
    "brackets": "constituency trees",
    "conllu": "dependency trees",
    "pharaoh": "word alignments",
    "wa": "word alignments",
    "aligned": "sentence pairs with word alignments",
    "textgrid": "word segments",
    "ctm": "word segments",
    "samples": "programs",
}
_REDUCTIONS = {("aligned", "pharaoh"), ("aligned", "wa")}  # the words are left out


def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    from_: str | None = None,
    to: str | None = None,
    **options: Any,
) -> int:
    """Convert a file in a stream; formats by name or suffix. Returns how many items were written.

    `options` go to the reader, e.g. `base=1` for Pharaoh or `labelled=False` for brackets.
    """
    old = format_of(source, from_)
    new = old if to is None and os.fspath(target) == "-" else format_of(target, to)
    if HOLDS[old] != HOLDS[new] and (old, new) not in _REDUCTIONS:
        others = sorted(name for name in HOLDS if HOLDS[name] == HOLDS[old] or (old, name) in _REDUCTIONS)
        raise DataError(
            f"{old} holds {HOLDS[old]} but {new} holds {HOLDS[new]}, and one does not give the other. "
            f"{old} converts to: {', '.join(others)}."
        )
    counter = _Counter(load_format(old).read(source, **options), (old, new) in _REDUCTIONS)
    load_format(new).write(target, counter)
    return counter.count


class _Counter:
    """Passes items on and counts them."""

    def __init__(self, items: Iterator[Any], alignment_only: bool) -> None:
        self.items, self.alignment_only, self.count = items, alignment_only, 0

    def __iter__(self) -> Iterator[Any]:
        for item in self.items:
            self.count += 1
            yield item.alignment if self.alignment_only else item
