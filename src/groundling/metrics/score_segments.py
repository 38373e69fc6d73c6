"""Score word segments in speech: TextGrid files, folders of them, or CTM files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from groundling.errors import DataError
from groundling.formats import format_of, load_format
from groundling.metrics.choosing import make_metrics, system_names
from groundling.metrics.pairing import Entry, by_key
from groundling.metrics.scoring import Options, Report, score_cases
from groundling.structures import Segmentation

_WORDS = "words"  # what aligners call the tier of words


def score_segments(
    gold: str,
    preds: Sequence[str],
    *,
    metrics: Sequence[str] = ("boundaries", "segment-iou"),
    tier: str | None = None,
    options: Options | None = None,
    **settings: Any,
) -> Report:
    """Score segmentations, paired by recording: a TextGrid's file name, the first column of a CTM."""
    golds = read_segments(gold, tier)
    systems = [read_segments(path, tier) for path in preds]
    chosen = make_metrics(metrics, settings)
    return score_cases(by_key(golds, systems, _same_duration), chosen, system_names(preds), options)


def read_segments(path: str, tier: str | None = None) -> Iterator[Entry]:
    """The recordings of a file, or of all TextGrid and CTM files of a folder in the order of their numbered names.

    Of a TextGrid, the tier called `tier` is read; without a name, the one called "words", else the first.
    """
    if not os.path.isdir(path):
        yield from _recordings(path, tier, alone=True)
        return
    files = sorted((file for file in Path(path).iterdir() if _is_ours(file)), key=lambda file: _natural(file.name))
    if not files:
        raise DataError(f"{path}: the folder has no .TextGrid and no .ctm file.")
    for file in files:
        yield from _recordings(str(file), tier, alone=False)


def _recordings(path: str, tier: str | None, alone: bool) -> Iterator[Entry]:
    if format_of(path, "ctm" if path == "-" else None) == "ctm":
        for recording in load_format("ctm").read(path):
            yield Entry(f"recording {recording.id!r}", recording)
        return
    name = "the recording" if alone else f"recording {_stem(path)!r}"
    yield Entry(name, _tier(path, tier))


def _tier(path: str, tier: str | None) -> Segmentation:
    tiers: list[Segmentation] = list(load_format("textgrid").read(path, tier))
    if not tiers:
        raise DataError(f"{path}: the TextGrid has no interval tier.")
    return next((one for one in tiers if one.id.lower() == (tier or _WORDS).lower()), tiers[0])


def _same_duration(gold: Segmentation, pred: Segmentation) -> str:
    """Two tiers of one recording end together; half a second apart means that they are not of one recording."""
    if gold.duration is None or pred.duration is None or abs(gold.duration - pred.duration) <= 0.5:
        return ""
    return f"{gold.duration:.2f} s long in the gold, {pred.duration:.2f} s in the prediction"


def _is_ours(file: Path) -> bool:
    return file.name.lower().removesuffix(".gz").removesuffix(".xz").endswith((".textgrid", ".ctm"))


def _stem(path: str) -> str:
    return Path(path.removesuffix(".gz").removesuffix(".xz")).stem


def _natural(name: str) -> list[tuple[int, int, str]]:
    """`a2` stands before `a10`."""
    pieces = re.split(r"(\d+)", name)
    return [(0, int(piece), "") if piece.isdigit() else (1, 0, piece) for piece in pieces]
