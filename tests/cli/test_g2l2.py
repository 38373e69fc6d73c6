"""`groundling g2l2` from training to answers, on a SCAN split whose test has an unseen combination."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from groundling.worlds import scan


def groundling(*arguments: object, expect: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "groundling", "g2l2", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert done.returncode == expect, done.stderr
    return done


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("g2l2")
    train, test = scan.split("around-right")
    scan.write(folder / "train.txt", train)
    scan.write(folder / "test.txt", test[:400])
    groundling("train", "--domain", "scan", "--train", folder / "train.txt", "-o", folder / "run", "--seed", 0)
    return folder / "run"


def test_evaluate_is_perfect_on_the_unseen_combination(run: Path) -> None:
    done = groundling("evaluate", run, run.parent / "test.txt", "--json")
    score = json.loads(done.stdout)["scores"][0]
    assert score["value"] == 1.0 and score["n"] == 400


def test_lexicon_is_a_table_of_words_types_and_programs(run: Path) -> None:
    rows = json.loads(groundling("lexicon", run, "--json").stdout)["lexicon"]
    table = {row["word"]: (row["type"], row["program"]) for row in rows}
    assert table["jump"] == ("V", "I_JUMP")
    assert table["around"] == ("V\\V/(V\\V)", "λf.λx.repeat(f(x), times4)")
    assert table["after"][0] == "S\\V/V"  # not V\V/V, the thesis' trap
    assert "λx.repeat(x, times2)" in groundling("lexicon", run).stdout


def test_parse_prints_and_draws_the_derivation(run: Path, tmp_path: Path) -> None:
    done = groundling("parse", run, "walk around right", "--svg", tmp_path / "tree.svg")
    assert done.stdout.startswith("walk around right  [V]  repeat(concat(I_TURN_RIGHT, I_WALK), times4)")
    assert (tmp_path / "tree.svg").read_text().startswith("<svg")


def test_answer_shows_its_trace(run: Path) -> None:
    done = groundling("answer", run, "walk left twice")
    assert done.stdout.split() == ["I_TURN_LEFT", "I_WALK"] * 2
    assert "concat(I_TURN_LEFT, I_WALK) : ActSeq = [I_TURN_LEFT, I_WALK]" in done.stderr


def test_unknown_words_and_hopeless_sentences_are_named(run: Path) -> None:
    assert "unknown words: dance, moonwalk" in groundling("answer", run, "moonwalk and dance", expect=2).stderr
    assert "has no derivation with the learned lexicon" in groundling("parse", run, "twice and", expect=2).stderr
