"""G2L2: a lexicon with a weight for each candidate entry of each word, and an embedding for each of its concepts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from groundling.neural.precision import in_float32
from groundling.systems.g2l2.chart import expected_execution, total_weight
from groundling.systems.g2l2.domain import Domain, Root, World, refuse_unknown
from groundling.systems.g2l2.lexicon import OFF, Leaves, group_templates, lexical_items


class Lexicon(nn.Module):
    """Weights tau [word, entry] (the last column is the empty entry where the domain has one) and concepts.

    p(derivation) is proportional to exp(sum of tau) over its entries (thesis 6.2.3).
    """

    active: Tensor  # [word, entry]: False where pruned
    usage: Tensor  # [word, entry]: expected count in successful derivations, by `count_usage`
    progress: Tensor  # [2]: stage of the curriculum, epochs in it

    def __init__(
        self, domain: Domain, words: Sequence[str], *, spread: float = 0.01, generator: torch.Generator | None
    ):
        super().__init__()
        self.domain, self.words = domain, list(words)
        self.index = {word: number for number, word in enumerate(self.words)}
        entries = len(domain.templates) + domain.allow_empty
        self.weights = nn.Parameter(torch.randn(len(self.words), entries, generator=generator) * spread)
        self.register_buffer("active", torch.ones(len(self.words), entries, dtype=torch.bool))
        self.concepts = nn.ParameterDict()
        for name, kind in domain.concepts.items():
            start = torch.randn(len(self.words), kind.size or len(self.words), generator=generator)
            self.concepts[name] = nn.Parameter(kind.start + kind.spread * start)
        self.register_buffer("usage", torch.zeros(len(self.words), entries))
        self.register_buffer("progress", torch.zeros(2, dtype=torch.long))
        self.groups = group_templates(domain)
        self._void: set[str] | None = None  # words that are surely empty; found anew after pruning

    def log_probabilities(self) -> Tensor:
        """Return log p(entry | word), [word, entry]; pruned entries are at `OFF`."""
        return torch.log_softmax(self.weights.masked_fill(~self.active, OFF), 1).clamp(min=OFF)

    def readings(self, examples: Sequence[Any], log_weights: Tensor | None = None) -> tuple[World, dict[str, Root]]:
        """Run CKY-E2 on examples of one sentence length: what they are grounded in, and their readings."""
        used, positions = self.encode(examples).unique(return_inverse=True)
        world = self.ground(examples)
        weights = (self.log_probabilities() if log_weights is None else log_weights)[used]
        grounded = {name: kind.ground(world, self.concepts[name][used]) for name, kind in self.domain.concepts.items()}
        lexical = lexical_items(self.groups, Leaves(self.domain, world, grounded), weights, positions)
        empty = weights[:, -1][positions] if self.domain.allow_empty else None
        return world, expected_execution(self.domain, world, lexical, empty)

    def ground(self, examples: Sequence[Any]) -> World:
        """Return what the examples are grounded in.

        Operations see all concepts of all words too (`query` compares an object with each of them), as `all TYPE`.
        """
        world = self.domain.world(examples, self.words).to(self.weights.device)
        return World(world.size, **world.tensors, **{f"all {name}": p[None] for name, p in self.concepts.items()})

    def encode(self, examples: Sequence[Any]) -> Tensor:
        """Return word numbers [batch, length] of examples with equally many words that may mean something."""
        rows = [[self.index[word] for word in words] for words in map(self.meaningful, examples)]
        return torch.tensor(rows, device=self.weights.device)

    def meaningful(self, example: Any) -> tuple[str, ...]:
        """Return the words without those that surely mean nothing: pruned down to the empty entry.

        To leave them out changes no probability, and the chart is smaller.
        """
        refuse_unknown(example.words, self.index, " ".join(example.words)[:60])
        if not self.domain.allow_empty:
            return example.words
        if self._void is None:
            only = self.active[:, -1] & (self.active.sum(1) == 1)
            self._void = {word for word, void in zip(self.words, only.tolist(), strict=True) if void}
        kept = tuple(word for word in example.words if word not in self._void)
        return kept or example.words

    @in_float32
    def loss(self, examples: Sequence[Any], parse_weight: float = 0.0) -> Tensor:
        r"""Return -log P(answer | a derivation) - parse_weight * log(weight of all derivations), [batch].

        Deviation: the thesis has the first term only. It leaves a word with two entries, each right in other
        sentences, as it is; the second, small term makes a word pay for keeping several. It also rewards entries with
        more than one derivation a sentence, so it must stay small (`V\V/V` for `and`).
        """
        world, roots = self.readings(examples)
        if not roots:  # nothing to learn from what pruning left
            return self.weights.new_zeros(len(examples)) * self.weights.sum()
        return -self.domain.log_likelihood(world, roots) - parse_weight * total_weight(roots)

    def count_usage(self, batches: Iterable[Sequence[Any]]) -> None:
        """Count how often each entry is used in derivations that give the right answer, in expectation.

        That is the gradient of log(sum of exp tau over these derivations) with respect to tau. Entries that lead to no
        successful derivation have no gradient in the loss either, so their weights say nothing; their counts are 0.
        """
        with torch.no_grad():
            log_weights = self.log_probabilities()
        total = torch.zeros_like(log_weights)
        for batch in batches:
            with torch.enable_grad():
                leaf = log_weights.clone().requires_grad_()
                world, roots = self.readings(batch, leaf)
                if roots:
                    joint = self.domain.log_likelihood(world, roots) + total_weight(roots)
                    total += torch.autograd.grad(joint.sum(), leaf)[0]
        self.usage.copy_(total.clamp(min=0) * self.active)

    @torch.no_grad()
    def hold(self, reach: float) -> None:
        """Lift weights that lie more than `reach` below the best of their word, so that an entry can recover."""
        self.weights.copy_(torch.maximum(self.weights, self.weights.amax(1, keepdim=True) - reach))

    @torch.no_grad()
    def decide(self, word: str, batches: Iterable[Sequence[Any]], reach: float, least: float = 0.05) -> None:
        """Choose between the entries of an ambiguous word: try each alone, keep the one that explains the answers best.

        Two words may share one meaning between them (`number of`) while one of them needs another one elsewhere
        (`color of`); weights cannot leave such a state by small steps. The others stay within `reach`.
        """
        row, kept = self.index[word], list(batches)
        log_weights = self.log_probabilities()
        found: dict[int, float] = {}
        for entry in torch.nonzero(self.shares()[row] >= least)[:, 0].tolist():
            alone = log_weights.clone()
            alone[row] = OFF
            alone[row, entry] = 0.0
            scores = []
            for batch in kept:
                world, roots = self.readings(batch, alone)
                scores += self.domain.log_likelihood(world, roots).tolist() if roots else [OFF] * len(batch)
            found[entry] = sum(scores) / max(1, len(scores))
        best = max(found, key=lambda entry: found[entry])
        highest = float(self.weights[row].max())
        self.weights[row] = highest - reach
        self.weights[row, best] = highest

    @torch.no_grad()
    def reopen(self, word: str, reach: float = 2.0) -> None:
        """Switch all entries of a pruned word on again, `reach` below its best."""
        row = self.index[word]
        if not bool(self.active[row].all()):
            self.weights[row] = torch.maximum(self.weights[row], self.weights[row].max() - reach)
            self.active[row] = True
            self._void = None

    @torch.no_grad()
    def prune(self, least: float, *, least_use: float = 0.5, unlikely: float = 1.0) -> None:
        """Switch off entries with less than this share of their word's usage and less probable than `unlikely`.

        A word that was used less than `least_use` times keeps all.
        """
        used = self.usage.sum(1, keepdim=True)
        rare = (self.usage / used.clamp(min=1e-9) < least) & (self.log_probabilities().exp() <= unlikely)
        self.active &= ~rare | (used < least_use)
        self._void = None

    def best(self) -> list[int]:
        """Return the most used entry of each word."""
        return self.shares().argmax(1).tolist()

    def shares(self) -> Tensor:
        """Return each entry's share of its word's successful use, [word, entry]; by weight where none was counted."""
        used = self.usage.sum(1, keepdim=True)
        return torch.where(used > 0, self.usage / used.clamp(min=1e-9), self.log_probabilities().detach().exp())
