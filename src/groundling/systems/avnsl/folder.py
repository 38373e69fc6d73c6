"""Segment and parse recordings of any length: piece by piece, one file's fault never stops the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from groundling.backbones.log_mel import RATE
from groundling.backbones.speech import stacked
from groundling.backbones.speech_activity import Vad, voiced_regions
from groundling.backbones.speech_audio import Entry, Piece, output_names, pieces
from groundling.errors import DataError, GroundlingError
from groundling.formats import textgrid
from groundling.structures.segmentation import Segment, Segmentation
from groundling.structures.tree import Tree
from groundling.systems.avnsl.model import Model
from groundling.systems.avnsl.segment import learn_codes, segment_by_dpdp

CutPiece = Callable[[Piece], Segmentation]  # times from the beginning of the piece
UNITS = 50  # codes of DPDP
LOOKED_AT = 200  # files that the codebook is learned from


class Outcome(NamedTuple):
    """What became of one recording."""

    audio: Path
    result: Path | None
    segments: int = 0
    seconds: float = 0.0
    error: str = ""


def segment_folder(source: str | Path, entries: Sequence[Entry], out: str | Path, cut: CutPiece) -> Iterator[Outcome]:
    """Write one TextGrid a recording under `out`, as they are done; the tier is called `words`."""
    for entry, name in zip(entries, output_names(entries, source, ".TextGrid"), strict=True):
        try:
            words = segment_file(entry.audio, cut)
            path = Path(out) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            textgrid.write(path, [words])
            yield Outcome(entry.audio, path, len(words.segments), words.duration or 0.0)
        except GroundlingError as error:
            yield Outcome(entry.audio, None, error=str(error))


def segment_file(path: str | Path, cut: CutPiece) -> Segmentation:
    """Cut each piece, put the pieces' words one after the other, number them."""
    words: list[Segment] = []
    end = 0.0
    for piece in pieces(path):
        for segment in cut(piece).segments:
            start = max(piece.start + segment.start, words[-1].end if words else 0.0)
            stop = min(piece.start + segment.end, piece.end)
            if stop > start:
                words.append(Segment(start, stop, str(len(words) + 1)))
        end = piece.end
    return Segmentation(tuple(words), max(end, 1 / RATE), "words")


def attention_cut(model: Model) -> CutPiece:
    """Cut by the [CLS] attention of a trained model."""
    return lambda piece: model.segment([piece.samples])[0]


def dpdp_cut(entries: Sequence[Entry], vad: Vad, rng: np.random.Generator) -> CutPiece:
    """Cut by DPDP on log-Mel, with units learned from the recordings themselves: needs no trained model."""
    frames: list[np.ndarray] = []
    for entry in entries[:LOOKED_AT]:
        try:
            for piece in islice(pieces(entry.audio), 2):
                heard = stacked(piece.samples)
                frames += [heard[int(a * 50) : int(b * 50)] for a, b in voiced_regions(piece.samples, vad)]
        except GroundlingError:
            continue  # named when its own turn comes
    codes = learn_codes(frames, UNITS, rng) if sum(map(len, frames)) else np.zeros((1, 80))

    def cut(piece: Piece) -> Segmentation:
        voiced = voiced_regions(piece.samples, vad)
        return segment_by_dpdp(stacked(piece.samples), voiced, codes, len(piece.samples) / RATE)

    return cut


def parse_file(path: str | Path, model: Model) -> Tree:
    """The tree over seconds of a recording; the trees of a long one's pieces hang under one root."""
    found: list[tuple[float, Tree]] = []
    for piece in pieces(path):
        tree = model.parse([piece.samples])[0]
        if tree is not None:
            found.append((piece.start, tree))
    if not found:
        raise DataError(f"{path}: no voice in it, so there is nothing to parse.")
    return _under_one_root(found)


def _under_one_root(found: Sequence[tuple[float, Tree]]) -> Tree:
    times: list[tuple[float, float]] = []
    spans: list[tuple[int, int]] = []
    for start, tree in found:
        shift = len(times)
        spans += [(a + shift, b + shift) for a, b, _ in tree.spans()]
        times += [(start + a, start + b) for a, b in tree.times or ()]
    words = [str(k) for k in range(1, len(times) + 1)]
    flat = Tree.from_spans(words, dict.fromkeys(spans))
    return Tree.from_segments(flat, Segmentation(tuple(Segment(a, b) for a, b in times)))
