"""The training loop: learning, exact repetition, resumption after kills, torchrun, and each message."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch
from torch import nn

from groundling.errors import ConfigError, DataError, FormatError, GroundlingError
from groundling.training.checkpoint import load_checkpoint, save_checkpoint
from groundling.training.loop import fit
from groundling.training.runs import RunFolder

sys.path.insert(0, str(Path(__file__).parent))
from toy_training import ToyConfig, fingerprint, train

SCRIPT = str(Path(__file__).parent / "toy_training.py")
LIGHT = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}


def toy_fit(run: RunFolder | None = None, loss=None, **options):
    module = nn.Linear(2, 1)
    settings = {"batches": lambda epoch, rng: [torch.ones(1, 2)] * 3, "epochs": 2, "seed": 0, "device": "cpu"}
    return fit(
        module,
        loss=loss or (lambda module, batch, generator: module(batch).square().mean()),
        optimizer=torch.optim.SGD(module.parameters(), lr=0.1),
        run=run,
        **settings | options,
    )


def harness(folder: Path, kills: int) -> dict:
    command = [sys.executable, SCRIPT, "harness", str(folder), str(kills)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, env=LIGHT).stdout)


def test_killed_and_resumed_training_leaves_the_same_files(tmp_path: Path) -> None:
    found = harness(tmp_path, 8)
    assert found["places"] > 15  # SIGKILL at every fourth file operation in turn
    assert found["landed"] > 2  # SIGKILL at random moments; under load fewer or more land
    assert found["unequal"] == []
    assert found["equal"]


@pytest.mark.slow
def test_killed_fifty_times_and_at_every_file_operation(tmp_path: Path) -> None:
    found = harness(tmp_path, 50)
    assert found["places"] > 60
    assert found["landed"] > 20
    assert (found["unequal"], found["equal"]) == ([], True)


def test_training_learns_and_repeats_itself(tmp_path: Path) -> None:
    state = torch.random.get_rng_state()
    first = train(tmp_path / "a", ToyConfig(epochs=10))
    assert torch.equal(torch.random.get_rng_state(), state)  # the caller's randomness is left alone
    train(tmp_path / "b", ToyConfig(epochs=10))
    assert fingerprint(tmp_path / "a") == fingerprint(tmp_path / "b")
    assert first.records[-1]["error"] < first.records[0]["error"] / 4
    assert (first.step, first.epoch, len(first.records)) == (60, 10, 10)


def test_without_a_folder_the_weights_are_the_same(tmp_path: Path) -> None:
    assert train(None).records == train(tmp_path / "a").records


def test_resuming_a_finished_run_changes_nothing(tmp_path: Path) -> None:
    first = train(tmp_path / "a")
    before = fingerprint(tmp_path / "a")
    assert train(tmp_path / "a", resume=True) == first
    assert fingerprint(tmp_path / "a") == before


def test_two_processes_of_torchrun_equal_one_with_the_doubled_batch(tmp_path: Path) -> None:
    whole = train(tmp_path / "one", ToyConfig(batch=16, dropout=0.0, noise=0.0), clip=None, evaluate=None, best=None)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", SCRIPT, "ddp"]
    done = subprocess.run([*command, str(tmp_path / "two"), "8"], capture_output=True, text=True, env=LIGHT)
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in (tmp_path / "two" / "metrics.jsonl").read_text().splitlines()]
    assert [record["step"] for record in records] == [3, 6, 9]  # written once, by rank 0
    assert [r["loss"] for r in records] == pytest.approx([r["loss"] for r in whole.records], rel=1e-5)
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(line["rank"] for line in said) == ["0", "1"]
    assert said[0]["error"] == said[1]["error"]  # both end with the same best weights


@pytest.mark.parametrize(("number", "raised"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)])
def test_ctrl_c_saves_and_says_how_to_go_on(number, raised, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train(tmp_path / "unbroken")

    def interrupt(module) -> dict[str, float]:
        os.kill(os.getpid(), number)
        return {"error": module.error(torch.arange(48)).item()}

    with pytest.raises(raised):
        train(tmp_path / "a", evaluate=interrupt)
    assert "stopped at step 6, saved in" in (said := capsys.readouterr().err)
    assert "Continue with `--resume`" in said
    train(tmp_path / "a", resume=True)
    assert fingerprint(tmp_path / "a") == fingerprint(tmp_path / "unbroken")
    assert signal.getsignal(number) is not None


def test_a_second_ctrl_c_stops_at_once(tmp_path: Path) -> None:
    def interrupt(module) -> dict[str, float]:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        raise AssertionError("still here")

    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "a", evaluate=interrupt)
    assert load_checkpoint(tmp_path / "a" / "last.safetensors")["history"]["step"] == 6


def test_training_works_in_a_thread(tmp_path: Path) -> None:
    thread = threading.Thread(target=train, args=[tmp_path / "a"])  # the web page trains there: no signals
    thread.start()
    thread.join()
    assert (tmp_path / "a" / "model.safetensors").exists()


def test_best_weights_come_back_and_patience_ends() -> None:
    scores = iter([0.1, 0.9, float("nan"), 0.9, 0.2, 0.3])
    weights = []

    def evaluate(module) -> dict[str, float]:
        weights.append(module.weight.clone())
        return {"f1": next(scores)}

    module = nn.Linear(2, 1)
    history = fit(
        module,
        batches=lambda epoch, rng: [torch.ones(1, 2)],
        loss=lambda module, batch, generator: module(batch).square().mean(),
        optimizer=torch.optim.SGD(module.parameters(), lr=0.1),
        epochs=10,
        seed=0,
        evaluate=evaluate,
        best="max f1",
        patience=3,
        device="cpu",
    )
    assert (history.best_step, history.best_value, history.step, history.finished) == (2, 0.9, 5, True)
    assert torch.equal(module.weight, weights[1])


def test_records_every_so_many_steps_and_at_the_end() -> None:
    history = toy_fit(every=4)
    assert [(record["step"], record["epoch"]) for record in history.records] == [(4, 1), (6, 2)]


def test_more_epochs_go_on_from_a_finished_run(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "a") as run:
        toy_fit(run, epochs=1)
    with RunFolder(tmp_path / "a", resume=True) as run:
        assert [record["step"] for record in toy_fit(run, epochs=3).records] == [3, 6, 9]


def test_a_loss_that_is_no_number_stops_before_it_is_saved(tmp_path: Path) -> None:
    calls = []

    def loss(module, batch, generator) -> torch.Tensor:
        calls.append(1)
        return module(batch).mean() * (float("nan") if len(calls) > 4 else 1.0)

    with RunFolder(tmp_path / "a") as run, pytest.raises(GroundlingError, match="the loss became nan before step 6"):
        toy_fit(run, loss)
    state = load_checkpoint(tmp_path / "a" / "last.safetensors")
    assert state["history"]["step"] == 3
    assert torch.isfinite(state["module"]["weight"]).all()


def test_another_model_or_config_is_refused_at_resumption(tmp_path: Path) -> None:
    train(tmp_path / "a", ToyConfig(epochs=1))
    with pytest.raises(ConfigError, match=r"began with another config: width \(8, now 9\)"):
        train(tmp_path / "a", ToyConfig(epochs=1, width=9), resume=True)
    (tmp_path / "a" / "config.toml").unlink()
    with pytest.raises(FormatError, match="the checkpoint is of another model or optimizer"):
        train(tmp_path / "a", ToyConfig(epochs=1, width=9), resume=True)


def test_wrong_settings_are_named() -> None:
    with pytest.raises(ConfigError, match="best='f1' is no rule"):
        toy_fit(best="f1")
    with pytest.raises(ConfigError, match="patience needs a number to watch"):
        toy_fit(patience=3)
    with pytest.raises(ConfigError, match=r"no number is called 'f1' in the records. There are: step, epoch, loss"):
        toy_fit(best="max f1")
    with pytest.raises(DataError, match="epoch 0 has no batches"):
        toy_fit(batches=lambda epoch, rng: [])
    with pytest.raises(ConfigError, match=r"device 'gpu' is unknown. Use auto, cpu, cuda"):
        toy_fit(device="gpu")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_missing_gpu_is_named() -> None:
    with pytest.raises(ConfigError, match="device 'cuda' is asked for, but torch sees 0 CUDA devices"):
        toy_fit(device="cuda")


def test_checkpoints_hold_nested_states_exactly(tmp_path: Path) -> None:
    shared = torch.arange(3.0)
    state = {"a": shared, "b": shared, 0: (1, [2.5, None, True]), "nan": [float("inf")], "x": {"$tensor": "y"}}
    save_checkpoint(tmp_path / "c", state)
    again = load_checkpoint(tmp_path / "c")
    assert torch.equal(again.pop("a"), shared)
    assert torch.equal(again.pop("b"), shared)
    assert again == {0: (1, [2.5, None, True]), "nan": [float("inf")], "x": {"$tensor": "y"}}
    with pytest.raises(GroundlingError, match="the training state at 'x' is a set, which a checkpoint cannot hold"):
        save_checkpoint(tmp_path / "c", {"x": {1}})


def test_a_damaged_checkpoint_is_named(tmp_path: Path) -> None:
    path = tmp_path / "c"
    save_checkpoint(path, {"a": torch.ones(4)})
    whole = path.read_bytes()
    for data in (b"", whole[:7], whole[:-3], b"\xff" * 100, whole.replace(b"$tensor", b"$tensot"), whole + b"x"):
        path.write_bytes(data)
        with pytest.raises(FormatError, match=r"not a readable checkpoint .* Remove it to start again"):
            load_checkpoint(path)
    path.write_bytes(whole.replace(b"checkpoint 1", b"checkpoint 9"))
    with pytest.raises(FormatError, match="'groundling checkpoint 9'; this version reads 'groundling checkpoint 1'"):
        load_checkpoint(path)


def test_a_gpu_that_fails_in_the_middle_is_told_and_the_last_state_is_kept(tmp_path: Path) -> None:
    train(tmp_path / "unbroken")
    steps = []

    def failing(module) -> dict[str, float]:
        steps.append(1)
        if len(steps) == 2:
            raise RuntimeError("CUDA error: unspecified launch failure\nCompile with TORCH_USE_CUDA_DSA")
        return {"error": module.error(torch.arange(48)).item()}

    with pytest.raises(
        GroundlingError, match=r"the GPU failed \(CUDA error: unspecified launch failure\)\. .* is kept in"
    ):
        train(tmp_path / "a", evaluate=failing)
    assert load_checkpoint(tmp_path / "a" / "last.safetensors")["history"]["step"] > 0
    train(tmp_path / "a", resume=True)
    assert fingerprint(tmp_path / "a") == fingerprint(tmp_path / "unbroken")


def test_too_little_gpu_memory_is_told() -> None:
    def loss(module, batch, generator):
        raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")

    with pytest.raises(GroundlingError, match=r"too little memory .* take a smaller batch"):
        toy_fit(loss=loss)


def test_other_errors_keep_their_traceback() -> None:
    def loss(module, batch, generator):
        raise RuntimeError("shapes cannot be multiplied")

    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        toy_fit(loss=loss)
