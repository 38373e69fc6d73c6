"""`groundling check`, `convert` and `data list`, as they are typed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from groundling.formats import aligned, brackets, conllu, ctm, pharaoh, textgrid


def groundling(*words: object, stdin: str = "", env: dict[str, str] | None = None) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "groundling", *map(str, words)],
        input=stdin.encode(),
        capture_output=True,
        env=env,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_check_names_all_faults_of_all_files_and_exits_1(tmp_path: Path) -> None:
    (tmp_path / "a.trees").write_text("(S a)\n(S\n")
    (tmp_path / "b.pharaoh").write_text("0-0\nx\ny\n")
    code, out, _ = groundling("check", tmp_path / "a.trees", tmp_path / "b.pharaoh")
    assert code == 1
    lines = out.replace(f"{tmp_path}/", "").splitlines()
    assert lines[0].startswith("a.trees:2: 1 bracket(s) of the tree that begins here are not closed.")
    assert lines[1] == "a.trees: brackets, 1 items in order, 1 faults"
    assert lines[2].startswith("b.pharaoh:2: 'x' is not a link.") and lines[3].startswith("b.pharaoh:3: ")


def test_check_as_json_from_the_standard_input() -> None:
    code, out, _ = groundling("check", "-", "--format", "pharaoh", "--json", stdin="0-0\nx\n")
    assert code == 1
    [report] = json.loads(out)["files"]
    assert (report["file"], report["format"], report["items"]) == ("<stdin>", "pharaoh", 1)
    assert report["faults"][0]["line"] == 2


def test_check_of_a_right_file_exits_0_and_of_a_missing_one_2(tmp_path: Path) -> None:
    (tmp_path / "a.trees").write_text("(S a)\n")
    assert groundling("check", tmp_path / "a.trees")[0] == 0
    code, out, err = groundling("check", tmp_path / "none.trees")
    assert (code, out) == (2, "") and err.count("\n") == 1 and "there is no such file" in err
    assert "the name does not tell the format" in groundling("check", tmp_path / "a.txt")[2]


def test_convert_goes_between_formats_of_one_structure(tmp_path: Path) -> None:
    (tmp_path / "a.mrg").write_text("( (S\n    (NP (N dogs))\n    (VP (V bark))))\n")
    code, out, err = groundling("convert", tmp_path / "a.mrg", tmp_path / "a.trees.gz")
    assert (code, out) == (0, "") and "1 items written" in err
    assert [str(tree) for tree in brackets.read(tmp_path / "a.trees.gz")] == ["( (S (NP (N dogs)) (VP (V bark))))"]

    (tmp_path / "a.tsv").write_text("a b\tc d\t0-0 1p1\n\t\t\na\tb\t0-0\n")
    groundling("convert", tmp_path / "a.tsv", tmp_path / "a.wa")
    assert (tmp_path / "a.wa").read_text() == "0001 1 1 S\n0001 2 2 P\n0003 1 1 S\n"
    groundling("convert", tmp_path / "a.wa", tmp_path / "a.pharaoh")
    assert list(pharaoh.read(tmp_path / "a.pharaoh")) == [pair.alignment for pair in aligned.read(tmp_path / "a.tsv")]

    (tmp_path / "a.ctm").write_text("words 1 0.5 0.25 dog\nwords 1 1 1 barks\n")
    groundling("convert", tmp_path / "a.ctm", tmp_path / "a.TextGrid")
    groundling("convert", tmp_path / "a.TextGrid", tmp_path / "b.ctm")
    assert list(ctm.read(tmp_path / "b.ctm")) == list(ctm.read(tmp_path / "a.ctm"))
    assert [tier.id for tier in textgrid.read(tmp_path / "a.TextGrid")] == ["words"]


def test_convert_through_pipes_with_options() -> None:
    assert groundling("convert", "-", "-", "--from", "pharaoh", "--base", "1", stdin="1-1 2?2\n")[1] == "0-0 1p1\n"
    assert groundling("convert", "-", "-", "--from", "brackets", "--labels", "no", stdin="(A b)\n")[1] == "( A b )\n"
    assert "--labels is auto" in groundling("convert", "-", "-", "--from", "brackets", "--labels", "x")[2]


def test_convert_says_why_not(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text("1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    assert len(list(conllu.read(tmp_path / "a.conllu"))) == 1
    code, _, err = groundling("convert", tmp_path / "a.conllu", tmp_path / "a.pharaoh")
    assert code == 2
    assert "conllu holds dependency trees but pharaoh holds word alignments, and one does not give the other" in err
    assert not (tmp_path / "a.pharaoh").exists()


def test_convert_of_a_broken_file_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.trees").write_text("(S a)\n(S\n")
    assert groundling("convert", tmp_path / "a.trees", tmp_path / "b.trees")[0] == 2
    assert [path.name for path in tmp_path.iterdir()] == ["a.trees"]


def test_data_list_shows_what_is_here_and_where_the_rest_comes_from(tmp_path: Path) -> None:
    folder = tmp_path / "programs" / "scan"
    folder.mkdir(parents=True)
    (folder / "tasks.txt").write_text("IN: jump OUT: JUMP\n")
    code, out, _ = groundling("data", "list", "--data", tmp_path)
    assert code == 0
    assert "scan (1 files" in out and "ud (not here)" in out and "https://universaldependencies.org" in out
    rows = {}
    for flags in ((), ("--checksum",)):
        listing = json.loads(groundling("data", "list", "--data", tmp_path, "--json", *flags)[1])
        rows[flags] = {row["name"]: row for row in listing["corpora"]}
    quick, full = rows[()]["scan"], rows[("--checksum",)]["scan"]
    assert quick["found"] and quick["bytes"] == 19 and len(quick["checksum"]) == 64
    assert quick["checksum"] != full["checksum"]
    assert rows[()]["ud"]["checksum"] is None
    assert all(row["homepage"].startswith("https://") and row["licence"] for row in rows[()].values())


def test_data_list_without_a_folder_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GROUNDLING_DATA", raising=False)
    code, out, _ = groundling("data", "list")
    assert code == 0 and out.startswith("no folder of corpora: set $GROUNDLING_DATA or give --data DIR")
    code, _, err = groundling("data", "list", "--data", "nowhere")
    assert code == 2 and "there is no such folder of corpora" in err
