from pathlib import Path

import numpy as np
import pytest

from groundling.errors import ConfigError
from groundling.names import load
from groundling.systems.vgnsl import baselines
from groundling.systems.vgnsl.data import Captions

SENTENCES = [("a", "cat", "sits", "."), ("dogs",), ("Zebras", "near", "unheard-of", "things", "sleep")]


def some_captions() -> Captions:
    rng = np.random.default_rng(0)
    words = ("a", "cat", "dog", "sits", "runs", "on", "grass", ".")
    sentences = tuple(tuple(rng.choice(words, int(rng.integers(2, 8)))) for _ in range(60))
    return Captions(sentences, np.arange(60) // 2, rng.standard_normal((30, 5)).astype(np.float32))


@pytest.fixture
def norms(tmp_path: Path) -> Path:
    path = tmp_path / "norms.txt"
    path.write_text("Word\tBigram\tConc.M\na\t0\t1.5\ncat\t0\t5.0\nsits\t0\t3.5\nnear\t0\t2\nthings\t0\t3\n")
    return path


@pytest.mark.parametrize("name", baselines.BASELINES)
def test_every_baseline_learns_and_gives_binary_trees_in_order(name: str, norms: Path) -> None:
    options = baselines.Options(epochs=1, norms=norms, device="cpu")
    trees = baselines.parse_all(name, some_captions(), SENTENCES, seed=0, options=options)
    assert [tree.words for tree in trees] == SENTENCES
    for tree in trees:
        assert sum(span.end - span.start > 1 for span in tree.spans()) == len(tree.words) - 1
        assert {(0, len(tree.words))} <= {(span.start, span.end) for span in tree.spans()}


@pytest.mark.parametrize("name", ["random", "prpn", "gumbel"])
def test_same_seed_gives_the_same_trees(name: str) -> None:
    options = baselines.Options(epochs=1, device="cpu")
    first, again = (baselines.parse_all(name, some_captions(), SENTENCES, seed=3, options=options) for _ in range(2))
    assert first == again


def test_rows_are_those_of_the_table() -> None:
    assert [row[0] for row in baselines.rows()] == list(baselines.BASELINES)
    assert all(callable(load(target)) for target in baselines.BASELINES.values())
    assert set(baselines.LEARNED) <= set(baselines.BASELINES)


def test_a_wrong_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"no baseline is called 'prnp'\. Did you mean 'prpn'\?"):
        baselines.train("prnp", some_captions(), seed=0)


def test_norms_must_be_given() -> None:
    with pytest.raises(ConfigError, match=r"Give the table of Brysbaert et al\. as `norms`"):
        baselines.train("norms+hi", some_captions(), seed=0)


def test_watch_sees_the_parser_and_may_end_the_training() -> None:
    seen: list[int] = []

    def watch(parser: baselines.Parser) -> dict[str, float]:
        seen.append(len(parser.spans(SENTENCES)))
        return {"finished": float(len(seen) == 2)}

    baselines.train("gumbel", some_captions(), seed=0, options=baselines.Options(epochs=9, device="cpu", watch=watch))
    assert seen == [3, 3]
