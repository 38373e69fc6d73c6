"""`python -m fuzz [TARGET ...] [--seconds N]`: fuzz each target for N seconds, two at a time; exit 1 when one falls.

What is found is written to `runs/fuzz/TARGET/crash-*`; read it back with `python -m fuzz TARGET --replay FILE`.
The corpus in `runs/fuzz/TARGET/corpus` grows from night to night.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

LONGEST = 2048  # bytes of an input: faults of readers are small


def fuzz(name: str, folder: Path, seconds: int) -> None:
    """In a process of its own: libFuzzer never returns."""
    import atheris

    with atheris.instrument_imports(include=["groundling"]):
        from fuzz.targets import TARGETS, seeds
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds(name)):
        (corpus / f"seed-{number}").write_bytes(seed)
    options = [f"-max_total_time={seconds}", f"-max_len={LONGEST}", "-timeout=20", "-rss_limit_mb=4096", "-seed=1"]
    atheris.Setup(
        [sys.argv[0], *options, f"-artifact_prefix={folder}/", "-print_final_stats=1", str(corpus)], TARGETS[name]
    )
    atheris.Fuzz()


def run_all(names: list[str], folder: Path, seconds: int, at_once: int) -> dict[str, tuple[int, str]]:
    """Exit status and summary of each target; each in a process of its own."""
    waiting, running, done = list(names), {}, {}
    while waiting or running:
        while waiting and len(running) < at_once:
            name = waiting.pop(0)
            (folder / name).mkdir(parents=True, exist_ok=True)
            said = open(folder / name / "log.txt", "w")  # noqa: SIM115  the child's
            command = [sys.executable, "-m", "fuzz", name, "--one", "--seconds", str(seconds), "--folder", str(folder)]
            running[name] = subprocess.Popen(command, stdout=said, stderr=said)
        pid, status = os.wait()
        for name, process in list(running.items()):
            if process.pid == pid:
                process.returncode = os.waitstatus_to_exitcode(status)
                log = (folder / name / "log.txt").read_text(errors="replace")
                done[name] = (process.returncode, summary(log, fell=process.returncode != 0))
                print(f"{name:<12} {'ok' if not done[name][0] else 'FELL'}  {done[name][1]}", flush=True)
                del running[name]
    return done


def summary(log: str, fell: bool) -> str:
    """Inputs, coverage and, where it fell, why."""
    lines = log.splitlines()
    runs = [line.split(":")[-1].strip() for line in lines if line.startswith("stat::number_of_executed_units")]
    covered = [line for line in lines if " cov: " in line]
    reason = [line.strip() for line in lines if fell and "Error" in line and not line.startswith("#")]
    cover = covered[-1].split(" cov: ")[1].split()[0] if covered else "?"
    return f"{runs[-1] if runs else '?'} inputs, coverage {cover}" + (f"; {reason[0][:120]}" if reason else "")


def main() -> int:
    """Fuzz all targets that are named, or all."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("targets", nargs="*")
    options.add_argument("--seconds", type=int, default=600)
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--folder", type=Path, default=Path("runs/fuzz"))
    options.add_argument("--replay", type=Path, help="run one input, without atheris")
    options.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    asked = options.parse_args()
    if asked.one:
        fuzz(asked.targets[0], asked.folder / asked.targets[0], asked.seconds)
        return 0
    from fuzz.targets import TARGETS

    if asked.replay:
        TARGETS[asked.targets[0]](asked.replay.read_bytes())
        return 0
    found = run_all(asked.targets or list(TARGETS), asked.folder, asked.seconds, asked.jobs)
    return int(any(status for status, _ in found.values()))


if __name__ == "__main__":
    sys.exit(main())
