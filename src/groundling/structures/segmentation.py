"""Word segments on the time axis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from groundling.errors import FormatError

_SILENCE = {"", "sp", "sil", "<sil>", "spn", "<eps>"}


class Segment(NamedTuple):
    """One stretch of sound, in seconds."""

    start: float
    end: float
    word: str = ""


@dataclass(frozen=True)
class Segmentation:
    """Segments in order, in seconds; gaps are allowed, overlaps are not.

    >>> Segmentation.from_boundaries([0.0, 0.2, 0.5]).segments[1]
    Segment(start=0.2, end=0.5, word='')
    """

    segments: tuple[Segment, ...]
    duration: float | None = None  # of the whole recording, if known
    id: str = ""

    def __post_init__(self) -> None:
        last = 0.0
        for segment in self.segments:
            if not last <= segment.start < segment.end < float("inf"):
                raise FormatError(
                    f"segment {segment.word!r} ({segment.start}, {segment.end}) is empty, overlaps the one before it "
                    f"(which ends at {last}) or is not a number. Times are in seconds and must rise."
                )
            last = segment.end

    @classmethod
    def from_boundaries(cls, boundaries: Sequence[float], words: Iterable[str] = ()) -> Segmentation:
        """Segments between consecutive boundaries."""
        names = [*words]
        if len(names) > max(len(boundaries) - 1, 0):
            raise FormatError(f"{len(names)} words but {len(boundaries)} boundaries. n words need n+1 boundaries.")
        names += [""] * (len(boundaries) - 1 - len(names))
        return cls(tuple(Segment(*item) for item in zip(boundaries[:-1], boundaries[1:], names, strict=True)))

    @classmethod
    def from_frames(cls, frames: Iterable[tuple[int, int]], rate: float) -> Segmentation:
        """Segments from frame ranges [first, last+1) at `rate` frames a second.

        >>> Segmentation.from_frames([(0, 10), (10, 25)], rate=50).segments[1].end
        0.5
        """
        return cls(tuple(Segment(a / rate, b / rate) for a, b in frames))

    def frames(self, rate: float) -> list[tuple[int, int]]:
        """The frame range [first, last+1) of each segment at `rate` frames a second, at least one frame each."""
        ranges = ((round(s.start * rate), round(s.end * rate)) for s in self.segments)
        return [(first, max(last, first + 1)) for first, last in ranges]

    @property
    def boundaries(self) -> tuple[float, ...]:
        """Every start and end, once, in order."""
        return tuple(sorted({edge for s in self.segments for edge in (s.start, s.end)}))

    @property
    def words(self) -> tuple[str, ...]:
        """The word of each segment."""
        return tuple(s.word for s in self.segments)

    def without_silence(self) -> Segmentation:
        """Drop segments with no word (empty, `sp`, `sil`, `spn`)."""
        return Segmentation(tuple(s for s in self.segments if s.word.lower() not in _SILENCE), self.duration, self.id)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for drawing and JSON."""
        return {"segments": [list(s) for s in self.segments], "duration": self.duration, "id": self.id}

    def __str__(self) -> str:
        return "\n".join(f"{s.start:.6f}\t{s.end:.6f}\t{s.word}" for s in self.segments)

    def _repr_svg_(self) -> str:
        from groundling.drawing.timeline import draw_segments

        return draw_segments(self.to_dict())
