"""Write a spoken world as files: what a user's own corpus would look like."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from groundling.formats import textgrid
from groundling.formats.files import write_lines
from groundling.names import require
from groundling.structures.segmentation import Segmentation
from groundling.worlds.spoken_captions import SpokenWorld
from groundling.worlds.spoken_synthesis import RATE


def write_world(world: SpokenWorld, folder: str | Path) -> Path:
    """Sound, word times, trees, image features and the manifest that names them; returns the manifest."""
    soundfile = require("soundfile", "speech", "writing sound")
    place = Path(folder)
    (place / "audio").mkdir(parents=True, exist_ok=True)
    lines: list[str] = []
    for i, clip in enumerate(world.clips()):
        name = f"audio/{i:05}"
        soundfile.write(place / f"{name}.flac", clip.samples, RATE, subtype="PCM_16")
        textgrid.write(place / f"{name}.TextGrid", [Segmentation(clip.words.segments, clip.words.duration, "words")])
        entry = {"audio": f"{name}.flac", "image": int(world.images[i]), "words": f"{name}.TextGrid"}
        lines.append(json.dumps(entry))
    write_lines(place / "trees.txt", [str(tree) for tree in world.trees])
    np.save(place / "features.npy", world.features)
    write_lines(place / "manifest.jsonl", lines)
    return place / "manifest.jsonl"
