"""The worlds that `groundling data world` writes can be read by the commands they are made for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from groundling.cli.data import app
from groundling.errors import ConfigError
from groundling.formats import aligned, brackets, conllu
from groundling.worlds import scan
from groundling.worlds.world_files import write_named


def test_captions_match_their_trees_and_pictures(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["world", "captions", "-o", str(tmp_path / "w"), "--size", "16"])
    assert done.exit_code == 0 and done.output.strip() == str(tmp_path / "w")
    for name, scenes in (("train", 16), ("test", 2)):
        lines = (tmp_path / "w" / f"{name}.txt").read_text(encoding="utf-8").splitlines()
        trees = list(brackets.read(tmp_path / "w" / f"{name}.trees"))
        assert [" ".join(tree.words) for tree in trees] == lines and len(lines) == 2 * scenes
        assert len(np.load(tmp_path / "w" / f"{name}.npz")["features"]) == scenes


def test_treebank_has_valid_trees_and_links_of_its_bitext(tmp_path: Path) -> None:
    write_named("treebank", tmp_path, 10, 3)
    assert len(list(conllu.read(tmp_path / "source.conllu"))) == 10
    pairs = list(aligned.read(tmp_path / "links.tsv"))
    for side, name in enumerate(("source.txt", "target.txt")):
        lines = (tmp_path / name).read_text(encoding="utf-8").splitlines()
        assert [" ".join(pair[side]) for pair in pairs] == lines
    known = {line.split(" ")[0] for line in (tmp_path / "words.vec").read_text(encoding="utf-8").splitlines()}
    assert {word for tree in conllu.read(tmp_path / "target-test.conllu") for word in tree.words} <= known


def test_same_seed_writes_the_same_bytes(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        write_named("treebank", tmp_path / folder, 8, 5)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_scan_is_whole(tmp_path: Path) -> None:
    write_named("scan", tmp_path, None, 0)
    sizes = [sum(1 for _ in scan.read(tmp_path / f"length-{part}.txt")) for part in ("train", "test")]
    assert sizes == [16990, 3920]


def test_an_unknown_world_is_named() -> None:
    with pytest.raises(ConfigError, match=r"no world 'treebnak'\. Did you mean 'treebank'"):
        write_named("treebnak", ".", None, 0)
