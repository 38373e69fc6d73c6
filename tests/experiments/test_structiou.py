import gzip
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from groundling.algorithms.perturbation import PERTURBATIONS
from groundling.errors import DataError
from groundling.experiments import structiou
from groundling.experiments.structiou_data import system_trees, timed_trees
from groundling.experiments.tables import ResultRow, Results
from groundling.structures import Tree

TREES = [
    "(S (NP (DT A) (NN man)) (VP (VBZ rides) (NP (DT a) (JJ red) (NN bike))) (. .))",
    "(NP (NP (NN Man)) (PP (IN on) (NP (DT the) (NN road))) (. .))",
]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A corpus of two captions in the layout of the real one; a third row belongs to no caption."""
    captions, times = tmp_path / "vision" / "mscoco_vgnsl", tmp_path / "vision" / "tts_timings"
    (captions / "system_outputs").mkdir(parents=True)
    times.mkdir()
    (captions / "test_trees.txt").write_text("\n".join(TREES) + "\n")
    spoken = [
        "A|0.0|0.1 man|0.1|0.4 rides|0.5|0.8 a|0.8|0.9 red|0.9|1.2 bike|1.2|1.6",
        "Man|0.0|0.3 on|0.3|0.5 road|0.5|1.0",
    ]
    rows = [f"{i}\t2.0\t0\t{line}\n" for i, line in enumerate(spoken)]
    (times / "mscoco_test_espeak_words.tsv.gz").write_bytes(gzip.compress("".join(rows).encode()))
    rows = ["row\ttest_caption_index\tsentence\tgold", "0\t1\tx\tx", "1\t0\tx\tx", "2\t-1\tdogs bark\tx"]
    (captions / "system_outputs" / "sentences.tsv.gz").write_bytes(gzip.compress("\n".join(rows).encode()))
    outputs = {
        "one": "(man (on (the road)))\n((a man) (rides (a (red bike))))\n(dogs bark)\n",
        "two": "((man on) (the road))\n(((((a man) rides) a) red) bike)\n(dogs bark)\n",
    }
    for name, text in outputs.items():
        (captions / "system_outputs" / f"{name}.txt.gz").write_bytes(gzip.compress(text.encode()))
    return tmp_path


def test_timed_trees_keep_captions_whose_words_have_times(corpus: Path) -> None:
    (tree,) = timed_trees(corpus, 10)  # the second caption lacks the time of "the"
    assert tree.words == ("A", "man", "rides", "a", "red", "bike")
    assert tree.times is not None and tree.times[2] == (0.5, 0.8)


def test_system_trees_pair_rows_with_captions(corpus: Path) -> None:
    systems = list(system_trees(corpus))
    assert [name for name, *_ in systems] == ["one", "two"]
    _, golds, preds, skipped = systems[0]
    assert skipped == 1
    assert [str(tree) for tree in golds] == ["( man ( on ( the road ) ) )", "( ( a man ) ( rides ( a red bike ) ) )"]
    assert str(preds[1]) == "( ( a man ) ( rides ( a ( red bike ) ) ) )"


def test_a_missing_corpus_says_so(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="this corpus is not there"):
        timed_trees(tmp_path, 1)


def test_ambiguity_rows_hold_the_exact_number_of_the_thesis() -> None:
    rows = {row.name: row for row in structiou.ambiguity_rows(np.random.default_rng(0), truths=2)}
    lowest = rows["ambiguity, plausible, lowest ParsEval F1"]
    assert lowest.ours == lowest.thesis == 12.5
    # The claim of table 5.1: ParsEval puts a plausible tree under random ones, Struct-IoU does not.
    assert rows["ambiguity, random, ParsEval F1"].ours > 12.5
    assert rows["ambiguity, plausible, lowest Struct-IoU"].ours > rows["ambiguity, random, Struct-IoU"].ours


def test_more_perturbation_scores_less() -> None:
    trees = [Tree.from_brackets(TREES[0]), Tree.from_brackets(TREES[1])] * 10
    rows = structiou.perturbation_rows(trees, seed=0, repeats=2)
    for kind in PERTURBATIONS:
        curve = [row.ours for row in rows if row.name.startswith(kind)]
        assert curve[0] == pytest.approx(100) and curve[0] > curve[5] > curve[10]
    assert rows == structiou.perturbation_rows(trees, seed=0, repeats=2)


def test_spearman_equals_scipy() -> None:
    points = np.random.default_rng(0).integers(0, 5, (40, 2)).astype(float)
    assert structiou.spearman(points) == pytest.approx(spearmanr(points[:, 0], points[:, 1]).statistic)


def test_run_stores_rows_and_draws(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structiou, "BUCKET", 1)
    monkeypatch.setattr(structiou, "ambiguity_rows", lambda rng: [ResultRow("ambiguity", 12.5, 12.5)])
    rows = structiou.run(corpus, tmp_path / "out")
    assert (tmp_path / "out" / "perturbation.svg").read_text().count("data-series") == 3
    monkeypatch.setattr(structiou, "correlation_rows", None)  # stored: must not be computed again
    assert structiou.run(corpus, tmp_path / "out") == rows


def test_rows_are_computed_once(tmp_path: Path) -> None:
    calls: list[int] = []

    def compute() -> list[ResultRow]:
        calls.append(1)
        return [ResultRow("a", None, 1.5, "note")]

    first, again = (Results(tmp_path).rows("key", compute) for _ in range(2))
    assert first == again == [ResultRow("a", None, 1.5, "note")] and len(calls) == 1
