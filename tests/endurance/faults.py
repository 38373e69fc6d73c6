"""Commands in trouble: disk full, output read-only, Ctrl-C twice, a jumping clock, damaged and foreign checkpoints.

`python tests/endurance/faults.py [COMMAND ...]`: each must end with 2 (130 after Ctrl-C) and one line that says what is
wrong, leave nothing half-written under a final name, and reach the files of an unbroken run once the trouble is over.
"""

from __future__ import annotations

import argparse
import errno
import itertools
import json
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from endurance.jobs import JOBS, words_of
from endurance.killing import Moment, adopted, child, differences, files_of, prepare

YEAR = 365 * 86400.0


class Trouble:
    """One command, its unbroken files, and what goes wrong with it."""

    def __init__(self, name: str, inputs: Path, folder: Path, rng: random.Random):
        self.name, self.job, self.inputs, self.folder, self.rng = name, JOBS[name], inputs, folder, rng
        self.folder.mkdir(parents=True)
        self.said = folder / "said.txt"
        start = time.monotonic()
        assert self.run("unbroken") == 0, self.said.read_text()
        self.seconds = time.monotonic() - start
        self.wanted = files_of(folder / "unbroken", self.job)

    def run(self, place: str, again: bool = False, more: str = "", **options) -> int:
        out = Path(place) if place.startswith("/") else self.folder / place
        if not place.startswith("/"):
            out.mkdir(exist_ok=True)
        words = words_of(self.job, self.inputs, out, again) + more.split()
        status, _ = child(words, out, options.pop("moment", None), self.said, **options)
        return status

    def one_line(self, status: int, *allowed: int) -> list[str]:
        """What is wrong with the way a command ended."""
        text = self.said.read_text(errors="replace")
        lines = [line for line in text.splitlines() if line.startswith("groundling: ")]
        faults = [] if status in allowed else [f"exit {status}, not {allowed}"]
        faults += ["a traceback: " + text.strip().splitlines()[-1][:200]] if "Traceback" in text else []
        return faults + (["no line says what is wrong"] if status == 2 and not lines else [])

    def same(self, place: str) -> list[str]:
        """What differs from the unbroken files after the command is given once more."""
        status = self.run(place, again=True)
        if status != 0:
            return [f"given again: exit {status}: {self.said.read_text().strip().splitlines()[-1][:200]}"]
        found = differences(files_of(self.folder / place, self.job), self.wanted)
        return [found] if found else []

    def disk_full(self) -> list[str]:
        """No file may grow over a limit: EFBIG takes the way of ENOSPC, and needs no disk of its own.

        Results of programs are kept by the limits they ran under, so there the kept file itself is made to fail.
        """
        largest = max(path.stat().st_size for path in (self.folder / "unbroken").rglob("*") if path.is_file())
        limit = max(1, largest // 2)
        kept = "kept.jsonl" in self.job.normal
        full = full_cache if kept else lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        return self.one_line(self.run("full", before=full), 2) + self.same("full")

    def read_only(self) -> list[str]:
        """A place that even root cannot write to."""
        return self.one_line(self.run("/proc/version/out"), 2)

    def interrupted_twice(self) -> list[str]:
        """Ctrl-C, and once more at once; a command may have ended before."""
        moment = Moment("interrupt", self.rng.uniform(0.2, 0.9) * self.seconds)
        faults = self.one_line(self.run("interrupted", moment=moment), 0, 130)
        left = [f"processes {left} live on"] if (left := adopted()) else []
        return faults + left + self.same("interrupted")

    def clock_jumps(self) -> list[str]:
        """The clock goes a year back and forth between any two looks at it."""
        status = self.run("clock", before=jumping_clock)
        found = differences(files_of(self.folder / "clock", self.job), self.wanted)
        return self.one_line(status, 0) + ([found] if found else [])

    def damaged_checkpoint(self) -> Iterator[list[str]]:
        """Cut off, of another version, empty: refused, and every file stays as it was."""
        for number, harm in enumerate((cut_off, other_version, emptied)):
            place = self.folder / f"damaged-{number}"
            shutil.copytree(self.folder / "unbroken", place)
            broken = sorted(place.rglob("last.safetensors"))
            if not broken:
                return
            harm(broken[0])
            before = files_of(place, self.job)
            faults = self.one_line(self.run(place.name, again=True), 2)
            found = differences(files_of(place, self.job), before)
            yield [f"{harm.__name__}: {fault}" for fault in faults + ([f"touched: {found}"] if found else [])]

    def other_config(self) -> list[str]:
        """Resumed with other settings: refused, and every file stays as it was."""
        if "--set" not in self.job.words or not self.job.resume:
            return []
        place = self.folder / "other"
        shutil.copytree(self.folder / "unbroken", place)
        setting = self.job.words.split("--set ")[-1].split()[0].partition("=")
        changed = f"{setting[0]}=7" if setting[2].isdigit() else f"{setting[0]}=[9]"
        faults = self.one_line(self.run("other", again=True, more=f"--set {changed}"), 2)
        found = differences(files_of(place, self.job), self.wanted)
        return faults + ([f"touched: {found}"] if found else [])


def full_cache(room: int = 5) -> None:
    """Only so many results can be kept; the next one is torn."""
    from groundling.systems.mbrexec.cache import Cache

    real, count = Cache.put, itertools.count()

    def put(self: Cache, key: str, value: object) -> None:
        if next(count) < room:
            return real(self, key, value)
        assert self._file is not None
        self._file.write(b'{"key": "' + key[:4].encode())
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    Cache.put = put  # type: ignore[method-assign]


def jumping_clock() -> None:
    real, jump = time.time, random.Random(0)
    time.time = lambda: real() + jump.choice((-YEAR, 0, YEAR))


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def other_version(path: Path) -> None:
    data = path.read_bytes()
    assert b"checkpoint 1" in data
    path.write_bytes(data.replace(b"checkpoint 1", b"checkpoint 9"))


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def all_troubles(trouble: Trouble) -> dict[str, list[str]]:
    """The faults of one command under each trouble; none is what we want."""
    plain: list[Callable[[], list[str]]] = [
        trouble.disk_full, trouble.read_only, trouble.interrupted_twice, trouble.clock_jumps, trouble.other_config,
    ]  # fmt: skip
    found = {work.__name__: work() for work in plain}
    return {**found, "damaged_checkpoint": [fault for faults in trouble.damaged_checkpoint() for fault in faults]}


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("commands", nargs="*", metavar="COMMAND")
    options.add_argument("--json", action="store_true")
    asked = options.parse_args()
    results: dict[str, dict[str, list[str]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder).resolve()
        prepare(work / "inputs")
        for name in asked.commands or JOBS:
            trouble = Trouble(name, work / "inputs", work / name.replace(" ", "-"), random.Random(name))
            results[name] = all_troubles(trouble)
            for what, faults in results[name].items():
                print(f"{name:<20} {what:<20} {'; '.join(faults) or 'fine'}", file=sys.stderr, flush=True)
    if asked.json:
        print(json.dumps(results))
    return int(any(faults for troubles in results.values() for faults in troubles.values()))


if __name__ == "__main__":
    sys.exit(main())
