"""Captions spoken by eSpeak NG, where its library is installed; word times come from its events."""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundling.errors import DataError, MissingExtraError
from groundling.names import require
from groundling.structures.segmentation import Segment, Segmentation
from groundling.worlds.spoken_synthesis import RATE, Clip

VARIANTS = ("", "+f2", "+f4", "+m1", "+m3", "+m7")
_SYNCHRONOUS, _UTF8, _CHARACTERS = 2, 1, 1
_WORD, _END = 1, 5
_RATE, _PITCH = 1, 3
_MARGIN = 0.05  # seconds of silence kept at the end


class _Event(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),  # milliseconds
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", ctypes.c_char * 8),
    )


_Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event))


def espeak_voice(language: str = "en-us") -> Callable[[Sequence[str], np.random.Generator], Clip]:
    """A voice for `speak_world`: each caption in a random variant, rate and pitch of this language.

    eSpeak keeps a state from one sentence to the next, so the same caption may differ by some milliseconds.
    """
    _library()

    def voice(words: Sequence[str], rng: np.random.Generator) -> Clip:
        name = language + VARIANTS[int(rng.integers(len(VARIANTS)))]
        return speak_espeak(words, name, int(rng.integers(140, 190)), int(rng.integers(35, 65)))

    return voice


def speak_espeak(words: Sequence[str], voice: str = "en-us", rate: int = 165, pitch: int = 50) -> Clip:
    """Say words; where eSpeak merges two of them ("of the"), the time is shared by letters."""
    text = " ".join(words)
    samples, marks, speed = _synthesise(text, voice, rate, pitch)
    if not len(samples):
        raise DataError(f"eSpeak NG says nothing for {text!r} with the voice {voice!r}.")
    loud = np.flatnonzero(np.abs(samples) > 1e-3)
    end = (int(loud[-1]) + 1) / speed if len(loud) else len(samples) / speed
    resampled = require("soxr", "speech", "resampling").resample(samples, speed, RATE)
    keep = resampled[: int((end + _MARGIN) * RATE)].astype(np.float32)
    return Clip(keep, Segmentation(_times(words, marks, end), len(keep) / RATE))


def _times(words: Sequence[str], marks: dict[int, float], end: float) -> tuple[Segment, ...]:
    """Word i begins at its event; without one, between its neighbours, as far as its letters go."""
    letters = np.cumsum([0, *(len(word) + 1 for word in words)])
    known = sorted((i, marks[int(letters[i]) + 1]) for i in range(len(words)) if int(letters[i]) + 1 in marks)
    known = [(i, t) for k, (i, t) in enumerate(known) if all(t > before for _, before in known[:k]) and t < end]
    known = known if known and known[0][0] == 0 else [(0, 0.0), *[item for item in known if item[1] > 0]]
    places = [float(letters[i]) for i, _ in known] + [float(letters[-1])]
    edges = np.interp(letters, places, [t for _, t in known] + [end]).tolist()
    return tuple(Segment(a, b, word) for a, b, word in zip(edges[:-1], edges[1:], words, strict=True))


@lru_cache
def _library() -> tuple[Any, int]:
    name = ctypes.util.find_library("espeak-ng") or "libespeak-ng.so.1"
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        raise MissingExtraError(
            "this voice needs eSpeak NG's library. Install it (`apt install espeak-ng`), or use the built-in voice."
        ) from error
    speed = library.espeak_Initialize(_SYNCHRONOUS, 0, None, 0)
    if speed <= 0:
        raise DataError("eSpeak NG is installed but does not start. Are its data files there (`espeak-ng --version`)?")
    return library, int(speed)


def _synthesise(text: str, voice: str, rate: int, pitch: int) -> tuple[NDArray[np.float32], dict[int, float], int]:
    """Samples, the second at which the word at each text position (from 1) begins, and the sample rate."""
    library, speed = _library()
    if library.espeak_SetVoiceByName(voice.encode()) != 0:
        raise DataError(f"eSpeak NG has no voice {voice!r}. `espeak-ng --voices` lists them.")
    library.espeak_SetParameter(_RATE, rate, 0)
    library.espeak_SetParameter(_PITCH, pitch, 0)
    parts: list[NDArray[np.int16]] = []
    marks: dict[int, float] = {}

    def hear(wave: Any, count: int, events: Any) -> int:
        if wave and count:
            parts.append(np.ctypeslib.as_array(wave, shape=(count,)).astype(np.int16))
        i = 0
        while events[i].type:
            if events[i].type == _WORD:
                marks.setdefault(events[i].text_position, events[i].audio_position / 1000)
            i += 1
        return 0

    held = _Callback(hear)  # must live as long as the library may call it
    library.espeak_SetSynthCallback(held)
    raw = text.encode() + b"\0"
    library.espeak_Synth(raw, len(raw), 0, _CHARACTERS, 0, _UTF8, None, None)
    library.espeak_Synchronize()
    joined = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int16)
    return (joined / 32768).astype(np.float32), marks, speed
