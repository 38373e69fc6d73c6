"""Chapter 3: tables 3.1 to 3.4 and the data efficiency of figure 3.4, beside the thesis' numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from groundling.algorithms.branching import left_branching, random_binary, right_branching
from groundling.experiments import vgnsl_data as corpus
from groundling.experiments.tables import ResultRow, Results
from groundling.experiments.vgnsl_baselines import NAMES as BASELINES
from groundling.experiments.vgnsl_baselines import NORMS, baseline_rows
from groundling.experiments.vgnsl_runs import VARIANTS, Kept, choose, keep_runs, sample, texts, trees_of, unflat
from groundling.metrics.parseval import ParsEval
from groundling.structures.tree import Tree
from groundling.systems.vgnsl.concreteness import correlation, read_norms
from groundling.systems.vgnsl.selection import agreement, span_keys

TYPES = ("NP", "VP", "PP", "ADJP")
# Table 3.1: recall of each type, F1, self F1.
TABLE_1 = {
    "random": (47.3, 10.5, 17.3, 33.5, 27.1, 32.4),
    "left": (51.4, 1.8, 0.2, 16.0, 23.3, None),
    "right": (32.2, 23.4, 18.7, 14.4, 22.9, None),
    "VG-NSL": (79.6, 26.2, 42.0, 22.0, 50.4, 87.1),
    "VG-NSL+AI": (74.6, 32.5, 66.5, 21.7, 53.3, 90.2),
    "VG-NSL+AI+vectors": (78.8, 24.4, 65.6, 22.0, 54.4, 89.8),
}
BY_R1 = {"VG-NSL": (47.7, 83.4), "VG-NSL+AI": (53.1, 88.7), "VG-NSL+AI+vectors": (None, None)}  # table 3.3
ONE_CAPTION = {"en": 38.7, "de": 38.3, "fr": 38.1}  # table 3.4, VG-NSL+AI
OFTEN = 5  # a word's concreteness is a mean over its tokens: fewer than these say little
WHERE = "trained on Multi30K (6,993 images), tested on MSCOCO"


def run(
    data: Path,
    out: str | Path = "runs/reproduce/vgnsl",
    seed: int = 0,
    say: Callable[[str], None] = lambda _: None,
    device: str = "auto",
) -> list[ResultRow]:
    """All rows; trainings and finished rows are kept in `out`, not made again. Hours on two cores, minutes on a GPU."""
    results, runs = Results(out), Path(out) / "runs"

    def kept(name: str) -> list[Kept]:
        return keep_runs(VARIANTS[name], data, runs, say, device)

    rows = results.rows("trivial", lambda: trivial_rows(data, seed))
    for name in BASELINES:
        rows += results.rows(f"baseline {name}", lambda name=name: baseline_rows(name, data, runs, say))
    for name in ("VG-NSL", "VG-NSL+AI", "VG-NSL+AI+vectors"):
        rows += results.rows(name, lambda name=name: table_rows(name, kept(name), data))
        rows += results.rows(f"{name} concreteness", lambda name=name: concreteness_rows(name, kept(name), data))
    for name in BY_R1:
        rows += results.rows(f"{name} by R@1", lambda name=name: r1_rows(name, kept(name), data))
    rows += results.rows("no punctuation", lambda: no_punctuation_rows(kept("VG-NSL+AI, no punctuation"), data))
    for language in corpus.LANGUAGES:
        name = f"VG-NSL+AI, one caption, {language}"
        rows += results.rows(name, lambda name=name, language=language: language_rows(language, kept(name), data))
    for share in ("10 % of images", "20 % of images", "50 % of images", "100 % of images", "shuffled images"):
        name = f"VG-NSL+AI, {share}"
        rows += results.rows(name, lambda name=name: short_rows(name, kept(name), data))
    return rows


def trivial_rows(data: Path, seed: int) -> list[ResultRow]:
    """Trees that know nothing, with the final stop as in the thesis and without punctuation."""
    rows: list[ResultRow] = []
    for punctuation in (True, False):
        gold = corpus.mscoco_trees(data, punctuation)
        rng = np.random.default_rng(seed)
        guesses = {"random": [[random_binary(tree.words, rng) for tree in gold] for _ in range(5)]}
        guesses |= {"left": [[left_branching(tree.words) for tree in gold]]}
        guesses |= {"right": [[right_branching(tree.words) for tree in gold]]}
        for name, systems in guesses.items():
            rows += _scored(name if punctuation else f"{name}, no punctuation", systems, gold, "MSCOCO test")
    return rows


def table_rows(name: str, runs: Sequence[Kept], data: Path) -> list[ResultRow]:
    """A line of table 3.1: checkpoints chosen by self-agreement on development captions."""
    dev, test = texts(VARIANTS[name], data)
    chosen, _ = choose(runs, dev)
    gold = corpus.mscoco_trees(data)
    note = (
        f"{WHERE}; {len(runs)} seeds, epochs {', '.join(f'{r.epochs[c]:g}' for r, c in zip(runs, chosen, strict=True))}"
    )
    systems = [trees_of(run.test[c], test) for run, c in zip(runs, chosen, strict=True)]
    rows = _scored(name, systems, gold, note)
    return [*rows, ResultRow(f"{name}, self F1", _thesis(name, 5), 100 * self_f1(runs, chosen, test), note)]


def r1_rows(name: str, runs: Sequence[Kept], data: Path) -> list[ResultRow]:
    """Table 3.3: the same runs, each at the checkpoint of best R@1."""
    _, test = texts(VARIANTS[name], data)
    chosen = [int(run.r1.argmax()) for run in runs]
    values = _f1([trees_of(run.test[c], test) for run, c in zip(runs, chosen, strict=True)], corpus.mscoco_trees(data))
    note = f"chosen by R@1 on Multi30K's validation images, sd {values.std():.1f}"
    return [
        ResultRow(f"{name}, by R@1, F1", BY_R1[name][0], float(values.mean()), note),
        ResultRow(f"{name}, by R@1, self F1", BY_R1[name][1], 100 * self_f1(runs, chosen, test), note),
    ]


def no_punctuation_rows(runs: Sequence[Kept], data: Path) -> list[ResultRow]:
    """Trained and tested without punctuation, where right-branching is strong."""
    name = "VG-NSL+AI, no punctuation"
    dev, test = texts(VARIANTS[name], data)
    chosen, _ = choose(runs, dev)
    systems = [trees_of(run.test[c], test) for run, c in zip(runs, chosen, strict=True)]
    return _scored(name, systems, corpus.mscoco_trees(data, False), "compare with the rows without punctuation only")


def language_rows(language: str, runs: Sequence[Kept], data: Path) -> list[ResultRow]:
    """Table 3.4: one caption an image. Only English has reference trees here (silver); self F1 for the others."""
    variant = VARIANTS[f"VG-NSL+AI, one caption, {language}"]
    dev, test = texts(variant, data)
    chosen, _ = choose(runs, dev)
    rows = [ResultRow(f"{variant.name}, self F1", None, 100 * self_f1(runs, chosen, test), f"{len(runs)} seeds")]
    if language == "en":
        gold = [corpus.with_stop(tree) for tree in corpus.silver_trees(data)]
        values = _f1([trees_of(run.test[c], test) for run, c in zip(runs, chosen, strict=True)], gold)
        note = f"silver trees with a stop added, sd {values.std():.1f}; the thesis has 29,000 images"
        rows.append(ResultRow(f"{variant.name}, F1", ONE_CAPTION[language], float(values.mean()), note))
        for name, branch in (("left", left_branching), ("right", right_branching)):
            value = float(_f1([[branch(tree.words) for tree in gold]], gold)[0])
            rows.append(ResultRow(f"{name}, Multi30K silver, en", None, value, "the same trees"))
    return rows


def short_rows(name: str, runs: Sequence[Kept], data: Path) -> list[ResultRow]:
    """Fewer images, or wrong ones: F1 and self F1 (figure 3.4)."""
    dev, test = texts(VARIANTS[name], data)
    chosen, _ = choose(runs, dev)
    values = _f1([trees_of(run.test[c], test) for run, c in zip(runs, chosen, strict=True)], corpus.mscoco_trees(data))
    note = f"{len(runs)} seeds, sd {values.std():.1f}"
    rows = [ResultRow(f"{name}, F1", None, float(values.mean()), note)]
    return [*rows, ResultRow(f"{name}, self F1", None, 100 * self_f1(runs, chosen, test), note)]


def concreteness_rows(name: str, runs: Sequence[Kept], data: Path) -> list[ResultRow]:
    """Table 3.2: correlation with Brysbaert's norms over the most frequent words of the MSCOCO test captions.

    The thesis measures on MSCOCO's test images. Ours are Multi30K's, where some of those words are rare: what was seen
    less than five times is left out. Images that were not trained on say what was learned; those that were, what the
    parser was rewarded with.
    """
    dev, test = texts(VARIANTS[name], data)
    chosen, _ = choose(runs, dev)
    norms = read_norms(data / NORMS)
    frequent = [w for w, _ in Counter(w.lower() for words in test for w in words).most_common() if w in norms][:100]
    measured = {"unseen images": corpus.unseen(data), "training images": sample(corpus.multi30k(data))}
    rows: list[ResultRow] = []
    for kind, captions in measured.items():
        counts = Counter(w.lower() for words in captions.sentences for w in words)
        words = [[w for w in frequent if counts[w] >= OFTEN]]
        learned = [
            (r.concreteness if kind == "unseen images" else r.familiar)[c] for r, c in zip(runs, chosen, strict=True)
        ]
        found = [correlation(one, norms, words) for one in learned]
        note = f"{found[0][1]} of the 100 words; {kind} of Multi30K, sd {np.std([value for value, _ in found]):.2f}"
        value = float(np.mean([value for value, _ in found]))
        rows.append(ResultRow(f"{name}, concreteness against Brysbaert, {kind}", 0.71, value, note))
    return rows


def self_f1(runs: Sequence[Kept], chosen: Sequence[int], test: Sequence[Sequence[str]]) -> float:
    """Mean F1 over pairs of runs on the test captions."""
    keys = [span_keys(unflat(run.test[c], test)) for run, c in zip(runs, chosen, strict=True)]
    return float(np.mean([agreement(a, b) for i, a in enumerate(keys) for b in keys[i + 1 :]]))


def _f1(systems: Sequence[Sequence[Tree]], gold: Sequence[Tree]) -> np.ndarray:
    return np.array([100 * ParsEval("vgnsl").corpus(gold, trees, bootstrap=0).value for trees in systems])


def _scored(name: str, systems: Sequence[Sequence[Tree]], gold: Sequence[Tree], note: str) -> list[ResultRow]:
    """Mean recall of each type and F1 over some systems of one kind, in percent."""
    scores = [ParsEval("vgnsl").corpus(gold, trees, bootstrap=0) for trees in systems]
    rows: list[ResultRow] = []
    for place, label in enumerate(TYPES):
        values = np.array([100 * score.details.get(f"recall {label}", 0.0) for score in scores])
        rows.append(ResultRow(f"{name}, {label}", _thesis(name, place), float(values.mean()), f"sd {values.std():.1f}"))
    values = np.array([100 * score.value for score in scores])
    return [*rows, ResultRow(f"{name}, F1", _thesis(name, 4), float(values.mean()), f"sd {values.std():.1f}; {note}")]


def _thesis(name: str, place: int) -> float | None:
    return TABLE_1[name][place] if name in TABLE_1 else None
