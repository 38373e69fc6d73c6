"""Train MLPAlign on bitext without links: count, label by two rules, fit the MLP (thesis 8.2.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from groundling.algorithms.mutual_argmax import argmax
from groundling.backbones.text import TextEncoder, load_text_encoder
from groundling.errors import DataError
from groundling.structures import Alignment
from groundling.systems.mlpalign.config import Config
from groundling.systems.mlpalign.counts import Counts, count
from groundling.systems.mlpalign.direct import links_of
from groundling.systems.mlpalign.features import cell_counts, evidence, features, labels
from groundling.systems.mlpalign.metric import learn_metric, mixed
from groundling.systems.mlpalign.model import MLP, Model
from groundling.systems.mlpalign.streams import Pair, Words, encoded_pairs
from groundling.training.devices import pick_device, seeded
from groundling.training.loop import fit
from groundling.training.progress import track
from groundling.training.runs import RunFolder


def train(
    config: Config,
    pairs: Sequence[tuple[Words, Words]],
    *,
    seed: int = 0,
    counts: Counts | None = None,
    encoder: TextEncoder | None = None,
    device: str = "auto",
    run: RunFolder | None = None,
) -> Model:
    """Train on sentence pairs; no links are given, none are needed. The same seed gives the same model.

    `counts` may come from `count_bitext` over much more text; without them the pairs themselves are counted. The cells
    of the first `training_pairs` pairs train the MLP, so put text like that to be aligned there, or shuffle.
    """
    whole = [(source, target) for source, target in pairs if source and target]
    if not whole:
        raise DataError("no sentence pair has words on both sides. Is one of the files empty?")
    text = encoder or load_text_encoder(config.encoder, pick_device(device))
    known = counts if counts is not None else count_bitext(config, whole, text)
    known = known.pruned() if config.features == "extended" else known
    taught = list(encoded_pairs(whole[: config.training_pairs], text, config.layers))
    mix = learn_metric(taught, config.metric).cpu() if config.metric else None
    cells = (mixed(pair, mix) if mix is not None else pair for pair in taught)
    x, y, weight = _cells(config, cells, known, config.training_cells / _size(taught), np.random.default_rng(seed))
    return Model(config, _fit(config, x, y, weight, seed, run), known, mix)


def _size(pairs: Iterable[Pair]) -> int:
    return sum(len(pair.source) * len(pair.target) for pair in pairs)


def count_bitext(config: Config, pairs: Iterable[tuple[Words, Words]], encoder: TextEncoder) -> Counts:
    """Count a stream: `encoded_pairs` of its pairs with their argmax links, the others as co-occurrence only.

    Deviation: in the extended form the pairs that train the MLP are not among the former. A rare word's count would
    be its own label there, and the MLP would learn to trust that.
    """
    return count(_with_links(config, pairs, encoder), expect=config.features == "extended")


def _with_links(
    config: Config, pairs: Iterable[tuple[Words, Words]], encoder: TextEncoder
) -> Iterator[tuple[Words, Words, Alignment | None]]:
    stream = iter(track(pairs, "counting"))
    for source, target in islice(stream, config.training_pairs if config.features == "extended" else 0):
        yield source, target, None
    for pair in encoded_pairs(islice(stream, config.encoded_pairs), encoder, config.layers):
        yield pair.source, pair.target, links_of(pair, argmax, "subword", config.centre)
    for source, target in stream:
        yield source, target, None


def _cells(
    config: Config, pairs: Iterable[Pair], counts: Counts, keep: float, rng: np.random.Generator
) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.float32]]:
    """Features, labels and weights of cells: all that carry a label, and a share of the rest, weighed up."""
    parts = [_sample(pair, counts, config, min(keep, 1.0), rng) for pair in pairs]
    x, y, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    if config.balanced:
        frequency = np.array([weight[y == label].sum() for label in range(3)])
        weight = weight / np.maximum(frequency, 1)[y] * len(y) / 3
    return x, y, weight.astype(np.float32)


def _sample(
    pair: Pair, counts: Counts, config: Config, keep: float, rng: np.random.Generator
) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.float32]]:
    cells = cell_counts(pair, counts)
    found = evidence(pair, cells, config)
    y = labels(found, config).ravel()
    x = features(pair.source, pair.target, found, cells, config).reshape(len(y), -1)
    chosen = (y > 0) | (rng.random(len(y)) < keep)
    weight = np.where(y > 0, 1.0, 1 / keep).astype(np.float32)
    return x[chosen], y[chosen], weight[chosen]


def _fit(
    config: Config,
    x: NDArray[np.float32],
    y: NDArray[np.int64],
    weight: NDArray[np.float32],
    seed: int,
    run: RunFolder | None,
) -> MLP:
    with seeded(seed):
        network = MLP(config)
    inputs, wanted, weights = torch.from_numpy(x), torch.from_numpy(y), torch.from_numpy(weight)
    with torch.no_grad():
        ready = network.prepare(inputs)
        network.mean.copy_(ready.mean(0))
        network.scale.copy_(ready.std(0).clamp_min(1e-3))

    def batches(epoch: int, rng: np.random.Generator) -> Iterator[Tensor]:
        return iter(torch.from_numpy(rng.permutation(len(y))).split(config.batch))

    def loss(module: MLP, rows: Tensor, generator: torch.Generator) -> Tensor:
        each = torch.nn.functional.cross_entropy(module(inputs[rows]), wanted[rows], reduction="none")
        return (each * weights[rows]).sum() / weights[rows].sum()

    optimizer = torch.optim.Adam(network.parameters(), lr=config.learning_rate)
    fit(
        network, batches=batches, loss=loss, optimizer=optimizer, epochs=config.epochs, seed=seed, run=run,
        device="cpu", label="MLP",
    )  # fmt: skip
    return network
