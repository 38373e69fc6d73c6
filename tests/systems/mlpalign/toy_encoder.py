"""An encoder whose words mean what a table says: tests need no weights."""

import numpy as np
import torch

DIM = 16


class ToyEncoder:
    """A word is one piece; `w7` and `v7` share a vector, up to noise. Every layer is the same."""

    name, layers, dim, max_pieces = "toy", 9, DIM, 64
    bos = eos = pad = 0
    device = torch.device("cpu")

    def __init__(self, noise: float = 0.3) -> None:
        rng = np.random.default_rng(0)
        meanings = rng.normal(size=(60, DIM))
        self.table = torch.tensor(np.concatenate([meanings, meanings + noise * rng.normal(size=(60, DIM))])).float()

    def pieces(self, word: str) -> list[int]:
        return [int(word[1:]) % 60 + 60 * (word[0] == "v")]

    def forward(self, ids, mask, top=None):
        return [self.table[ids]] * self.layers


def toy_pairs(count: int, seed: int = 0):
    """Sentences `w..` and their word-for-word translations `v..`, two neighbours swapped; and the true links."""
    rng = np.random.default_rng(seed)
    pairs, links = [], []
    for _ in range(count):
        numbers = rng.permutation(60)[: rng.integers(4, 9)]
        order = np.arange(len(numbers))
        k = rng.integers(len(numbers) - 1)
        order[[k, k + 1]] = order[[k + 1, k]]
        pairs.append(([f"w{n}" for n in numbers], [f"v{n}" for n in numbers[order]]))
        links.append({(int(i), j) for j, i in enumerate(order)})
    return pairs, links
