"""Sentence pairs in a stream: read a chunk, encode it in batches of like length, go on; memory stays flat."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from torch import Tensor

from groundling.backbones.text import Encoded, TextEncoder, encode
from groundling.errors import DataError

Words = Sequence[str]
CHUNK = 1024  # pairs encoded together: enough for batches of like length, a few MB of vectors


class Pair(NamedTuple):
    """Two sentences and their vectors; None where a side has no words."""

    source: Words
    target: Words
    encoded: tuple[Encoded, Encoded] | None


def paired(sources: Iterable[Words], targets: Iterable[Words]) -> Iterator[tuple[Words, Words]]:
    """Both sides in step; raises when one ends before the other."""
    end: Words = []
    first, second = iter(sources), iter(targets)
    for number in range(1, 1 << 62):
        source, target = next(first, end), next(second, end)
        if source is end or target is end:
            if source is not target:
                longer = "source" if target is end else "target"
                raise DataError(
                    f"the {longer} side has more sentences than the other, which ends after {number - 1}. "
                    "Line i of one must translate line i of the other; keep empty lines."
                )
            return
        yield source, target


def encoded_pairs(
    pairs: Iterable[tuple[Words, Words]],
    encoder: TextEncoder,
    layers: Sequence[int],
    chunk: int = CHUNK,
    mix: Tensor | None = None,
) -> Iterator[Pair]:
    """Encode pairs chunk by chunk; the order is kept, and a pair with an empty side passes through.

    `mix` is `encode`'s: one combination of the layers in place of each. Vectors come to the processor: what follows
    works pair by pair, on matrices too small for a GPU.
    """
    stream = iter(pairs)
    while window := list(islice(stream, chunk)):
        full = [k for k, (source, target) in enumerate(window) if source and target]
        sides = encode(encoder, [window[k][side] for k in full for side in (0, 1)], layers, mix=mix, home="cpu")
        vectors = {k: (sides[2 * n], sides[2 * n + 1]) for n, k in enumerate(full)}
        yield from (Pair(source, target, vectors.get(k)) for k, (source, target) in enumerate(window))
