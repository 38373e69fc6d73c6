"""The network of VG-NSL: word vectors, image projection Phi, score network Theta, and the loss that trains them."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from groundling.neural.easy_first import Parse, Scorer, compose, parse, step_scores
from groundling.systems.vgnsl.config import Config
from groundling.systems.vgnsl.grounding import ground


class Batch(NamedTuple):
    """Captions with their images; caption i describes row i of `features`."""

    words: Tensor  # (batch, n) word numbers, 0 after the end
    lengths: Tensor  # (batch,)
    features: Tensor  # (batch, feature_dim)
    images: Tensor  # (batch,): equal numbers are the same picture


class Learner(nn.Module):
    """All that is learned. Given word vectors (rows of `vectors`, fixed) stand beside the trained ones."""

    mean: Tensor
    scale: Tensor
    vectors: Tensor

    def __init__(self, config: Config, words: int, feature_dim: int, vector_dim: int = 0) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(words, config.embedding_dim - vector_dim)
        nn.init.uniform_(self.embedding.weight, -config.init, config.init)
        self.image = nn.Linear(feature_dim, config.embedding_dim)
        nn.init.xavier_uniform_(self.image.weight)
        nn.init.zeros_(self.image.bias)
        self.scorer = Scorer(config.embedding_dim, config.scorer_hidden_dim)
        self.register_buffer("mean", torch.zeros(feature_dim))
        self.register_buffer("scale", torch.ones(feature_dim))
        self.register_buffer("vectors", torch.zeros(words, vector_dim))

    def see(self, features: Tensor) -> None:
        """Learn mean and size of the image features: a common part of all images carries no meaning."""
        self.mean.copy_(features.mean(0))
        centred = features - self.mean
        self.scale.fill_(1 / centred.norm(dim=1).mean().clamp_min(1e-6))

    def word_vectors(self, words: Tensor) -> Tensor:
        """X^(0): (..., embedding_dim)."""
        vectors = torch.cat([self.vectors[words], self.embedding(words)], dim=-1)
        return normalize(vectors, dim=-1) if self.config.unit_words else vectors

    def image_vectors(self, features: Tensor) -> Tensor:
        """Phi v at unit length (..., embedding_dim)."""
        return normalize(self.image((features - self.mean) * self.scale), dim=-1)

    def constituents(self, words: Tensor, found: Parse) -> tuple[Tensor, Tensor]:
        """Vectors of all constituents as the parser sees them, and at unit length as they meet images."""
        nodes = compose(words, found.merges)
        n = words.shape[1]
        return nodes, torch.cat([normalize(nodes[:, :n], dim=-1), nodes[:, n:]], dim=1)

    def loss(self, batch: Batch, generator: torch.Generator) -> tuple[Tensor, dict[str, Tensor]]:
        """Hinge loss of sampled trees, and REINFORCE: minus log p of each merge times its reward (thesis 3.2.3)."""
        words = self.word_vectors(batch.words)
        found = parse(self.scorer, words.detach(), batch.lengths, generator)
        nodes, units = self.constituents(words, found)
        other = batch.images[:, None] != batch.images
        grounding = ground(units, found, self.image_vectors(batch.features), other, self.config)
        reward = grounding.reward(self.config.bias)
        # Thesis: Theta alone learns from the reward. The released program lets it reach the word vectors too.
        log_probs = step_scores(self.scorer, nodes if self.config.share_gradient else nodes.detach(), found)[1]
        chosen = log_probs.gather(2, found.choice[..., None]).squeeze(2)
        policy = -(chosen * reward * found.mask).sum() / len(reward)
        numbers = {"matching": grounding.loss, "reward": _mean(reward, found.mask)}
        numbers |= {
            "concrete": _mean(grounding.concrete, found.mask),
            "abstract": _mean(grounding.abstract, found.mask),
        }
        return grounding.loss + policy, {name: number.detach() for name, number in numbers.items()}


def _mean(values: Tensor, mask: Tensor) -> Tensor:
    return (values * mask).sum() / mask.sum().clamp_min(1)
