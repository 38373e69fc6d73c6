"""torchrun: who am I, and the few things the ranks say to each other. With one process all of it does nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from itertools import islice
from typing import Any, NamedTuple

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

from groundling.training.devices import pick_device

PATIENCE = timedelta(hours=2)  # the ranks above 0 wait this long while rank 0 evaluates


class World(NamedTuple):
    """A process among those that torchrun started."""

    rank: int
    size: int
    device: torch.device


def join(device: str) -> World:
    """Join the other processes (NCCL on GPUs, gloo on CPUs) and pick this one's device."""
    size, rank = int(os.environ.get("WORLD_SIZE", "1")), int(os.environ.get("RANK", "0"))
    if size < 2:
        return World(0, 1, pick_device(device))
    chosen = pick_device(device)
    if chosen.type == "cuda":
        chosen = pick_device(f"cuda:{os.environ.get('LOCAL_RANK', '0')}")
        torch.cuda.set_device(chosen)
    if not distributed.is_initialized():
        distributed.init_process_group("nccl" if chosen.type == "cuda" else "gloo", timeout=PATIENCE)
    return World(rank, size, chosen)


def share(batches: Iterable[Any], world: World, shard: Callable[[Any, int, int], Any] | None) -> Iterator[Any]:
    """Give this rank its part of each step.

    With `shard(batch, rank, size)`, a step is one batch and each rank takes a part of it; without, a step is `size`
    batches in a row, one a rank, and a last incomplete row is left out, for all ranks must make the same steps.

    >>> cpu = torch.device("cpu")
    >>> list(share("abcde", World(1, 2, cpu), None))
    ['b', 'd']
    """
    if world.size == 1:
        yield from batches
    elif shard is not None:
        yield from (shard(batch, world.rank, world.size) for batch in batches)
    else:
        stream = iter(batches)
        while len(row := list(islice(stream, world.size))) == world.size:
            yield row[world.rank]


class _Step(nn.Module):
    """The whole loss as one forward pass, so that any method of the module may be called in it under DDP."""

    def __init__(self, module: nn.Module, loss: Callable[..., Any]):
        super().__init__()
        self.module, self.loss = module, loss

    def forward(self, batch: Any, generator: torch.Generator) -> Any:
        return self.loss(self.module, batch, generator)


def spread_loss(module: nn.Module, loss: Callable[..., Any], world: World) -> Callable[[Any, torch.Generator], Any]:
    """Return `loss(batch, generator)`; with several processes its backward averages the gradients over them."""
    step = _Step(module, loss)
    if world.size == 1:
        return step
    gpus = [world.device] if world.device.type == "cuda" else None
    return DistributedDataParallel(step, device_ids=gpus, find_unused_parameters=True)


def average(value: torch.Tensor, world: World) -> torch.Tensor:
    """Return the mean over the processes."""
    if world.size > 1:
        distributed.all_reduce(value)
        value /= world.size
    return value


def from_first(value: Any, world: World) -> Any:
    """Return rank 0's value on every rank."""
    if world.size == 1:
        return value
    box = [value]
    distributed.broadcast_object_list(box, src=0)
    return box[0]
