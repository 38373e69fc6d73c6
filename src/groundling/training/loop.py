"""The one training loop, as one visible function: read batch, loss, backward, clip, step, evaluate, save."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal

import numpy as np
import torch
from torch import nn

from groundling.errors import DataError, FormatError
from groundling.training.checkpoint import load_checkpoint, save_checkpoint
from groundling.training.devices import gpu_faults, seed_global, seeded, stream
from groundling.training.distributed import World, from_first, join, share, spread_loss
from groundling.training.interrupts import Interrupts
from groundling.training.measures import Best, Means
from groundling.training.progress import Progress
from groundling.training.runs import RunFolder

Loss = Callable[[Any, Any, torch.Generator], torch.Tensor | tuple[torch.Tensor, dict[str, Any]]]


@dataclass
class History:
    """What a training did: one record an evaluation (also in `metrics.jsonl`), and where it stands."""

    step: int = 0  # optimiser steps made
    epoch: int = 0  # epochs completed
    batch: int = 0  # batches of the epoch under way that are done
    finished: bool = False
    metrics_size: int = 0  # bytes of metrics.jsonl that belong to this state
    records: list[dict[str, Any]] = field(default_factory=list)
    best_step: int | None = None
    best_value: float | None = None

    def state_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("step", "epoch", "batch", "finished", "metrics_size")}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        vars(self).update(state)


def fit(
    module: nn.Module,
    *,
    batches: Callable[[int, np.random.Generator], Iterable[Any]],
    loss: Loss,
    optimizer: torch.optim.Optimizer,
    epochs: int,
    seed: int,
    run: RunFolder | None = None,
    scheduler: Any = None,
    scheduler_every: Literal["step", "epoch"] = "step",
    clip: float | None = None,
    evaluate: Callable[[Any], dict[str, float]] | None = None,
    every: int | None = None,
    best: str | None = None,
    patience: int | None = None,
    save_every: int | None = None,
    device: str = "auto",
    amp: bool = False,
    shard: Callable[[Any, int, int], Any] | None = None,
    label: str = "training",
) -> History:
    """Train `module` in place. Same seed, same machine: same bytes; killed and resumed too.

    `batches(epoch, rng)` gives the batches of epoch 0, 1, ...; it depends on its arguments only, so that a resumed run
    can skip those already done. `loss(module, batch, generator)` gives a scalar, or a scalar and a dict of numbers to
    record; it moves the batch to the module's device itself. Randomness comes from `generator`, or from torch's global
    one (dropout): both are seeded anew each step from (seed, step, rank). State of the training that is no weight
    belongs in a buffer of the module or its `get_extra_state`.

    A record (mean loss, `evaluate(module)`) is made each `every` steps, or each epoch when None. `best="max f1"` or
    `"min loss"` names the number that decides: its weights are kept, and are the ones the module ends with. Training
    stops after `patience` records without a better one, or when `evaluate` gives a `finished` that is not 0. With
    `run`, the state is saved at each record and each `save_every` steps, and taken up again if `run.resume`.

    `amp` is bfloat16 autocast on GPUs that have it. Under torchrun the gradients are averaged over the processes;
    `distributed.share` says which batch goes where, and `evaluate` runs on rank 0 only.
    """
    world = join(device)
    module.to(world.device)
    history, means, top = History(), Means(world), Best(best, patience)
    parts = {"module": module, "optimizer": optimizer, "means": means, "best": top, "history": history}
    parts |= {"scheduler": scheduler} if scheduler is not None else {}
    if run is not None:
        _take_up(run, parts, history)
    step_loss = spread_loss(module, loss, world)
    generator = torch.Generator(device=world.device)
    use_amp = amp and world.device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)

    def record() -> None:
        scores = _evaluate(module, evaluate, seed, history.step, world)
        history.records.append({"step": history.step, "epoch": history.epoch, **means.take(history.step), **scores})
        if top.see(history.records[-1]):
            top.keep(module, run)
        if run is not None:
            run.append_metrics(history.records[-1])
            history.metrics_size = run.metrics_size()
        history.finished = top.tired or bool(scores.get("finished"))
        progress.note = " ".join(f"{name} {value:.4g}" for name, value in history.records[-1].items())

    def save() -> None:
        if run is not None and run.writer:
            means.refuse_nonsense(history.step)
            save_checkpoint(run.last, {name: part.state_dict() for name, part in parts.items()})

    kept = gpu_faults("memory only" if run is None else str(run.path))
    with kept, seeded(seed), Interrupts(run, world.size) as interrupts, Progress(label, done=history.step) as progress:
        module.train()
        while history.epoch < epochs and not history.finished:
            rng = np.random.default_rng([seed, history.epoch])
            mine = share(batches(history.epoch, rng), world, shard)
            for batch in islice(mine, history.batch, None):
                seed_global(stream(seed, history.step, world.rank))
                generator.manual_seed(stream(seed, history.step, world.rank, 1))
                optimizer.zero_grad(set_to_none=True)
                with torch.autocast(world.device.type, torch.bfloat16, enabled=use_amp):
                    result = step_loss(batch, generator)
                value, extra = result if isinstance(result, tuple) else (result, {})
                value.backward()
                if clip is not None:
                    nn.utils.clip_grad_norm_(module.parameters(), clip)
                optimizer.step()
                if scheduler is not None and scheduler_every == "step":
                    scheduler.step()
                means.add(value, extra)
                history.step, history.batch = history.step + 1, history.batch + 1
                progress.advance()
                due = every is not None and history.step % every == 0
                if due:
                    record()
                if due or interrupts.asked or (save_every and history.step % save_every == 0):
                    save()
                interrupts.leave_if_asked(history.step)
                if history.finished:
                    break
            else:
                progress.total = _expected(history, epochs)
                history.epoch, history.batch = history.epoch + 1, 0
                if scheduler is not None and scheduler_every == "epoch":
                    scheduler.step()
                if every is None or (history.epoch == epochs and means.count):
                    record()
                save()
                interrupts.leave_if_asked(history.step)
    top.restore(module, run, world)
    history.best_step, history.best_value = top.step, top.value
    return history


def _take_up(run: RunFolder, parts: dict[str, Any], history: History) -> None:
    """Load the last checkpoint, if the run is to be resumed and has one, and bring the metrics in line with it."""
    if run.resume and run.last.exists():
        state = load_checkpoint(run.last)
        try:
            for name, part in parts.items():
                part.load_state_dict(state[name])
        except (RuntimeError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise FormatError(
                f"{run.last}: the checkpoint is of another model or optimizer ({str(error).splitlines()[0]}). "
                "Resume with the settings it began with, or start a new folder."
            ) from error
    run.cut_metrics(history.metrics_size)
    history.records = run.read_metrics(history.metrics_size)


def _evaluate(
    module: nn.Module, evaluate: Callable[[Any], dict[str, float]] | None, seed: int, step: int, world: World
) -> dict[str, float]:
    if evaluate is None:
        return {}
    scores: dict[str, float] = {}
    if world.rank == 0:
        module.eval()
        with torch.no_grad(), seeded(seed, step):
            scores = {name: float(score) for name, score in evaluate(module).items()}
        module.train()
    return from_first(scores, world)


def _expected(history: History, epochs: int) -> int:
    """Guess the steps of the whole training from the epoch just done; an epoch without a batch is a mistake."""
    if history.batch == 0:
        raise DataError(
            f"epoch {history.epoch} has no batches. Is the training data empty, or are there fewer than processes?"
        )
    return history.step + history.batch * (epochs - history.epoch - 1)
