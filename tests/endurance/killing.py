"""Kill commands with SIGKILL at random moments, resume them, and compare their files with those of an unbroken run.

`python tests/endurance/killing.py [--kills N] [--seed S] [--workdir DIR] [COMMAND ...]`

A moment is a time (uniform over the unbroken run's) or a file operation under the output folder (uniform over its
operations: between any two of them the disk differs). Each trial is killed one to five times in a row, then left to
finish. Modules are imported once and every trial is forked, so that a kill costs no start-up. The harness adopts
orphans: a process that outlives its killed command is a fault too.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import hashlib
import importlib
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))
from endurance.jobs import JOBS, Job, words_of, write_inputs

SYSTEMS = [f"groundling.systems.{name}" for name in ("vgnsl", "avnsl", "g2l2", "mlpalign", "subdp", "mbrexec")]
PRELOADED = [
    "scipy.sparse",
    "numba",
    "torch",
    "safetensors.torch",
    "groundling.training.loop",
    "groundling.cli.main",
    *SYSTEMS,
]
WATCHED = {"open", "os.rename", "os.remove", "os.mkdir", "os.truncate", "os.link", "os.rmdir"}
SUBREAPER, PATIENCE = 36, 20.0


class Moment(NamedTuple):
    """When to die: after `value` seconds, or before file operation number `value`."""

    kind: str
    value: float


class Verdict(NamedTuple):
    """What became of one command under `kills` kills; `faults` is empty when all is well."""

    name: str
    seconds: float  # of the unbroken run
    operations: int
    kills: int  # that landed
    trials: int
    faults: list[str]


def child(
    words: list[str], out: Path, moment: Moment | None, said: Path, before: Callable[[], object] = lambda: None
) -> tuple[int, int]:
    """Fork and run the command; return its exit status (negative: killed) and how many file operations it made.

    A moment of kind "interrupt" is Ctrl-C pressed twice; `before` is called in the child.
    """
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        before()
        _be_the_command(words, out, moment, said, writing)
    os.close(writing)
    if moment is not None and moment.kind != "operation":
        time.sleep(moment.value)
        os.kill(pid, signal.SIGKILL if moment.kind == "time" else signal.SIGINT)
        if moment.kind == "interrupt":
            time.sleep(0.02)
            os.kill(pid, signal.SIGINT)
    with os.fdopen(reading, "rb") as pipe:
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        return status, int(pipe.read() or b"0") if status == 0 else 0


def _be_the_command(words: list[str], out: Path, moment: Moment | None, said: Path, pipe: int) -> None:
    """In the child: the real command line, from `sys.argv` to the exit status."""
    log = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv = ["groundling", *words]
    counter = _count_operations(str(out), moment.value if moment and moment.kind == "operation" else None)
    status = 0
    try:
        from groundling.cli.main import main

        main()
    except SystemExit as leaving:
        status = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        status = 70
    sys.stdout.flush()
    os.write(pipe, str(counter[0]).encode())
    os._exit(status)


def _count_operations(out: str, last: float | None) -> list[int]:
    """Count Python's file operations under `out`; die before number `last`."""
    counter = [0]

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event in WATCHED and any(str(path).startswith(out) for path in arguments[:2]):
            if counter[0] == last:
                os.kill(os.getpid(), signal.SIGKILL)
            counter[0] += 1

    sys.addaudithook(watch)
    return counter


