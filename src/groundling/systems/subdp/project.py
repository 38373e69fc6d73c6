"""Silver trees of target sentences: by projection, soft or hard, or by the parser itself (thesis 9.2.3, 9.3.2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from groundling.algorithms.projection import fill_missing, one_to_one, project_hard, project_sparse
from groundling.errors import ConfigError, DataError
from groundling.names import did_you_mean
from groundling.structures import Alignment
from groundling.systems.subdp.config import Config
from groundling.systems.subdp.parser import Parser
from groundling.systems.subdp.predict import SoftParse, parse_vectors, soft_parses
from groundling.systems.subdp.silver import Inventory, Silver, from_heads
from groundling.systems.subdp.vectors import Vectors
from groundling.training.progress import Progress

Words = Sequence[str]
METHODS = {
    "subdp": "soft projection of arcs and labels (the thesis' method)",
    "hard": "trees projected through one-to-one links only (Lacroix et al., 2016)",
    "st": "self-training: the source parser's own trees of the target sentences",
}


def check_method(method: str) -> str:
    """Return the method, or say which there are."""
    if method not in METHODS:
        hint = did_you_mean(method, METHODS)
        raise ConfigError(f"no way to silver trees is called {method!r}.{hint} There are: {', '.join(METHODS)}.")
    return method


def silver_soft(
    parser: Parser,
    source: Vectors,
    targets: Sequence[Words],
    alignments: Sequence[Alignment],
    config: Config,
    own: Vectors | None = None,
) -> list[Silver]:
    """SubDP: project the distributions of the source parser through the alignments.

    With `config.fill` and the vectors of the target sentences in `own`, what is lost to unaligned words is given to
    the parser's own distributions over the target sentence.
    """
    _check_pairs(len(source), targets, alignments)
    links = [one_to_one(a) for a in alignments] if config.alignment == "one-to-one" else alignments
    least = 0.0 if config.label_pairs == "all" else config.least
    trees: dict[int, Silver] = {}
    with Progress("projecting", total=len(targets)) as progress:
        for k, parse in soft_parses(parser, source, range(len(source))):
            trees[k] = project_parse(parse, links[k], targets[k], least)
            progress.advance()
    if config.fill and own is not None:
        for k, parse in soft_parses(parser, own, range(len(own))):
            trees[k] = trees[k]._replace(arcs=fill_missing(trees[k].arcs, parse.arcs, parse.labels, least))
    return [trees[k] for k in range(len(targets))]


def project_parse(parse: SoftParse, alignment: Alignment, words: Words, least: float = 0.01) -> Silver:
    """Carry one soft parse over to the target words; parts of speech go the same way."""
    links = alignment.matrix(len(parse.arcs) - 1, len(words))
    arcs = project_sparse(parse.arcs, parse.labels, links, least)
    share = links.T / np.maximum(links.sum(0)[:, None], 1)
    return Silver(tuple(words), arcs, (share @ parse.tags).astype(np.float32))


def silver_hard(
    parser: Parser,
    source: Vectors,
    targets: Sequence[Words],
    alignments: Sequence[Alignment],
    inventory: Inventory,
) -> list[Silver]:
    """Hard: project the best source trees, keeping the arcs whose both ends are linked one to one."""
    _check_pairs(len(source), targets, alignments)
    parses = parse_vectors(parser, source, inventory)
    made: list[Silver] = []
    for parse, alignment, words in zip(parses, alignments, targets, strict=True):
        alignment.matrix(len(parse.heads), len(words))  # a link outside the pair is an error
        heads = project_hard(parse.heads.tolist(), alignment, len(words))
        origin = {j: i for i, j in one_to_one(alignment).sure}
        labels = [inventory.labels[parse.labels[origin[j]]] if j in origin else "" for j in range(len(words))]
        tags = [_tag(parse.tags, origin.get(j), inventory) for j in range(len(words))]
        made.append(from_heads(words, heads, labels, tags, inventory))
    return made


def silver_self(parser: Parser, target: Vectors, targets: Sequence[Words], inventory: Inventory) -> list[Silver]:
    """ST: the best trees that the source parser finds for the target sentences themselves."""
    trees: list[Silver] = []
    for parse, words in zip(parse_vectors(parser, target, inventory), targets, strict=True):
        labels = [inventory.labels[x] for x in parse.labels]
        tags = [_tag(parse.tags, j, inventory) for j in range(len(words))]
        trees.append(from_heads(words, parse.heads, labels, tags, inventory))
    return trees


def _tag(tags: NDArray[np.int64], word: int | None, inventory: Inventory) -> str:
    return inventory.tags[tags[word]] if word is not None and inventory.tags else "_"


def _check_pairs(sources: int, targets: Sequence[Words], alignments: Sequence[Alignment]) -> None:
    if not sources == len(targets) == len(alignments):
        raise DataError(
            f"{sources} source sentences, {len(targets)} target sentences and {len(alignments)} alignments do not pair "
            "up. Line i of one must belong to line i of the others; keep empty lines."
        )
