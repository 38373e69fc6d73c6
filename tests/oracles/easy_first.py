"""VG-NSL's parser and losses, one caption and one term at a time: slow and obviously right."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor

from groundling.neural.easy_first import Scorer


def greedy_tree(scorer: Scorer, words: Tensor) -> list[tuple[int, int]]:
    """The spans in the order of merging, every score recomputed at every step from the concatenated pair."""
    half = scorer.bias.shape[0]
    first = torch.cat([scorer.sides.weight[:half], scorer.sides.weight[half:]], dim=1)  # (hidden, 2 dim)
    items = [(i, i + 1, words[i]) for i in range(len(words))]
    spans: list[tuple[int, int]] = []
    while len(items) > 1:
        pairs = [torch.cat([a[2], b[2]]) for a, b in pairwise(items)]
        scores = [scorer.out(torch.relu(first @ pair + scorer.bias)).item() for pair in pairs]
        best = max(range(len(scores)), key=scores.__getitem__)
        left, right = items[best], items[best + 1]
        total = left[2] + right[2]
        items[best : best + 2] = [(left[0], right[1], total / total.norm())]
        spans.append((left[0], right[1]))
    return spans


def triplets(
    similarity: Tensor, mask: Tensor, other: Tensor, margin: float, reward_margin: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Loss, concreteness and abstractness of thesis 3.2.3 term by term; sums divided by the number of negatives."""
    batch, places, _ = similarity.shape
    loss = similarity.new_zeros(())
    concrete, abstract = torch.zeros(batch, places), torch.zeros(batch, places)
    for i, j in mask.nonzero().tolist():
        own = similarity[i, j, i]
        captions = [similarity[k, p, i] for k, p in mask.nonzero().tolist() if other[i, k]]
        images = [similarity[i, j, k] for k in range(batch) if other[i, k]]
        for rivals in (captions, images):
            for rival in rivals:
                loss = loss + (rival - own + margin).clamp_min(0) / len(rivals)
                concrete[i, j] += (own - rival - reward_margin).clamp_min(0).detach() / len(rivals)
                abstract[i, j] += (rival - own + reward_margin).clamp_min(0).detach() / len(rivals)
    return loss / batch, concrete, abstract
