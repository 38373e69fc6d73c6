import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import groundling.systems.subdp.transfer as transfer_module
from groundling.cli.subdp import app
from groundling.errors import GroundlingError
from groundling.formats import conllu
from groundling.formats.checking import check_file
from groundling.systems.subdp import Model
from systems.subdp.small import SETTINGS, write_files

runner = CliRunner()
FAST = {**SETTINGS, "source_epochs": 3, "target_epochs": 3}


def call(*words: object, settings: bool = False, files: dict[str, str] | None = None) -> str:
    extra = [f"--set={k}={v}" for k, v in FAST.items()] if settings else []
    extra += [f"--set=encoder={files['words']}"] if files else []
    result = runner.invoke(app, [*map(str, words), *extra])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], Path]:
    """A source parser trained through the command."""
    folder = tmp_path_factory.mktemp("subdp")
    files = write_files(folder)
    call("train-source", files["treebank"], "-o", folder / "source", settings=True, files=files)
    return files, folder


def test_transfer_goes_from_treebank_and_text_to_a_parser(made: tuple[dict[str, str], Path]) -> None:
    files, folder = made
    out = folder / "whole"
    words = ("transfer", files["source"], files["target"], "--tokenised", "--treebank", files["treebank"], "-o", out)
    answer = json.loads(call(*words, "--json", settings=True, files=files))
    assert answer["model"] == str(out) and answer["method"] == "subdp"
    scores = json.loads(call("evaluate", files["gold"], "-m", out, "--json"))["scores"]
    direct = json.loads(call("evaluate", files["gold"], "-m", folder / "source", "--json"))["scores"]
    assert [s["name"] for s in scores] == ["UAS", "LAS"] and "punctuation:no" in scores[0]["signature"]
    assert scores[0]["value"] > direct[0]["value"] + 0.05
    with pytest.raises(GroundlingError, match="already holds a transfer"):
        call(*words, settings=True, files=files)
    with pytest.raises(GroundlingError, match="began with other files or settings"):
        call(*words, "--resume", "--seed", 7, settings=True, files=files)


def killed(*_: object, **__: object) -> None:
    raise RuntimeError("killed")


