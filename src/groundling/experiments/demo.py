"""The demo: every system on built-in data, one report. Each part is a row of PARTS, added by its owner."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from traceback import format_exception
from typing import NamedTuple

from groundling.errors import ConfigError, GroundlingError
from groundling.names import did_you_mean, load
from groundling.reports.page import write_page
from groundling.reports.sections import Section
from groundling.training.progress import Progress

Say = Callable[[str], None]  # what a part does just now, in a few words: say("training, epoch 3 of 10")

# name -> (function, title); the function is `run(say, seed) -> list[Section]`, on built-in data, in seconds.
# A part may open bars of its own with `training.progress.track`: they nest in the same display.
PARTS: dict[str, tuple[str, str]] = {
    "structures": ("groundling.experiments.demo_structures:run", "Structures: read, check, convert, draw"),
    "scores": ("groundling.experiments.demo_scores:run", "Scores: Struct-IoU and ParsEval, exact and signed"),
    "vgnsl": ("groundling.experiments.demo_vgnsl:run", "VG-NSL: trees from captions and pictures"),
    "avnsl": ("groundling.experiments.demo_avnsl:run", "AV-NSL: words and trees from speech and pictures"),
    "mbrexec": ("groundling.experiments.demo_mbrexec:run", "MBR-Exec: programs chosen by running them"),
    "subdp": ("groundling.experiments.demo_subdp:run", "SubDP: a parser for a language without a treebank"),
    "mlpalign": ("groundling.experiments.demo_mlpalign:run", "MLPAlign: words of two languages, aligned"),
    "g2l2": ("groundling.experiments.demo_g2l2:run", "G2L2: what words mean and how they combine"),
}

LEAD = (
    "Everything here was made just now, on this machine, from built-in data: no download, no network. "
    "Each part ends with the command that repeats it."
)


class Outcome(NamedTuple):
    """What became of one part."""

    name: str
    title: str
    seconds: float
    error: str  # empty when all went well


class Demo(NamedTuple):
    """The report's path and the outcome of each part."""

    report: Path
    outcomes: list[Outcome]

    @property
    def failed(self) -> list[str]:
        """The names of the parts that broke."""
        return [outcome.name for outcome in self.outcomes if outcome.error]


def run_demo(only: str | None = None, seed: int = 0, out: str | Path = "runs/demo") -> Demo:
    """Run the parts in order and write `report.html` into `out`. A part that breaks is shown; the others go on."""
    if only is not None and only not in PARTS:
        hint = did_you_mean(only, PARTS)
        raise ConfigError(f"no part of the demo is called {only!r}.{hint} There are: {', '.join(PARTS)}.")
    chosen = {only: PARTS[only]} if only is not None else PARTS
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    report = folder / "report.html"
    sections: list[Section] = []
    outcomes: list[Outcome] = []
    with Progress("demo", total=len(chosen)) as progress:
        for name, (target, title) in chosen.items():
            progress.note = title
            made, outcome = _run_part(name, target, title, seed, progress)
            sections += made
            outcomes.append(outcome)
            write_page(report, "groundling: the demo", sections, lead=LEAD)  # each time: Ctrl-C keeps what is done
            progress.advance()
    return Demo(report, outcomes)


def _run_part(name: str, target: str, title: str, seed: int, progress: Progress) -> tuple[list[Section], Outcome]:
    start = time.perf_counter()
    command = f"groundling demo --only {name} --seed {seed}"

    def say(what: str) -> None:
        progress.note = f"{title}: {what}"

    try:
        made = [*load(target)(say, seed)]
        error = ""
    except Exception as fault:  # one broken part must not take the others with it
        error = str(fault) if isinstance(fault, GroundlingError) else f"{type(fault).__name__}: {fault}"
        made = [Section(title, _fault_text(fault, error), failed=True)]
    seconds = time.perf_counter() - start
    made[-1:] = [replace(one, command=one.command or command) for one in made[-1:]]  # a part ends with its command
    made[:1] = [replace(one, seconds=seconds if one.seconds is None else one.seconds) for one in made[:1]]
    return made, Outcome(name, title, seconds, error)


def _fault_text(fault: Exception, error: str) -> str:
    """An error of ours is for the user; anything else is a bug and keeps its traceback."""
    if isinstance(fault, GroundlingError):
        return error
    trace = "".join(format_exception(fault)).replace("```", "'''")
    return f"This part broke, and that is our fault. The others went on.\n\n```\n{trace}```"
