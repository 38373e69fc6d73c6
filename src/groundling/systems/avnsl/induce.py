"""Train the learner on segmented utterances, and parse with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from groundling.errors import DataError
from groundling.structures.segmentation import Segmentation
from groundling.structures.tree import Tree
from groundling.systems.avnsl.config import Config
from groundling.systems.avnsl.learner import Batch, Learner
from groundling.training.batching import batches_by_length
from groundling.training.loop import fit
from groundling.training.runs import RunFolder

Spans = list[tuple[int, int]]
Rows = Sequence[NDArray[np.float32]]


@dataclass(frozen=True)
class Segmented:
    """Utterances as rows of vectors. With `owners`, rows are frames and owners[i][t] is the segment of frame t."""

    rows: Rows  # of each utterance: (segments, dim), or (frames, dim)
    counts: NDArray[np.int64]  # segments of each utterance
    images: NDArray[np.int64]
    features: NDArray[np.float32]
    owners: Sequence[NDArray[np.int64]] | None = None

    def batch(self, chosen: NDArray[np.int64], device: torch.device) -> Batch:
        """These utterances, side by side."""
        lengths = self.counts[chosen]
        numbers = self.images[chosen]
        longest = int(lengths.max())
        owner = None
        if self.owners is None:
            vectors = np.zeros((len(chosen), longest, self.rows[0].shape[1]), dtype=np.float32)
            for row, i in enumerate(chosen):
                vectors[row, : lengths[row]] = self.rows[i]
        else:
            vectors = np.concatenate([self.rows[i] for i in chosen])
            joined = np.concatenate([self.owners[i] + row * longest for row, i in enumerate(chosen)])
            owner = torch.from_numpy(joined).to(device)
        parts = [torch.from_numpy(part).to(device) for part in (vectors, lengths, self.features[numbers], numbers)]
        return Batch(parts[0], parts[1], parts[2], parts[3], owner)


def train_learner(
    config: Config,
    data: Segmented,
    *,
    seed: int,
    run: RunFolder | None = None,
    watch: Callable[[Learner], dict[str, float]] | None = None,
    device: str = "auto",
) -> Learner:
    """Learn trees from segments and images (thesis ch. 3 on speech). `watch` looks at it after each epoch."""
    used = np.flatnonzero(data.counts >= 2)
    if len(used) < 2:
        raise DataError(
            "fewer than two utterances have two segments or more. Lower `gap` or `threshold`, or add speech."
        )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        learner = Learner(config, data.rows[0].shape[1], data.features.shape[1], data.owners is not None)
    sample = np.concatenate([data.rows[i] for i in used[:2000]])
    learner.see(torch.from_numpy(sample), torch.from_numpy(data.features[np.unique(data.images)]))

    def loss(module: Learner, chosen: NDArray[np.int64], generator: torch.Generator) -> Any:
        return module.loss(data.batch(used[chosen], module.image.weight.device), generator)

    slow = list(learner.scorer.parameters())
    fast = [p for name, p in learner.named_parameters() if not name.startswith("scorer.")]
    groups = [{"params": slow, "lr": config.scorer_learning_rate}, {"params": fast, "lr": config.learning_rate}]
    fit(
        learner,
        batches=lambda _, rng: batches_by_length(data.counts[used], config.batch_size, rng, window=8),
        loss=loss,
        optimizer=torch.optim.Adam(groups),
        epochs=config.epochs,
        seed=seed,
        run=run,
        clip=config.clip,
        evaluate=watch,
        device=device,
        label="inducing trees over segments",
    )
    return learner.eval()


def parse_spans(learner: Learner, data: Segmented, size: int = 128) -> list[Spans]:
    """The spans (over segments, two or more) of each utterance's tree, in order."""
    found: list[Spans] = [[] for _ in data.counts]
    order = np.argsort(data.counts, kind="stable")
    order = order[data.counts[order] >= 2]
    for begin in range(0, len(order), size):
        chosen = order[begin : begin + size]
        spans = learner.parse(data.batch(chosen, learner.image.weight.device)).spans.cpu().numpy()
        for i, row in zip(chosen, spans, strict=True):
            found[i] = [(int(a), int(b)) for a, b in row[: data.counts[i] - 1]]
    return found


def timed_tree(spans: Spans, segmentation: Segmentation) -> Tree:
    """A tree over seconds; its leaves are numbered, for nobody knows the words.

    >>> str(timed_tree([(0, 2)], Segmentation.from_boundaries([0.0, 0.2, 0.5])))
    '( 1 2 )'
    """
    words = [segment.word or str(k) for k, segment in enumerate(segmentation.segments, 1)]
    return Tree.from_segments(Tree.from_spans(words, spans), segmentation)
