"""The end-to-end baseline of the CLEVR table (in the place of MAC in thesis 6.3.1): attention over words and objects.

A Transformer encoder reads the words of the question (with their places) and the features of the objects (without) as
one sequence; the answer is a class read off its first position. It has no programs and no concepts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from groundling.training.devices import seeded
from groundling.training.loop import fit
from groundling.worlds.clevr_questions import LONGEST, Question
from groundling.worlds.clevr_scenes import FEATURES

PAD, START, UNKNOWN = 0, 1, 2
MOST_OBJECTS = 10


class AnswerClassifier(nn.Module):
    """Words and object features in, answer out."""

    def __init__(self, words: Sequence[str], answers: Sequence[str], size: int = 128, layers: int = 4):
        super().__init__()
        self.index, self.answers = {word: number + 3 for number, word in enumerate(words)}, list(answers)
        self.words = nn.Embedding(len(words) + 3, size, padding_idx=PAD)
        self.places = nn.Embedding(LONGEST + 1, size)
        self.objects = nn.Linear(FEATURES, size)
        layer = nn.TransformerEncoderLayer(size, 4, 4 * size, 0.1, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.out = nn.Sequential(nn.LayerNorm(size), nn.Linear(size, len(self.answers)))

    def encode(self, questions: Sequence[Question]) -> tuple[Tensor, Tensor, Tensor]:
        """Return word numbers [batch, LONGEST + 1], features [batch, MOST_OBJECTS, FEATURES], object mask."""
        words = np.full((len(questions), LONGEST + 1), PAD)
        features = np.zeros((len(questions), MOST_OBJECTS, FEATURES), dtype=np.float32)
        mask = np.zeros((len(questions), MOST_OBJECTS), dtype=bool)
        for row, question in enumerate(questions):
            codes = [START, *(self.index.get(word, UNKNOWN) for word in question.words)]
            words[row, : len(codes)] = codes
            features[row, : len(question.scene.objects)] = question.scene.features
            mask[row, : len(question.scene.objects)] = True
        device = self.words.weight.device
        return torch.tensor(words, device=device), torch.tensor(features, device=device), torch.tensor(mask).to(device)

    def forward(self, words: Tensor, features: Tensor, mask: Tensor) -> Tensor:
        """Return the scores of the answers, [batch, answer]."""
        read = self.words(words) + self.places.weight
        sequence = torch.cat([read, self.objects(features)], 1)
        hidden = torch.cat([words == PAD, ~mask], 1)
        return self.out(self.encoder(sequence, src_key_padding_mask=hidden)[:, 0])

    def loss(self, questions: Sequence[Question]) -> Tensor:
        """Return the mean cross entropy of the answers, a scalar."""
        gold = torch.tensor([self.answers.index(question.answer) for question in questions])
        return nn.functional.cross_entropy(self(*self.encode(questions)), gold.to(self.words.weight.device))

    @torch.no_grad()
    def answer(self, questions: Sequence[Question], chunk: int = 512) -> list[str]:
        """Return the most probable answers."""
        self.eval()
        best: list[int] = []
        for start in range(0, len(questions), chunk):
            best += self(*self.encode(questions[start : start + chunk])).argmax(1).tolist()
        return [self.answers[number] for number in best]


def train_classifier(
    questions: Sequence[Question],
    *,
    seed: int,
    steps: int = 4000,
    batch_size: int = 256,
    learning_rate: float = 3e-4,
    device: str = "auto",
) -> AnswerClassifier:
    """Train for a fixed number of steps, the learning rate falling to zero as a cosine."""
    with seeded(seed):
        model = AnswerClassifier(
            sorted({word for item in questions for word in item.words}), sorted({item.answer for item in questions})
        )
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)

    def batches(epoch: int, rng: np.random.Generator) -> Iterator[list[Question]]:
        for _ in range(max(1, steps // 10)):
            yield [questions[i] for i in rng.integers(len(questions), size=batch_size)]

    fit(
        model,
        batches=batches,
        loss=lambda module, batch, _: module.loss(batch),
        optimizer=optimizer,
        scheduler=torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, max(10, steps)),
        epochs=10,
        seed=seed,
        clip=1.0,
        device=device,
        label="attention",
    )
    return model