def files_of(folder: Path, job: Job) -> dict[str, Any]:
    """What a command left behind: each file by name, as its hash or in the form that the job compares."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            plain = job.normal.get(path.name)
            found[str(path.relative_to(folder))] = plain(data) if plain else hashlib.sha256(data).hexdigest()
    return found


def moments(rng: random.Random, seconds: float, operations: int) -> Iterator[Moment]:
    """Endless random moments, times and file operations by turns."""
    while True:
        yield Moment("operation", rng.randrange(max(operations, 1)))
        yield Moment("time", rng.uniform(0, seconds))


def adopted(patience: float = PATIENCE) -> list[int]:
    """Wait for orphans of the killed; return those that do not end."""
    deadline = time.monotonic() + patience
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return []
        if pid == 0:
            if time.monotonic() > deadline:
                return _children()
            time.sleep(0.01)


def _children() -> list[int]:
    tasks = Path(f"/proc/{os.getpid()}/task").iterdir()
    return [int(pid) for task in tasks for pid in (task / "children").read_text().split()]


class Trials:
    """All trials of one command."""

    def __init__(self, name: str, inputs: Path, folder: Path, rng: random.Random):
        self.name, self.job, self.inputs, self.folder, self.rng = name, JOBS[name], inputs, folder, rng
        self.said = folder / "said.txt"

    def run(self, out: Path, moment: Moment | None = None, again: bool = False) -> tuple[int, int]:
        out.mkdir(exist_ok=True)
        return child(words_of(self.job, self.inputs, out, again), out, moment, self.said)

    def verdict(self, kills: int) -> Verdict:
        """Run unbroken, twice (the first time warms caches), then kill until enough kills have landed."""
        self.folder.mkdir(parents=True)
        self.run(self.folder / "warm")
        start = time.monotonic()
        status, operations = self.run(self.folder / "unbroken")
        seconds = time.monotonic() - start
        if status != 0:
            return Verdict(self.name, seconds, operations, 0, 0, [f"unbroken run: exit {status}: {self._last_words()}"])
        wanted, faults = files_of(self.folder / "unbroken", self.job), []
        if files_of(self.folder / "warm", self.job) != wanted:
            faults.append("two unbroken runs differ")
        chance, landed, trials = moments(self.rng, seconds, operations), 0, 0
        while landed < kills and trials < 4 * kills and len(faults) < 10:
            trials += 1
            landed += self._trial(self.folder / f"trial-{trials}", chance, wanted, faults, kills - landed)
        return Verdict(self.name, seconds, operations, landed, trials, faults)

    def _trial(self, out: Path, chance: Iterator[Moment], wanted: dict[str, Any], faults: list[str], most: int) -> int:
        history: list[str] = []
        for _ in range(min(self.rng.randint(1, 5), most)):
            moment = next(chance)
            status, _ = self.run(out, moment, again=bool(history))
            if status == 0:
                break
            if status != -signal.SIGKILL:
                faults.append(f"after {history}: exit {status}: {self._last_words()}")
                return len(history)
            history.append(f"{moment.kind} {moment.value:.3g}")
        status, _ = self.run(out, again=True) if history else (0, 0)
        if status != 0:
            faults.append(f"after {history}: resumed, exit {status}: {self._last_words()}")
        elif found := differences(files_of(out, self.job), wanted):
            faults.append(f"after {history}: {found}")
        if left := adopted():
            faults.append(f"after {history}: processes {left} live on")
        return len(history)

    def _last_words(self) -> str:
        text = self.said.read_text(errors="replace").strip()
        return text.splitlines()[-1][:300] if text else "(silent)"


def differences(found: dict[str, Any], wanted: dict[str, Any]) -> str:
    """Name files that are missing, too many or unequal; empty when there are none."""
    missing, extra = sorted(wanted.keys() - found.keys()), sorted(found.keys() - wanted.keys())
    unequal = sorted(name for name in wanted.keys() & found.keys() if wanted[name] != found[name])
    parts = (("missing", missing), ("too many", extra), ("unequal", unequal))
    return "; ".join(f"{what}: {', '.join(names[:4])}" for what, names in parts if names)


def prepare(inputs: Path) -> None:
    """Import what is heavy, adopt orphans, write the inputs."""
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    for module in PRELOADED:
        importlib.import_module(module)
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)  # threads do not survive a fork
    torch.optim.Adam([torch.zeros(1, requires_grad=True)])  # half of torch is imported by its first optimiser
    study = importlib.import_module("groundling.experiments.structiou").ambiguity_rows
    study.__defaults__ = (4, 5)  # table 5.1 in small: repetitions, ground truths
    inputs.mkdir()
    write_inputs(inputs)
    parser = words_of(Job("subdp train-source {in}/treebank.conllu -o {in}/parser " + SUBDP_WORDS), inputs, inputs)
    status, _ = child(parser, inputs, None, inputs / "said.txt")
    assert status == 0, (inputs / "said.txt").read_text()


SUBDP_WORDS = JOBS["subdp train-source"].words.partition("{out}/run")[2]


def table(verdicts: list[Verdict]) -> str:
    """A line a command."""
    lines = [f"{'command':<20} {'unbroken':>9} {'file ops':>8} {'kills':>6} {'trials':>6}  result"]
    for one in verdicts:
        result = "equal" if not one.faults else f"{len(one.faults)} FAULTS"
        lines.append(
            f"{one.name:<20} {one.seconds:>7.2f} s {one.operations:>8} {one.kills:>6} {one.trials:>6}  {result}"
        )
        lines += [f"    {fault}" for fault in one.faults]
    return "\n".join(lines)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("commands", nargs="*", metavar="COMMAND", help=f"of: {', '.join(JOBS)}")
    options.add_argument("--kills", type=int, default=50, help="kills that must land, for each command")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--workdir", type=Path, help="keep all files here")
    options.add_argument("--json", action="store_true", help="print one JSON object")
    asked = options.parse_args()
    keep = contextlib.nullcontext(str(asked.workdir)) if asked.workdir else tempfile.TemporaryDirectory()
    with keep as folder:
        work = Path(folder).resolve()
        work.mkdir(parents=True, exist_ok=True)
        prepare(work / "inputs")
        verdicts: list[Verdict] = []
        for name in asked.commands or JOBS:
            rng = random.Random(f"{asked.seed} {name}")
            verdicts.append(Trials(name, work / "inputs", work / name.replace(" ", "-"), rng).verdict(asked.kills))
            print(table(verdicts[-1:]).splitlines()[1], file=sys.stderr, flush=True)
    print(json.dumps([one._asdict() for one in verdicts]) if asked.json else table(verdicts))
    return int(any(one.faults for one in verdicts))


if __name__ == "__main__":
    sys.exit(main())
