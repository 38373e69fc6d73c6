"""Train a parser on trees, gold or silver: the one training of all rows of chapter 9."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from groundling.errors import DataError
from groundling.systems.subdp.config import Config
from groundling.systems.subdp.losses import partial_loss, targets_of
from groundling.systems.subdp.parser import Parser
from groundling.systems.subdp.predict import groups
from groundling.systems.subdp.silver import Inventory, Silver
from groundling.systems.subdp.vectors import Vectors
from groundling.training.devices import pick_device, seeded
from groundling.training.loop import History, fit
from groundling.training.runs import RunFolder

DECAY = 0.75 ** (1 / 5000)  # of the learning rate, each step (Dozat and Manning, 2017)


class Trees(NamedTuple):
    """Sentences with their vectors and their trees."""

    vectors: Vectors
    trees: Sequence[Silver]

    def select(self, sentences: Sequence[int] | np.ndarray) -> Trees:
        """Some of the sentences."""
        return Trees(self.vectors.select(sentences), [self.trees[k] for k in sentences])

    def joined(self, other: Trees) -> Trees:
        """These sentences, then the other ones."""
        return Trees(self.vectors.joined(other.vectors), [*self.trees, *other.trees])


def new_parser(config: Config, vectors: Vectors, inventory: Inventory, seed: int) -> Parser:
    """A parser with random weights."""
    with seeded(seed):
        _, layers, dim = vectors.pieces.shape
        return Parser(config, layers, dim, len(inventory.labels), len(inventory.tags))


def train_source(
    config: Config,
    train: Trees,
    dev: Trees,
    inventory: Inventory,
    *,
    seed: int = 0,
    run: RunFolder | None = None,
    device: str = "auto",
) -> tuple[Parser, History]:
    """P_1: on the gold trees of the source language; the best LAS on `dev` is kept (thesis 9.3)."""
    parser = new_parser(config, train.vectors, inventory, seed)
    history = _fit(
        parser, config, train, dev, seed, run, device, "max dev_las", config.source_learning_rate,
        config.source_epochs, config.source_batch_words,
    )  # fmt: skip
    return parser, history


def train_target(
    config: Config,
    silver: Trees,
    start: Parser,
    *,
    seed: int = 0,
    run: RunFolder | None = None,
    device: str = "auto",
    best: str = "min dev_loss",
    gold: Trees | None = None,
) -> tuple[Parser, History]:
    """P_2: on silver trees, from the weights of `start`, which stays as it is (thesis 9.2.4).

    A tenth of the trees is held out: the epoch of least loss on them is kept, or with `best="max dev_las"` (for hard
    trees) that of the best agreement. With `config.source_share` some of the `gold` source trees are mixed in (ours).
    """
    parser = copy.deepcopy(start)
    kept = [k for k, tree in enumerate(silver.trees) if len(tree.arcs.head)]
    if len(kept) < 2:
        raise DataError(
            f"{len(kept)} of {len(silver.trees)} sentence pairs have a projected arc; training needs two at least. "
            "Are the two files translations of each other, line by line?"
        )
    order = np.random.default_rng(seed).permutation(kept)
    out = max(1, int(len(order) * config.held_out))
    train = silver.select(order[out:])
    count = int(config.source_share * len(train.trees))
    if gold is not None and count:
        train = train.joined(gold.select(np.random.default_rng(seed).permutation(len(gold.trees))[:count]))
    history = _fit(
        parser, config, train, silver.select(order[:out]), seed, run, device, best,
        config.target_learning_rate, config.target_epochs, _batch_words(config, int(train.vectors.lengths.sum())),
    )  # fmt: skip
    return parser, history


def _batch_words(config: Config, words: int) -> int:
    """Of a batch: what the config says, or less where the text is small.

    >>> _batch_words(Config(target_batch_words=2500, target_batches=16), 1600)
    100
    """
    share = words // config.target_batches if config.target_batches else config.target_batch_words
    return min(config.target_batch_words, max(share, 1))


def _fit(
    parser: Parser, config: Config, train: Trees, dev: Trees, seed: int, run: RunFolder | None, device: str, best: str,
    learning_rate: float, epochs: int, batch_words: int,
) -> History:  # fmt: skip
    where = pick_device(device)
    batches = groups(train.vectors.lengths, batch_words)
    all_pairs = config.label_pairs == "all"

    def loss(module: Parser, group: np.ndarray, _: torch.Generator) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        at = module.root.device
        scored = module(train.vectors.batch(group, at))
        parts = partial_loss(module, scored, targets_of([train.trees[k] for k in group], at), all_pairs)
        return parts["arc"] + parts["label"] + parts["tag"], {k: v.detach() for k, v in parts.items()}

    optimizer = torch.optim.Adam(parser.to(where).parameters(), lr=learning_rate, betas=(0.9, 0.9))
    return fit(
        parser,
        batches=lambda _, rng: [batches[k] for k in rng.permutation(len(batches))],
        loss=loss,
        optimizer=optimizer,
        scheduler=torch.optim.lr_scheduler.ExponentialLR(optimizer, DECAY),
        epochs=epochs,
        seed=seed,
        run=run,
        clip=config.clip,
        evaluate=lambda module: agreement(module, dev, all_pairs),
        best=best,
        patience=config.patience,
        device=device,
    )


@torch.no_grad()
def agreement(parser: Parser, dev: Trees, all_pairs: bool = False, batch_words: int = 5000) -> dict[str, float]:
    """Loss, and the share of the arcs' weight that the likeliest heads (and labels) take: UAS and LAS of hard trees.

    Heads are taken word by word, without a tree: this is for early stopping only.
    """
    totals = np.zeros(4)
    for group in groups(dev.vectors.lengths, batch_words):
        scored = parser(dev.vectors.batch(group, parser.root.device))
        targets = targets_of([dev.trees[k] for k in group], parser.root.device)
        mass = float(targets.weight.sum())
        parts = partial_loss(parser, scored, targets, all_pairs)
        sentence, dependent, head = targets.arcs
        right = (scored.arcs.argmax(-1)[sentence, dependent] == head) * targets.weight
        same = parser.labels(scored, targets.arcs).argmax(-1) == targets.labels.argmax(-1)
        totals += [mass * float(parts["arc"] + parts["label"]), float(right.sum()), float((right * same).sum()), mass]
    loss, uas, las = totals[:3] / max(totals[3], 1e-9)
    return {"dev_loss": loss, "dev_uas": uas, "dev_las": las}
