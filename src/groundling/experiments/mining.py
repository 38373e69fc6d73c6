"""Bitext mining on shuffled NTREX and PUD: precision, recall, F1 of the mined pairs (thesis 8.2.1)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from groundling.algorithms.bitext_mining import Mined
from groundling.backbones.text import TextEncoder
from groundling.experiments.alignment_data import columns
from groundling.formats import conllu
from groundling.systems.mlpalign.mining import mine_bitext


def shuffled_f1(
    pairs: Sequence[tuple[Sequence[str], Sequence[str]]], encoder: TextEncoder, seed: int = 0
) -> dict[str, float]:
    """Shuffle the target side, mine with every pair over one kept, and count the pairs found again."""
    order = np.random.default_rng(seed).permutation(len(pairs))
    found = mine_bitext([a for a, _ in pairs], [pairs[k][1] for k in order], encoder, share=1.0)
    return _score(found, order.tolist(), len(pairs))


def _score(found: list[Mined], order: list[int], total: int) -> dict[str, float]:
    right = sum(order[m.target] == m.source for m in found)
    precision, recall = right / max(len(found), 1), right / total
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    return {"pairs": total, "mined": len(found), "precision": precision, "recall": recall, "f1": f1}


def ntrex_pairs(bitext_folder: Path, language: str) -> list[tuple[list[str], list[str]]]:
    """English and another language, cut at spaces: a sentence vector needs no better words."""
    rows = columns(bitext_folder / "ntrex128_15langs.tsv.xz", "en", language)
    return [(a.split(), b.split()) for a, b in rows if a.strip() and b.strip()]


def pud_pairs(ud_folder: Path, language: str) -> list[tuple[list[str], list[str]]]:
    """The words of the parallel treebanks."""
    sides = [
        [list(one.words) for one in conllu.read(ud_folder / "pud" / f"{code}_pud-ud-test.conllu.gz")]
        for code in ("en", language)
    ]
    return list(zip(*sides, strict=True))
