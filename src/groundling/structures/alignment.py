"""Word alignments between two sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundling.errors import FormatError

Link = tuple[int, int]
_LINK = re.compile(r"(\d{1,9})([-p?])(\d{1,9})(?::([0-9.eE+-]+))?\Z")


@dataclass(frozen=True)
class Alignment:
    """Links (source, target), counted from 0. Every sure link is also possible.

    >>> str(Alignment.from_pharaoh("0-0 1p2"))
    '0-0 1p2'
    """

    sure: frozenset[Link]
    possible: frozenset[Link] = frozenset()
    probabilities: Mapping[Link, float] = field(default_factory=dict[Link, float], compare=False, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sure", frozenset(self.sure))
        object.__setattr__(self, "possible", frozenset(self.possible) | self.sure)
        if any(i < 0 or j < 0 for i, j in self.possible):
            raise FormatError(
                "a link has a negative position. Positions count from 0; pass `base=1` for 1-based files."
            )

    @classmethod
    def from_pharaoh(cls, text: str, base: int = 0) -> Alignment:
        """Read `0-0 1-2`, with `1p2` or `1?2` for possible links and `1-2:0.9` for a probability."""
        sure: set[Link] = set()
        possible: set[Link] = set()
        probabilities: dict[Link, float] = {}
        for token in text.split():
            match = _LINK.match(token)
            if not match:
                raise FormatError(f"{token[:40]!r} is not a link. Links look like 0-0 (sure) or 1p2 (possible).")
            link = (int(match[1]) - base, int(match[3]) - base)
            if min(link) < 0:
                raise FormatError(f"the link {token[:40]!r} counts from 0, but {base}-based positions were promised.")
            (sure if match[2] == "-" else possible).add(link)
            if match[4]:
                probabilities[link] = _probability(match[4], token)
        return cls(frozenset(sure), frozenset(possible), probabilities)

    @classmethod
    def from_matrix(cls, matrix: NDArray[Any], threshold: float = 0.5) -> Alignment:
        """Every cell over the threshold is a sure link, its value the probability."""
        cells = np.argwhere(np.asarray(matrix) > threshold)
        links = [(int(i), int(j)) for i, j in cells]
        return cls(frozenset(links), probabilities={(i, j): float(matrix[i, j]) for i, j in links})

    def matrix(self, source_length: int, target_length: int) -> NDArray[np.float64]:
        """1 at each sure link."""
        matrix = np.zeros((source_length, target_length))
        for i, j in self.sure:
            if i >= source_length or j >= target_length:
                raise FormatError(f"the link {i}-{j} lies outside a pair of {source_length} and {target_length} words.")
            matrix[i, j] = 1
        return matrix

    def inverted(self) -> Alignment:
        """Swap source and target."""
        swap: dict[Link, float] = {(j, i): p for (i, j), p in self.probabilities.items()}
        return Alignment(frozenset((j, i) for i, j in self.sure), frozenset((j, i) for i, j in self.possible), swap)

    def pharaoh(self, base: int = 0, probabilities: bool = False) -> str:
        """The links in order, sure as `i-j`, possible ones as `ipj`."""
        return " ".join(self._link_text(link, base, probabilities) for link in sorted(self.possible))

    def _link_text(self, link: Link, base: int, probabilities: bool) -> str:
        mark = "-" if link in self.sure else "p"
        tail = f":{self.probabilities[link]:.4g}" if probabilities and link in self.probabilities else ""
        return f"{link[0] + base}{mark}{link[1] + base}{tail}"

    def to_dict(self, source: Sequence[str] = (), target: Sequence[str] = ()) -> dict[str, Any]:
        """Plain data for drawing and JSON."""
        return {
            "source": list(source),
            "target": list(target),
            "sure": sorted(list(link) for link in self.sure),
            "possible": sorted(list(link) for link in self.possible - self.sure),
            "probabilities": [[i, j, p] for (i, j), p in sorted(self.probabilities.items())],
        }

    def __str__(self) -> str:
        return self.pharaoh()

    def _repr_svg_(self) -> str:
        from groundling.drawing.alignments import draw_grid

        return draw_grid(self.to_dict())


def _probability(text: str, token: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise FormatError(f"{token[:40]!r}: {text!r} is not a number.") from None
    if not 0 <= value <= 1:
        raise FormatError(f"{token[:40]!r}: a probability lies between 0 and 1.")
    return value


def union(alignments: Iterable[Alignment]) -> Alignment:
    """All links of all alignments."""
    every = list(alignments)
    return Alignment(
        frozenset[Link]().union(*(a.sure for a in every)), frozenset[Link]().union(*(a.possible for a in every))
    )
