"""What PRPN and ON-LSTM share: a language model of captions from which distances between neighbours are read."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from groundling.algorithms.syntactic_distance import spans_from_distances
from groundling.errors import DataError
from groundling.systems.vgnsl.baselines.shape import Options, Parser, Spans
from groundling.systems.vgnsl.data import Captions, by_length
from groundling.systems.vgnsl.words import Vocabulary, pad
from groundling.training.batching import batches_by_length
from groundling.training.loop import fit

EDGE = 0  # the number that pads also marks the begin and the end of a sentence


@dataclass(frozen=True, kw_only=True)
class LanguageConfig:
    """Thesis 3.3.3: 512 numbers a word. The rest is our choice for a corpus of some ten thousand captions."""

    dim: int = 512
    dropout: float = 0.3
    batch_size: int = 64
    epochs: int = 15
    learning_rate: float = 1e-3
    clip: float = 1.0
    max_length: int = 40


class LanguageModel(nn.Module):
    """Predicts each word from those before it; word vectors are shared by input and output."""

    def __init__(self, config: LanguageConfig, words: int) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(words, config.dim)
        nn.init.uniform_(self.embedding.weight, -0.1, 0.1)
        self.bias = nn.Parameter(torch.zeros(words))
        self.dropout = nn.Dropout(config.dropout)

    @abstractmethod
    def read(self, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """Vectors (batch, n, dim) -> states (batch, n, dim) that predict what follows, distances (batch, n).

        The distance at a word is that to the word before it.
        """

    def loss(self, words: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Mean negative log-likelihood of words and of the end; `words` (batch, n) is 0 after the end."""
        begun = nn.functional.pad(words, (1, 0), value=EDGE)
        target = nn.functional.pad(words, (0, 1), value=EDGE)
        real = torch.cat([torch.ones_like(words[:, :1], dtype=torch.bool), words != EDGE], 1)  # words, then one end
        states, _ = self.read(self.dropout(self.embedding(begun)))
        logits = self.dropout(states)[real] @ self.embedding.weight.T + self.bias
        nats = cross_entropy(logits, target[real])
        return nats, {"nats_per_word": nats.detach()}

    @torch.no_grad()
    def distances(self, words: Tensor) -> Tensor:
        """Distances (batch, n) of each word to the one before; that of the first means nothing."""
        return self.read(self.embedding(nn.functional.pad(words, (1, 0), value=EDGE)))[1][:, 1:]


@dataclass(frozen=True)
class DistanceParser(Parser):
    """A language model whose distances are decoded by algorithm 3.1."""

    vocabulary: Vocabulary
    model: LanguageModel

    def spans(self, sentences: Sequence[Sequence[str]]) -> list[Spans]:
        """Split at the largest distance first."""
        training = self.model.training
        self.model.eval()
        numbers = [self.vocabulary.encode(words) for words in sentences]
        found: list[Spans] = [[] for _ in sentences]
        for chosen in by_length([len(one) for one in numbers], 256):
            words, lengths = pad([numbers[i] for i in chosen])
            rows = self.model.distances(torch.from_numpy(words).to(self.model.bias.device)).cpu().numpy()
            for i, length, row in zip(chosen, lengths, rows, strict=True):
                found[i] = spans_from_distances(row[1:length].tolist())
        self.model.train(training)
        return found


def learn_language(
    make: Callable[[LanguageConfig, int], LanguageModel],
    captions: Captions,
    seed: int,
    options: Options,
    config: LanguageConfig | None = None,
    label: str = "training a language model",
) -> DistanceParser:
    """Train on the text alone, with Adam, for a number of epochs."""
    config = config or LanguageConfig()
    vocabulary = Vocabulary.of(captions.sentences, min_count=3)
    used = [vocabulary.encode(words) for words in captions.sentences if 2 <= len(words) <= config.max_length]
    if len(used) < 2:
        raise DataError("fewer than two captions of 2 or more words are left to learn from. Give more.")
    words, lengths = pad(used)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = make(config, len(vocabulary))
    parser = DistanceParser(vocabulary, model)

    def batches(epoch: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        return batches_by_length(lengths, config.batch_size, rng)

    def loss(module: LanguageModel, chosen: NDArray[np.int64], _: torch.Generator) -> tuple[Tensor, dict[str, Tensor]]:
        longest = int(lengths[chosen].max())
        return module.loss(torch.from_numpy(words[chosen, :longest]).to(module.bias.device))

    watch = options.watch
    fit(
        model,
        batches=batches,
        loss=loss,
        optimizer=torch.optim.Adam(model.parameters(), lr=config.learning_rate),
        epochs=config.epochs if options.epochs is None else options.epochs,
        seed=seed,
        clip=config.clip,
        evaluate=None if watch is None else lambda _: watch(parser),
        every=options.every,
        device=options.device,
        label=label,
    )
    model.eval()
    return parser
