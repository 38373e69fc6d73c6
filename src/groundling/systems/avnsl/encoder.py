"""Train the visually grounded speech encoder by retrieval, and listen with it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import dropout
from torch.optim.lr_scheduler import LambdaLR

from groundling.backbones.speech_grounded import GroundedEncoder
from groundling.errors import DataError
from groundling.systems.avnsl.config import Config
from groundling.systems.avnsl.data import Sound, Utterances, pad_mels
from groundling.training.batching import batches_by_length
from groundling.training.loop import fit
from groundling.training.runs import RunFolder


def build_encoder(config: Config, feature_dim: int) -> GroundedEncoder:
    """An encoder with fresh weights."""
    sizes = (config.mels, config.encoder_dim, config.encoder_heads, config.encoder_layers, config.encoder_reach)
    return GroundedEncoder(*sizes, feature_dim=feature_dim, hide=config.encoder_hide)


def train_encoder(
    config: Config,
    data: Utterances,
    *,
    seed: int,
    run: RunFolder | None = None,
    evaluate: Callable[[GroundedEncoder], dict[str, float]] | None = None,
    device: str = "auto",
) -> GroundedEncoder:
    """Learn which picture a recording describes (VG-HuBERT's objective); words appear in its attention."""
    if len(data.sounds) < 2:
        raise DataError("an encoder needs at least two recordings to learn from: others are the negatives.")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        encoder = build_encoder(config, data.features.shape[1])
    encoder.see(torch.from_numpy(data.features[np.unique(data.images)]))
    lengths = np.array([sound.frames for sound in data.sounds])

    optimizer = torch.optim.AdamW(encoder.parameters(), lr=config.encoder_learning_rate, weight_decay=0.01)

    def loss(module: GroundedEncoder, chosen: NDArray[np.int64], _: torch.Generator) -> Any:
        where = module.cls.device
        mels, frames = (part.to(where) for part in pad_mels(data.sounds[i] for i in chosen))
        if config.encoder_noise:
            mels = mels + config.encoder_noise * torch.randn_like(mels)
        numbers = data.images[chosen]
        features = dropout(torch.from_numpy(data.features[numbers]).to(where), config.encoder_drop)
        return module.loss(module(mels, frames), features, torch.from_numpy(numbers).to(where))

    fit(
        encoder,
        batches=lambda _, rng: batches_by_length(lengths, config.encoder_batch_size, rng, window=8),
        loss=loss,
        optimizer=optimizer,
        scheduler=rise_and_fall(config, optimizer, len(lengths)),
        epochs=config.encoder_epochs,
        seed=seed,
        run=run,
        clip=1.0,
        evaluate=evaluate,
        device=device,
        label="learning to find pictures by speech",
    )
    return encoder.eval()


def rise_and_fall(config: Config, optimizer: torch.optim.Optimizer, count: int) -> LambdaLR | None:
    """Linear up to the full rate, then half a cosine down to 0 at the end of training."""
    rise = config.encoder_warm_up
    if not rise:
        return None
    total = max(config.encoder_epochs * -(-count // config.encoder_batch_size), 1)
    return LambdaLR(optimizer, lambda k: min(1.0, (k + 1) / rise) * (1 + math.cos(math.pi * min(k / total, 1.0))) / 2)


class Listened(NamedTuple):
    """One sound as the encoder hears it."""

    layers: NDArray[np.float32]  # (layers + 1, frames, dim)
    attention: NDArray[np.float32]  # (layers, heads, frames), from [CLS]
    given: NDArray[np.float32] | None = None  # (frames, dim): what another speech model hears


@torch.no_grad()
def listen(encoder: GroundedEncoder, sounds: Sequence[Sound], size: int = 32) -> list[Listened]:
    """Frame vectors and attention of each sound, in order; sounds of like length go together."""
    found: list[Listened] = [None] * len(sounds)  # type: ignore[list-item]
    order = np.argsort([sound.frames for sound in sounds], kind="stable")
    where = encoder.cls.device
    for begin in range(0, len(order), size):
        chosen = order[begin : begin + size]
        mels, frames = pad_mels(sounds[i] for i in chosen)
        heard = encoder(mels.to(where), frames.to(where))
        layers, attention = heard.layers.cpu().numpy(), heard.attention.cpu().numpy()
        for row, i in enumerate(chosen):
            count = sounds[i].frames
            found[i] = Listened(layers[:, row, :count].copy(), attention[:, row, :, :count].copy(), sounds[i].given)
    return found


@torch.no_grad()
def recall_at(encoder: GroundedEncoder, data: Utterances, k: int) -> float:
    """Share of recordings whose picture is among the k nearest of all pictures."""
    ranks: list[float] = []
    images = encoder.images(torch.from_numpy(data.features).to(encoder.cls.device))
    for begin in range(0, len(data.sounds), 64):
        mels, frames = pad_mels(data.sounds[begin : begin + 64])
        heard = encoder(mels.to(images.device), frames.to(images.device))
        scores = heard.utterance @ images.T
        own = scores.gather(1, torch.from_numpy(data.images[begin : begin + 64]).to(images.device)[:, None])
        ranks += (scores > own).sum(1).tolist()
    return float(np.mean([rank < k for rank in ranks]))
