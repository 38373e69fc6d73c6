"""Learning the lexicon (thesis 6.2.4): easiest sentences first, then more, until the whole training set is right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from groundling.errors import DataError
from groundling.systems.g2l2.config import Config
from groundling.systems.g2l2.domain import Domain, known_words
from groundling.systems.g2l2.domains import load_domain
from groundling.systems.g2l2.model import Lexicon
from groundling.systems.g2l2.predict import accuracy
from groundling.systems.g2l2.saved import Model
from groundling.training.devices import torch_generator
from groundling.training.loop import fit
from groundling.training.runs import RunFolder


def train(
    config: Config,
    examples: Sequence[Any],
    *,
    seed: int,
    folder: str | Path | None = None,
    resume: bool = False,
    domain: Domain | None = None,
) -> Model:
    """Learn a lexicon from sentences and what they do; begin again while training accuracy stays too low.

    Each attempt has its own run folder `attempt-N` under `folder` and can be resumed; the model is saved in `folder`.
    """
    domain = domain or load_domain(config.domain)
    examples = order(domain, examples)
    if not examples:
        raise DataError("there are no training examples. Give a file with at least one.")
    best: tuple[float, int, Lexicon] | None = None
    for attempt in range(config.restarts + 1):
        lexicon, reached = _attempt(config, domain, examples, seed, attempt, folder, resume)
        if best is None or reached > best[0]:
            best = reached, attempt, lexicon
        if reached >= config.good_enough:
            break
    assert best is not None
    info = {"seed": seed, "training_accuracy": best[0], "attempt": best[1], "examples": len(examples)}
    model = Model(config, best[2], info)
    if folder is not None:
        model.save(folder)
    return model


def order(domain: Domain, examples: Sequence[Any]) -> list[Any]:
    """Return the distinct examples, the easiest first."""
    return sorted(dict.fromkeys(examples), key=domain.effort)


def _attempt(
    config: Config, domain: Domain, examples: list[Any], seed: int, attempt: int, folder: Any, resume: bool
) -> tuple[Lexicon, float]:
    words = sorted({*known_words(examples), *domain.answer_words()})
    lexicon = Lexicon(domain, words, generator=torch_generator(seed, attempt))
    groups = [{"params": [lexicon.weights], "lr": config.learning_rate}]
    if lexicon.concepts:
        groups.append({"params": list(lexicon.concepts.parameters()), "lr": config.concept_learning_rate})
    course = Course(config, examples, lexicon)
    settings: dict[str, Any] = {
        "batches": course.batches,
        "loss": lambda module, batch, _: module.loss(batch, config.parse_weight).mean(),
        "optimizer": torch.optim.Adam(groups),
        "epochs": config.epochs_a_stage * len(config.stages),
        "seed": seed * 1000 + attempt,
        "evaluate": course.evaluate,
        "device": config.device,
        "label": f"learning {domain.name}",
    }
    if folder is None:
        history = fit(lexicon, **settings)
    else:
        with RunFolder(Path(folder) / f"attempt-{attempt}", resume=resume) as run:
            history = fit(lexicon, run=run, **settings)
    return lexicon, history.records[-1]["accuracy"] if history.finished else course.accuracy_of_all(lexicon)


class Course:
    """The curriculum: which examples a stage has, batches of one sentence length, and when to go on.

    The stage is a buffer of the lexicon that changes at the end of an epoch only, so a killed run resumes exactly.
    """

    def __init__(self, config: Config, examples: list[Any], lexicon: Lexicon):
        self.config, self.examples, self.lexicon = config, examples, lexicon
        self.sets = [choose(examples, size, config.each_word) for size in config.stages]

    def stage(self) -> list[Any]:
        """Return the examples of the stage under way."""
        return self.sets[min(int(self.lexicon.progress[0]), len(self.sets) - 1)]

    def batches(self, epoch: int, rng: np.random.Generator) -> Iterator[list[Any]]:
        """Yield batches of sentences of one length, each length as often as it has sentences."""
        examples = self.stage()
        by_length: dict[int, list[Any]] = {}
        for example in examples:
            by_length.setdefault(len(self.lexicon.meaningful(example)), []).append(example)
        for _ in range(self.config.steps):
            pool = by_length[len(self.lexicon.meaningful(examples[rng.integers(len(examples))]))]
            yield [pool[i] for i in rng.permutation(len(pool))[: self.config.batch_size]]

    def evaluate(self, lexicon: Lexicon) -> dict[str, float]:
        """Count which entries are used, measure, and go on to the next stage when this one is learned."""
        examples = self.stage()
        step = max(1, len(examples) // self.config.usage_examples)
        lexicon.count_usage(same_length(lexicon, examples[::step], self.config.batch_size))
        here = accuracy(lexicon, examples[:: max(1, len(examples) // self.config.check_examples)], clear=True)
        scores = {"stage": float(lexicon.progress[0]), "stage_accuracy": here, "accuracy": 0.0, "finished": 0.0}
        if here >= self.config.good_enough:
            scores["accuracy"] = accuracy(lexicon, self.examples, clear=True)
            scores["finished"] = float(scores["accuracy"] >= self.config.good_enough)
        lexicon.progress[1] += 1
        if here >= self.config.good_enough or lexicon.progress[1] >= self.config.epochs_a_stage:
            if lexicon.progress[0] >= self.config.first_pruned_stage:
                lexicon.prune(self.config.least_share)
            lexicon.progress[0] += 1
            lexicon.progress[1] = 0
        return scores

    def accuracy_of_all(self, lexicon: Lexicon) -> float:
        """Return the accuracy on the whole training set."""
        return accuracy(lexicon, self.examples, clear=True)


def choose(examples: list[Any], size: int, each_word: int) -> list[Any]:
    """Return the `size` easiest examples and, for every word, its `each_word` easiest ones.

    >>> from groundling.worlds.scan import parse_line
    >>> lines = ["IN: run OUT: I_RUN", "IN: look OUT: I_LOOK", "IN: run twice OUT: I_RUN I_RUN"]
    >>> [item.text for item in choose([parse_line(line) for line in lines], 1, 1)]
    ['run', 'look', 'run twice']
    """
    chosen, seen = [], Counter[str]()
    for place, example in enumerate(examples):
        if place < size or any(seen[word] < each_word for word in example.words):
            chosen.append(example)
            seen.update(set(example.words))
    return chosen


def same_length(lexicon: Lexicon, examples: Sequence[Any], size: int) -> Iterator[list[Any]]:
    """Yield batches of sentences with equally many words that may mean something."""
    lengths = {id(example): len(lexicon.meaningful(example)) for example in examples}
    batch: list[Any] = []
    for example in sorted(examples, key=lambda item: lengths[id(item)]):
        if batch and (len(batch) == size or lengths[id(batch[0])] != lengths[id(example)]):
            yield batch
            batch = []
        batch.append(example)
    if batch:
        yield batch
