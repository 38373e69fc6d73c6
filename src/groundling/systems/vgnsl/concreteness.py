"""How concrete the learner finds a word (thesis 3.3.6), and what norms say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from groundling.errors import DataError, FormatError
from groundling.formats.files import open_text
from groundling.neural.easy_first import parse
from groundling.neural.retrieval_losses import match_all
from groundling.systems.vgnsl.data import Captions
from groundling.systems.vgnsl.model import Model
from groundling.systems.vgnsl.words import pad

FEWEST = 3  # words: a correlation of two points says nothing


@torch.no_grad()
def word_concreteness(model: Model, captions: Captions, seed: int = 0, size: int = 128) -> dict[str, float]:
    """Mean of concrete(z; V, C) over the tokens of each known word, each token beside the image of its caption.

    Captions meet in random batches of `size`, as in training.
    """
    totals = np.zeros(len(model.vocabulary))
    counts = np.zeros(len(model.vocabulary))
    order = np.random.default_rng(seed).permutation(len(captions.sentences))
    for begin in range(0, len(order), size):
        chosen = order[begin : begin + size]
        if len(chosen) < 2:
            continue
        words, values = _token_concreteness(model, captions.take(chosen))
        np.add.at(totals, words, values)
        np.add.at(counts, words, 1)
    known = np.flatnonzero(counts)
    return {model.vocabulary.words[i]: float(totals[i] / counts[i]) for i in known if i > 1}


def _token_concreteness(model: Model, captions: Captions) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    numbers, lengths = pad([model.vocabulary.encode(words) for words in captions.sentences])
    words, device = torch.from_numpy(numbers).to(model.device), model.device
    given = model.learner.word_vectors(words)
    found = parse(model.learner.scorer, given, torch.from_numpy(lengths).to(device))
    _, units = model.learner.constituents(given, found)
    images = torch.from_numpy(captions.images).to(device)
    pictures = model.learner.image_vectors(torch.from_numpy(captions.features[captions.images]).to(device))
    similarity = (units.flatten(0, 1) @ pictures.T).view(*units.shape[:2], -1)
    margins = (model.config.margin, model.config.reward_margin)
    match = match_all(similarity, found.node_mask(), images[:, None] != images, *margins)
    real = found.node_mask()[:, : words.shape[1]].cpu().numpy()
    return numbers[real], match.concrete[:, : words.shape[1]].cpu().numpy()[real]


def read_norms(path: str | Path) -> dict[str, float]:
    """Read ratings: a table whose header names `Word` and `Conc.M` (Brysbaert et al. 2014), tab- or comma-separated."""
    norms: dict[str, float] = {}
    with open_text(path) as lines:
        header = next(lines, "")
        mark = "\t" if "\t" in header else ","
        names = [name.strip().lower() for name in header.split(mark)]
        if "word" not in names or "conc.m" not in names:
            raise FormatError(f"{path}:1: no columns 'Word' and 'Conc.M'. Give the table of Brysbaert et al.")
        word, rating = names.index("word"), names.index("conc.m")
        for line in lines:
            cells = line.split(mark)
            try:
                norms[cells[word].strip().lower()] = float(cells[rating])
            except (IndexError, ValueError) as error:
                raise FormatError(f"{lines.where}: no word with a rating in {line!r}.") from error
    return norms


def correlation(
    learned: Mapping[str, float], norms: Mapping[str, float], sentences: Sequence[Sequence[str]], words: int = 100
) -> tuple[float, int]:
    """Pearson correlation over the `words` most frequent words of `sentences` that both know, and their number."""
    counts = Counter(word.lower() for sentence in sentences for word in sentence)
    both = [word for word, _ in counts.most_common() if word in learned and word in norms][:words]
    if len(both) < FEWEST:
        raise DataError(f"{len(both)} words have both a learned concreteness and a norm. Give more captions.")
    pair = np.corrcoef([learned[word] for word in both], [norms[word] for word in both])
    return float(pair[0, 1]), len(both)
