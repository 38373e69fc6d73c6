"""The easy-first bottom-up parser of thesis 3.2.1 over any vectors: words (VG-NSL) or speech segments (AV-NSL).

A caption of n vectors becomes a tree in n - 1 merges. Nodes are numbered 0 .. n-1 for the given vectors and n + t for
what merge t makes. `parse` chooses the merges of a whole batch at once, without gradients; `compose` and `step_scores`
then compute the vectors and the scores of that choice, with gradients, in a few large operations.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from groundling.neural.precision import in_float32
from groundling.neural.tree_composition import TINY, compose, take

__all__ = ["Parse", "Scorer", "compose", "parse", "step_scores", "take"]


class Scorer(nn.Module):
    """score([x_j; x_j+1]; Theta), two layers and ReLU. The first is linear, so each side is projected once, alone."""

    def __init__(self, dim: int, hidden_dim: int) -> None:
        super().__init__()
        self.sides = nn.Linear(dim, 2 * hidden_dim, bias=False)  # as a left neighbour, then as a right neighbour
        self.bias = nn.Parameter(torch.zeros(hidden_dim))
        self.out = nn.Linear(hidden_dim, 1, bias=False)

    def score(self, left: Tensor, right: Tensor) -> Tensor:
        """Scores (...) of pairs, from the projections (..., 2 hidden_dim) of both."""
        half = self.bias.shape[0]
        return self.out(torch.relu(left[..., :half] + right[..., half:] + self.bias)).squeeze(-1)


class Parse(NamedTuple):
    """The merges of a batch in T = n - 1 steps; where `mask` is False a shorter caption was done already."""

    merges: Tensor  # (batch, T, 2): the nodes merged at step t; the result is node n + t
    spans: Tensor  # (batch, T, 2): its first word, and the word after its last
    choice: Tensor  # (batch, T): the slot of the chosen pair, 0 where there was none
    pairs: Tensor  # (batch, 3T, 2): the nodes of every pair that was ever scored
    slot_pairs: Tensor  # (batch, T, n): the pair in each slot before step t, -1 for none
    mask: Tensor  # (batch, T)

    def node_mask(self) -> Tensor:
        """Real nodes (batch, 2n - 1): the words of each caption, then its merges."""
        lengths = self.mask.sum(1, keepdim=True) + 1
        words = torch.arange(self.slot_pairs.shape[2], device=lengths.device)
        return torch.cat([words < lengths, self.mask], dim=1)


@torch.no_grad()
@in_float32
def parse(
    scorer: Scorer,
    words: Tensor,  # (batch, n, dim)
    lengths: Tensor,  # (batch,), at least 1
    generator: torch.Generator | None = None,  # None: argmax, as at test time
    projections: Tensor | None = None,  # (batch, n, 2 hidden_dim) where they are known: scorer.sides(words)
) -> Parse:
    """Merge neighbours until one constituent is left, sampling from softmax(scores) or taking the best.

    >>> found = parse(Scorer(2, 3), torch.randn(1, 3, 2), torch.tensor([3]))
    >>> found.merges.shape, found.spans[0, -1].tolist()
    (torch.Size([1, 2, 2]), [0, 3])
    """
    batch, n, _ = words.shape
    state = _State(scorer, words, lengths, scorer.sides(words) if projections is None else projections)
    mask = torch.arange(1, n, device=words.device) < lengths[:, None]
    slot_pairs = state.pair.new_empty(batch, n - 1, n)
    choice = state.pair.new_empty(batch, n - 1)
    for t in range(n - 1):
        slot_pairs[:, t] = state.pair[:, :n]
        scores = state.scores if generator is None else state.scores + _gumbel(state.scores, generator)
        choice[:, t] = torch.where(mask[:, t], scores.argmax(1), n)
        state.merge(t, choice[:, t])
    return Parse(state.merges, state.spans, choice.masked_fill(~mask, 0), state.pairs, slot_pairs, mask)


@in_float32
def step_scores(scorer: Scorer, nodes: Tensor, found: Parse) -> tuple[Tensor, Tensor]:
    """Scores of every pair (batch, 3T), and log p(slot) before every step (batch, T, n), -inf where no pair stood.

    `nodes` come from `compose`; detach them where Theta alone is to learn. log p of what was chosen is
    `log_probs.gather(2, found.choice[..., None])`.
    """
    sides = scorer.sides(nodes)
    scores = scorer.score(take(sides, found.pairs[..., 0]), take(sides, found.pairs[..., 1]))
    return scores, at_steps(scores, found, float("-inf")).log_softmax(2)


def at_steps(values: Tensor, found: Parse, missing: float) -> Tensor:
    """Spread values of pairs (batch, 3T) over steps and slots (batch, T, n).

    A finished caption's steps show slot 0 as their only one, so that a softmax over them is defined.
    """
    batch, steps, n = found.slot_pairs.shape
    spread = values.gather(1, found.slot_pairs.clamp_min(0).view(batch, -1)).view(batch, steps, n)
    absent = found.slot_pairs < 0
    spread = spread.masked_fill(absent, missing)
    return torch.cat([spread[..., :1].masked_fill(~found.mask[..., None], 0.0), spread[..., 1:]], dim=2)


def _gumbel(like: Tensor, generator: torch.Generator) -> Tensor:
    uniform = torch.rand(like.shape, generator=generator, device=like.device, dtype=like.dtype)
    return -torch.log(-torch.log(uniform.clamp(1e-10, 1 - 1e-7)))  # argmax(score + Gumbel) samples from softmax(score)


BEFORE, AFTER, NODE, STOP = range(4)  # what a slot remembers: its neighbours, its node, the word after its last


class _State:
    """Constituents in slots: a constituent sits in the slot of its first word; slot n means "nothing there"."""

    def __init__(self, scorer: Scorer, words: Tensor, lengths: Tensor, sides: Tensor) -> None:
        batch, n, _ = words.shape
        self.n, self.score, self.rows = n, scorer.score, torch.arange(batch, device=words.device)
        # A constituent is a scaled sum of its parts, so its projections and its dot products with all others are too:
        # they ride along in the slots, and no vector of `dim` numbers is needed after the first products.
        self.sides = nn.functional.pad(sides, (0, 0, 0, 1)).view(-1, sides.shape[2])  # row of slot s: caption (n+1) + s
        self.dots = nn.functional.pad(words @ words.transpose(1, 2), (0, 1, 0, 1))
        self.first = torch.arange(0, batch * (n + 1), n + 1, device=words.device)
        slot = torch.arange(n + 1, device=words.device)
        before, after = torch.where(slot > 0, slot - 1, n), torch.where(slot < n - 1, slot + 1, n)
        self.slots = torch.stack([before, after, slot % n, slot + 1], 1).repeat(batch, 1, 1)
        self.slots[..., AFTER].masked_fill_(self.slots[..., AFTER] >= lengths[:, None], n)
        self.slots[:, n, BEFORE] = n
        self.merges = lengths.new_zeros(batch, n - 1, 2)
        self.spans = lengths.new_zeros(batch, n - 1, 2)
        self.pairs = lengths.new_zeros(batch, 3 * (n - 1), 2)
        self.pairs[:, : n - 1, 0], self.pairs[:, : n - 1, 1] = slot[: n - 1], slot[1:n]
        real = self.slots[:, : n - 1, AFTER] < n
        self.scores = words.new_full((batch, n + 1), float("-inf"))
        self.scores[:, : n - 1] = self.score(sides[:, :-1], sides[:, 1:]).masked_fill(~real, float("-inf"))
        self.pair = lengths.new_full((batch, n + 1), -1)
        self.pair[:, : n - 1] = torch.where(real, slot[: n - 1], -1)

    def merge(self, t: int, here: Tensor) -> None:
        """Merge the constituent in slot `here` with its right neighbour, and score the two pairs that this makes."""
        rows, n = self.rows, self.n
        slot = self.slots[rows, here]
        right = slot[:, AFTER]
        gone = self.slots[rows, right]
        previous, following = slot[:, BEFORE], gone[:, AFTER]
        self.merges[:, t, 0], self.merges[:, t, 1] = slot[:, NODE], gone[:, NODE]
        self.spans[:, t, 0], self.spans[:, t, 1] = here, gone[:, STOP]
        made = self._combine(here, right)
        new = torch.full_like(here, n + t)
        self.slots[rows, here] = torch.stack([previous, following, new, gone[:, STOP]], 1)
        self.slots[rows, following, BEFORE] = here
        self.slots[:, n, BEFORE], self.slots[:, n, AFTER], self.slots[:, n, NODE] = n, n, 0
        outer = self.slots[rows[:, None], torch.stack([previous, following], 1), NODE]
        pair = n - 1 + 2 * t
        self.pairs[:, pair : pair + 2] = torch.stack([outer[:, 0], new, new, outer[:, 1]], 1).view(-1, 2, 2)
        self._rescore(pair, made, right, previous, here, following)

    def _combine(self, here: Tensor, right: Tensor) -> Tensor:
        """Put the sum of two slots, at unit length, in the first; its projections (batch, 2 hidden_dim)."""
        rows, a, b = self.rows, self.first + here, self.first + right
        dots_a, dots_b = self.dots[rows, here], self.dots[rows, right]
        square = dots_a[rows, here] + 2 * dots_a[rows, right] + dots_b[rows, right]
        norm = square.clamp_min(TINY * TINY).sqrt_()[:, None]
        dots = dots_a.add_(dots_b).div_(norm)
        dots[rows, here] = square / norm[:, 0] ** 2
        self.dots[rows, here] = dots
        self.dots[rows, :, here] = dots
        made = self.sides.index_select(0, a).add_(self.sides.index_select(0, b)).div_(norm)
        self.sides.index_copy_(0, a, made)
        return made

    def _rescore(
        self, pair: int, made: Tensor, right: Tensor, previous: Tensor, here: Tensor, following: Tensor
    ) -> None:
        """Score the new constituent with what stands before it and after it; the slot on its right is empty now."""
        n, batch = self.n, len(self.rows)
        before, after = (self.sides.index_select(0, self.first + slot) for slot in (previous, following))
        slots = torch.stack([right, previous, here], 1)
        exists = torch.stack([torch.zeros_like(right), previous < n, following < n], 1).bool()
        none = torch.zeros_like(made[:, 0])
        scores = torch.stack([none, self.score(before, made), self.score(made, after)], 1)
        self.scores.scatter_(1, slots, scores.masked_fill(~exists, float("-inf")))
        numbers = torch.arange(pair - 1, pair + 2, device=slots.device).expand(batch, 3)
        self.pair.scatter_(1, slots, torch.where(exists, numbers, -1))
        self.scores[:, n], self.pair[:, n] = float("-inf"), -1
