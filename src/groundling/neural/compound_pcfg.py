"""The compound PCFG (Kim et al. 2019): a neural PCFG whose rules depend on a vector z of each sentence, a VAE.

It reads sequences of whole numbers, words or discrete speech units alike (thesis 3.3.2, 4.3.4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from groundling.errors import ConfigError, DataError
from groundling.neural.inside import Grammar, best_spans, inside, span_marginals
from groundling.training.loop import fit


@dataclass(frozen=True, kw_only=True)
class CompoundConfig:
    """Sizes of Kim et al.; thesis 4.3.4 uses them.

    >>> CompoundConfig(epochs=0)
    Traceback (most recent call last):
    groundling.errors.ConfigError: epochs is 0, but it must be above 0.
    """

    nonterminals: int = 30
    preterminals: int = 60
    z_dim: int = 64
    state_dim: int = 256
    encoder_dim: int = 256  # of each direction of the inference network
    batch_size: int = 32  # Deviation: theirs is 4, eight times as many steps
    epochs: int = 10
    learning_rate: float = 1e-3
    warm_up: int = 1000  # steps over which the weight of KL(q(z | x) || p(z)) grows to 1
    max_length: int = 30
    clip: float = 3.0

    def __post_init__(self) -> None:
        for name in ("nonterminals", "preterminals", "z_dim", "state_dim", "batch_size", "epochs", "max_length"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}, but it must be above 0.")


class Residual(nn.Module):
    """x + a two-layer network of x."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, dim), nn.ReLU())

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x) + x


