"""Run folders, locks and saved models: whole or not there, one writer, and each message."""

import errno
import fcntl
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from groundling.errors import ConfigError, DataError, FormatError, GroundlingError
from groundling.training import locks
from groundling.training.models import fill_module
from groundling.training.runs import RunFolder, hash_data, load_model, save_model, write_text

HOLDER = (
    "import sys, time\nfrom groundling.training.runs import RunFolder\n"
    "with RunFolder(sys.argv[1], resume=True): print('held', flush=True); time.sleep(60)\n"
)


@dataclass(frozen=True, kw_only=True)
class Config:
    size: int = 3
    rate: float = 0.5


@dataclass(frozen=True, kw_only=True)
class OtherConfig:
    size: int = 3


def saved(folder: Path) -> Path:
    save_model(folder, Config(), {"weight": torch.arange(6.0).reshape(2, 3)}, {"seed": 7, "data": {"a.txt": "ff"}})
    return folder


def test_a_second_writer_is_refused_until_the_first_is_gone(tmp_path: Path) -> None:
    first = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    with first:
        assert first.stdout is not None
        assert first.stdout.readline() == "held\n"
        with pytest.raises(GroundlingError, match=rf"process {first.pid} on \S+ has been writing here since 20"):
            RunFolder(tmp_path).__enter__()
        first.kill()
    assert (tmp_path / "run.lock").exists()
    with RunFolder(tmp_path) as run:  # stale: its holder was killed
        assert run._lock.stale is not None
        assert run._lock.stale["pid"] == first.pid
    assert not (tmp_path / "run.lock").exists()


def test_the_same_process_is_refused_too(tmp_path: Path) -> None:
    with RunFolder(tmp_path), pytest.raises(GroundlingError, match=f"process {os.getpid()} on"):
        RunFolder(tmp_path).__enter__()


@pytest.mark.parametrize(
    ("change", "lives"),
    [({}, True), ({"pid": 2**22 + 1}, False), ({"boot": "another"}, False), ({"host": "elsewhere"}, True)],
)
def test_without_file_locks_the_names_decide(change, lives, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    (tmp_path / "run.lock").write_text(json.dumps({**locks._myself(), **change}))
    if lives:
        with pytest.raises(GroundlingError, match="If it is surely gone, remove"):
            RunFolder(tmp_path).__enter__()
    else:
        with RunFolder(tmp_path):
            pass


def test_a_folder_with_a_run_is_not_overwritten(tmp_path: Path) -> None:
    with RunFolder(tmp_path) as run:
        run.append_metrics({"step": 1})
    with pytest.raises(GroundlingError, match=r"already holds a run \(metrics.jsonl\). Continue it with `--resume`"):
        RunFolder(tmp_path).__enter__()
    with RunFolder(tmp_path, resume=True) as run:
        assert run.read_metrics() == [{"step": 1}]
    with RunFolder(tmp_path, replace=True) as run:
        assert run.read_metrics() == []


def test_litter_of_a_killed_writer_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".0123456789abcdef.tmp").write_text("half")
    with RunFolder(tmp_path):
        assert not list(tmp_path.glob(".*.tmp"))


def test_metrics_keep_whole_lines_only(tmp_path: Path) -> None:
    with RunFolder(tmp_path) as run:
        run.append_metrics({"step": 1, "loss": float("nan"), "name": "é"})
        size = run.metrics_size()
        with open(tmp_path / "metrics.jsonl", "ab") as file:
            file.write(b'{"step": 2, "lo')
        assert run.read_metrics() == [{"step": 1, "loss": None, "name": "é"}]
        run.cut_metrics(size)
        assert (tmp_path / "metrics.jsonl").stat().st_size == size
        (tmp_path / "metrics.jsonl").write_text("[1]\n{}\n")
        with pytest.raises(GroundlingError, match=r"metrics\.jsonl:1: not a JSON object"):
            run.read_metrics()


def test_a_full_disk_is_named_and_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with RunFolder(tmp_path) as run:
        run.append_metrics({"step": 1})
        saved(tmp_path / "model")
        before = (tmp_path / "model" / "config.toml").read_bytes()
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(GroundlingError, match=r"metrics\.jsonl: cannot be written \(No space left"):
            run.append_metrics({"step": 2})
        with pytest.raises(GroundlingError, match=r"config\.toml: cannot be written: No space left on device"):
            save_model(tmp_path / "model", Config(size=4), {})
        assert run.read_metrics() == [{"step": 1}]
    assert (tmp_path / "model" / "config.toml").read_bytes() == before
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == [
        "config.toml",
        "model.safetensors",
        "run.json",
    ]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(GroundlingError, match=r"file/run: cannot be written \(Not a directory\)"):
        RunFolder(tmp_path / "file" / "run").__enter__()
    with pytest.raises(GroundlingError, match="cannot be written"):
        write_text(tmp_path / "no" / "such" / "folder", "x")


