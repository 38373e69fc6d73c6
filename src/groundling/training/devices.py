"""Where to compute, and seeds: the one place that turns a seed into generators of torch."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np
import torch

from groundling.errors import ConfigError, GroundlingError


def pick_device(name: str = "auto") -> torch.device:
    """Return the device called `name`; `auto` is the GPU where there is one.

    >>> pick_device("cpu")
    device(type='cpu')
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ConfigError(f"device {name!r} is unknown. Use auto, cpu, cuda or cuda:0.") from error
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise ConfigError(
            f"device {name!r} is asked for, but torch sees {torch.cuda.device_count()} CUDA devices here. "
            "Use `--device auto` or `--device cpu`, or install a CUDA build of torch and check `nvidia-smi`."
        )
    return device


@contextlib.contextmanager
def gpu_faults(where: str) -> Iterator[None]:
    """Say in one line that a GPU failed or was lost, what is kept, and how to go on.

    >>> with gpu_faults("runs/x"): raise RuntimeError("CUDA error: device lost")
    Traceback (most recent call last):
    groundling.errors.GroundlingError: the GPU failed (CUDA error: device lost). What was saved before is kept ...
    """
    try:
        yield
    except torch.cuda.OutOfMemoryError as error:
        raise GroundlingError(
            f"the GPU has too little memory ({str(error).splitlines()[0]}). What was saved before is kept in {where}; "
            "take a smaller batch in a new folder, or go on with `--resume` on a larger GPU."
        ) from error
    except RuntimeError as error:  # torch's AcceleratorError is one, too
        if not any(word in str(error) for word in ("CUDA", "cuDNN", "cuBLAS", "CUBLAS", "NCCL")):
            raise
        raise GroundlingError(
            f"the GPU failed ({str(error).splitlines()[0]}). What was saved before is kept in {where}; "
            "check `nvidia-smi`, then go on with `--resume`, with `--device cpu` if the GPU is gone."
        ) from error


def stream(seed: int, *keys: int) -> int:
    """Mix a seed and counters (step, rank) into one 63-bit seed; distinct counters give unrelated streams.

    >>> stream(0, 1) == stream(0, 1), stream(0, 1) == stream(1, 0)
    (True, False)
    """
    state = np.random.SeedSequence(seed % 2**64, spawn_key=tuple(keys)).generate_state(1, np.uint64)
    return int(state[0]) >> 1


def torch_generator(seed: int, *keys: int, device: torch.device | str = "cpu") -> torch.Generator:
    """Return a torch generator seeded from `stream(seed, *keys)`.

    >>> torch.rand(1, generator=torch_generator(3)) == torch.rand(1, generator=torch_generator(3))
    tensor([True])
    """
    return torch.Generator(device=device).manual_seed(stream(seed, *keys))


@contextlib.contextmanager
def seeded(seed: int, *keys: int) -> Iterator[None]:
    """Seed torch's global generators inside the block (module initialisation, dropout) and put them back after it.

    >>> with seeded(0): a = torch.rand(1)
    >>> with seeded(0): b = torch.rand(1)
    >>> bool(a == b)
    True
    """
    # Only a GPU already in use: asking another for its state would take memory there.
    with torch.random.fork_rng(devices=[torch.cuda.current_device()] if torch.cuda.is_initialized() else []):
        seed_global(stream(seed, *keys))
        yield


def seed_global(number: int) -> None:
    """Seed torch's global generators, those of GPUs already in use included.

    `torch.manual_seed` formats the caller's stack where no GPU is in use yet: up to a millisecond at every step.
    """
    torch.default_generator.manual_seed(number)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(number)
