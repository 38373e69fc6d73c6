"""The corpora of the Struct-IoU experiments: captions with word times, and given systems' trees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from groundling.errors import DataError
from groundling.formats import brackets
from groundling.formats.files import open_text
from groundling.metrics.parseval import without_punctuation
from groundling.structures import Segmentation, Tree
from groundling.structures.segmentation import Segment

SystemTrees = tuple[str, list[Tree], list[Tree], int]  # name, gold, predicted, how many were left out


def _corpus(data: Path, name: str) -> Path:
    folder = data / "vision" / name
    if not folder.is_dir():
        raise DataError(f"{folder}: this corpus is not there. Set --data or $GROUNDLING_DATA; see docs/data.md.")
    return folder


def timed_trees(data: Path, count: int) -> list[Tree]:
    """Reference trees of MSCOCO test captions without punctuation, over the word times of synthetic speech.

    Captions whose words and times do not fit are left out; captions of one word too.
    """
    trees = brackets.read(_corpus(data, "mscoco_vgnsl") / "test_trees.txt")
    found: list[Tree] = []
    with open_text(_corpus(data, "tts_timings") / "mscoco_test_espeak_words.tsv.gz") as lines:
        for tree, line in zip(map(without_punctuation, trees), lines, strict=True):
            pieces = [piece.rsplit("|", 2) for piece in line.split("\t")[3].split()]
            segments = tuple(Segment(float(start), float(end), word) for word, start, end in pieces)
            if 1 < len(segments) == len(tree.words) and all(s.start < s.end for s in segments):
                found.append(Tree.from_segments(tree, Segmentation(segments)))
            if len(found) == count:
                break
    return found


def system_trees(data: Path) -> Iterator[SystemTrees]:
    """For each system: reference trees (unlabelled, no punctuation) and its own, where the words fit."""
    folder = _corpus(data, "mscoco_vgnsl")
    references = [without_punctuation(tree) for tree in brackets.read(folder / "test_trees.txt")]
    outputs = folder / "system_outputs"
    with open_text(outputs / "sentences.tsv.gz") as lines:
        places = [int(line.split("\t")[1]) for line in islice(lines, 1, None)]
    for path in sorted(outputs.glob("*.txt.gz")):
        golds: list[Tree] = []
        preds: list[Tree] = []
        for place, pred in zip(places, brackets.read(path, labelled=False), strict=True):
            gold = references[place]
            if place >= 0 and _words(gold) == _words(pred) and len(pred.words) > 1:
                golds.append(replace(gold.unlabelled(), words=pred.words))
                preds.append(pred.unlabelled())
        yield path.name.removesuffix(".txt.gz"), golds, preds, len(places) - len(golds)


def _words(tree: Tree) -> list[str]:
    return [word.lower() for word in tree.words]
