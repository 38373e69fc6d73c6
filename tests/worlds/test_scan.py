"""SCAN is exact: the grammar gives the published commands, and the published splits follow from it."""

from pathlib import Path

import numpy as np
import pytest

from groundling.errors import ConfigError, FormatError
from groundling.worlds import scan

FILES = {
    "jump": "add_prim_split/tasks_{}_addprim_jump.txt.gz",
    "around-right": "template_split/tasks_{}_template_around_right.txt.gz",
    "jump-around-right": "template_split/tasks_{}_template_jump_around_right.txt.gz",
    "length": "length_split/tasks_{}_length.txt.gz",
}


def test_the_grammar_gives_the_published_commands(data_dir: Path) -> None:
    made = scan.commands()
    assert len(made) == len(set(made)) == 20910
    assert set(made) == set(scan.read(data_dir / "programs" / "scan" / "tasks.txt.gz"))


@pytest.mark.parametrize("name", FILES)
def test_splits_equal_the_published_files(name: str, data_dir: Path) -> None:
    for part, made in zip(("train", "test"), scan.split(name), strict=True):
        assert set(made) == set(scan.read(data_dir / "programs" / "scan" / FILES[name].format(part)))


def test_every_split_is_a_partition() -> None:
    everything = set(scan.commands())
    for name in ("simple", *scan.HELD_OUT):
        train, test = scan.split(name, np.random.default_rng(0))
        left_out = everything - set(train) - set(test)
        assert all(name in scan.TEMPLATES and scan.has_phrase(item, "turn around right") for item in left_out)
        assert len(train) + len(test) + len(left_out) == len(everything)


def test_the_simple_split_needs_a_generator() -> None:
    with pytest.raises(ConfigError, match="give it a generator"):
        scan.split("simple")


def test_an_unknown_split_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match="Did you mean 'around-right'"):
        scan.split("around_right")


def test_files_read_back_and_bad_lines_are_named(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    items = scan.commands()[:50]
    scan.write(path, items)
    assert list(scan.read(path)) == items
    path.write_text("IN: jump OUT: I_JUMP\n\njump twice\n")
    with pytest.raises(FormatError, match=r"x.txt:3: not a SCAN line: 'jump twice'"):
        list(scan.read(path))


def test_a_hand_worked_command() -> None:
    by_text = {item.text: item.actions for item in scan.commands()}
    assert by_text["jump opposite left after walk around left"] == (
        *("I_TURN_LEFT", "I_WALK") * 4,
        *("I_TURN_LEFT", "I_TURN_LEFT", "I_JUMP"),
    )
