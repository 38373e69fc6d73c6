"""What the commands do, as functions: files in, models, trees and scores out."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from groundling.algorithms.branching import left_branching, random_binary, right_branching
from groundling.formats import brackets
from groundling.formats.files import open_text
from groundling.metrics.base import Score
from groundling.metrics.parseval import ParsEval
from groundling.structures.tree import Tree
from groundling.systems.vgnsl.concreteness import correlation, read_norms, word_concreteness
from groundling.systems.vgnsl.config import Config
from groundling.systems.vgnsl.data import read_captions
from groundling.systems.vgnsl.model import Model
from groundling.systems.vgnsl.train import train
from groundling.systems.vgnsl.vectors import read_vectors
from groundling.systems.vgnsl.words import tokenise
from groundling.training.runs import RunFolder


def train_files(
    config: Config,
    captions: str | Path,
    features: str | Path,
    out: str | Path,
    *,
    rows: str | Path | None = None,
    vectors: str | Path | None = None,
    gold: str | Path | None = None,
    seed: int = 0,
    resume: bool = False,
    device: str = "auto",
) -> Model:
    """Train from files into a run folder. With `gold`, each epoch's F1 is written to its metrics and not used."""
    data = read_captions(captions, features, rows)
    given = None if vectors is None else read_vectors(vectors, lowercase=config.lowercase)
    trees = None if gold is None else list(brackets.read(gold))

    def watch(model: Model) -> dict[str, float]:
        assert trees is not None
        return {"f1": ParsEval("vgnsl").corpus(trees, model.parse(t.words for t in trees), bootstrap=0).value}

    with RunFolder(out, resume=resume) as run:
        return train(config, data, seed=seed, vectors=given, run=run, watch=watch if trees else None, device=device)


def read_sentences(text: str | Path, raw: bool = False) -> Iterator[tuple[str, ...]]:
    """The words of each line; raw text is cut into tokens first."""
    for line in open_text(text):
        yield tokenise(line) if raw else tuple(line.split())


def parse_lines(model: str | Path, text: str | Path, raw: bool = False) -> Iterator[str]:
    """One bracketed tree a line of text, an empty line for an empty line."""
    trained = Model.load(model)
    for sentence, tree in _in_step(trained, read_sentences(text, raw)):
        yield str(tree) if sentence else ""


def _in_step(model: Model, sentences: Iterator[tuple[str, ...]]) -> Iterator[tuple[tuple[str, ...], Tree | None]]:
    waiting: deque[tuple[str, ...]] = deque()

    def real() -> Iterator[tuple[str, ...]]:
        for sentence in sentences:
            waiting.append(sentence)
            if sentence:
                yield sentence

    for tree in model.parse(real()):
        while not waiting[0]:
            yield waiting.popleft(), None
        yield waiting.popleft(), tree
    yield from ((sentence, None) for sentence in waiting)


def evaluate_file(
    model: str | Path,
    gold: str | Path,
    convention: str = "vgnsl",
    punctuation: bool = True,
    baselines: bool = True,
    seed: int = 0,
) -> dict[str, Score]:
    """Scores by system: the model's, and those of trees that know nothing."""
    trees = list(brackets.read(gold))
    metric = ParsEval(convention, punctuation=punctuation)
    scores = {str(model): metric.corpus(trees, list(Model.load(model).parse(tree.words for tree in trees)))}
    if baselines:
        rng = np.random.default_rng(seed)
        scores["random"] = metric.corpus(trees, [random_binary(tree.words, rng) for tree in trees])
        scores["left"] = metric.corpus(trees, [left_branching(tree.words) for tree in trees])
        scores["right"] = metric.corpus(trees, [right_branching(tree.words) for tree in trees])
    return scores


def concreteness_file(
    model: str | Path,
    captions: str | Path,
    features: str | Path,
    rows: str | Path | None = None,
    norms: str | Path | None = None,
    top: int = 100,
    seed: int = 0,
) -> dict[str, Any]:
    """Concreteness of the `top` most frequent words, falling; with norms their correlation."""
    data = read_captions(captions, features, rows)
    learned = word_concreteness(Model.load(model), data, seed)
    counts = {word: 0 for word in learned}
    for word in (word.lower() for sentence in data.sentences for word in sentence):
        counts[word] = counts.get(word, 0) + 1
    frequent = sorted(learned, key=lambda word: -counts[word])[:top]
    found: dict[str, Any] = {"words": {word: learned[word] for word in sorted(frequent, key=lambda w: -learned[w])}}
    if norms is not None:
        found["correlation"], found["n"] = correlation(learned, read_norms(norms), data.sentences, top)
    return found
