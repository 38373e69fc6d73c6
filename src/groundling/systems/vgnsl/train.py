"""Train VG-NSL on captions and image features."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from groundling.errors import ConfigError, DataError
from groundling.systems.vgnsl.concreteness import word_concreteness
from groundling.systems.vgnsl.config import Config
from groundling.systems.vgnsl.data import Captions
from groundling.systems.vgnsl.learner import Batch, Learner
from groundling.systems.vgnsl.model import Model
from groundling.systems.vgnsl.vectors import Vectors
from groundling.systems.vgnsl.words import Vocabulary, pad
from groundling.training.batching import batches_by_length
from groundling.training.loop import fit
from groundling.training.runs import RunFolder

Watch = Callable[[Model], dict[str, float]]  # what to measure at each evaluation
SEEN = 4096  # captions on which a saved model's words are measured: enough for frequent words, and seconds


def train(
    config: Config,
    captions: Captions,
    *,
    seed: int,
    vectors: Vectors | None = None,
    run: RunFolder | None = None,
    watch: Watch | None = None,
    best: str | None = None,
    every: int | None = None,
    device: str = "auto",
    label: str = "training VG-NSL",
) -> Model:
    """Learn trees and groundings (thesis 3.2). `vectors` are fixed word vectors that stand beside the trained ones.

    `watch(model)` is called after each epoch, or each `every` steps; `best="max NAME"` keeps the weights where its
    number was best. With `run` the state is saved as it goes, resumed if the folder says so, and the model is written
    at the end, with the concreteness of the words (`info["concreteness"]`), which drawings show as colours.
    """
    used = [i for i, words in enumerate(captions.sentences) if 2 <= len(words) <= config.max_length]
    captions = captions.take(np.array(used, dtype=np.int64))
    if len(used) < 2:
        raise DataError(
            "fewer than two captions of 2 or more words are left to learn from. Give more, or raise max_length."
        )
    vocabulary = _vocabulary(config, captions, vectors)
    learner = _start(config, vocabulary, captions, vectors, seed)
    model = Model(config, vocabulary, learner, {"seed": seed, "captions": len(used), "data": _hashes(captions)})
    feed = Feed(config, vocabulary, captions)
    rates = {"scorer": config.scorer_learning_rate, "embedding": config.learning_rate, "image": config.learning_rate}
    groups = [{"params": learner.get_submodule(name).parameters(), "lr": rate} for name, rate in rates.items()]
    optimizer = torch.optim.Adam(groups, fused=True)  # one pass over the weights: they are many, the batch is small
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, [partial(_rate, config, name) for name in rates])
    if run is not None:
        run.keep_config(config)
    fit(
        learner,
        batches=feed.batches,
        loss=feed.loss,
        optimizer=optimizer,
        epochs=config.epochs,
        seed=seed,
        run=run,
        scheduler=scheduler,
        scheduler_every="epoch",
        clip=config.clip,
        evaluate=None if watch is None else lambda _: watch(model.fresh()),
        every=every,
        best=best,
        device=device,
        label=label,
    )
    finished = model.fresh()
    if run is not None and run.writer:
        some = np.random.default_rng(seed).permutation(len(used))[:SEEN]
        concrete = word_concreteness(finished, captions.take(some), seed)
        finished.info["concreteness"] = {word: round(value, 4) for word, value in concrete.items()}
        finished.save(run.path)
    return finished


def _rate(config: Config, part: str, epoch: int) -> float:
    """What the learning rate of a part is multiplied with in an epoch (from 0)."""
    falling = part == "scorer" and config.scorer_schedule == "linear"
    return (1 - epoch / config.epochs if falling else 1.0) * (0.1 if epoch >= config.drop_epoch else 1.0)


class Feed:
    """Batches for the loop: word numbers are looked up and padded once; features stay on the device."""

    def __init__(self, config: Config, vocabulary: Vocabulary, captions: Captions) -> None:
        words, lengths = pad([vocabulary.encode(sentence) for sentence in captions.sentences])
        self.size, self.lengths = config.batch_size, lengths
        self.words, self.counts = torch.from_numpy(words), torch.from_numpy(lengths)
        self.images, self.features = torch.from_numpy(captions.images), torch.from_numpy(captions.features)

    def batches(self, epoch: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        """The captions of each batch of an epoch."""
        return batches_by_length(self.lengths, self.size, rng)

    def loss(self, learner: Learner, chosen: NDArray[np.int64], generator: torch.Generator) -> Any:
        """The learner's loss on these captions."""
        device = learner.image.weight.device
        if self.features.device != device:
            self.words, self.counts = self.words.to(device), self.counts.to(device)
            self.images, self.features = self.images.to(device), self.features.to(device)
        index = torch.from_numpy(chosen).to(device)
        longest = int(self.lengths[chosen].max())
        images = self.images[index]
        batch = Batch(self.words[index, :longest], self.counts[index], self.features[images], images)
        return learner.loss(batch, generator)


def _vocabulary(config: Config, captions: Captions, vectors: Vectors | None) -> Vocabulary:
    """Words of the captions, and those that have a given vector: these can be parsed though no image showed them."""
    own = Vocabulary.of(captions.sentences, config.min_count, config.lowercase)
    if vectors is None:
        return own
    return Vocabulary((*own.words, *sorted(set(vectors.words) - set(own.words))), config.lowercase)


def _start(config: Config, vocabulary: Vocabulary, captions: Captions, vectors: Vectors | None, seed: int) -> Learner:
    dim = 0 if vectors is None else vectors.dim
    if dim >= config.embedding_dim:
        raise ConfigError(
            f"the word vectors have {dim} numbers; embedding_dim is {config.embedding_dim} and must be above."
        )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        learner = Learner(config, len(vocabulary), captions.features.shape[1], dim)
    learner.see(torch.from_numpy(captions.features[np.unique(captions.images)]))
    if vectors is not None:
        learner.vectors.copy_(torch.from_numpy(vectors.rows(vocabulary.words)))
    return learner


def _hashes(captions: Captions) -> dict[str, str]:
    text = "\n".join(" ".join(sentence) for sentence in captions.sentences)
    parts = {"captions": text.encode(), "images": captions.images.tobytes(), "features": captions.features.tobytes()}
    return {name: sha256(part).hexdigest() for name, part in parts.items()}
