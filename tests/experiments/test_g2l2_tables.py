"""The splits of the SCAN and CLEVR tables are what they say, and stored runs become rows without being run again."""

import json
from pathlib import Path

import numpy as np
import pytest

from groundling.errors import ConfigError
from groundling.experiments import clevr, scan
from groundling.worlds import clevr_questions, clevr_scenes


@pytest.fixture(scope="module")
def questions() -> list[clevr_questions.Question]:
    rng = np.random.default_rng(0)
    scenes = [clevr_scenes.make_scene(number, rng) for number in range(60)]
    return [question for scene in scenes for question in clevr_questions.make_questions(scene, 8, rng)]


@pytest.mark.parametrize(("split", "longest"), [("purple", 6), ("right", 11), ("count", 8)])
def test_held_out_kinds_are_short_in_training_and_alone_in_the_test(questions, split: str, longest: int) -> None:
    train, test = clevr.make_split(split, questions, questions, 0)
    assert all(len(q.words) <= longest for q in train if clevr.concerns(split, q))
    assert any(clevr.concerns(split, q) for q in train)
    assert test and all(clevr.concerns(split, q) for q in test)
    assert len(train) < len(questions)


def test_depth_goes_from_one_hop_to_two(questions) -> None:
    train, test = clevr.make_split("depth", questions, questions, 0)
    assert {q.form for q in train} == {"zero_hop", "one_hop", "single_or"}
    assert {q.form for q in test} == {"two_hop"}


def test_a_tenth_is_a_tenth_and_differs_by_seed(questions) -> None:
    first, _ = clevr.make_split("standard-10", questions, questions, 0)
    other, _ = clevr.make_split("standard-10", questions, questions, 1)
    assert len(first) == len(other) == len(questions) // 10
    assert first != other


def test_simple_10_is_a_tenth_of_simple_100() -> None:
    whole, test = scan.load_split("simple-100", 3)
    tenth, same_test = scan.load_split("simple-10", 3)
    assert len(tenth) == len(whole) // 10 and set(tenth) < set(whole)
    assert test == same_test


def test_stored_scan_runs_are_not_run_again(tmp_path: Path) -> None:
    for seed, restarts in enumerate((0, 1)):
        found = {"accuracy": 1.0, "training_accuracy": 1.0, "restarts": restarts, "seconds": 9.0, "cpu_seconds": 8.0}
        (tmp_path / f"g2l2-jump-{seed}.json").write_text(json.dumps(found))
    rows = scan.run(None, tmp_path, seeds=2, splits=("jump",))
    assert [round(row.ours, 2) for row in rows] == [1.0, 0.5, 8.0]
    assert rows[1].note == "1 of 2"


def test_stored_clevr_runs_are_not_run_again(tmp_path: Path) -> None:
    for name, accuracy in (("g2l2-purple-0", 0.975), ("attention-purple-0", 0.9), ("g2l2-purple-other", 0.1)):
        (tmp_path / f"{name}.json").write_text(json.dumps({"accuracy": accuracy, "train": 10, "test": 5}))
    rows = clevr.run(None, tmp_path, seeds=1, splits=("purple",))
    assert [(row.name, row.thesis, round(row.ours, 1)) for row in rows] == [
        ("g2l2, purple", 97.82, 97.5),
        ("attention, purple", 97.14, 90.0),
    ]


def test_features_come_from_annotations_or_crops() -> None:
    with pytest.raises(ConfigError, match="features are 'annotations' or 'crops', not 'pixels'"):
        clevr.load_scenes("pixels", None)