class CompoundPCFG(nn.Module):
    """p(x) = integral over z of PCFG_z(x); q(z | x) is a bidirectional LSTM with max pooling.

    Symbol 0 pads. Layers over [symbol state; z] are written as the sum of their two halves, so that the half without z
    is computed once a batch.
    """

    steps: Tensor

    def __init__(self, config: CompoundConfig, symbols: int) -> None:
        super().__init__()
        self.config, state, z = config, config.state_dim, config.z_dim
        total = config.nonterminals + config.preterminals
        self.start = nn.Parameter(torch.randn(1, state))
        self.phrases = nn.Parameter(torch.randn(config.nonterminals, state))
        self.words = nn.Parameter(torch.randn(config.preterminals, state))
        self.root_in, self.root_z = nn.Linear(state, state), nn.Linear(z, state, bias=False)
        self.root_out = nn.Sequential(Residual(state), Residual(state), nn.Linear(state, config.nonterminals))
        self.rule_in, self.rule_z = nn.Linear(state, total**2), nn.Linear(z, total**2, bias=False)
        self.word_in, self.word_z = nn.Linear(state, state), nn.Linear(z, state, bias=False)
        self.word_out = nn.Sequential(Residual(state), Residual(state), nn.Linear(state, symbols))
        self.embedding = nn.Embedding(symbols, config.encoder_dim, padding_idx=0)
        self.encoder = nn.LSTM(config.encoder_dim, config.encoder_dim, batch_first=True, bidirectional=True)
        self.posterior = nn.Linear(2 * config.encoder_dim, 2 * z)
        self.register_buffer("steps", torch.zeros(()))
        for weight in self.parameters():
            if weight.dim() > 1:
                nn.init.xavier_uniform_(weight)

    def infer(self, sequences: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and log variance of q(z | x), each (batch, z)."""
        packed = nn.utils.rnn.pack_padded_sequence(
            self.embedding(sequences), lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        states, _ = nn.utils.rnn.pad_packed_sequence(
            self.encoder(packed)[0], batch_first=True, padding_value=float("-inf")
        )
        mean, log_variance = self.posterior(states.amax(1)).chunk(2, 1)
        return mean, log_variance

    def grammar(self, sequences: Tensor, z: Tensor) -> Grammar:
        """The PCFG of each sentence, its emissions looked up for the sentence's own words."""
        config, batch = self.config, len(sequences)
        total = config.nonterminals + config.preterminals
        root = self.root_out(self.root_in(self.start) + self.root_z(z)).softmax(1)
        rules = (self.rule_in(self.phrases) + self.rule_z(z)[:, None]).softmax(2)
        states = self.word_in(self.words) + self.word_z(z)[:, None]
        emissions = self.word_out(states).log_softmax(2)  # (batch, P, symbols)
        chosen = emissions.gather(2, sequences[:, None].expand(-1, config.preterminals, -1))
        return Grammar(root, rules.view(batch, config.nonterminals, total, total), chosen.transpose(1, 2))

    def loss(self, sequences: Tensor, lengths: Tensor, generator: torch.Generator) -> tuple[Tensor, dict[str, Tensor]]:
        """Minus the evidence lower bound, a sentence; the weight of KL warms up."""
        mean, log_variance = self.infer(sequences, lengths)
        noise = torch.randn(mean.shape, generator=generator, device=mean.device)
        z = mean + noise * (log_variance / 2).exp()
        log_z = inside(self.grammar(sequences, z), lengths)
        kl = ((mean**2 + log_variance.exp() - log_variance - 1) / 2).sum(1)
        weight = ((self.steps + 1) / self.config.warm_up).clamp_max(1)
        self.steps += 1
        nats = (kl - log_z).sum().detach() / lengths.sum()
        return (weight * kl - log_z).mean(), {"kl": kl.mean().detach(), "nats_per_word": nats}

    @torch.no_grad()
    def spans(self, sequences: Sequence[NDArray[np.int64]], size: int = 64) -> list[list[tuple[int, int]]]:
        """The n - 1 spans of each sequence's tree of largest summed span marginals, z at its posterior mean."""
        found: list[list[tuple[int, int]]] = [[] for _ in sequences]
        order = sorted((i for i, one in enumerate(sequences) if len(one) > 1), key=lambda i: len(sequences[i]))
        for begin in range(0, len(order), size):
            chosen = order[begin : begin + size]
            numbers, lengths = _padded([sequences[i] for i in chosen], self.start.device)
            grammar = self.grammar(numbers, self.infer(numbers, lengths)[0])
            for i, spans in zip(chosen, best_spans(span_marginals(grammar, lengths)[1], lengths), strict=True):
                found[i] = spans
        return found


def train_compound_pcfg(
    sequences: Sequence[NDArray[np.int64]],
    symbols: int,
    config: CompoundConfig | None = None,
    *,
    seed: int,
    device: str = "auto",
    watch: Callable[[CompoundPCFG], dict[str, float]] | None = None,
    every: int | None = None,
    label: str = "training compound PCFG",
) -> CompoundPCFG:
    """Learn a grammar from sequences of numbers 1 .. symbols - 1 (0 is kept for padding).

    `watch(model)` is called after each epoch, or each `every` steps. Sequences of one symbol say nothing about
    trees and are left out, as are those over `max_length`.
    """
    config = config or CompoundConfig()
    used = [np.asarray(one, dtype=np.int64) for one in sequences if 2 <= len(one) <= config.max_length]
    if not used:
        raise DataError(
            f"no sequence of 2 to {config.max_length} symbols to learn from. Give more, or raise max_length."
        )
    if min(int(one.min()) for one in used) < 1 or max(int(one.max()) for one in used) >= symbols:
        raise DataError(f"symbols must be numbers from 1 to {symbols - 1}; 0 is kept for padding.")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = CompoundPCFG(config, symbols)

    def batches(epoch: int, rng: np.random.Generator) -> Iterator[list[NDArray[np.int64]]]:
        # Sentences of one length: nothing is wasted on padding, and the chart has the right size.
        order = rng.permutation(len(used))
        order = order[np.argsort([len(used[i]) for i in order], kind="stable")]
        cut = [order[k : k + config.batch_size] for k in range(0, len(order), config.batch_size)]
        yield from ([used[i] for i in cut[k]] for k in rng.permutation(len(cut)))

    fit(
        model,
        batches=batches,
        loss=lambda module, batch, generator: module.loss(*_padded(batch, module.start.device), generator),
        optimizer=torch.optim.Adam(model.parameters(), lr=config.learning_rate, betas=(0.75, 0.999)),
        epochs=config.epochs,
        seed=seed,
        clip=config.clip,
        evaluate=watch,
        every=every,
        device=device,
        label=label,
    )
    return model.eval()


def _padded(sequences: Sequence[NDArray[np.int64]], device: torch.device) -> tuple[Tensor, Tensor]:
    lengths = torch.tensor([len(one) for one in sequences])
    numbers = nn.utils.rnn.pad_sequence([torch.from_numpy(one) for one in sequences], batch_first=True)
    return numbers.to(device), lengths.to(device)
