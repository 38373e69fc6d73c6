"""`groundling avnsl` from end to end on the built-in spoken world, and on a folder of troubles."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from groundling.cli.avnsl import app
from groundling.formats import textgrid

soundfile = pytest.importorskip("soundfile")
pytest.importorskip("soxr")
runner = CliRunner()
SMALL = ("encoder_epochs=1", "epochs=1", "encoder_dim=16", "embedding_dim=16", "hidden_dim=16", "benepar_epochs=1")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    result = runner.invoke(app, ["world", "-o", str(folder), "--scenes", "8"])
    assert result.exit_code == 0 and result.stdout.strip() == str(folder / "manifest.jsonl")
    return folder


@pytest.fixture(scope="module")
def model(world: Path) -> Path:
    out = world / "model"
    settings = [part for setting in SMALL for part in ("--set", setting)]
    arguments = ["train", str(world / "manifest.jsonl"), "--features", str(world / "features.npy"), "-o", str(out)]
    result = runner.invoke(app, [*arguments, *settings])
    assert result.exit_code == 0, result.output
    return out


@pytest.fixture
def troubles(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    (folder / "deep").mkdir(parents=True)
    (folder / "broken.wav").write_bytes(b"RIFF nothing")
    (folder / "empty.wav").write_bytes(b"")
    speech = np.random.default_rng(0).normal(0, 0.1, 16000).astype(np.float32)
    soundfile.write(folder / "silent.wav", np.zeros(16000, dtype=np.float32), 16000)
    soundfile.write(folder / "one.wav", speech[:1], 16000)
    soundfile.write(folder / "stereo.wav", np.stack([speech, speech], 1), 44100, subtype="PCM_24")
    soundfile.write(folder / "deep" / "slow.flac", speech, 8000)
    return folder


def test_segment_goes_on_after_a_broken_file(troubles: Path, tmp_path: Path) -> None:
    result = runner.invoke(app, ["segment", str(troubles), "-o", str(tmp_path / "out")])
    assert result.exit_code == 1
    assert "broken.wav: not a readable sound file" in result.stderr and "empty.wav" in result.stderr
    written = sorted(path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.TextGrid"))
    assert written == ["deep/slow.TextGrid", "one.TextGrid", "silent.TextGrid", "stereo.TextGrid"]
    (slow,) = textgrid.read(tmp_path / "out" / "deep" / "slow.TextGrid")
    assert slow.id == "words" and slow.duration == pytest.approx(2.0, abs=0.01) and len(slow.segments) > 2
    (silent,) = textgrid.read(tmp_path / "out" / "silent.TextGrid")
    assert silent.segments == ()


def test_segment_with_a_model_and_json(world: Path, model: Path, tmp_path: Path) -> None:
    arguments = ["segment", str(world / "manifest.jsonl"), "-o", str(tmp_path), "--model", str(model), "--json"]
    result = runner.invoke(app, arguments)
    assert result.exit_code == 0, result.output
    files = json.loads(result.stdout)["files"]
    assert len(files) == 8 and all(entry["segments"] > 1 and not entry["error"] for entry in files)
    again = runner.invoke(app, arguments)
    assert again.stdout == result.stdout


def test_parse_gives_a_tree_over_time_and_draws_it(world: Path, model: Path, tmp_path: Path) -> None:
    clip = world / "audio" / "00000.flac"
    result = runner.invoke(app, ["parse", str(clip), "--model", str(model), "--svg", str(tmp_path)])
    assert result.exit_code == 0, result.output
    path, tree, times = result.stdout.strip().split("\t")
    assert path == str(clip) and tree.startswith("( ") and len(times.split()) == sum(c.isdigit() for c in tree.split())
    picture = (tmp_path / "00000.svg").read_text()
    assert picture.startswith("<svg") and "data-node" in picture


def test_train_with_vectors_of_another_model(world: Path, tmp_path: Path) -> None:
    settings = [part for setting in (*SMALL, "vector_layer=0") for part in ("--set", setting)]
    arguments = ["train", str(world / "manifest.jsonl"), "--features", str(world / "features.npy"), "-o", str(tmp_path)]
    result = runner.invoke(app, [*arguments, "--vectors", "log-mel", *settings])
    assert result.exit_code == 0, result.output
    result = runner.invoke(app, ["parse", str(world / "audio" / "00000.flac"), "--model", str(tmp_path)])
    assert result.exit_code == 0 and "(" in result.stdout
    result = runner.invoke(app, [*arguments, "--vectors", "no/model"])
    assert result.exit_code == 1 and "no speech encoder at 'no/model'" in str(result.exception or result.output)


def test_parse_names_a_silent_file_and_goes_on(world: Path, model: Path, troubles: Path) -> None:
    clips = [str(troubles / "silent.wav"), str(world / "audio" / "00001.flac")]
    result = runner.invoke(app, ["parse", *clips, "--model", str(model), "--json"])
    assert result.exit_code == 1 and "silent.wav: no voice" in result.stderr
    assert [entry["audio"] for entry in json.loads(result.stdout)["trees"]] == clips[1:]


def test_train_names_recordings_it_cannot_use(world: Path, tmp_path: Path) -> None:
    lines = (world / "manifest.jsonl").read_text().splitlines()[:3]
    entries = [json.loads(line) for line in lines]
    for entry in entries:
        entry["audio"] = str(world / entry["audio"])
    entries[1]["image"] = 99
    entries[2]["audio"] = "gone.wav"
    (tmp_path / "m.jsonl").write_text("\n".join(map(json.dumps, entries)))
    result = runner.invoke(
        app, ["train", str(tmp_path / "m.jsonl"), "--features", str(world / "features.npy"), "-o", str(tmp_path / "x")]
    )
    assert result.exception is not None and "fewer than two recordings" in str(result.exception)
    assert "row of the 8 image features" in str(result.exception) and "gone.wav" in str(result.exception)
