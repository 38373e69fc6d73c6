"""Programs as a stream: memory must not grow with their number, and time must grow in proportion.

The largest stream has 2,000 programs, or $GROUNDLING_STREAM of them (issue 9 asks for 100,000); the others an eighth,
a quarter and a half of it. CPU time and memory are those of this process, the sandbox servers and all their children.
"""

import os
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks import Row, against
from benchmarks.execution import _below, _used  # the same accounting
from groundling.execution import Runner

KINDS = [
    ("def f(x): return [x] * 3", ["f({n})"]),
    ("print('x' * 1000)\ndef f(x): return {{x: (x, 1.5)}}", ["f({n})", "f(3)"]),
    ("raise ValueError('no {n}')", ["1"]),
    ("open('/tmp/a', 'w').write('x' * 10000)", ["len(open('/tmp/a').read()) + {n}"]),
    ("import os\nos._exit({n} % 3)", ["1"]),
    ("x = bytes(10**6)", ["len(x) + {n}"]),
]


def _jobs(count: int):
    for n in range(count):
        code, inputs = KINDS[n % len(KINDS)]
        yield code.format(n=n), [text.format(n=n) for text in inputs]


def _peak(pids: list[int]) -> float:
    """Megabytes: the greatest size that each of these processes ever had, together."""
    texts = [Path(f"/proc/{pid}/status").read_text() for pid in pids]
    return sum(int(text.partition("VmHWM:")[2].split()[0]) for text in texts if "VmHWM:" in text) / 1024


def measure(runner: Runner, count: int) -> tuple[float, float, float]:
    """CPU seconds, seconds and peak megabytes of `count` programs."""
    pids = _below(os.getpid())
    cpu, start, bad = _used(pids[1:]), time.perf_counter(), 0
    for n, outcome in enumerate(runner.run_many(_jobs(count))):
        bad += (outcome.status == "ok") != (n % len(KINDS) not in (2, 4))
    assert not bad, f"{bad} programs of {count} had another outcome than they should"
    return _used(pids[1:]) - cpu, time.perf_counter() - start, _peak(pids)


def run() -> list[Row]:
    largest = int(os.environ.get("GROUNDLING_STREAM", "2000"))
    sizes = [largest // part for part in (8, 4, 2, 1)]
    found: list[tuple[float, float, float]] = []
    with Runner(workers=os.cpu_count() or 1) as runner:
        measure(runner, 50)
        for size in sizes:
            found.append(measure(runner, size))
            cpu, seconds, megabytes = found[-1]
            rate = f"{cpu / size * 1e3:.2f} ms of CPU a program, {size / seconds:.0f} programs a second"
            print(f"  {size} programs: {cpu:.1f} s, {rate}, peak {megabytes:.0f} MB", file=sys.stderr, flush=True)
    exponent = float(np.polyfit(np.log(sizes), np.log([cpu for cpu, _, _ in found]), 1)[0])
    growth = found[-1][2] - found[0][2]
    return [
        against(f"{largest} programs in a stream: exponent of time against number", exponent, 1.2, 1.0, ""),
        against(f"{largest} programs in a stream: growth of peak memory", max(growth, 0.1), 16.0, 1.0, "MB"),
    ]
