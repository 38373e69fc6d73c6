"""A manifest and image features as training data, with the sound's features kept on disk."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from groundling.backbones.speech_audio import Entry, find_audio, read_audio
from groundling.errors import DataError, FormatError, GroundlingError
from groundling.formats.arrays import read_arrays
from groundling.formats.files import atomic_write
from groundling.systems.avnsl.config import Config
from groundling.systems.avnsl.data import Sound, Utterances
from groundling.systems.avnsl.model import hearer
from groundling.training.progress import track

Listener = Callable[[np.ndarray], Sound]
LONGEST = 60.0  # seconds; a longer recording is no caption


def read_utterances(
    manifest: str | Path, features: str | Path, config: Config, cache: str | Path | None = None
) -> tuple[Utterances, list[str]]:
    """Recordings with their images, and what is wrong with those that were left out.

    With `cache`, features are kept there, one file a recording, and a run that was stopped goes on from them.
    """
    images = _read_features(features)
    listener = hearer(config)
    sounds: list[Sound] = []
    numbers: list[int] = []
    faults: list[str] = []
    for entry in track(find_audio(manifest), "listening"):
        try:
            numbers.append(_image(entry, len(images)))
            sounds.append(_sound(entry.audio, config, listener, Path(cache) if cache else None))
        except GroundlingError as error:
            faults.append(str(error))
            del numbers[len(sounds) :]
    if len(sounds) < 2:
        raise DataError(f"{manifest}: fewer than two recordings can be used. " + " ".join(faults[:3]))
    return Utterances(sounds, np.array(numbers, dtype=np.int64), images), faults


def _image(entry: Entry, count: int) -> int:
    if entry.image is None or entry.image >= count:
        raise DataError(f'{entry.audio}: its manifest line needs "image", a row of the {count} image features from 0.')
    return entry.image


def _sound(path: Path, config: Config, listener: Listener, cache: Path | None) -> Sound:
    if cache is None or not path.is_file():
        return _hear_file(path, listener)
    other = "" if config.vectors == "encoder" else f" {config.vectors} {config.vector_layer}"
    mark = sha256(path.read_bytes() + f"{config.mels} {config.vad}{other}".encode()).hexdigest()[:32]
    kept = cache / f"{mark}.npz"
    if kept.exists():
        with np.load(kept, allow_pickle=False) as held:
            given = held["given"] if "given" in held.files else None
            voiced = [(float(a), float(b)) for a, b in held["voiced"]]
            return Sound(held["mels"], voiced, float(held["duration"]), given)
    sound = _hear_file(path, listener)
    cache.mkdir(parents=True, exist_ok=True)
    with atomic_write(kept, binary=True) as file:
        parts: dict[str, Any] = {"mels": sound.mels, "voiced": np.array(sound.voiced).reshape(-1, 2)}
        parts |= {"duration": sound.duration} | ({} if sound.given is None else {"given": sound.given})
        np.savez(file, **parts)
    return sound


def _hear_file(path: Path, listener: Listener) -> Sound:
    samples = read_audio(path)
    if len(samples) > LONGEST * 16_000:
        raise DataError(f"{path}: lasts {len(samples) / 16_000:.0f} s; a spoken caption lasts up to {LONGEST:.0f} s.")
    return listener(samples)


def _read_features(path: str | Path) -> np.ndarray:
    try:
        found = read_arrays(path).get("")
    except GroundlingError as error:
        raise FormatError(f"{path}: no readable .npy of numbers ({error}).") from error
    if found is None or found.ndim != 2 or not np.isfinite(found).all():
        raise FormatError(f"{path}: expected a table (images, dim) of finite numbers.")
    return found.astype(np.float32)
