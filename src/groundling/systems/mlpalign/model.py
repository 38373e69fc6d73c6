"""The MLP and the aligner round it (thesis 8.2.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from groundling.algorithms.link_growing import grow
from groundling.algorithms.mutual_argmax import argmax, drop_weak
from groundling.backbones.text import TextEncoder, load_text_encoder
from groundling.errors import FormatError
from groundling.structures import Alignment
from groundling.systems.mlpalign.config import Config
from groundling.systems.mlpalign.counts import Counts
from groundling.systems.mlpalign.direct import NO_LINKS
from groundling.systems.mlpalign.features import COUNTS, EXTRA, THESIS, cell_counts, evidence, features
from groundling.systems.mlpalign.streams import CHUNK, Pair, Words, encoded_pairs, paired
from groundling.training.devices import pick_device
from groundling.training.models import described, fill_module, load_model, save_model


class MLP(nn.Module):
    """P(y | x) = softmax(W2 ReLU(W1 x + b1) + b2) for y = 0, 1, 2; counts enter as log(x + |b|) with a learned b.

    Deviation: inputs are scaled to mean 0 and variance 1 over the training cells.
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, config: Config) -> None:
        super().__init__()
        size = len(THESIS) + (len(EXTRA) if config.features == "extended" else 0)
        self.offset = nn.Parameter(torch.ones(COUNTS.stop - COUNTS.start))
        self.layers = nn.Sequential(nn.Linear(size, config.hidden), nn.ReLU(), nn.Linear(config.hidden, 3))
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("scale", torch.ones(size))

    def prepare(self, x: Tensor) -> Tensor:
        """Logarithms of the counts: (..., features) -> the same."""
        logs = torch.log(x[..., COUNTS] + self.offset.abs() + 1e-3)
        return torch.cat([x[..., : COUNTS.start], logs, x[..., COUNTS.stop :]], -1)

    def forward(self, x: Tensor) -> Tensor:
        """Scores of the three labels: (..., features) -> (..., 3)."""
        return self.layers((self.prepare(x) - self.mean) / self.scale)

    @torch.no_grad()
    def expected(self, x: NDArray[np.float32]) -> NDArray[np.float64]:
        """E[y] of each cell: (..., features) -> (...)."""
        probabilities = self(torch.from_numpy(x)).softmax(-1)
        return (probabilities[..., 1] + 2 * probabilities[..., 2]).double().numpy()


class Model:
    """A trained aligner: settings, the MLP, the counts, and the metric of the encoder's vectors if one was learnt."""

    def __init__(self, config: Config, network: MLP, counts: Counts, mix: Tensor | None = None) -> None:
        self.config, self.network, self.counts, self.mix = config, network.eval().cpu(), counts, mix

    def align(
        self,
        sources: Iterable[Words],
        targets: Iterable[Words],
        *,
        encoder: TextEncoder | None = None,
        device: str = "auto",
        chunk: int = CHUNK,
        null: float | None = None,
    ) -> Iterator[Alignment]:
        """Align sentence pairs in a stream. `Alignment.probabilities` holds E[y] / 2 of each link.

        Links whose probability is at most `null` are dropped.
        """
        text = encoder or load_text_encoder(self.config.encoder, pick_device(device))
        for pair in encoded_pairs(paired(sources, targets), text, self.config.layers, chunk, self.mix):
            yield self.links(self.expected(pair), null) if pair.encoded is not None else NO_LINKS

    def expected(self, pair: Pair) -> NDArray[np.float64]:
        """E[y] of each cell of a pair encoded with `mix`: (source, target), from 0 to 2."""
        counts = cell_counts(pair, self.counts)
        found = evidence(pair, counts, self.config)
        return self.network.expected(features(pair.source, pair.target, found, counts, self.config))

    def links(self, expected: NDArray[np.float64], null: float | None = None) -> Alignment:
        """Decide: every cell with E[y] > bar (thesis), or grow from the mutual argmax (the program's greedy form)."""
        if self.config.inference == "expected":
            links = expected > self.config.bar
        else:
            base = argmax(expected) & (expected > self.config.base_bar)
            links = grow(base, expected, self.config.grow_bar)
        if null is not None:
            links = drop_weak(links, expected / 2, null)
        return Alignment.from_matrix(np.where(links, expected / 2, -1.0), threshold=-0.5)

    def save(self, directory: str | Path, info: dict[str, Any] | None = None) -> None:
        """Write config.toml, model.safetensors and run.json."""
        counts = {f"counts.{name}": torch.from_numpy(np.array(a)) for name, a in self.counts.arrays().items()}
        mix = {} if self.mix is None else {"mix": self.mix.contiguous()}
        save_model(directory, self.config, {**self.network.state_dict(), **counts, **mix}, info)

    @classmethod
    def load(cls, directory: str | Path) -> Model:
        """Read what `save` wrote."""
        config, tensors, _ = load_model(directory, Config)
        with described(directory):
            counts = Counts.from_arrays({name: tensors.pop(f"counts.{name}").numpy() for name in _COUNT_NAMES})
            mix = tensors.pop("mix") if config.metric else None
        if mix is not None and (mix.ndim != 3 or len(mix) != len(config.layers) or mix.shape[2] > config.metric):
            raise FormatError(f"{directory}: its metric does not fit its {len(config.layers)} layers. Train again.")
        return cls(config, fill_module(lambda: MLP(config), tensors, directory), counts, mix)


_COUNT_NAMES = ("source", "target", "source_count", "target_count", "keys", "values")
