"""Checkpoints: one safetensors file a state, so that one rename makes it whole. Never pickle.

The nested state (weights, optimiser, scheduler, counters) is flattened: tensors into the file's body, all else as JSON
into its header. JSON keeps Python's floats and integers exactly.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from groundling.errors import FormatError, GroundlingError
from groundling.training.store import write_bytes

FORMAT = "groundling checkpoint 1"


def save_checkpoint(path: Path, state: Any) -> None:
    """Write a nested state of dicts, lists, tuples, tensors and plain values; a kill leaves the old file or the new."""
    tensors: dict[str, torch.Tensor] = {}
    skeleton = _flatten(state, "", tensors)
    # One key only: safetensors writes several in an order that changes from run to run.
    header = {"state": json.dumps({"format": FORMAT, "state": skeleton})}
    write_bytes(path, save(tensors, header))


def load_checkpoint(path: Path) -> Any:
    """Read what `save_checkpoint` wrote; tensors are on the CPU."""
    try:
        with safe_open(path, framework="pt") as file:
            header = json.loads((file.metadata() or {})["state"])
            if header["format"] != FORMAT:
                raise FormatError(f"{path}: {header['format']!r}; this version reads {FORMAT!r}. Start a new run.")
            return _restore(header["state"], {name: file.get_tensor(name) for name in file.keys()})  # noqa: SIM118
    except (SafetensorError, OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise FormatError(
            f"{path}: not a readable checkpoint ({error!r}). Remove it to start again from the beginning."
        ) from error


def _flatten(value: Any, name: str, tensors: dict[str, torch.Tensor]) -> Any:
    """Return the JSON skeleton of a state; its tensors go into `tensors` under dotted names."""
    if isinstance(value, torch.Tensor):
        tensors[name] = value.detach().cpu().clone().contiguous()  # own memory: tied weights share theirs
        return {"$tensor": name}
    if isinstance(value, dict):
        return {"$dict": [[key, _flatten(item, f"{name}.{key}", tensors)] for key, item in value.items()]}
    if isinstance(value, list | tuple):
        items = [_flatten(item, f"{name}.{index}", tensors) for index, item in enumerate(value)]
        return {"$tuple": items} if isinstance(value, tuple) else items
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise GroundlingError(
        f"the training state at {name.lstrip('.')!r} is a {type(value).__name__}, which a checkpoint cannot hold. "
        "Keep tensors, numbers, text, lists and dicts there."
    )


def _restore(skeleton: Any, tensors: dict[str, torch.Tensor]) -> Any:
    if isinstance(skeleton, list):
        return [_restore(item, tensors) for item in skeleton]
    if not isinstance(skeleton, dict):
        return skeleton
    ((kind, inner),) = skeleton.items()
    if kind == "$tensor":
        return tensors[inner]
    if kind == "$dict":
        return {key: _restore(item, tensors) for key, item in inner}
    if kind == "$tuple":
        return tuple(_restore(item, tensors) for item in inner)
    raise KeyError(kind)
