"""A small transfer problem that all tests of SubDP share: two artificial languages and their word vectors."""

from functools import cache
from pathlib import Path

import numpy as np
import torch

from groundling.systems.subdp import Config
from groundling.systems.subdp.word_encoder import WordVectors
from groundling.worlds import parallel_treebank

torch.set_num_threads(1)  # the matrices are tiny: a second thread only waits
SETTINGS = {
    "lstm_dim": 32, "arc_dim": 32, "label_dim": 16, "dropout": 0.1, "source_epochs": 10, "target_epochs": 8,
    "source_batch_words": 150, "target_batch_words": 150, "source_learning_rate": 5e-3, "target_learning_rate": 3e-3,
}  # fmt: skip
CONFIG = Config(**SETTINGS)  # type: ignore[arg-type]


@cache
def encoder() -> WordVectors:
    return WordVectors(parallel_treebank.vectors(), "small")


@cache
def pairs(count: int = 340, seed: int = 0) -> tuple[parallel_treebank.Pair, ...]:
    return tuple(parallel_treebank.generate(count, np.random.default_rng(seed)))


def write_files(folder: Path, count: int = 150) -> dict[str, str]:
    """Treebank, bitext, alignments, gold and vectors as files."""
    drawn = pairs()
    train, bitext, test = drawn[:count], drawn[count : 2 * count], drawn[2 * count :]
    texts = {
        "treebank.conllu": "".join(f"{p.source}\n\n" for p in train),
        "gold.conllu": "".join(f"{p.target}\n\n" for p in test),
        "source.txt": "".join(" ".join(p.source.words) + "\n" for p in bitext),
        "target.txt": "".join(" ".join(p.target.words) + "\n" for p in bitext),
        "links.pharaoh": "".join(f"{p.alignment}\n" for p in bitext),
        "words.vec": "".join(
            word + " " + " ".join(f"{x:.4f}" for x in vector) + "\n"
            for word, vector in parallel_treebank.vectors().items()
        ),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return {name.partition(".")[0]: str(folder / name) for name in texts}