def test_ranks_above_zero_write_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")
    with RunFolder(tmp_path) as run:
        run.append_metrics({"step": 1})
        run.keep_config(Config())
    assert list(tmp_path.iterdir()) == []


def test_config_is_kept_and_compared(tmp_path: Path) -> None:
    with RunFolder(tmp_path) as run:
        run.keep_config(Config())
    with RunFolder(tmp_path, resume=True) as run:
        run.keep_config(Config())
        with pytest.raises(ConfigError, match=r"began with another config: size \(3, now 4\)"):
            run.keep_config(Config(size=4))


def test_model_round_trip(tmp_path: Path) -> None:
    config, tensors, info = load_model(saved(tmp_path / "a"), Config)
    assert config == Config()
    assert torch.equal(tensors["weight"], torch.arange(6.0).reshape(2, 3))
    assert (info["seed"], info["data"], info["config"]) == (7, {"a.txt": "ff"}, "Config")
    assert {"groundling", "python", "numpy", "torch"} <= info["versions"].keys()
    saved(tmp_path / "b")
    for name in ("config.toml", "model.safetensors", "run.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_models_that_are_not_ours_are_named(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"no run\.json, so no finished model"):
        load_model(tmp_path, Config)
    folder = saved(tmp_path / "a")
    with pytest.raises(FormatError, match="holds a model of Config, not of OtherConfig"):
        load_model(folder, OtherConfig)
    whole = (folder / "run.json").read_text()
    (folder / "run.json").write_text(whole.replace('"format": 1', '"format": 2'))
    with pytest.raises(FormatError, match=r"format 2 of groundling \S+; this one \(\S+\) reads 1"):
        load_model(folder, Config)
    for text in ("", "[]", "{", "[" * 100_000):
        (folder / "run.json").write_text(text)
        with pytest.raises(FormatError, match="not the JSON of a model"):
            load_model(folder, Config)


@pytest.mark.parametrize("name", ["config.toml", "model.safetensors"])
def test_a_mixed_or_damaged_model_is_named(name: str, tmp_path: Path) -> None:
    folder = saved(tmp_path / "a")
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data[:-1])
    with pytest.raises(FormatError, match=f"{name}: not the file that run.json was written for"):
        load_model(folder, Config)
    (folder / name).unlink()
    with pytest.raises(DataError, match=f"{name}: cannot be read"):
        load_model(folder, Config)


def test_a_hostile_safetensors_file_is_refused(tmp_path: Path) -> None:
    header = b'{"w":{"dtype":"F32","shape":[1000000000000],"data_offsets":[0,4000000000000]}}'
    for data in (b"", b"\xff" * 64, len(header).to_bytes(8, "little") + header):
        folder = saved(tmp_path / "a")
        (folder / "model.safetensors").write_bytes(data)
        info = json.loads((folder / "run.json").read_text())
        info["sha256"]["model.safetensors"] = hash_data(folder / "model.safetensors")["model.safetensors"]
        (folder / "run.json").write_text(json.dumps(info))
        with pytest.raises(FormatError, match="not a readable safetensors file"):
            load_model(folder, Config)


def test_tensors_must_fit_the_module() -> None:
    weights = nn.Linear(3, 2).state_dict()
    assert torch.equal(fill_module(lambda: nn.Linear(3, 2), weights, "here").weight, weights["weight"])
    with pytest.raises(FormatError, match=r"here: tensors missing: \['bias'\], not known: none"):
        fill_module(lambda: nn.Linear(3, 2), {"weight": weights["weight"]}, "here")
    with pytest.raises(FormatError, match=r"tensors missing: none, not known: \['more'\]"):
        fill_module(lambda: nn.Linear(3, 2), {**weights, "more": torch.ones(1)}, "here")
    with pytest.raises(FormatError, match=r"'weight' has shape \(2, 3\), the config asks for \(1000000000, 1000000\)"):
        fill_module(lambda: nn.Linear(10**6, 10**9), weights, "here")  # 4 PB: refused before it is allocated


def test_tied_weights_are_saved(tmp_path: Path) -> None:
    tied = torch.ones(2, 2)
    save_model(tmp_path, Config(), {"a": tied, "b": tied, "c": tied.t()})
    assert load_model(tmp_path, Config)[1].keys() == {"a", "b", "c"}
    save_file(load_file(tmp_path / "model.safetensors"), tmp_path / "plain.safetensors")


def test_data_hashes_name_files_without_folders(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"")
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert hash_data(tmp_path / "a.txt") == {"a.txt": empty}
    with pytest.raises(DataError, match="gone: cannot be read"):
        hash_data(tmp_path / "gone")


def test_run_folders_and_settings_never_load_torch() -> None:
    modules = "config", "runs", "progress", "bars"
    code = "import sys\n" + "".join(f"import groundling.training.{name}\n" for name in modules)
    done = subprocess.run(
        [sys.executable, "-c", code + "print('torch' in sys.modules)"], capture_output=True, text=True
    )
    assert done.stdout == "False\n", done.stderr
