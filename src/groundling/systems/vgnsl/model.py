"""A trained VG-NSL: captions in, trees out; no images needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import embedding

from groundling.errors import DataError
from groundling.neural.easy_first import parse
from groundling.structures.tree import Tree
from groundling.systems.vgnsl.config import Config
from groundling.systems.vgnsl.data import by_length
from groundling.systems.vgnsl.learner import Learner
from groundling.systems.vgnsl.words import Vocabulary, pad
from groundling.training.models import described, fill_module, load_model, save_model

BLOCK, SIZE = 8192, 512  # sentences read before any is answered; sentences parsed at once
THREADS = 2  # for parsing on a CPU


class Model:
    """`Model.load(dir).parse([["a", "dog", "runs"]])` gives trees; `save` and `load` keep everything it needs."""

    def __init__(
        self, config: Config, vocabulary: Vocabulary, learner: Learner, info: dict[str, Any] | None = None
    ) -> None:
        self.config, self.vocabulary, self.learner = config, vocabulary, learner.eval()
        self.info = info or {}

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.learner.image.weight.device

    @cached_property
    def table(self) -> tuple[Tensor, Tensor]:
        """Vector and projections of every known word, computed once: (words, dim), (words, 2 hidden_dim)."""
        with torch.no_grad():
            vectors = self.learner.word_vectors(torch.arange(len(self.vocabulary), device=self.device))
            return vectors, self.learner.scorer.sides(vectors)

    def parse(self, sentences: Iterable[Sequence[str]], n_jobs: int = THREADS) -> Iterator[Tree]:
        """The tree of each sentence, in order; unknown words are fine, an empty sentence is not.

        Reads some thousand sentences ahead, so that those of equal length are parsed together.
        """
        stream = iter(sentences)
        while block := list(islice(stream, BLOCK)):
            for sentence, spans in zip(block, self.spans(block, n_jobs), strict=True):
                yield _tree(tuple(sentence), spans)

    def spans(self, sentences: Sequence[Sequence[str]], n_jobs: int = THREADS) -> list[NDArray[np.int64]]:
        """The n - 1 spans (start, end) of each sentence, in the order of their making; in `n_jobs` threads on a CPU."""
        numbers = [self.vocabulary.encode(sentence) for sentence in sentences]
        if not all(map(len, numbers)):
            place = next(i for i, sentence in enumerate(numbers, 1) if not len(sentence))
            raise DataError(f"sentence {place} has no words, so it has no tree. Leave empty sentences out.")
        found: list[NDArray[np.int64]] = [np.zeros((0, 2), dtype=np.int64)] * len(numbers)
        batches = list(by_length([len(sentence) for sentence in numbers], SIZE))
        _ = self.table  # computed once, before threads ask for it
        workers = n_jobs if self.device.type == "cpu" else 1
        # Many small operations: torch's own threads would wait for each other at every one of them, so each has one.
        with ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            made = pool.map(self._merge, ([numbers[i] for i in chosen] for chosen in batches))
            for chosen, rows in zip(batches, made, strict=True):
                for i, row in zip(chosen, rows, strict=True):
                    found[i] = row
        return found

    def _merge(self, sentences: list[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
        """The spans of some sentences of like length, all parsed at once."""
        vectors, sides = self.table
        words, lengths = pad(sentences)
        index, counts = torch.from_numpy(words).to(self.device), torch.from_numpy(lengths).to(self.device)
        given, projections = embedding(index, vectors), embedding(index, sides)
        spans = parse(self.learner.scorer, given, counts, None, projections).spans.cpu().numpy()
        return [row[: length - 1] for length, row in zip(lengths, spans, strict=True)]

    def fresh(self) -> Model:
        """The same model with nothing remembered of earlier weights: for looking at it while it learns."""
        return Model(self.config, self.vocabulary, self.learner, self.info)

    def save(self, directory: str | Path) -> None:
        """Write config, weights and vocabulary."""
        tensors = self.learner.state_dict()
        shapes = {"feature_dim": len(tensors["mean"]), "vector_dim": tensors["vectors"].shape[1]}
        save_model(directory, self.config, tensors, {**self.info, **shapes, "vocabulary": list(self.vocabulary.words)})

    @classmethod
    def load(cls, directory: str | Path) -> Model:
        """Read what `save` wrote."""
        config, tensors, info = load_model(directory, Config)
        with described(directory):
            vocabulary = Vocabulary(tuple(map(str, info.pop("vocabulary"))), config.lowercase)
            shape = (len(vocabulary), int(info.pop("feature_dim")), int(info.pop("vector_dim")))
        learner = fill_module(lambda: Learner(config, *shape), tensors, directory)
        kept = {key: info[key] for key in info.keys() - {"format", "config", "versions", "sha256"}}
        return cls(config, vocabulary, learner, kept)


def _tree(words: tuple[str, ...], spans: NDArray[np.int64]) -> Tree:
    """A tree from the spans of a binary tree: they nest, so nothing needs checking; a word alone is a tree."""
    nodes = sorted([(start, -end) for start, end in spans.tolist()]) or [(0, -1)]
    starts, ends = tuple(node[0] for node in nodes), tuple(-node[1] for node in nodes)
    return Tree(words, ("",) * len(nodes), starts, ends, check=False)
