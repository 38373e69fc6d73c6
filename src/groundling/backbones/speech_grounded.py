"""A small visually grounded speech encoder: a transformer over frames with a [CLS] token that meets images.

Trained by speech-image retrieval (VG-HuBERT's way, thesis 4.2.1), its [CLS] attention falls on words. It hears log-Mel
frames only, so nothing in it has ever seen text.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

HIDDEN = 5  # frames of a stretch that [CLS] is not shown in training
FRAME_RATE = 50  # frames a second that come out; 100 go in


class Heard(NamedTuple):
    """What the encoder makes of a batch of utterances."""

    layers: Tensor  # (layers + 1, batch, frames, dim): after the convolutions, then after each layer
    attention: Tensor  # (layers, batch, heads, frames): from [CLS] to the frames, padding at 0
    utterance: Tensor  # (batch, dim), unit length


class GroundedEncoder(nn.Module):
    """Log-Mel (batch, 2 frames, mels) -> frame vectors, [CLS] attention and one vector an utterance.

    Frames attend to frames up to `reach` away, [CLS] to all: what a frame knows then stays near its word, so that
    attention tells where the word is. VG-HuBERT has no such limit, and needs none at its size.
    """

    mean: Tensor
    scale: Tensor

    def __init__(
        self,
        mels: int = 40,
        dim: int = 64,
        heads: int = 4,
        layers: int = 2,
        reach: int = 3,
        feature_dim: int = 128,
        hide: float = 0.4,
    ) -> None:
        super().__init__()
        self.mels, self.dim, self.heads, self.reach, self.hide = mels, dim, heads, reach, hide
        self.first = nn.Conv1d(mels, dim, 5, stride=2, padding=2)
        self.second = nn.Conv1d(dim, dim, 5, padding=2)
        self.cls = nn.Parameter(torch.randn(dim) * 0.1)
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(dim)
        self.image = nn.Linear(feature_dim, dim)
        self.temperature = nn.Parameter(torch.tensor(math.log(10.0)))
        self.register_buffer("mean", torch.zeros(feature_dim))
        self.register_buffer("scale", torch.ones(()))

    def see(self, features: Tensor) -> None:
        """Learn mean and size of the image features."""
        self.mean.copy_(features.mean(0))
        self.scale.copy_(1 / (features - self.mean).norm(dim=1).mean().clamp_min(1e-6) * math.sqrt(features.shape[1]))

    def images(self, features: Tensor) -> Tensor:
        """Image vectors (batch, dim) at unit length."""
        return F.normalize(self.image((features - self.mean) * self.scale), dim=-1)

    def forward(self, mels: Tensor, lengths: Tensor) -> Heard:
        """`lengths` counts 50 Hz frames; `mels` has at least twice as many rows."""
        x = F.gelu(self.first(mels.transpose(1, 2)))
        x = (x + F.gelu(self.second(x))).transpose(1, 2)
        count = x.shape[1]
        real = torch.arange(count, device=x.device) < lengths[:, None]
        x = x + 0.3 * positions(count, self.dim).to(x)
        layers, attentions = [x], []
        x = torch.cat([self.cls.expand(len(x), 1, -1), x], dim=1)
        mask = self._who_sees_whom(real)
        for block in self.blocks:
            x, attention = block(x, mask)
            layers.append(x[:, 1:])
            attentions.append(attention)
        utterance = F.normalize(self.norm(x[:, 0]), dim=-1)
        return Heard(torch.stack(layers), torch.stack(attentions), utterance)

    def _who_sees_whom(self, real: Tensor) -> Tensor:
        """(batch, 1 + frames, 1 + frames): row i may look at column j; a frame sees its neighbourhood, not [CLS]."""
        place = torch.arange(real.shape[1], device=real.device)
        near = (place[:, None] - place).abs() <= self.reach
        mask = F.pad(near[None] & real[:, None], (1, 0, 1, 0), value=False)
        mask[:, 0] = F.pad(self._shown(real), (1, 0), value=True)
        return mask | torch.eye(mask.shape[1], dtype=torch.bool, device=mask.device)  # padding sees itself, not NaN

    def _shown(self, real: Tensor) -> Tensor:
        """In training [CLS] is not shown random stretches, so that it learns to look at the whole of a word."""
        if not self.training or not self.hide:
            return real
        starts = torch.rand(real.shape, device=real.device) < self.hide / HIDDEN
        hidden = F.max_pool1d(F.pad(starts.float(), (HIDDEN - 1, 0))[:, None], HIDDEN, 1)[:, 0] > 0
        return real & ~hidden

    def loss(self, heard: Heard, features: Tensor, numbers: Tensor) -> Tensor:
        """Cross-entropy of finding the image of an utterance and the utterance of an image, in the batch.

        `numbers` (batch,) are image numbers: two captions of one picture are not each other's negatives.
        """
        scores = heard.utterance @ self.images(features).T * self.temperature.exp().clamp(max=50)
        same = (numbers[:, None] == numbers) & ~torch.eye(len(numbers), dtype=torch.bool, device=scores.device)
        scores = scores.masked_fill(same, -1e4)
        goal = torch.arange(len(scores), device=scores.device)
        return (F.cross_entropy(scores, goal) + F.cross_entropy(scores.T, goal)) / 2


class Block(nn.Module):
    """One transformer layer, norm first, that also gives the attention of token 0."""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.wide, self.narrow = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """(batch, 1 + frames, dim) -> the same, and [CLS] attention (batch, heads, frames)."""
        batch, count, dim = x.shape
        parts = self.qkv(self.before(x)).view(batch, count, 3, self.heads, dim // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None])
        with torch.no_grad():
            scores = (q[:, :, :1] @ k.transpose(2, 3)).squeeze(2) / math.sqrt(q.shape[-1])
            attention = scores.masked_fill(~mask[:, None, 0], float("-inf")).softmax(-1)[..., 1:]
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, count, dim))
        return x + self.narrow(F.gelu(self.wide(self.between(x)))), attention


def positions(count: int, dim: int) -> Tensor:
    """Sine and cosine of each place (count, dim).

    >>> positions(3, 4).shape
    torch.Size([3, 4])
    """
    rates = torch.exp(torch.arange(0, dim, 2) * (-math.log(10000.0) / dim))
    angles = torch.arange(count)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1)[:, :dim]