@pytest.mark.parametrize("step", ["align_bitext", "silver_soft", "train_target"])
def test_killed_transfer_resumes_at_its_step(
    made: tuple[dict[str, str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    files, folder = made
    words = ("transfer", files["source"], files["target"], "--tokenised", "-m", folder / "source")
    call(*words, "-o", tmp_path / "unbroken", settings=True, files=files)
    with monkeypatch.context() as patch:
        patch.setattr(transfer_module, step, killed)
        with pytest.raises(RuntimeError, match="killed"):
            call(*words, "-o", tmp_path / "killed", settings=True, files=files)
    done = sorted(p.name for p in (tmp_path / "killed").iterdir())
    assert ("alignments.pharaoh" in done) == (step != "align_bitext") and ("silver" in done) == (step == "train_target")
    call(*words, "-o", tmp_path / "killed", "--resume", settings=True, files=files)
    one, two = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("unbroken", "killed"))
    assert one == two


@pytest.mark.parametrize("method", ["dt", "st", "hard", "randi"])
def test_every_row_comes_from_the_same_command(made: tuple[dict[str, str], Path], tmp_path: Path, method: str) -> None:
    files, folder = made
    words = ("transfer", files["source"], files["target"], "--tokenised", "-m", folder / "source", "-o", tmp_path / "x")
    call(*words, "--method", method, "--alignments", files["links"], settings=True, files=files)
    assert Model.load(tmp_path / "x").inventory.labels == Model.load(folder / "source").inventory.labels


def test_transfer_learns_from_several_sources(made: tuple[dict[str, str], Path], tmp_path: Path) -> None:
    files, _ = made
    lines = Path(files["treebank"]).read_text(encoding="utf-8")
    (tmp_path / "second.conllu").write_text(lines.replace("\tnsubj\t", "\tnsubj2\t"), encoding="utf-8")
    words = ("transfer", files["source"], files["target"], "--tokenised", "--treebank", files["treebank"])
    more = f"fr={tmp_path / 'second.conllu'},{files['source']}"
    call(*words, "--more", more, "-o", tmp_path / "x", settings=True, files=files)
    assert "nsubj2" in Model.load(tmp_path / "x").inventory.labels
    with np.load(tmp_path / "x" / "silver" / "00000.npz") as shard:
        assert len(shard["starts"]) == 301  # 150 pairs of each source
    with pytest.raises(GroundlingError, match=r"--more is LANGUAGE=TREEBANK,TEXT .* not 'fr.txt'"):
        call(*words, "--more", "fr.txt", "-o", tmp_path / "y", settings=True, files=files)
    with pytest.raises(GroundlingError, match="--more fr: a treebank is needed with --treebank"):
        call(*words, "--more", f"fr=,{files['source']}", "-o", tmp_path / "y", settings=True, files=files)
    with pytest.raises(GroundlingError, match="--alignments belongs to one pair"):
        call(*words, "--more", more, "--alignments", files["links"], "-o", tmp_path / "y", settings=True, files=files)


def test_transfer_translates_with_a_given_model(
    made: tuple[dict[str, str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, folder = made
    answers = dict(zip(*(Path(files[side]).read_text().splitlines() for side in ("source", "target")), strict=True))

    class Oracle:
        def __init__(self, path: str, source: str, target: str, device: object) -> None:
            assert (path, source, target) == ("models/x", "en_XX", "de_DE")

        def translate(self, lines: list[str]) -> list[str]:
            return ["" if line == first else answers[line] for line in lines]

    first = next(iter(answers))
    monkeypatch.setattr(transfer_module, "Translator", Oracle)
    words = ["transfer", files["source"], "--tokenised", "-m", folder / "source", "-o", tmp_path / "x", "--translator"]
    extra = [f"--set={k}={v}" for k, v in (FAST | {"encoder": files["words"]}).items()]
    result = runner.invoke(app, [*map(str, words), "models/x", "--codes", "en_XX-de_DE", *extra])
    assert result.exit_code == 0, result.output
    assert "1 lines have no translation" in result.stderr and "1 sentence pairs left out: empty" in result.stderr
    assert (tmp_path / "x" / "translated.txt").read_text().splitlines()[1:] == list(answers.values())[1:]
    with pytest.raises(GroundlingError, match="give the translations as TARGET, or a translation model"):
        call("transfer", files["source"], "-m", folder / "source", "-o", tmp_path / "y")


def test_direct_transfer_with_subdp_init_needs_the_treebank(made: tuple[dict[str, str], Path], tmp_path: Path) -> None:
    files, folder = made
    words = ("transfer", files["source"], files["target"], "--tokenised", "-o", tmp_path / "x", "--method", "dt-init")
    with pytest.raises(GroundlingError, match="dt-init needs the treebank"):
        call(*words, "-m", folder / "source", settings=True, files=files)
    call(*words, "--treebank", files["treebank"], settings=True, files=files)
    assert (tmp_path / "x" / "again" / "last.safetensors").exists()


@pytest.mark.parametrize("form", ["raw", "tokens", "conllu"])
def test_parse_writes_valid_conllu(made: tuple[dict[str, str], Path], tmp_path: Path, form: str) -> None:
    files, folder = made
    text = {"raw": files["target"], "tokens": files["target"], "conllu": files["gold"]}[form]
    out = tmp_path / "found.conllu"
    call("parse", text, "-m", folder / "source", "--format", form, "-o", out, "--language", "it")
    assert check_file(str(out)).faults == []
    trees = list(conllu.read(out))
    assert all(not tree.faults() for tree in trees) and len(trees) > 20
    if form == "conllu":
        assert [t.tags for t in trees] == [t.tags for t in conllu.read(files["gold"])]
        return
    validate = Path(sys.executable).with_name("udvalidate")
    if not validate.exists():
        pytest.skip("udtools is not installed")
    found = subprocess.run(
        [str(validate), "--lang", "ud", "--level", "2", str(out)], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout + found.stderr


def test_contractions_become_ranges(made: tuple[dict[str, str], Path], tmp_path: Path) -> None:
    _, folder = made
    (tmp_path / "in.txt").write_text("La porta della casa.\n", encoding="utf-8")
    text = call("parse", tmp_path / "in.txt", "-m", folder / "source", "--language", "it")
    assert "3-4\tdella\t_" in text and "# text = La porta della casa.\n" in text and "SpaceAfter=No" in text


def test_project_writes_soft_shards_and_hard_trees(made: tuple[dict[str, str], Path], tmp_path: Path) -> None:
    files, folder = made
    common = ("--tokenised", "--alignments", files["links"], "-m", folder / "source")
    call("project", files["source"], files["target"], *common, "-o", tmp_path / "silver", settings=True, files=files)
    with np.load(tmp_path / "silver" / "00000.npz") as shard:
        assert shard["weight"].max() <= 1 + 1e-5 and len(shard["starts"]) == 151
    call(
        "project", files["source"], files["target"], *common, "-o", tmp_path / "hard.conllu", settings=True, files=files
    )
    rows = [line.split("\t") for line in (tmp_path / "hard.conllu").read_text().splitlines() if "\t" in line]
    assert {row[7] for row in rows} >= {"root", "nsubj"} and all((r[6] == "_") == (r[7] == "_") for r in rows)


def test_project_takes_parsed_sentences_as_they_are(made: tuple[dict[str, str], Path], tmp_path: Path) -> None:
    files, _ = made
    (tmp_path / "s.conllu").write_text("1\ta\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tb\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n")
    (tmp_path / "t.txt").write_text("B A\n")
    (tmp_path / "l.pharaoh").write_text("0-1 1-0\n")
    words = (
        "project",
        tmp_path / "s.conllu",
        tmp_path / "t.txt",
        "--tokenised",
        "--alignments",
        tmp_path / "l.pharaoh",
    )
    call(*words, "-o", tmp_path / "out", files=files)
    with np.load(tmp_path / "out" / "00000.npz") as shard:
        assert shard["dependent"].tolist() == [1, 2] and shard["head"].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--languages", "english"), "two codes such as en-fr"),
        (("--languages", "en-xx9"), "'xx9' is no language code"),
        (("--method", "subpd"), "Did you mean 'subdp'"),
        (("--alignments", "LINKS"), "fewer than the bitext has lines"),
    ],
)
def test_wrong_calls_are_explained(
    made: tuple[dict[str, str], Path], tmp_path: Path, words: tuple[str, str], message: str
) -> None:
    files, folder = made
    short = tmp_path / "short.pharaoh"
    short.write_text("0-0\n")
    chosen = [str(short) if word == "LINKS" else word for word in words]
    with pytest.raises(GroundlingError, match=message):
        call("transfer", files["source"], files["target"], "-m", folder / "source", "-o", tmp_path / "x", *chosen,
             settings=True, files=files)  # fmt: skip


def test_broken_treebanks_and_missing_models_are_explained(made: tuple[dict[str, str], Path], tmp_path: Path) -> None:
    files, folder = made
    (tmp_path / "loop.conllu").write_text(
        "# sent_id = s1\n1\ta\t_\tX\t_\t_\t2\tdep\t_\t_\n2\tb\t_\tX\t_\t_\t1\tdep\t_\t_\n\n"
        "1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
    )
    with pytest.raises(GroundlingError, match=r"loop.conllu: sentence 's1': 0 words hang from the root"):
        call("train-source", tmp_path / "loop.conllu", "-o", tmp_path / "x", files=files)
    with pytest.raises(GroundlingError, match=r"loop.conllu: sentence 's1': 0 words hang from the root"):
        call("evaluate", tmp_path / "loop.conllu", "-m", folder / "source")
    (tmp_path / "broken.conllu").write_text("1\ta\t_\tX\t_\t_\tzwei\tdep\t_\t_\n\n")
    with pytest.raises(GroundlingError, match=r"broken.conllu:1"):
        call("train-source", tmp_path / "broken.conllu", "-o", tmp_path / "x", files=files)
    with pytest.raises(GroundlingError, match=r"no run.json"):
        call("parse", files["target"], "-m", tmp_path)


def test_a_call_that_failed_at_once_may_be_corrected(made: tuple[dict[str, str], Path], tmp_path: Path) -> None:
    files, folder = made
    (tmp_path / "short.txt").write_text("a\n")
    words = ("-m", folder / "source", "--tokenised", "--method", "dt", "-o", tmp_path / "x")
    with pytest.raises(GroundlingError, match=r"has 150 lines but .* has 1"):
        call("transfer", files["source"], tmp_path / "short.txt", *words)
    call("transfer", files["source"], files["target"], *words)
    with pytest.raises(GroundlingError, match="already holds a transfer"):
        call("transfer", files["source"], files["target"], *words)


def test_transfer_counts_pairs_without_links(made: tuple[dict[str, str], Path], tmp_path: Path) -> None:
    files, folder = made
    lines = Path(files["links"]).read_text().splitlines()
    (tmp_path / "links").write_text("\n".join(["", "", *lines[2:]]) + "\n")
    words = ["transfer", files["source"], files["target"], "--tokenised", "-m", folder / "source", "--alignments"]
    extra = [f"--set={k}={v}" for k, v in FAST.items()]
    result = runner.invoke(app, [*map(str, words), str(tmp_path / "links"), "-o", str(tmp_path / "x"), *extra])
    assert result.exit_code == 0 and "2 of 150 pairs have no link" in result.stderr


def test_transfer_says_when_a_language_has_no_rules(made: tuple[dict[str, str], Path], tmp_path: Path) -> None:
    files, folder = made
    words = ("transfer", files["source"], files["target"], "-m", folder / "source", "--method", "dt", "-o", tmp_path)
    result = runner.invoke(app, [*map(str, words), "--languages", "en-xq"])
    assert "no rules of its own for language 'xq'" in result.stderr and "'en'" not in result.stderr


def test_transfer_warns_when_bitext_is_unlike_the_text(made: tuple[dict[str, str], Path], tmp_path: Path) -> None:
    files, folder = made
    (tmp_path / "text.txt").write_text("quite another language in which long sentences are written " * 3 + "\n")
    words = ("transfer", files["source"], files["target"], "--tokenised", "-m", folder / "source", "--method", "dt")
    arguments = [*words, "-o", tmp_path / "x", "--text", tmp_path / "text.txt", f"--set=encoder={files['words']}"]
    result = runner.invoke(app, [*map(str, arguments)])
    assert "warning: the bitext does not look like the text to be parsed" in result.stderr


def test_transfer_killed_while_training_ends_with_the_same_parser(
    made: tuple[dict[str, str], Path], tmp_path: Path
) -> None:
    files, folder = made
    words = ["subdp", "transfer", files["source"], files["target"], "--tokenised", "--treebank", files["treebank"]]
    words += [f"--set={k}={v}" for k, v in (FAST | {"encoder": files["words"]}).items()]
    command = [sys.executable, "-m", "groundling", *words, "-o", str(tmp_path / "killed"), "--device", "cpu"]
    process = subprocess.Popen(command, env=os.environ | {"OMP_NUM_THREADS": "1"}, stderr=subprocess.DEVNULL)
    checkpoint = tmp_path / "killed" / "source" / "last.safetensors"
    while not checkpoint.exists() and process.poll() is None:
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert not (tmp_path / "killed" / "run.json").exists()  # killed in time
    call(*words[1:], "-o", tmp_path / "killed", "--resume", "--device", "cpu")
    whole = folder / "whole"  # made by the first test, if it ran
    if not (whole / "model.safetensors").exists():
        call(*words[1:], "-o", whole, "--device", "cpu")
    assert (tmp_path / "killed" / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()


def test_a_given_parser_decides_encoder_and_shape(made: tuple[dict[str, str], Path], tmp_path: Path) -> None:
    files, folder = made
    words = ("transfer", files["source"], files["target"], "--tokenised", "-m", folder / "source", "-o", tmp_path / "x")
    call(*words, "--set", "target_epochs=1")  # no word of the encoder or the BiLSTM's width
    config = Model.load(tmp_path / "x").config
    assert config.encoder == files["words"] and config.lstm_dim == FAST["lstm_dim"] and config.target_epochs == 1
