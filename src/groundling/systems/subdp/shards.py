"""Soft silver trees on disk: `.npz` shards of plain arrays, no pickle."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from groundling.algorithms.projection import SparseArcs
from groundling.errors import DataError, FormatError
from groundling.formats.arrays import read_arrays
from groundling.formats.writing import atomic_write
from groundling.systems.subdp.silver import Inventory, Silver
from groundling.training.store import make_folder, writing

SIZE = 2000  # sentences a shard


def write_shards(folder: str | Path, trees: Sequence[Silver], inventory: Inventory) -> int:
    """Write `00000.npz`, `00001.npz`, ... and return how many; what was in the folder before is removed."""
    folder = Path(folder)
    make_folder(folder)
    for old in folder.glob("[0-9]*.npz"):
        old.unlink()
    parts = [trees[k : k + SIZE] for k in range(0, len(trees), SIZE)]
    for number, part in enumerate(parts):
        path = folder / f"{number:05}.npz"
        with writing(path), atomic_write(path, binary=True) as handle:
            np.savez(handle, **_arrays(part, inventory))
    return len(parts)


def read_shards(folder: str | Path) -> tuple[list[Silver], Inventory]:
    """Read what `write_shards` wrote."""
    paths = sorted(Path(folder).glob("[0-9]*.npz"))
    if not paths:
        raise DataError(f"{folder}: no silver trees (.npz) in it. Make them with `groundling subdp project`.")
    trees: list[Silver] = []
    inventory: Inventory | None = None
    for path in paths:
        try:
            arrays = read_arrays(path)
            facts = json.loads(bytes(arrays["text"]).decode())
            inventory = Inventory(tuple(facts["labels"]), tuple(facts["tags"]))
            trees += _trees(facts["words"], arrays)
        except (FormatError, ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
            raise FormatError(f"{path}: not a shard of silver trees ({error}). Project again.") from error
    assert inventory is not None
    return trees, inventory


def _arrays(trees: Sequence[Silver], inventory: Inventory) -> dict[str, Any]:
    text = {"words": [tree.words for tree in trees], "labels": inventory.labels, "tags": inventory.tags}
    return {
        "text": np.frombuffer(json.dumps(text, ensure_ascii=False).encode(), dtype=np.uint8),
        "starts": np.cumsum([0, *(len(tree.arcs.head) for tree in trees)]),
        "dependent": np.concatenate([tree.arcs.dependent for tree in trees]).astype(np.int32),
        "head": np.concatenate([tree.arcs.head for tree in trees]).astype(np.int32),
        "weight": np.concatenate([tree.arcs.weight for tree in trees]).astype(np.float32),
        "label": np.concatenate([tree.arcs.labels for tree in trees]).astype(np.float16),
        "tag": np.concatenate([tree.tags for tree in trees]).astype(np.float16),
    }


def _trees(sentences: Sequence[Sequence[str]], arrays: dict[str, Any]) -> Iterator[Silver]:
    begin = 0
    for words, (a, b) in zip(sentences, pairwise(arrays["starts"]), strict=True):
        arcs = SparseArcs(
            arrays["dependent"][a:b].astype(np.int64),
            arrays["head"][a:b].astype(np.int64),
            arrays["weight"][a:b],
            arrays["label"][a:b].astype(np.float32),
        )
        yield Silver(tuple(words), arcs, arrays["tag"][begin : begin + len(words)].astype(np.float32))
        begin += len(words)
