"""Selection: against pairwise MBR, its laws, and the reference accuracies from recorded executions."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.algorithms.mbr import expected_losses
from groundling.errors import DataError
from groundling.systems.mbrexec import rules
from groundling.systems.mbrexec.executing import Run

tables = (
    st.integers(1, 4)
    .flatmap(
        lambda inputs: st.lists(st.lists(st.integers(-1, 2), min_size=inputs, max_size=inputs), min_size=1, max_size=8)
    )
    .map(lambda rows: np.array(rows, dtype=np.int64))
)


def pairwise(ids: np.ndarray, hard: bool) -> list[float]:
    """The thesis' definition, word for word: sum of losses over all pairs; a failure differs from everything."""

    def loss(p: np.ndarray, q: np.ndarray) -> float:
        differs = [a != b or a < 0 for a, b in zip(p, q, strict=True)]
        if hard and (min(p) < 0 or min(q) < 0):
            return 1.0
        return float(max(differs)) if hard else sum(differs) / len(differs)

    return expected_losses([[loss(p, q) for q in ids] for p in ids])


@settings(max_examples=200, deadline=None)
@given(tables)
def test_buckets_equal_pairwise_comparison(ids: np.ndarray) -> None:
    assert len(ids) - rules.hard_agreement(ids) == pytest.approx(pairwise(ids, hard=True))
    assert len(ids) - rules.soft_agreement(ids) == pytest.approx(pairwise(ids, hard=False))


@settings(max_examples=100, deadline=None)
@given(tables, st.randoms())
def test_the_order_of_samples_does_not_matter(ids: np.ndarray, random: "np.random.Generator") -> None:
    order = list(range(len(ids)))
    random.shuffle(order)
    for rule in (rules.hard_agreement, rules.soft_agreement):
        assert rule(ids)[order] == pytest.approx(rule(ids[order]))


@settings(max_examples=100, deadline=None)
@given(tables)
def test_with_one_input_hard_and_soft_are_the_same(ids: np.ndarray) -> None:
    assert rules.hard_agreement(ids[:, :1]).tolist() == rules.soft_agreement(ids[:, :1]).tolist()


def test_ties_go_to_the_likelier_then_the_first() -> None:
    scores = np.array([1.0, 3.0, 3.0, 3.0])
    assert rules.choose(scores) == 1
    assert rules.choose(scores, [0.0, -2.0, -1.0, -1.0]) == 2
    assert rules.choose(scores, [0.0, None, -1.0, -1.0]) == 1
    assert rules.expected_accuracy(scores, [True, True, False, False]) == pytest.approx(1 / 3)


def test_nothing_to_choose_from_is_an_error() -> None:
    with pytest.raises(DataError, match="no candidate"):
        rules.choose(np.array([]))


def test_no_inputs_means_no_preference() -> None:
    ids = rules.result_ids([Run("ok", (), ()), Run("ok", (), ())])
    for rule in (rules.hard_agreement, rules.soft_agreement):
        assert rule(ids).tolist() == [0.0, 0.0]


def recorded(path: Path) -> list[tuple[np.ndarray, list[bool]]]:
    found = []
    with gzip.open(path, "rt") as lines:
        for line in lines:
            results = json.loads(line)["results"]
            width = max(1, *(len(r["outputs"]) for r in results))
            runs = []
            for r in results:
                keys = [None if out.startswith("!") else out for out in r["outputs"]]
                runs.append(Run("ok", tuple(keys if len(keys) == width else [None] * width), ()))
            found.append((rules.result_ids(runs), [r["passed"] for r in results]))
    return found


@pytest.mark.parametrize(
    ("name", "accuracies"),
    [  # random, executable, one input, all inputs, oracle: the reference table of the corpus
        ("mbpp_seven_models", (61.8, 65.7, 72.2, 74.1, 86.0)),
        ("humaneval_codegen16b", (22.4, 25.0, 30.5, 34.7, 74.4)),
        ("humaneval_mistral7b", (31.8, 32.8, 34.0, 35.0, 42.1)),
    ],
)
def test_recorded_executions_give_the_reference_accuracies(
    name: str, accuracies: tuple[float, ...], data_dir: Path
) -> None:
    tasks = recorded(data_dir / f"programs/samples/recorded_executions/{name}.jsonl.gz")
    found = [
        [np.mean(p), rules.expected_accuracy(rules.executable(i), p), max(p)]
        + [rules.expected_accuracy(rules.hard_agreement(x), p) for x in (i[:, :1], i)]
        for i, p in tasks
    ]
    random, runs, oracle, one, every = 100 * np.mean(found, axis=0)
    assert [random, runs, one, every, oracle] == pytest.approx(accuracies, abs=0.06)
