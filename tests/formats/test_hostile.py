"""50,000 hostile inputs a format: an error that names the line, or a right result; never anything else."""

import io
import os
import random
from pathlib import Path

import pytest

from groundling.formats.checking import check_file
from oracles.hostile import mutate, time_limit
from oracles.readers import OPTIONS, SEEDS, assert_survives, attempt

INPUTS = 50_000


@pytest.fixture
def no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)  # thousands of small files: the disk need not see each


@pytest.mark.parametrize("name", SEEDS)
def test_seeds_are_valid(name: str) -> None:
    for seed in SEEDS[name]:
        assert check_file(io.BytesIO(seed.encode()), name).faults == []


@pytest.mark.parametrize("name", SEEDS)
def test_hostile_inputs_give_an_error_with_a_line_or_a_right_result(name: str, tmp_path: Path, no_sync: None) -> None:
    rng = random.Random(f"hostile {name}")
    seeds = [seed.encode() for seed in SEEDS[name]]
    options = OPTIONS.get(name, [{}])
    path = tmp_path / "again"
    right = 0
    with time_limit(120):
        for number in range(INPUTS):
            data = mutate(rng, seeds)
            items = attempt(name, data, **options[number % len(options)])
            right += items is not None
            if number % 50 == 0:
                # What was read must survive being written, and a check must agree on whether there is a fault.
                if items:
                    assert_survives(name, items, path)
                faults = check_file(io.BytesIO(data), name).faults
                if options == [{}]:
                    assert items is not None or faults, data
                    assert items is None or not faults or name == "conllu", data  # which also looks for loops
    assert INPUTS // 50 < right < INPUTS, "the inputs are all hopeless or all harmless: mend the mutator"


DEEP = 10_000
MONSTERS = {
    "brackets": [
        b"(" * DEEP,
        b")" * DEEP,
        b"(A " * DEEP + b"a" + b")" * DEEP,
        b"( " * DEEP + b"a" + b" )" * DEEP,
        b"(A " * DEEP + b")" * DEEP,
        b"(A\n" * DEEP + b"a" + b")\n" * DEEP,
        b"(" + b"a " * DEEP + b")",
    ],
    "conllu": [
        b"#\n" * 100_001,
        b"1\t" * DEEP,
        b"1" * 5000 + b"\t_" * 9,
        b"1\ta\t_\t_\t_\t_\t" + b"9" * 5000 + b"\tx\t_\t_",
    ],
    "pharaoh": [b"9" * 5000 + b"-0", b"0-0 " * DEEP, b"0-0:" + b"1" * DEEP],
    "wa": [b"999999999 1 1\n", b"1 1 " + b"1" * DEEP, b"1 1 1\n10002 1 1\n"],
    "aligned": [b"\t" * DEEP, b"a " * DEEP + b"\t\t9999-0", b"a\tb\t" + b"0-0 " * DEEP],
    "textgrid": [
        b'"' * DEEP,
        b'"ooTextFile" "TextGrid" 0 1 <exists> 999999999999',
        b"!" * DEEP,
        b'"a' * DEEP,
        b"<" * DEEP,
    ],
    "ctm": [b"a 1 " + b"9" * DEEP + b" 1 w", b"a 1 1e99 1e-99 w", b"a 1 0 1 w\n" * DEEP, b"a 1 0 1e-99 w"],
    "samples": [
        b"[" * DEEP,
        b'{"a":' * DEEP,
        b'{"task_id": ' + b"9" * DEEP + b"}",
        b'{"task_id": "a", "completion": "' + b"x" * DEEP,
    ],
}


@pytest.mark.parametrize("name", MONSTERS)
def test_monsters_neither_hang_nor_break_the_stack(name: str) -> None:
    for data in MONSTERS[name]:
        with time_limit(5):
            attempt(name, data)
            check_file(io.BytesIO(data), name)


def test_ten_thousand_deep_brackets_are_read_right() -> None:
    [tree] = attempt("brackets", MONSTERS["brackets"][2]) or []
    assert len(tree.labels) == DEEP and tree.words == ("a",)
    assert tree.parents[-1] == DEEP - 2
