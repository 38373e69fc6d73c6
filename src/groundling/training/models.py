"""A saved model is `config.toml + model.safetensors + run.json` and needs nothing else. Never pickle.

torch and safetensors are imported inside the functions, so that run folders stay light.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from groundling import __version__
from groundling.errors import FormatError, GroundlingError
from groundling.training.config import dump_config, load_config
from groundling.training.store import hash_file, make_folder, write_bytes, write_text

if TYPE_CHECKING:
    from torch import Tensor, nn

C = TypeVar("C")
M = TypeVar("M", bound="nn.Module")
CONFIG, MODEL, RUN = "config.toml", "model.safetensors", "run.json"
FORMAT = 1  # raise it when older programs cannot read what newer ones write


def save_model(
    directory: str | Path, config: Any, tensors: Mapping[str, Tensor], info: Mapping[str, Any] | None = None
) -> None:
    """Write the three files. `info` is what `run.json` should say: seed, data (`hash_data`), scores with signatures.

    No time and no path goes in, so the same training gives the same bytes. `run.json` goes last and carries the hashes
    of the other two: a save cut short over an older model is noticed by `load_model`.
    """
    from safetensors.torch import save

    folder = Path(directory)
    make_folder(folder)
    text, weights = dump_config(config).encode(), save(_storable(tensors))
    write_bytes(folder / CONFIG, text)
    write_bytes(folder / MODEL, weights)
    hashes = {CONFIG: hashlib.sha256(text).hexdigest(), MODEL: hashlib.sha256(weights).hexdigest()}
    facts = {"format": FORMAT, "config": _name(type(config)), "versions": versions(), "sha256": hashes}
    write_text(folder / RUN, json.dumps({**facts, **(info or {})}, indent=2, ensure_ascii=False) + "\n")


def load_model(directory: str | Path, config_cls: type[C]) -> tuple[C, dict[str, Tensor], dict[str, Any]]:
    """Read `(config, tensors, info)`, checked against each other; tensors are on the CPU.

    Safe for a stranger's folder: no code is run, and no more memory is taken than the files are long.
    """
    folder = Path(directory)
    info = _read_info(folder)
    if info.get("config") != _name(config_cls):
        raise FormatError(
            f"{folder}: holds a model of {info.get('config')}, not of {_name(config_cls)}. "
            "Load it with the system that saved it."
        )
    hashes = info.get("sha256")
    for name in (CONFIG, MODEL):
        if not isinstance(hashes, dict) or hash_file(folder / name) != hashes.get(name):
            raise FormatError(
                f"{folder / name}: not the file that {RUN} was written for: it was changed, or a save was cut short. "
                "Restore it, or train again (`--resume` if the folder has a checkpoint)."
            )
    return load_config(config_cls, folder / CONFIG), read_tensors(folder / MODEL), info


def fill_module(build: Callable[[], M], tensors: Mapping[str, Tensor], where: str | Path) -> M:
    """Build a module and put the tensors in, if names and shapes are exactly its own.

    It is built without memory first: a config that asks for a petabyte is refused before anything is allocated.
    """
    import torch

    with described(where), torch.random.fork_rng(devices=[]):
        with torch.device("meta"), _at_most(4 * len(tensors) + 100, where):
            _compare(build().state_dict(), tensors, where)
        module = build()
        module.load_state_dict(dict(tensors))
    return module


@contextmanager
def described(where: str | Path) -> Iterator[None]:
    """Turn what a wrong `run.json` or tensor raises in here into a `FormatError`.

    >>> with described("runs/x"): {}["vocabulary"]
    Traceback (most recent call last):
    groundling.errors.FormatError: runs/x: its files do not describe such a model (KeyError('vocabulary')). Copy it ...
    """
    wrong = (KeyError, TypeError, ValueError, AttributeError, IndexError, RuntimeError, OverflowError, AssertionError)
    try:
        yield
    except GroundlingError as error:
        raise error if str(where) in str(error) else error.at(str(where)) from None
    except wrong as error:
        raise FormatError(
            f"{where}: its files do not describe such a model ({error!r:.200}). Copy it again, or train again."
        ) from error


@contextmanager
def _at_most(limit: int, where: str | Path) -> Iterator[None]:
    """Refuse to build a module of far more parameters than the file has tensors: a billion layers, say."""
    from torch.nn.modules.module import register_module_parameter_registration_hook

    counter = count()

    def look(*_: object) -> None:
        if next(counter) > limit:
            raise FormatError(f"{where}: the config asks for many more tensors than are there. Copy it again.")

    hook = register_module_parameter_registration_hook(look)
    try:
        yield
    finally:
        hook.remove()


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Read a safetensors file, or raise a `FormatError`."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except (SafetensorError, OSError, ValueError, KeyError) as error:
        raise FormatError(
            f"{path}: not a readable safetensors file ({error}). Copy it again, or train again."
        ) from error


def versions() -> dict[str, str]:
    """Return the versions of what made the numbers."""
    found = {"groundling": __version__, "python": platform.python_version()}
    for package in ("numpy", "torch"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _name(cls: type) -> str:
    """Name a config by its system: `groundling.systems.vgnsl.config:Config` is `vgnsl.Config`."""
    parts = cls.__module__.split(".")
    return f"{parts[2]}.{cls.__name__}" if parts[:2] == ["groundling", "systems"] else cls.__name__


def _storable(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Own copies on the CPU: safetensors refuses tensors that share memory (tied weights)."""
    return {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}


def _read_info(folder: Path) -> dict[str, Any]:
    path = folder / RUN
    if not path.is_file():
        raise FormatError(f"{folder}: no {RUN}, so no finished model. Give the folder that `train` wrote.")
    try:
        info = json.loads(path.read_bytes())
        form = info["format"]
        made = dict(info.get("versions") or {}).get("groundling", "another version")
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise FormatError(f"{path}: not the JSON of a model ({error}). Copy it again, or train again.") from error
    if form != FORMAT:
        raise FormatError(f"{path}: format {form!r} of groundling {made}; this one ({__version__}) reads {FORMAT}.")
    return info


def _compare(wanted: Mapping[str, Any], tensors: Mapping[str, Tensor], where: str | Path) -> None:
    missing, extra = sorted(wanted.keys() - tensors.keys()), sorted(tensors.keys() - wanted.keys())
    if missing or extra:
        raise FormatError(f"{where}: tensors missing: {missing[:5] or 'none'}, not known: {extra[:5] or 'none'}.")
    for name, tensor in wanted.items():
        if tensor.shape != tensors[name].shape:
            raise FormatError(
                f"{where}: {name!r} has shape {tuple(tensors[name].shape)}, the config asks for {tuple(tensor.shape)}."
            )
