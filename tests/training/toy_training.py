"""A toy training, run as a script by the tests: `toy_training.py harness FOLDER KILLS` or `ddp FOLDER BATCH`.

The harness imports torch once and forks each trial, so that a kill and a resumption cost milliseconds.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from groundling.training.devices import seeded
from groundling.training.loop import History, fit
from groundling.training.runs import RunFolder, save_model

INPUTS = torch.randn(48, 6, generator=torch.Generator().manual_seed(0))
TARGETS = INPUTS[:, :1] * 2 - INPUTS[:, 1:2]


@dataclass(frozen=True, kw_only=True)
class ToyConfig:
    width: int = 8
    dropout: float = 0.1
    epochs: int = 3
    batch: int = 8
    noise: float = 0.01


class Toy(nn.Module):
    """Two layers, dropout, and a state that is no tensor, to see that it comes through a checkpoint."""

    def __init__(self, config: ToyConfig):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(6, config.width), nn.Dropout(config.dropout), nn.Tanh(), nn.Linear(config.width, 1)
        )
        self.seen: list[int] = []

    def get_extra_state(self) -> list[int]:
        return list(self.seen)

    def set_extra_state(self, state: list[int]) -> None:
        self.seen = list(state)

    def error(self, chosen: torch.Tensor) -> torch.Tensor:
        return ((self.layers(INPUTS[chosen]) - TARGETS[chosen]) ** 2).mean()


def train(folder: Path | None, config: ToyConfig | None = None, *, resume: bool = False, **options) -> History:
    config = config or ToyConfig()
    if folder is None:
        return _fit(config, None, options)
    with RunFolder(folder, resume=resume) as run:
        run.keep_config(config)
        return _fit(config, run, options)


def _fit(config: ToyConfig, run: RunFolder | None, options: dict) -> History:
    with seeded(5):
        toy = Toy(config)
    optimizer = torch.optim.AdamW(toy.parameters(), lr=0.02)

    def batches(epoch, rng):
        order = torch.from_numpy(rng.permutation(len(INPUTS)))
        return (order[start : start + config.batch] for start in range(0, len(INPUTS), config.batch))

    def loss(module, batch, generator):
        module.seen = [*module.seen[-3:], int(batch[0])]
        noise = torch.rand(1, generator=generator)
        return module.error(batch) + config.noise * noise.item() * module.layers[0].weight.square().mean(), {
            "noise": noise
        }

    settings = {
        "scheduler": torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 100),
        "clip": 1.0,
        "evaluate": lambda module: {"error": module.error(torch.arange(48)).item()},
        "best": "min error",
        "save_every": 2,
        "device": "cpu",
    }
    history = fit(
        toy,
        batches=batches,
        loss=loss,
        optimizer=optimizer,
        epochs=config.epochs,
        seed=3,
        run=run,
        **settings | options,
    )
    if run is not None and run.writer:
        tensors = {name: value for name, value in toy.state_dict().items() if isinstance(value, torch.Tensor)}
        save_model(run.path, config, tensors, {"seed": 3})
    return history


def fingerprint(folder: Path) -> dict[str, str]:
    """Return the hash of each file of the folder: the whole of what a run leaves behind."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def in_a_child(work: Callable[[], object], kill_after: float | None = None) -> int:
    """Fork, work, and return the exit status; negative when it was killed."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def die_at(count: int) -> None:
    """Kill this process at its `count`-th file operation: before it, or in the middle of it where it is a write."""
    counter = itertools.count()

    def deadly(real: Callable) -> Callable:
        def wrapped(*args, **kwargs):
            if next(counter) == count:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **kwargs)

        return wrapped

    for name in ("open", "replace", "fsync", "ftruncate", "pwrite", "unlink", "close"):
        setattr(os, name, deadly(getattr(os, name)))


def kill_everywhere(folder: Path, stride: int) -> tuple[int, list[str]]:
    """Kill a training at every `stride`-th file operation in turn and resume it; count, and list the unequal."""
    unbroken, config = folder / "unbroken", ToyConfig(epochs=2)
    assert in_a_child(lambda: train(unbroken, config)) == 0
    wanted, unequal = fingerprint(unbroken), []
    for count in itertools.count(step=stride):
        broken = folder / f"broken-{count}"
        status = in_a_child(lambda: (die_at(count), train(broken, config)))  # noqa: B023
        if status == 0:
            return count // stride, unequal
        assert status == -signal.SIGKILL, status
        assert in_a_child(lambda: train(broken, config, resume=True)) == 0  # noqa: B023
        if fingerprint(broken) != wanted:
            unequal.append(broken.name)


def kill_at_random(folder: Path, kills: int, chance: random.Random) -> tuple[int, bool]:
    """Kill one training `kills` times at random moments, resuming each time; return how many landed, and if equal."""
    config = ToyConfig(epochs=2 * kills)
    start = time.monotonic()
    assert in_a_child(lambda: train(folder / "long", config)) == 0
    mean_life = (time.monotonic() - start) / kills
    landed = 0
    while in_a_child(lambda: train(folder / "killed", config, resume=True), chance.uniform(0, mean_life)) != 0:
        landed += 1
    return landed, fingerprint(folder / "killed") == fingerprint(folder / "long")


def main(what: str, where: str, number: str) -> None:
    torch.set_num_threads(1)
    folder = Path(where)
    if what == "ddp":
        config = ToyConfig(batch=int(number), dropout=0.0, noise=0.0)
        history = train(folder, config, clip=None)
        print(json.dumps({"rank": os.environ["RANK"], "error": history.best_value}))
        return
    train(None, ToyConfig(epochs=1))  # torch imports half of itself at the first step: once here, not in each child
    everywhere, unequal = kill_everywhere(folder, stride=4 if int(number) < 50 else 1)
    landed, equal = kill_at_random(folder, int(number), random.Random(number))
    print(json.dumps({"places": everywhere, "unequal": unequal, "landed": landed, "equal": equal}))


if __name__ == "__main__":
    main(*sys.argv[1:])
