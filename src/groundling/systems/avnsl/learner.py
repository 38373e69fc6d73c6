"""VG-NSL on segment vectors: a map into the joint space, the image's map, the score network, and the loss.

The parser core is VG-NSL's (`neural/easy_first.py`, `neural/retrieval_losses.py`); only what enters it is speech.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from groundling.neural.easy_first import Parse, Scorer, parse, step_scores
from groundling.neural.retrieval_losses import match_all
from groundling.neural.tree_composition import compose
from groundling.systems.avnsl.config import Config


class Batch(NamedTuple):
    """Utterances as segments. With learned attention `vectors` holds frames, and `owner` says whose."""

    vectors: Tensor  # (batch, n, dim); or (frames, dim) with `owner` (frames,) in 0 .. batch n - 1
    lengths: Tensor  # (batch,)
    features: Tensor  # (batch, feature_dim)
    images: Tensor  # (batch,): equal numbers are the same picture
    owner: Tensor | None = None


class Learner(nn.Module):
    """All that induction learns."""

    mean: Tensor
    scale: Tensor
    vector_mean: Tensor
    vector_scale: Tensor

    def __init__(self, config: Config, vector_dim: int, feature_dim: int, learned_attention: bool = False) -> None:
        super().__init__()
        self.config = config
        hidden = config.hidden_dim
        layers = [nn.Linear(vector_dim, hidden or config.embedding_dim)]
        layers += [nn.GELU(), nn.Linear(hidden, config.embedding_dim)] if hidden else []
        self.segment = nn.Sequential(*layers)
        self.image = nn.Linear(feature_dim, config.embedding_dim)
        self.scorer = Scorer(config.embedding_dim, config.scorer_hidden_dim)
        # Thesis 4.3.2: for the oracle topline the weights a_{i,t} come from one layer, trained with the rest.
        self.weigh = nn.Linear(vector_dim, 1) if learned_attention else None
        for name, dim in (("", feature_dim), ("vector_", vector_dim)):
            self.register_buffer(name + "mean", torch.zeros(dim))
            self.register_buffer(name + "scale", torch.ones(dim))

    def see(self, vectors: Tensor, features: Tensor) -> None:
        """Learn mean and size of what comes in."""
        for name, rows in (("", features), ("vector_", vectors)):
            getattr(self, name + "mean").copy_(rows.mean(0))
            centred = rows - rows.mean(0)
            size = centred.norm(dim=1).mean() if name == "" else centred.std() + 1e-6
            getattr(self, name + "scale").fill_(float(1 / size.clamp_min(1e-6)))

    def segments(self, batch: Batch) -> Tensor:
        """Segment vectors in the joint space (batch, n, embedding_dim)."""
        vectors = (batch.vectors - self.vector_mean) * self.vector_scale
        if batch.owner is not None:
            n = int(batch.lengths.max())
            vectors = self._pool(vectors, batch.owner, len(batch.lengths) * n).view(len(batch.lengths), n, -1)
        return self.segment(vectors)

    def _pool(self, frames: Tensor, owner: Tensor, count: int) -> Tensor:
        """Softmax of the weights inside each segment; frames (m, dim) -> (count, dim)."""
        assert self.weigh is not None
        weights = self.weigh(frames).squeeze(1).clamp(-15, 15).exp()
        total = frames.new_zeros(count).index_add(0, owner, weights).clamp_min(1e-9)
        mixed = frames.new_zeros(count, frames.shape[1]).index_add(0, owner, frames * weights[:, None])
        return mixed / total[:, None]

    def image_vectors(self, features: Tensor) -> Tensor:
        """Images in the joint space, at unit length."""
        return normalize(self.image((features - self.mean) * self.scale), dim=-1)

    def loss(self, batch: Batch, generator: torch.Generator) -> tuple[Tensor, dict[str, Tensor]]:
        """Hinge loss of sampled trees, and REINFORCE with the concreteness of each merge (thesis 3.2.3)."""
        words = self.segments(batch)
        found = parse(self.scorer, words.detach(), batch.lengths, generator)
        nodes = compose(words, found.merges)
        n = words.shape[1]
        units = torch.cat([normalize(nodes[:, :n], dim=-1), nodes[:, n:]], dim=1)
        similarity = (units.flatten(0, 1) @ self.image_vectors(batch.features).T).view(*units.shape[:2], -1)
        other = batch.images[:, None] != batch.images
        matching = match_all(similarity, found.node_mask(), other, self.config.margin, self.config.reward_margin)
        abstract = matching.abstract.gather(1, found.merges[..., 1])
        reward = matching.concrete[:, n:] / (self.config.bias * abstract + 1)
        log_probs = step_scores(self.scorer, nodes.detach(), found)[1]
        chosen = log_probs.gather(2, found.choice[..., None]).squeeze(2)
        policy = -(chosen * reward * found.mask).sum() / len(reward)
        mean = (reward * found.mask).sum() / found.mask.sum().clamp_min(1)
        return matching.loss + policy, {"matching": matching.loss.detach(), "reward": mean.detach()}

    @torch.no_grad()
    def parse(self, batch: Batch) -> Parse:
        """The best merges."""
        return parse(self.scorer, self.segments(batch), batch.lengths)
