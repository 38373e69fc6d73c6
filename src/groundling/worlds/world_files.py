"""Write a built-in world as files: what a user's own corpus would look like, for trying the commands."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from groundling.errors import ConfigError
from groundling.formats import aligned, brackets, conllu
from groundling.formats.files import write_lines
from groundling.names import did_you_mean
from groundling.structures import Dependencies
from groundling.worlds import parallel_treebank, scan
from groundling.worlds.captions import make_world

SCAN_SPLITS = ("jump", "around-right", "length")


def write_captions(folder: Path, size: int, rng: np.random.Generator) -> None:
    """Captions, image vectors and trees of drawn scenes: `size` scenes to learn from, an eighth as many to test on."""
    parts = make_world(size + size // 8, rng).split(size)
    for name, part in zip(("train", "test"), parts, strict=True):
        write_lines(folder / f"{name}.txt", (" ".join(words) for words in part.sentences))
        np.savez(folder / f"{name}.npz", features=part.features)
        brackets.write(folder / f"{name}.trees", part.trees)


def write_scan(folder: Path, size: int, rng: np.random.Generator) -> None:
    """SCAN's commands and actions, cut as published; they are exact, so neither size nor seed matters."""
    for name in SCAN_SPLITS:
        for part, items in zip(("train", "test"), scan.split(name), strict=True):
            scan.write(folder / f"{name}-{part}.txt", items)


def write_treebank(folder: Path, size: int, rng: np.random.Generator) -> None:
    """Two made-up languages: a treebank of the first, bitext, word vectors, gold links, and trees to test on."""
    pairs = parallel_treebank.generate(2 * size + size // 2, rng)
    gold, bitext, test = pairs[:size], pairs[size : 2 * size], pairs[2 * size :]
    conllu.write(folder / "source.conllu", [pair.source for pair in gold])
    write_lines(folder / "source.txt", _text(pair.source for pair in bitext))
    write_lines(folder / "target.txt", _text(pair.target for pair in bitext))
    links = [aligned.AlignedPair(pair.source.words, pair.target.words, pair.alignment) for pair in bitext]
    aligned.write(folder / "links.tsv", links)
    conllu.write(folder / "target-test.conllu", [pair.target for pair in test])
    table = parallel_treebank.vectors().items()
    write_lines(folder / "words.vec", (" ".join((word, *(f"{x:.4f}" for x in row))) for word, row in table))


def _text(trees: Iterable[Dependencies]) -> Iterable[str]:
    return (" ".join(tree.words) for tree in trees)


# name -> (what writes it, how large it is unless someone says otherwise)
WORLDS: dict[str, tuple[Callable[[Path, int, np.random.Generator], None], int]] = {
    "captions": (write_captions, 800),
    "scan": (write_scan, 0),
    "treebank": (write_treebank, 220),
}


def write_named(name: str, folder: str | Path, size: int | None, seed: int) -> Path:
    """Write the world called `name` into `folder`.

    >>> write_named("captoins", ".", None, 0)
    Traceback (most recent call last):
    groundling.errors.ConfigError: there is no world 'captoins'. Did you mean 'captions'? Use captions, scan, treebank.
    """
    if name not in WORLDS:
        raise ConfigError(f"there is no world {name!r}.{did_you_mean(name, WORLDS)} Use {', '.join(WORLDS)}.")
    write, usual = WORLDS[name]
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    write(place, usual if size is None else size, np.random.default_rng(seed))
    return place
