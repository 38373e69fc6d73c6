"""Gold alignments and bitext of the crosslingual corpora, as the table of chapter 8 needs them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from groundling.algorithms.word_tokens import word_tokens
from groundling.formats.files import open_text

Sentence = list[str]
_EUROPARL, _MULTI30K = "europarl_en-de-fr-es-it.tsv.xz", "multi30k_train_en-de-fr-cs.tsv.xz"
_MANY = (
    _EUROPARL,
    _MULTI30K,
    "ntrex128_15langs.tsv.xz",
    "xquad_questions_7langs.tsv.xz",
    "xquad_paragraphs_7langs.tsv.xz",
)
_NO_SPACES = {"ja", "zh", "jp"}  # words of raw text would not be the gold's


def bitext(folder: Path, source: str, target: str, most: int, seed: int = 0) -> list[tuple[Sentence, Sentence]]:
    """Tokenised sentence pairs of two languages, at most `most` from each corpus, drawn by the seed, in mixed order."""
    if {source, target} & _NO_SPACES:
        return []
    rng = np.random.default_rng(seed)
    found: list[tuple[str, str]] = []
    for pairs in _corpora(folder, source, target):
        found += [pairs[k] for k in np.sort(rng.permutation(len(pairs))[:most])]
    mixed = [found[k] for k in rng.permutation(len(found))]
    return [(word_tokens(a), word_tokens(b)) for a, b in mixed if a.strip() and b.strip()]


def columns(path: Path, source: str, target: str) -> list[tuple[str, str]]:
    """Two columns of a table whose first line names the languages; empty when one is not there."""
    with open_text(path) as lines:
        names = next(lines).split("\t")
        if source not in names or target not in names:
            return []
        i, j = names.index(source), names.index(target)
        rows = (line.split("\t") for line in lines)
        return [(row[i], row[j]) for row in rows if len(row) == len(names)]


def _corpora(folder: Path, source: str, target: str) -> Iterator[list[tuple[str, str]]]:
    for name in _MANY:
        if (folder / name).exists():
            yield columns(folder / name, source, target)
    other = target if source == "en" else source
    path = folder / f"tatoeba_en-{other}.tsv.xz"
    if "en" in (source, target) and path.exists():
        with open_text(path) as lines:
            pairs = [(row[0], row[1]) for row in (line.split("\t") for line in lines) if len(row) > 1]
        yield pairs if source == "en" else [(b, a) for a, b in pairs]
