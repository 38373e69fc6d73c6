"""CKY-E2, forward and backward: seconds a sentence, and how they grow with sentence length and with entries a word."""

import time
from dataclasses import replace

import numpy as np
import torch

from benchmarks import Row, against
from groundling.systems.g2l2.domain import Template
from groundling.systems.g2l2.domains.navigation import navigation
from groundling.systems.g2l2.model import Lexicon
from groundling.worlds import scan

BATCH, WORDS, ENTRIES = 32, 8, 200
PEER = 14.9  # CPU seconds a sentence of the public re-implementation, 8 words, 209 entries a word


def lexicon(entries: int) -> Lexicon:
    """The SCAN domain with this many entries a word: candidates are repeated, or left out from the end."""
    domain = navigation()
    kept: list[Template] = [domain.templates[i % len(domain.templates)] for i in range(entries)]
    words = sorted({word for item in scan.phrases() for word in item.words} | {"and", "after", "twice", "thrice"})
    return Lexicon(replace(domain, templates=kept), words, generator=torch.Generator().manual_seed(0))


def seconds(model: Lexicon, words: int, actions: int, batch: int = BATCH) -> float:
    """CPU seconds a sentence, forward and backward, on commands of this length with at most so many actions."""
    pool = [item for item in scan.commands() if len(item.words) == words and len(item.actions) <= actions]
    chosen = np.random.default_rng(0).permutation(len(pool))[:batch]
    examples = [pool[i] for i in chosen]
    start = time.process_time()
    model.loss(examples).mean().backward()
    return (time.process_time() - start) / len(examples)


def exponent(xs: list[int], ys: list[float]) -> float:
    """The slope of log y over log x."""
    return float(np.polyfit(np.log(xs), np.log(ys), 1)[0])


def run() -> list[Row]:
    """One row for the sentence of the issue, two for the growth (floor: cubic in length, linear in entries)."""
    model = lexicon(ENTRIES)
    seconds(model, 3, 12)  # warm up
    own = seconds(model, WORDS, 24)
    lengths = [4, 5, 6, 7, 8]
    by_length = [seconds(model, words, 12, 16) for words in lengths]
    sizes = [178, 712, 2848, 11392]
    by_entries = [seconds(lexicon(size), 4, 12, 16) for size in sizes]
    cubic, linear = exponent(lengths, by_length), exponent(sizes, by_entries)
    return [
        against(f"CKY-E2 forward + backward, {WORDS} words, {ENTRIES} entries, a sentence", own, PEER, 100),
        against("CKY-E2, exponent in sentence length (4 to 8; thesis 3)", cubic, 3.3, 1, ""),
        against("CKY-E2, exponent in entries a word (178 to 11,392; thesis 1)", linear, 1.1, 1, ""),
    ]
