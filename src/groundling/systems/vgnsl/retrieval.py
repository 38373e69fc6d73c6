"""Finding images by captions and captions by images: R@1, R@5, R@10 and their sum (thesis 3.3.7 selects by R@1 too)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from groundling.neural.easy_first import compose, parse
from groundling.systems.vgnsl.data import Captions
from groundling.systems.vgnsl.model import Model
from groundling.systems.vgnsl.words import pad

RANKS = (1, 5, 10)


@torch.no_grad()
def caption_vectors(model: Model, sentences: Sequence[Sequence[str]], size: int = 256) -> Tensor:
    """The vector (captions, dim) of each whole caption under its best tree, at unit length."""
    vectors: list[Tensor] = []
    for begin in range(0, len(sentences), size):
        numbers, counts = pad([model.vocabulary.encode(words) for words in sentences[begin : begin + size]])
        words, lengths = torch.from_numpy(numbers).to(model.device), torch.from_numpy(counts).to(model.device)
        given = model.learner.word_vectors(words)
        nodes = compose(given, parse(model.learner.scorer, given, lengths).merges)
        root = torch.where(lengths > 1, words.shape[1] + lengths - 2, 0)  # a word alone is its own root
        vectors.append(normalize(nodes[torch.arange(len(words), device=root.device), root], dim=-1))
    return torch.cat(vectors)


@torch.no_grad()
def retrieval(model: Model, captions: Captions) -> dict[str, float]:
    """Recall in percent, `i2t R@k` (any caption of the image counts) and `t2i R@k`, and `rsum` of all six."""
    used, images = np.unique(captions.images, return_inverse=True)
    pictures = model.learner.image_vectors(torch.from_numpy(captions.features[used]).to(model.device))
    similarity = (caption_vectors(model, captions.sentences) @ pictures.T).cpu().numpy()
    return recalls(similarity, images)


def recalls(similarity: np.ndarray, images: np.ndarray) -> dict[str, float]:
    """The same from similarities (captions, images) and the image of each caption.

    >>> recalls(np.eye(2), np.array([0, 1]))["t2i R@1"]
    100.0
    """
    own = similarity[np.arange(len(images)), images]
    image_rank = (similarity > own[:, None]).sum(1)
    best = np.full(similarity.shape[1], -np.inf)
    np.maximum.at(best, images, own)
    caption_rank = (similarity > best).sum(0)  # how many captions stand before the image's best one
    found = {f"i2t R@{k}": 100 * float((caption_rank < k).mean()) for k in RANKS}
    found |= {f"t2i R@{k}": 100 * float((image_rank < k).mean()) for k in RANKS}
    return {**found, "rsum": sum(found.values())}
