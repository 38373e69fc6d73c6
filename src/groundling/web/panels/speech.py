"""Speech: a recording in; its sound, its voiced stretches, its words and their tree out (AV-NSL, thesis ch. 4)."""

from __future__ import annotations

import base64
import binascii
import tempfile
from pathlib import Path
from shlex import quote

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from groundling.drawing.timeline import draw_segments, draw_timed_tree
from groundling.errors import DataError, FormatError, GroundlingError
from groundling.structures import Segment, Segmentation
from groundling.web.answers import Answer, FieldError, Picture, Table, field
from groundling.web.panels.words import read_words
from groundling.web.shop import Shop

RATE = 16_000
LONGEST = 20.0  # seconds
DRAWN = 4_000  # samples a picture is made of
MOST_BYTES = 12 << 20


class Request(BaseModel):
    """A sound file in base64, or words for the built-in voice."""

    sound: str = Field(default="", max_length=MOST_BYTES, description="wav, flac or ogg, in base64.")
    words: str = Field(default="", max_length=500, examples=["the small dog"])


def run(asked: Request, shop: Shop) -> Answer:
    """Hear, cut, draw; parse where there is a model."""
    from groundling.backbones.speech_activity import voiced_regions  # torch: not before it is needed

    samples, spoken = read_sound(asked.sound) if asked.sound else speak(asked.words)
    seconds, wave = len(samples) / RATE, outline(samples)
    voiced = [(round(a, 3), round(b, 3)) for a, b in voiced_regions(samples)]
    parts = Segmentation(tuple(Segment(a, b, "voice") for a, b in voiced), max(seconds, voiced[-1][1] if voiced else 0))
    pictures = [
        Picture(
            name="voice",
            caption="The sound and where there is voice" + (", over the words spoken." if spoken else "."),
            svg=draw_segments(parts.to_dict(), wave, spoken.to_dict() if spoken else None),
        ),
    ]
    tree = shop.model("avnsl").parse([samples])[0] if shop.has("avnsl") else None
    if tree is not None:
        svg = draw_timed_tree(tree.to_dict(), wave, duration=seconds)
        pictures.append(Picture(name="tree", caption="Words found, and the tree over them.", svg=svg))
    return Answer(
        summary=f"{seconds:.2f} seconds, {len(voiced)} voiced {'stretch' if len(voiced) == 1 else 'stretches'}. "
        + _about_tree(shop, tree is not None),
        command=f"groundling avnsl parse clip.wav --model {quote(shop.folder('avnsl'))} --svg pictures/",
        pictures=pictures,
        tables=[
            Table(caption="Voice", header=["from (s)", "to (s)"], rows=[[f"{a:.2f}", f"{b:.2f}"] for a, b in voiced])
        ],
        data={
            "model": shop.has("avnsl"),
            "seconds": seconds,
            "voiced": voiced,
            "tree": tree.to_dict() if tree is not None else None,
        },
    )


def _about_tree(shop: Shop, found: bool) -> str:
    if found:
        return "The tree was found without any text."
    if shop.has("avnsl"):
        return "No words were found, so there is no tree."
    try:
        shop.model("avnsl")
    except GroundlingError as absent:
        return f"For words and their tree: {absent}"
    raise AssertionError("a model that is not here was loaded")


def read_sound(text: str) -> tuple[NDArray[np.float32], None]:
    """Decode a file; it is kept in a temporary folder of its own while it is read."""
    with field("sound"):
        try:
            content = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            raise FormatError("the sound is not base64. Send the bytes of the file in base64.") from None
        with tempfile.TemporaryDirectory(prefix="groundling-web-") as folder:
            path = Path(folder) / "sound"
            path.write_bytes(content)
            try:
                return _short_enough(path), None
            except GroundlingError as error:  # no path of this machine in the answer
                plain = str(error).replace(f"{path}: ", "").replace(repr(str(path)), "it")
                raise type(error)(plain.replace(str(path), "it")) from None


def _short_enough(path: Path) -> NDArray[np.float32]:
    from groundling.backbones.speech_audio import stream_audio

    blocks: list[NDArray[np.float32]] = []
    for block in stream_audio(path):
        blocks.append(block)
        if sum(map(len, blocks)) > LONGEST * RATE:
            raise DataError(
                f"the recording is longer than {LONGEST:.0f} seconds. Cut it, or use `groundling avnsl parse`."
            )
    if not blocks or not sum(map(len, blocks)):
        raise DataError("the recording is empty. Choose another.")
    return np.concatenate(blocks)


def speak(text: str) -> tuple[NDArray[np.float32], Segmentation]:
    """The built-in voice says some words."""
    from groundling.worlds.spoken_captions import built_in_voice

    words = read_words(text, "words")
    if len(words) > 30:
        raise FieldError("words", f"{len(words)} words are too many. Give at most 30.")
    clip = built_in_voice(words, np.random.default_rng(0))
    return clip.samples, clip.words


def outline(samples: NDArray[np.float32]) -> list[float]:
    """Few samples that look like all of them: the lowest and the highest of each stretch.

    >>> outline(np.array([0.5, -0.5], dtype=np.float32))
    [0.5, -0.5]
    """
    step = 2 * max(1, len(samples) // DRAWN)
    if len(samples) < step or step == 2:
        return samples.tolist()
    rows = samples[: len(samples) // step * step].reshape(-1, step)
    return np.stack([rows.min(axis=1), rows.max(axis=1)], axis=1).ravel().tolist()
