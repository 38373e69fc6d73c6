"""Learning the lexicon (thesis 6.2.4): easiest sentences first, then more, until the whole training set is right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from groundling.errors import DataError
from groundling.systems.g2l2.config import Config
from groundling.systems.g2l2.domain import Domain, known_words
from groundling.systems.g2l2.domains import load_domain
from groundling.systems.g2l2.model import Lexicon
from groundling.systems.g2l2.predict import accuracy, are_right
from groundling.systems.g2l2.saved import Model
from groundling.training.devices import torch_generator
from groundling.training.loop import fit
from groundling.training.runs import RunFolder

AMBIGUOUS = 0.9  # a word whose best entry has less of its use
ENOUGH, MOSTLY = 5, 0.25  # a word in so many sentences, of which this share goes wrong, may have been pruned too early


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
        if reached >= min(config.good_enough, config.restart_below):
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
    optimizer = torch.optim.Adam(groups)
    rates = [lambda _: 1.0, lambda _: config.stage_decay ** min(int(lexicon.progress[0]), 2 * len(course.sets))][
        : len(groups)
    ]
    settings: dict[str, Any] = {
        "batches": course.batches,
        "loss": course.loss,
        "optimizer": optimizer,
        "scheduler": torch.optim.lr_scheduler.LambdaLR(optimizer, rates),
        "scheduler_every": "epoch",
        "epochs": config.epochs_a_stage * len(course.sets),
        "seed": seed * 1000 + attempt,
        "evaluate": course.evaluate,
        "device": config.device,
        "label": f"learning {domain.name}",
    }
    if folder is None:
        history = fit(lexicon, **settings)
    else:
        with RunFolder(Path(folder) / f"attempt-{attempt}", resume=resume) as run:
            run.keep_config(config)
            history = fit(lexicon, run=run, **settings)
    return lexicon, history.records[-1]["accuracy"] if history.finished else course.accuracy_of_all(lexicon)


class Course:
    """The curriculum: which examples a stage has, batches of one sentence length, and when to go on.

    The stage is a buffer of the lexicon that changes at the end of an epoch only, so a killed run resumes exactly.
    """

    def __init__(self, config: Config, examples: list[Any], lexicon: Lexicon):
        self.config, self.examples, self.lexicon = config, examples, lexicon
        self.sets = [choose(examples, size, config.each_word) for size in config.stages]
        if config.longest:
            self.sets = [[item for item in examples if len(item.words) <= words] for words in config.longest]
            self.sets = [chosen for chosen in self.sets if chosen]

    def stage(self) -> list[Any]:
        """Return the examples of the stage under way; the last one goes on to the end."""
        return self.sets[min(int(self.lexicon.progress[0]), len(self.sets) - 1)]

    def loss(self, lexicon: Lexicon, batch: list[Any], _: torch.Generator) -> torch.Tensor:
        """Return the mean loss of a batch."""
        if self.config.reach:
            lexicon.hold(self.config.reach)
        return lexicon.loss(batch, self.config.parse_weight).mean()

    def batches(self, epoch: int, rng: np.random.Generator) -> Iterator[list[Any]]:
        """Yield batches of sentences of one length, each length as often as it has sentences (or by `balance`)."""
        examples = self.stage()
        lengths = np.array([len(self.lexicon.meaningful(example)) for example in examples])
        golds = [self.lexicon.domain.gold(example) for example in examples]
        chances = balanced(golds, [example.words for example in examples], self.config.balance)
        for _ in range(self.config.steps):
            alike = np.flatnonzero(lengths == lengths[draw(rng, chances, 1)[0]])
            yield [examples[alike[i]] for i in draw(rng, chances[alike], self.config.batch_size)]

    def evaluate(self, lexicon: Lexicon) -> dict[str, float]:
        """Count which entries are used, measure, and go on to the next stage when this one is learned."""
        config, examples = self.config, self.stage()
        step = max(1, len(examples) // config.usage_examples)
        lexicon.count_usage(same_length(lexicon, examples[::step], config.batch_size))
        checked = examples[:: max(1, len(examples) // config.check_examples)]
        right = are_right(lexicon, checked, clear=True)
        here = sum(right) / len(right)
        scores = {"stage": float(lexicon.progress[0]), "stage_accuracy": here, "accuracy": 0.0, "finished": 0.0}
        if here >= config.good_enough:
            scores["accuracy"] = self.accuracy_of_all(lexicon)
            trained = (
                not config.longest or int(lexicon.progress[0]) >= len(self.sets) - 1
            )  # on the longest sentences too
            scores["finished"] = float(scores["accuracy"] >= config.good_enough and trained)
        elif self.is_time_to_decide():
            self.decide(examples)
            self.reopen(checked, right)
        lexicon.progress[1] += 1
        if here >= config.good_enough or lexicon.progress[1] >= config.epochs_a_stage:
            scores["finished"] = max(scores["finished"], float(here < config.give_up))
            if lexicon.progress[0] >= config.first_pruned_stage:
                self.prune()
            lexicon.progress[0] += 1
            lexicon.progress[1] = 0
        return scores

    def is_time_to_decide(self) -> bool:
        """Whether ambiguous words are to be decided now: not before concepts have been learned from short sentences."""
        stage, epochs = self.lexicon.progress.tolist()
        every = self.config.decide_every
        return every > 0 and stage >= self.config.first_pruned_stage and (epochs + 1) % every == 0

    def decide(self, examples: list[Any]) -> None:
        """Decide the words that are often used and still ambiguous."""
        config, lexicon = self.config, self.lexicon
        for word, share, used in zip(
            lexicon.words, lexicon.shares().amax(1).tolist(), lexicon.usage.sum(1).tolist(), strict=True
        ):
            if used >= config.least_use and share < AMBIGUOUS:
                having = [example for example in examples if word in example.words]
                chosen = having[:: max(1, len(having) // config.batch_size)]
                lexicon.decide(word, same_length(lexicon, chosen, config.batch_size), config.reach)

    def reopen(self, examples: Sequence[Any], right: Sequence[bool]) -> None:
        """Switch all entries on again for words whose sentences mostly go wrong: they were pruned too early."""
        uses, errors = Counter[str](), Counter[str]()
        for example, good in zip(examples, right, strict=True):
            uses.update(set(example.words))
            errors.update(set(example.words) if not good else ())
        overall = 1 - sum(right) / len(right)
        for word, wrong in errors.items():
            if uses[word] >= ENOUGH and wrong / uses[word] > max(MOSTLY, 3 * overall):
                self.lexicon.reopen(word)

    def prune(self) -> None:
        """Switch off entries that are hardly used."""
        config = self.config
        self.lexicon.prune(config.least_share, least_use=config.least_use, unlikely=config.unlikely)

    def accuracy_of_all(self, lexicon: Lexicon) -> float:
        """Return the accuracy on the whole training set, or on `whole_examples` of it."""
        step = max(1, len(self.examples) // self.config.whole_examples)
        return accuracy(lexicon, self.examples[::step], clear=True)


def draw(rng: np.random.Generator, chances: NDArray[np.float64], size: int) -> NDArray[np.intp]:
    """Return up to `size` different numbers, drawn one after the other by their chances."""
    if chances.min() == chances.max():
        return rng.permutation(len(chances))[:size] if size > 1 else rng.integers(len(chances), size=1)
    return np.argsort(rng.exponential(size=len(chances)) / chances)[:size]


def balanced(answers: Sequence[str], sentences: Sequence[Sequence[str]], power: float) -> NDArray[np.float64]:
    """Return the chance of each example: (how many have its answer * how many have its rarest word) ** -power.

    >>> balanced(["yes", "yes", "no"], [["a"], ["a"], ["a"]], 1.0).tolist()
    [0.25, 0.25, 0.5]
    """
    counts, uses = Counter(answers), Counter(word for words in sentences for word in set(words))
    pairs = zip(answers, sentences, strict=True)
    chances = np.array([(counts[answer] * min(uses[word] for word in words)) ** -power for answer, words in pairs])
    return chances / chances.sum()


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
