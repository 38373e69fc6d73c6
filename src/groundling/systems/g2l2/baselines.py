"""Sequence-to-sequence baselines of the SCAN table (thesis 6.3.2): an LSTM after Lake and Baroni, and a Transformer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from groundling.training.devices import seeded
from groundling.training.loop import fit
from groundling.worlds.scan import ACTIONS, Instruction

PAD, START, END = 0, 1, 2
LONGEST = 50  # actions; SCAN has 48


class Seq2Seq(nn.Module):
    """Words in, actions out. `kind` is lstm (two layers, the last state starts the decoder) or transformer (2 + 2)."""

    def __init__(self, words: Sequence[str], kind: str, size: int = 200):
        super().__init__()
        self.kind, self.index = kind, {word: number + 3 for number, word in enumerate(words)}
        self.source = nn.Embedding(len(words) + 3, size, padding_idx=PAD)
        self.target = nn.Embedding(len(ACTIONS) + 3, size, padding_idx=PAD)
        self.out = nn.Linear(size, len(ACTIONS) + 3)
        if kind == "lstm":
            self.encoder = nn.LSTM(size, size, 2, batch_first=True, dropout=0.5)
            self.decoder = nn.LSTM(size, size, 2, batch_first=True, dropout=0.5)
        else:
            self.places = nn.Embedding(LONGEST + 2, size)
            self.transformer = nn.Transformer(size, 4, 2, 2, 2 * size, 0.1, batch_first=True, norm_first=False)
            self.transformer.encoder.use_nested_tensor = False  # a prototype that warns

    def encode(self, commands: Sequence[Instruction]) -> tuple[Tensor, Tensor]:
        """Return padded word numbers [batch, words] and action numbers with START and END, [batch, actions + 2]."""
        device = self.out.weight.device
        words = [torch.tensor([self.index[word] for word in item.words] + [END]) for item in commands]
        acts = [torch.tensor([START, *(ACTIONS.index(a) + 3 for a in item.actions), END]) for item in commands]
        pad = nn.utils.rnn.pad_sequence
        return pad(words, True, PAD).to(device), pad(acts, True, PAD).to(device)

    def logits(self, words: Tensor, actions: Tensor) -> Tensor:
        """Return the scores of the next action after each of `actions`."""
        if self.kind == "lstm":
            lengths = (words != PAD).sum(1).cpu()
            packed = nn.utils.rnn.pack_padded_sequence(self.source(words), lengths, True, enforce_sorted=False)
            _, state = self.encoder(packed)
            return self.out(self.decoder(self.target(actions), state)[0])
        later = nn.Transformer.generate_square_subsequent_mask(actions.shape[1], device=actions.device)
        found = self.transformer(
            self._placed(self.source, words),
            self._placed(self.target, actions),
            tgt_mask=later,
            src_key_padding_mask=_padding(words),
            tgt_key_padding_mask=_padding(actions),
            memory_key_padding_mask=_padding(words),
        )
        return self.out(found)

    def _placed(self, table: nn.Embedding, numbers: Tensor) -> Tensor:
        return table(numbers) + self.places(torch.arange(numbers.shape[1], device=numbers.device))

    def loss(self, commands: Sequence[Instruction]) -> Tensor:
        """Return the mean cross entropy of the actions, a scalar."""
        words, actions = self.encode(commands)
        scores = self.logits(words, actions[:, :-1])
        return nn.functional.cross_entropy(scores.flatten(0, 1), actions[:, 1:].flatten(), ignore_index=PAD)

    @torch.no_grad()
    def answer(self, commands: Sequence[Instruction]) -> list[tuple[str, ...]]:
        """Decode greedily."""
        self.eval()
        words, _ = self.encode(commands)
        actions = torch.full((len(commands), 1), START, device=words.device)
        for _ in range(LONGEST):
            best = self.logits(words, actions)[:, -1].argmax(1, keepdim=True)
            actions = torch.cat([actions, best], 1)
            if bool((actions == END).any(1).all()):
                break
        rows = actions[:, 1:].tolist()
        return [
            tuple(ACTIONS[code - 3] for code in row[: row.index(END) if END in row else None] if code > 2)
            for row in rows
        ]


def _padding(numbers: Tensor) -> Tensor:
    """Return where attention must not look, as added scores."""
    return torch.zeros_like(numbers, dtype=torch.float).masked_fill(numbers == PAD, float("-inf"))


def train_baseline(
    kind: str,
    commands: Sequence[Instruction],
    *,
    seed: int,
    steps: int = 10000,
    batch_size: int = 64,
    size: int = 200,
    device: str = "auto",
) -> Seq2Seq:
    """Train for a fixed number of steps, as the thesis' baselines have no development set."""
    with seeded(seed):
        model = Seq2Seq(sorted({word for item in commands for word in item.words}), kind, size)

    def batches(epoch: int, rng: np.random.Generator) -> Iterator[list[Instruction]]:
        for _ in range(max(1, steps // 10)):
            yield [commands[i] for i in rng.integers(len(commands), size=batch_size)]

    fit(
        model,
        batches=batches,
        loss=lambda module, batch, _: module.loss(batch),
        optimizer=torch.optim.Adam(model.parameters(), lr=1e-3 if kind == "lstm" else 5e-4),
        epochs=10,
        seed=seed,
        clip=5.0,
        device=device,
        label=kind,
    )
    return model
