"""What the loop keeps count of: means since the last record, and the best record so far."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from groundling.errors import ConfigError, GroundlingError
from groundling.training.checkpoint import load_checkpoint, save_checkpoint
from groundling.training.distributed import World, average, from_first
from groundling.training.runs import RunFolder


class Means:
    """Means of the loss and other numbers since the last record; sums stay on the device, so no step waits for it."""

    def __init__(self, world: World):
        self.world = world
        self.sums: dict[str, torch.Tensor] = {}
        self.count = 0

    def add(self, loss: torch.Tensor, extra: dict[str, Any]) -> None:
        """Add one step's numbers; every step gives the same names."""
        for name, value in {"loss": loss, **extra}.items():
            number = torch.as_tensor(value, device=self.world.device).detach().double()
            self.sums[name] = self.sums[name] + number if name in self.sums else number
        self.count += 1

    def take(self, step: int) -> dict[str, float]:
        """Return the means, over all processes, and begin anew."""
        self.refuse_nonsense(step)
        means = {name: float(average(total / self.count, self.world)) for name, total in self.sums.items()}
        self.sums, self.count = {}, 0
        return means

    def refuse_nonsense(self, step: int) -> None:
        """Raise if the loss has become nan or infinite, before anything of it is saved."""
        total = self.sums.get("loss")
        if total is not None and not torch.isfinite(total):
            raise GroundlingError(
                f"the loss became {float(total)} before step {step}. What was saved before is kept. "
                "Try a lower learning rate or gradient clipping, and check the data for empty items."
            )

    def state_dict(self) -> dict[str, Any]:
        return {"sums": self.sums, "count": self.count}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.sums = {name: total.to(self.world.device) for name, total in state["sums"].items()}
        self.count = state["count"]


class Best:
    """The best record by one number, `"max f1"` or `"min loss"`, and the weights it was made with."""

    def __init__(self, rule: str | None, patience: int | None):
        direction, _, self.name = (rule or "max ").partition(" ")
        if rule is not None and (direction not in ("max", "min") or not self.name):
            raise ConfigError(f"best={rule!r} is no rule. Write for example 'max f1' or 'min loss'.")
        if patience is not None and rule is None:
            raise ConfigError("patience needs a number to watch: give best='max f1' or the like.")
        self.wanted, self.sign, self.patience = rule is not None, 1 if direction == "max" else -1, patience
        self.step: int | None = None
        self.value: float | None = None
        self.worse = 0  # records since the best one
        self._weights: dict[str, Any] | None = None

    @property
    def tired(self) -> bool:
        """Whether patience is at its end."""
        return self.patience is not None and self.worse >= self.patience

    def see(self, record: dict[str, Any]) -> bool:
        """Return whether this record is the best so far. Of equals the first stays; nan is never best."""
        if not self.wanted:
            return False
        if self.name not in record:
            raise ConfigError(
                f"best: no number is called {self.name!r} in the records. There are: {', '.join(record)}."
            )
        value = record[self.name]
        if value == value and (self.value is None or self.sign * value > self.sign * self.value):
            self.step, self.value, self.worse = record["step"], value, 0
            return True
        self.worse += 1
        return False

    def keep(self, module: nn.Module, run: RunFolder | None) -> None:
        """Keep the weights: in the run folder, or in memory when there is none."""
        if run is None:
            self._weights = {k: v.clone() if isinstance(v, torch.Tensor) else v for k, v in module.state_dict().items()}
        elif run.writer:
            save_checkpoint(run.best, {"step": self.step, "value": self.value, "module": module.state_dict()})

    def restore(self, module: nn.Module, run: RunFolder | None, world: World) -> None:
        """Put the best weights back into the module, on every rank."""
        if self.step is None:
            return
        from_first(None, world)  # the other ranks read the file only after rank 0 has written it
        weights = self._weights if run is None else load_checkpoint(run.best)["module"]
        module.load_state_dict(weights or {})

    def state_dict(self) -> dict[str, Any]:
        return {"step": self.step, "value": self.value, "worse": self.worse}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
