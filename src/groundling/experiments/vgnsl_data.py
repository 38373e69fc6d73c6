"""Chapter 3's data as it is here: Multi30K captions and image vectors to learn from, MSCOCO's trees as the test."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundling.errors import DataError
from groundling.formats import brackets
from groundling.formats.files import open_text
from groundling.metrics.parseval import without_punctuation
from groundling.structures.tree import Tree
from groundling.systems.vgnsl.data import Captions
from groundling.systems.vgnsl.words import tokenise

LANGUAGES = ("en", "de", "fr")
AGREE = 900  # development captions on which runs are compared: enough to tell checkpoints apart, and quick


def _lines(path: Path) -> list[str]:
    if not path.exists():
        raise DataError(f"{path}: not there. `groundling data list` says where each corpus comes from.")
    return list(open_text(path))


@cache
def _features(data: Path) -> dict[str, NDArray[Any]]:
    path = data / "vision" / "multi30k_features" / "efficientnet_lite0_f16.npz"
    if not path.exists():
        raise DataError(f"{path}: not there. `groundling data list` says where each corpus comes from.")
    with np.load(path) as found:
        return dict(found)


def multi30k(data: Path, split: str = "train", punctuation: bool = True) -> Captions:
    """Five English captions for each of the images that have a vector: 34,965 of 6,993 images to train on."""
    found = _features(data)
    chosen = found["split"] == split
    rows = found["row"][chosen]
    texts = [_lines(data / "vision" / "multi30k" / "task2" / f"{split_file(split)}.{k}.en.gz") for k in range(1, 6)]
    sentences = [_words(text[row], punctuation) for text in texts for row in rows]
    return _captions(sentences, np.tile(np.arange(len(rows)), 5), found["features"][chosen])


def unseen(data: Path, punctuation: bool = True) -> Captions:
    """The 485 images of Multi30K's validation and test sets that have a vector, five captions each."""
    first, second = (multi30k(data, split, punctuation) for split in ("val", "test"))
    images = np.concatenate([first.images, second.images + len(first.features)])
    features = np.concatenate([first.features, second.features])
    return Captions(first.sentences + second.sentences, images, features)


def one_caption(data: Path, language: str) -> Captions:
    """One caption an image, translated: 6,993 in each language (thesis table 3.4 has 29,000)."""
    found = _features(data)
    chosen = found["split"] == "train"
    places = {name: row for row, name in enumerate(_lines(data / "vision/multi30k/image_splits/task1_train.txt.gz"))}
    text = _lines(data / "vision" / "multi30k" / "task1" / f"train.{language}.gz")
    images = [i for i, name in enumerate(found["image"][chosen]) if str(name) in places]
    sentences = [_words(text[places[str(found["image"][chosen][i])]], True) for i in images]
    return _captions(sentences, np.array(images), found["features"][chosen])


def all_text(data: Path) -> list[tuple[str, ...]]:
    """All 145,000 English training captions, images or not: for word vectors."""
    files = [data / "vision" / "multi30k" / "task2" / f"train.{k}.en.gz" for k in range(1, 6)]
    return [words for file in files for words in map(tokenise, _lines(file)) if words]


def captions_to_parse(data: Path, language: str, part: str = "test_2016_flickr") -> list[tuple[str, ...]]:
    """Captions of Multi30K's first task to parse: 1,000 test, 1,014 val."""
    return [tokenise(line) for line in _lines(data / "vision" / "multi30k" / "task1" / f"{part}.{language}.gz")]


@cache
def mscoco_trees(data: Path, punctuation: bool = True) -> tuple[Tree, ...]:
    """The 5,000 test captions with Benepar's trees; with the final stop, as in the thesis, or without punctuation."""
    trees = brackets.read(data / "vision" / "mscoco_vgnsl" / "test_trees.txt")
    return tuple(trees) if punctuation else tuple(without_punctuation(tree) for tree in trees)


def mscoco_dev(data: Path, punctuation: bool = True) -> list[tuple[str, ...]]:
    """Captions on which runs are compared; their trees are not looked at."""
    lines = _lines(data / "vision" / "mscoco_vgnsl" / "dev_caps.txt")[:AGREE]
    return [tuple(w for w in line.split() if punctuation or _is_word(w)) or ("x",) for line in lines]


def silver_trees(data: Path) -> list[Tree]:
    """Parser-made trees of Multi30K's 1,000 English test captions (first task), without a final stop."""
    return list(brackets.read(data / "vision" / "multi30k_trees" / "task1_test_2016_flickr.en.trees.gz"))


@cache
def silver_validation(data: Path, every: int = 2) -> tuple[Tree, ...]:
    """Every second silver tree of Multi30K's validation captions, with a final stop: settings are chosen on these."""
    files = [data / "vision" / "multi30k_trees" / f"task2_val.{k}.en.trees.gz" for k in range(1, 6)]
    trees = [tree for file in files for tree in brackets.read(file) if len(tree.words) > 1]
    return tuple(with_stop(tree) for tree in trees[::every])


def with_stop(tree: Tree) -> Tree:
    """The same tree with a final stop under its root, as MSCOCO's trees have it: learners were taught with one.

    >>> str(with_stop(Tree.from_brackets("(NP (NP a dog) (PP on (NP grass)))")))
    '(NP (NP a dog) (PP on (NP grass)) .)'
    """
    ends = (len(tree.words) + 1, *tree.ends[1:])
    return Tree((*tree.words, "."), tree.labels, tree.starts, ends)


def split_file(split: str) -> str:
    """The name of a split in the files' names: the test captions are those of 2016."""
    return "test_2016" if split == "test" else split


def _words(line: str, punctuation: bool) -> tuple[str, ...]:
    return tuple(word for word in tokenise(line) if punctuation or _is_word(word))


def _is_word(word: str) -> bool:
    return any(character.isalnum() for character in word)


def _captions(sentences: list[tuple[str, ...]], images: NDArray[np.int64], features: NDArray[Any]) -> Captions:
    kept = [i for i, sentence in enumerate(sentences) if sentence]
    return Captions(tuple(sentences[i] for i in kept), images[kept].astype(np.int64), features.astype(np.float32))
