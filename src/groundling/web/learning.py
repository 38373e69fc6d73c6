"""Models learned on the spot from built-in data, for panels that need one; kept for the next time."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Lock, Thread
from typing import Any, Literal

from pydantic import BaseModel

from groundling.errors import GroundlingError
from groundling.web.shop import MODELS, Shop
from groundling.web.work import BusyError

SEED = 0


def learn_g2l2() -> Any:
    """SCAN without any command that has `jump` in it but the bare one (the jump split)."""
    from groundling.systems.g2l2 import Config, train
    from groundling.worlds import scan

    return train(Config(), scan.split("jump")[0], seed=SEED)


def learn_vgnsl() -> Any:
    """The demo's world of drawn scenes; how concrete its words are is kept with the model."""
    import numpy as np

    from groundling.experiments.demo_vgnsl import captions_of, learn
    from groundling.systems.vgnsl.concreteness import word_concreteness
    from groundling.worlds.captions import make_world

    world, test = make_world(900, np.random.default_rng(SEED)).split(750)
    model, _ = learn(world, test, SEED)
    model.info["concreteness"] = word_concreteness(model, captions_of(test))
    return model


def learn_avnsl() -> Any:
    """The demo's world of drawn scenes, described aloud by the built-in voice."""
    from groundling.experiments.avnsl_data import prepare
    from groundling.experiments.demo_avnsl import SETTINGS, TEST, TRAINING
    from groundling.systems.avnsl import train

    return train(SETTINGS, prepare(TRAINING, TEST, SEED).training, seed=SEED, device="cpu")


# name -> (how, from what: for the button)
LEARNERS: dict[str, tuple[Callable[[], Any], str]] = {
    "g2l2": (learn_g2l2, "the commands of SCAN, none of which joins `jump` with another word"),
    "vgnsl": (learn_vgnsl, "captions of 750 drawn scenes"),
    "avnsl": (learn_avnsl, "400 drawn scenes that the built-in voice describes"),
}


class State(BaseModel):
    """Whether a model is here, and whether the page can learn one."""

    state: Literal["absent", "learning", "here", "failed"]
    learnable: bool = False
    source: str = ""
    error: str = ""


class Wish(BaseModel):
    """Which model to learn."""

    model: Literal["g2l2", "vgnsl", "avnsl"]


class School:
    """Learns one model at a time, in a thread of its own."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.errors: dict[str, str] = {}
        self._lock = Lock()
        self._now = ""

    def states(self) -> dict[str, State]:
        """Every model that a panel uses."""
        return {name: self._state(name) for name in MODELS}

    def _state(self, name: str) -> State:
        known, source = name in LEARNERS, LEARNERS[name][1] if name in LEARNERS else ""
        if self.shop.has(name):
            return State(state="here", learnable=known, source=source)
        if self._now == name:
            return State(state="learning", learnable=known, source=source)
        failed = name in self.errors
        error = self.errors.get(name, "")
        return State(state="failed" if failed else "absent", learnable=known, source=source, error=error)

    def begin(self, name: str) -> State:
        """Begin to learn, unless it is here or being learned."""
        with self._lock:
            if self._now and self._now != name:
                raise BusyError(f"{self._now} is being learned just now. Wait until it is here.")
            if not self._now and not self.shop.has(name):
                self._now = name
                self.errors.pop(name, None)
                Thread(target=self._learn, args=[name], name=f"learn-{name}", daemon=True).start()
        return self._state(name)

    def _learn(self, name: str) -> None:
        from torch import set_num_threads

        set_num_threads(1)  # small steps: a second thread gains nothing, and on a busy machine waits for its turn
        try:
            self.shop.keep(name, LEARNERS[name][0]())
        except GroundlingError as error:
            self.errors[name] = str(error)
        except Exception:  # a bug of ours: the page must not wait for ever
            logging.getLogger(__name__).exception("learning %s broke", name)
            self.errors[name] = "learning broke, and that is our fault. The terminal of the server says more."
        finally:
            self._now = ""
