"""Gumbel-tree VSE (thesis 3.3.2): the tree of a caption is whatever makes the caption retrieve its image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from groundling.neural.gumbel_tree import gumbel_tree
from groundling.neural.retrieval_losses import match_all
from groundling.systems.vgnsl.baselines.shape import Options, Parser, Spans
from groundling.systems.vgnsl.config import Config
from groundling.systems.vgnsl.data import Captions, by_length
from groundling.systems.vgnsl.learner import Batch, Learner
from groundling.systems.vgnsl.train import Feed
from groundling.systems.vgnsl.words import Vocabulary, pad
from groundling.training.loop import fit


class GumbelLearner(Learner):
    """VG-NSL's word vectors, image projection and score network; only the root of the caption meets the image."""

    def loss(self, batch: Batch, generator: torch.Generator) -> tuple[Tensor, dict[str, Tensor]]:
        """Hinge triplet loss of whole captions against whole images, both ways."""
        root, _ = gumbel_tree(self.scorer, self.word_vectors(batch.words), batch.lengths, generator)
        similarity = (root @ self.image_vectors(batch.features).T).unsqueeze(1)
        one = torch.ones(len(root), 1, dtype=torch.bool, device=root.device)
        other = batch.images[:, None] != batch.images
        loss = match_all(similarity, one, other, self.config.margin, self.config.reward_margin).loss
        return loss, {"matching": loss.detach()}


@dataclass(frozen=True)
class GumbelParser(Parser):
    """Greedy trees of the score network."""

    vocabulary: Vocabulary
    learner: GumbelLearner

    @torch.no_grad()
    def spans(self, sentences: Sequence[Sequence[str]]) -> list[Spans]:
        """The spans of argmax merging, in the order of their making."""
        device = self.learner.image.weight.device
        numbers = [self.vocabulary.encode(words) for words in sentences]
        found: list[Spans] = [[] for _ in sentences]
        for chosen in by_length([len(one) for one in numbers], 256):
            words, lengths = pad([numbers[i] for i in chosen])
            vectors = self.learner.word_vectors(torch.from_numpy(words).to(device))
            _, spans = gumbel_tree(self.learner.scorer, vectors, torch.from_numpy(lengths).to(device))
            for i, length, row in zip(chosen, lengths, spans.cpu().tolist(), strict=True):
                found[i] = [(start, end) for start, end in row[: length - 1]]
        return found


def learn(captions: Captions, seed: int, options: Options, config: Config | None = None) -> GumbelParser:
    """Train on image-caption retrieval; the score network learns at the rate of the rest."""
    config = config or Config(epochs=10)
    used = [i for i, words in enumerate(captions.sentences) if 2 <= len(words) <= config.max_length]
    captions = captions.take(np.array(used, dtype=np.int64))
    vocabulary = Vocabulary.of(captions.sentences, config.min_count, config.lowercase)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        learner = GumbelLearner(config, len(vocabulary), captions.features.shape[1])
    learner.see(torch.from_numpy(captions.features[np.unique(captions.images)]))
    feed, parser, watch = Feed(config, vocabulary, captions), GumbelParser(vocabulary, learner), options.watch
    fit(
        learner,
        batches=feed.batches,
        loss=feed.loss,
        optimizer=torch.optim.Adam(learner.parameters(), lr=config.learning_rate),
        epochs=config.epochs if options.epochs is None else options.epochs,
        seed=seed,
        clip=config.clip,
        evaluate=None if watch is None else lambda _: watch(parser),
        every=options.every,
        device=options.device,
        label="training Gumbel-tree VSE",
    )
    learner.eval()
    return parser
