"""`groundling subdp project`: silver trees from files, without training."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from groundling.algorithms.parallel import spread
from groundling.algorithms.projection import one_to_one, project_hard
from groundling.errors import ConfigError, DataError
from groundling.formats import conllu, pharaoh
from groundling.formats.files import write_lines
from groundling.structures import Alignment, Dependencies
from groundling.systems.subdp.bitext import read_lines
from groundling.systems.subdp.config import Config
from groundling.systems.subdp.model import Model
from groundling.systems.subdp.predict import SoftParse
from groundling.systems.subdp.project import project_parse, silver_soft
from groundling.systems.subdp.shards import write_shards
from groundling.systems.subdp.silver import Inventory, Silver, plain
from groundling.systems.subdp.transfer import align_bitext
from groundling.systems.subdp.vectors import vectors_of
from groundling.systems.subdp.word_encoder import load_encoder


def project_files(
    source: str,
    target: str,
    out: Path,
    model: Path | None,
    config: Config,
    alignments: str = "",
    languages: tuple[str, str] = ("", ""),
    tokenised: bool = False,
    device: str = "auto",
    say: Callable[[str], None] = lambda _: None,
    *,
    n_jobs: int = 1,
    backend: str | None = None,
) -> int:
    """Write silver trees of every line of `target`; returns how many.

    The source is parsed by `model`, or is CoNLL-U whose trees are taken as they are. A pair without any link gives a
    tree without arcs, and is counted aloud. Of several workers (`n_jobs`, `backend`) each loads the model itself.
    """
    trees = list(conllu.read(source)) if ".conllu" in source else None
    words = [list(t.words) for t in trees] if trees is not None else read_lines(source, languages[0], tokenised)
    others = read_lines(target, languages[1], tokenised)
    if len(words) != len(others):
        raise DataError(f"{source} has {len(words)} sentences but {target} has {len(others)}. They must be as many.")
    if trees is None and model is None:
        raise ConfigError("give the source parser with --model, or parsed sentences (.conllu) as SOURCE.")
    loaded = Model.load(model, device=device) if model is not None else None
    links = _links(alignments, words, others, loaded, config, device)
    bare = sum(not a.sure for a in links)
    if bare:
        say(f"warning: {bare} of {len(links)} pairs have no link, so nothing is projected there")
    if out.suffix == ".conllu":
        chosen = trees if trees is not None else list(_model(loaded).parse(words))
        rows = zip(chosen, links, others, strict=True)
        write_lines(out, spread(_partial_row, rows, n_jobs=n_jobs, backend=backend))
    elif trees is not None:
        inventory = Inventory.of(trees, config.subtypes)
        work = _FromTree(inventory, config)
        rows = zip(trees, links, others, strict=True)
        write_shards(out, list(spread(work, rows, n_jobs=n_jobs, backend=backend)), inventory)
    else:
        chunks = [range(k, min(k + CHUNK, len(others))) for k in range(0, len(others), CHUNK)]
        rows = ([(words[k], links[k], others[k]) for k in chunk] for chunk in chunks)
        if n_jobs == 1 and backend is None:
            parts = (_silver(part, _model(loaded), config) for part in rows)
        else:
            parts = spread(_FromModel(str(model), config, device), rows, n_jobs=n_jobs, backend=backend, batch=1)
        write_shards(out, [tree for part in parts for tree in part], _model(loaded).inventory)
    return len(others)


CHUNK = 512  # sentences that a model parses together, whoever does it: the same batches, the same trees
Row = tuple[list[str], Alignment, list[str]]


@dataclass(frozen=True)
class _FromTree:
    """Project one given tree as distributions."""

    inventory: Inventory
    config: Config

    def __call__(self, row: tuple[Dependencies, Alignment, list[str]]) -> Silver:
        tree, links, words = row
        used = one_to_one(links) if self.config.alignment == "one-to-one" else links
        return project_parse(_as_soft(tree, self.inventory, self.config.subtypes), used, words, self.config.least)


@dataclass(frozen=True)
class _FromModel:
    """Parse and project some sentences; a worker is sent the model's folder, never the model."""

    model: str
    config: Config
    device: str

    def __call__(self, rows: list[Row]) -> list[Silver]:
        return _silver(rows, _worker_model(self.model, self.device), self.config)


def _silver(rows: list[Row], model: Model, config: Config) -> list[Silver]:
    words, links, others = (list(column) for column in zip(*rows, strict=True))
    vectors = vectors_of(model.encoder, words, model.layers)
    return silver_soft(model.parser, vectors, others, links, config)


@functools.cache
def _worker_model(folder: str, device: str) -> Model:
    return Model.load(folder, device=device)


def _partial_row(row: tuple[Dependencies, Alignment, list[str]]) -> str:
    return _partial(*row)


def _model(loaded: Model | None) -> Model:
    assert loaded is not None
    return loaded


def _links(
    path: str,
    sources: Sequence[list[str]],
    targets: Sequence[list[str]],
    model: Model | None,
    config: Config,
    device: str,
) -> list[Alignment]:
    if not path:
        encoder = model.encoder if model is not None else load_encoder(config.encoder, device)
        return align_bitext(encoder, sources, targets, config)
    links = list(pharaoh.read(path))
    if len(links) != len(sources):
        raise DataError(f"{path} has {len(links)} alignments but there are {len(sources)} sentence pairs.")
    return links


def _as_soft(tree: Dependencies, inventory: Inventory, subtypes: bool) -> SoftParse:
    """A hard tree as distributions: all mass on its arcs, and one label wherever an arc enters a word."""
    side = len(tree.words) + 1
    arcs = np.zeros((side, side), dtype=np.float32)
    labels = np.zeros((side, side, len(inventory.labels)), dtype=np.float16)
    labels[..., inventory.labels.index("root")] = 1
    tags = np.zeros((side - 1, len(inventory.tags)), dtype=np.float32)
    for word, (head, label) in enumerate(zip(tree.heads, tree.labels, strict=True), 1):
        arcs[word, head] = 1
        labels[word] = 0
        labels[word, :, inventory.labels.index(plain(label, subtypes))] = 1
    for word, tag in enumerate(tree.tags):
        if tag in inventory.tags:
            tags[word, inventory.tags.index(tag)] = 1
    return SoftParse(arcs, labels, tags)


def _partial(tree: Dependencies, alignment: Alignment, words: list[str]) -> str:
    """A projected hard tree as CoNLL-U; HEAD and DEPREL are `_` where nothing was projected."""
    alignment.matrix(len(tree.words), len(words))
    heads = project_hard(tree.heads, alignment, len(words))
    origin = {j: i for i, j in one_to_one(alignment).sure}
    lines = [
        "\t".join((str(j + 1), word, "_", "_", "_", "_", *_arc(heads[j], tree, origin.get(j)), "_", "_"))
        for j, word in enumerate(words)
    ]
    return "\n".join([*tree.comments[:1], *lines]) + "\n"


def _arc(head: int, tree: Dependencies, origin: int | None) -> tuple[str, str]:
    return ("_", "_") if head < 0 or origin is None else (str(head), tree.labels[origin])
