"""Sound files in: any rate, channels and depth become mono at 16 kHz, as a stream of pieces."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.backbones.log_mel import HOP, RATE, frame_energies
from groundling.errors import DataError, FormatError
from groundling.formats.files import open_text
from groundling.names import require

Samples = NDArray[np.float32]
SUFFIXES = (".wav", ".flac", ".ogg", ".aiff", ".aif", ".mp3")
BLOCK = 1 << 18  # samples read at once
LONGEST = 30.0  # seconds of a piece


class Piece(NamedTuple):
    """A stretch of a recording."""

    start: float  # seconds from the beginning of the file
    samples: Samples

    @property
    def end(self) -> float:
        """Seconds from the beginning of the file."""
        return self.start + len(self.samples) / RATE


def read_audio(path: str | Path) -> Samples:
    """The whole file, mono, 16 kHz; for long recordings use `pieces`."""
    return np.concatenate(list(stream_audio(path)))


def pieces(path: str | Path, longest: float = LONGEST) -> Iterator[Piece]:
    """Pieces of at most `longest` seconds, cut at the quietest moment of each one's last third: memory stays small."""
    size = int(longest * RATE)
    start, kept = 0, np.zeros(0, dtype=np.float32)
    for block in stream_audio(path):
        kept = np.concatenate([kept, block])
        while len(kept) > size:
            cut = _quietest(kept[:size])
            yield Piece(start / RATE, kept[:cut])
            start, kept = start + cut, kept[cut:]
    yield Piece(start / RATE, kept)


def _quietest(samples: Samples) -> int:
    """Where the last third of the samples is quietest over 50 ms, in samples."""
    first = len(samples) * 2 // 3 // HOP * HOP
    energies = np.convolve(frame_energies(samples[first:]), np.ones(5), mode="same")
    return first + (int(energies.argmin()) + 1) * HOP


def stream_audio(path: str | Path) -> Iterator[Samples]:
    """Blocks of samples at 16 kHz. Every fault is an error that names the file."""
    soundfile = require("soundfile", "speech", "reading sound")
    soxr = require("soxr", "speech", "resampling")
    if not Path(path).is_file():
        raise DataError(f"{path}: no such sound file.")
    heard = 0
    try:
        with soundfile.SoundFile(str(path)) as file:
            resampler = None if file.samplerate == RATE else soxr.ResampleStream(file.samplerate, RATE, 1, "float32")
            while len(block := file.read(BLOCK, dtype="float32", always_2d=True)):
                if not np.isfinite(block).all():
                    raise FormatError(f"{path}: holds samples that are not numbers. Convert it again.")
                heard += len(block)
                mono = np.ascontiguousarray(block.mean(1))
                yield mono if resampler is None else resampler.resample_chunk(mono)
            if resampler is not None and heard:
                yield resampler.resample_chunk(np.zeros(0, dtype=np.float32), last=True)
    except (soundfile.LibsndfileError, RuntimeError, ValueError) as error:
        raise FormatError(f"{path}: not a readable sound file ({error}). Convert it to wav or flac.") from error
    if not heard:
        raise FormatError(f"{path}: holds no sample. Remove it, or record it again.")


class Entry(NamedTuple):
    """One line of a manifest: a recording, the image row it belongs to, reference words (for evaluation only)."""

    audio: Path
    image: int | None = None
    words: Path | None = None


def find_audio(source: str | Path) -> list[Entry]:
    """A folder (searched to the bottom, in order), one sound file, or a manifest of JSON lines.

    A manifest line is `{"audio": "a.wav", "image": 0, "words": "a.TextGrid"}`, paths relative to the manifest.
    """
    place = Path(source)
    if place.is_dir():
        found = sorted(path for path in place.rglob("*") if path.suffix.lower() in SUFFIXES)
        if not found:
            raise DataError(f"{place}: no sound file ({', '.join(SUFFIXES)}) in this folder.")
        return [Entry(path) for path in found]
    if place.suffix.lower() in (".jsonl", ".json"):
        return _read_manifest(place)
    return [Entry(place)]


def _read_manifest(path: Path) -> list[Entry]:
    entries: list[Entry] = []
    with open_text(path) as lines:
        for line in lines:
            if line.strip():
                entries.append(_entry(line, path.parent, lines.where))
    if not entries:
        raise DataError(f"{path}: an empty manifest.")
    return entries


def _entry(line: str, folder: Path, where: str) -> Entry:
    try:
        item: dict[str, Any] = dict(json.loads(line))
        audio, image, words = item["audio"], item.get("image"), item.get("words")
        if not isinstance(audio, str) or not (image is None or (isinstance(image, int) and image >= 0)):
            raise ValueError("'audio' must be a path and 'image' a row number from 0")
        return Entry(folder / audio, image, folder / words if words else None)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise FormatError(f'{where}: not a manifest line ({error}). Write {{"audio": "a.wav", "image": 0}}.') from error


def output_names(entries: Sequence[Entry], source: str | Path, suffix: str) -> list[Path]:
    """A file name for the result of each recording: its place under the folder, with another suffix; none twice.

    >>> output_names([Entry(Path("in/a.wav")), Entry(Path("in/a.flac"))], "in", ".TextGrid")
    [PosixPath('a.TextGrid'), PosixPath('a.flac.TextGrid')]
    """
    root = Path(source)
    seen: set[Path] = set()
    names: list[Path] = []
    for entry in entries:
        inside = entry.audio.relative_to(root) if entry.audio.is_relative_to(root) else Path(entry.audio.name)
        inside = inside if inside.name else Path(entry.audio.name)
        name = inside.with_suffix(suffix)
        if name in seen:
            name = inside.with_name(inside.name + suffix)
        number = 2
        while name in seen:
            name, number = inside.with_name(f"{inside.stem}-{number}{suffix}"), number + 1
        seen.add(name)
        names.append(name)
    return names
