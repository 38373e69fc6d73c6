"""The spoken world prepared for chapter 4: what is heard, and (for evaluation only) words and trees over seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from groundling.algorithms.branching import left_branching, random_binary, right_branching
from groundling.metrics.boundaries import Boundaries
from groundling.metrics.parseval import ParsEval
from groundling.metrics.struct_iou import StructIoU
from groundling.structures.segmentation import Segmentation
from groundling.structures.tree import Tree
from groundling.systems.avnsl.config import Config
from groundling.systems.avnsl.data import Utterances, hear
from groundling.systems.avnsl.induce import Segmented, timed_tree
from groundling.systems.avnsl.model import segmented
from groundling.systems.avnsl.vectors import frame_ranges, segment_vectors
from groundling.worlds.spoken_captions import make_spoken_world, voice_called


@dataclass(frozen=True)
class Material:
    """Utterances 0 .. cut-1 are for training, the rest for testing; `words` and `trees` are never trained on."""

    data: Utterances
    words: Sequence[Segmentation]
    trees: Sequence[Tree]  # over seconds
    cut: int

    @property
    def training(self) -> Utterances:
        """What the learner may see."""
        return Utterances(self.data.sounds[: self.cut], self.data.images[: self.cut], self.data.features)

    @property
    def gold_words(self) -> Sequence[Segmentation]:
        """Words of the test utterances."""
        return self.words[self.cut :]

    @property
    def gold_trees(self) -> Sequence[Tree]:
        """Trees of the test utterances."""
        return self.trees[self.cut :]


def prepare(training: int, test: int, seed: int, voice: str = "built-in") -> Material:
    """Speak a world of so many scenes, one caption each."""
    world = make_spoken_world(training + test, seed, voice=voice_called(voice))
    sounds, words, trees = [], [], []
    for i, clip in enumerate(world.clips()):
        sounds.append(hear(clip.samples))
        words.append(clip.words)
        trees.append(world.timed_tree(i, clip))
    return Material(Utterances(sounds, world.images, world.features), words, trees, training)


def boundaries(gold: Sequence[Segmentation], found: Sequence[Segmentation]) -> dict[str, float]:
    """Precision, recall, F1 and R-value of word boundaries within 20 ms, in percent."""
    details = Boundaries().corpus(gold, found, bootstrap=0).details
    return {name: 100 * details[name] for name in ("precision", "recall", "f1", "r-value")}


def struct_iou(gold: Sequence[Tree], found: Sequence[Tree]) -> float:
    """Unlabelled Struct-IoU over seconds, averaged over sentences, 0-1 as the thesis prints it."""
    return StructIoU(labels=False).corpus(gold, found, bootstrap=0).value


def f1(gold: Sequence[Tree], found: Sequence[Tree]) -> float:
    """ParsEval F1 over the same words, in VG-NSL's convention, in percent."""
    return 100 * ParsEval("vgnsl").corpus(gold, found, bootstrap=0).value


def typed_recall(gold: Sequence[Tree], found: Sequence[Tree], label: str) -> float:
    """Share of the gold constituents of this label (two words or more) that were found, in percent."""
    wanted = hit = 0
    for reference, tree in zip(gold, found, strict=True):
        spans = {(s.start, s.end) for s in tree.spans()}
        for start, end, name in reference.spans():
            if name == label and end - start > 1:
                wanted, hit = wanted + 1, hit + ((start, end) in spans)
    return 100 * hit / max(wanted, 1)


def baseline_trees(words: Sequence[Segmentation], kind: str, rng: np.random.Generator) -> list[Tree]:
    """Left-branching, right-branching or random trees over these segments."""
    made: list[Tree] = []
    for segmentation in words:
        names = [str(k) for k in range(len(segmentation.segments))]
        rules = {"left": left_branching, "right": right_branching}
        tree = rules[kind](names) if kind in rules else random_binary(names, rng)
        made.append(timed_tree([(s.start, s.end) for s in tree.spans() if s.end - s.start > 1], segmentation))
    return made


def told_words(
    config: Config, frames: Sequence[np.ndarray], words: Sequence[Segmentation], material: Material
) -> Segmented:
    """Utterances cut at these words: frames that the learner weighs itself, or segment vectors in parts."""
    if config.vector_parts == 1:
        return with_owners(frames, words, material)
    rows = [segment_vectors(f, w, parts=config.vector_parts) for f, w in zip(frames, words, strict=True)]
    return segmented(rows, material.data.images, material.data.features)


def with_owners(frames: Sequence[np.ndarray], words: Sequence[Segmentation], material: Material) -> Segmented:
    """Frames inside words, with the number of their word: the learner weighs them itself (thesis 4.3.2, topline)."""
    kept, owners = [], []
    for rows, segmentation in zip(frames, words, strict=True):
        ranges = frame_ranges(segmentation, len(rows))
        kept.append(np.concatenate([rows[a:b] for a, b in ranges]).astype(np.float32))
        owners.append(np.concatenate([np.full(b - a, k) for k, (a, b) in enumerate(ranges)]))
    counts = np.array([len(w.segments) for w in words], dtype=np.int64)
    return Segmented(kept, counts, material.data.images, material.data.features, owners)
