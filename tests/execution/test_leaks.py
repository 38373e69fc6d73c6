"""Many programs in one run leave no process, no open file and no memory behind."""

import gc
import os
from pathlib import Path

import pytest

from groundling.errors import ExecutionError
from groundling.execution import Limits, Runner

KINDS = [
    ("def f(x): return [x] * 3", ["f(1)"]),
    ("print('x' * 1000)\ndef f(x): return {x: (x, 1.5)}", ["f(2)", "f(3)"]),
    ("raise ValueError('no')", ["1"]),
    ("import os\nopen('/tmp/a', 'w').write('x' * 10000) if os.access('/tmp', os.W_OK) else 0", ["os.getpid() > 0"]),
    ("import os\nos._exit(3)", ["1"]),
    ("import threading, time\nthreading.Thread(target=time.sleep, args=(9,), daemon=True).start()", ["1"]),
    ("x = bytes(10**6)", ["len(x)"]),
]


def below(pid: int) -> list[int]:
    found = [pid]
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            found += below(int(child))
    return found


def usage() -> tuple[int, int, int]:
    """Processes, open files and resident kilobytes of this process and all below it."""
    gc.collect()
    pids = below(os.getpid())
    kilobytes = 0
    files = 0
    for pid in pids:
        status = Path(f"/proc/{pid}/status").read_text()
        kilobytes += int(status.partition("VmRSS:")[2].split()[0]) if "VmRSS:" in status else 0
        try:
            files += len(os.listdir(f"/proc/{pid}/fd"))
        except PermissionError:  # the server belongs to nobody; root may look, others may not
            continue
    return len(pids), files, kilobytes


def hammer(count: int) -> None:
    try:
        runner = Runner(workers=2)
    except ExecutionError as error:
        pytest.skip(str(error))
    with runner:
        warm = [KINDS[n % len(KINDS)] for n in range(60)]
        assert sum(outcome.ok for outcome in runner.run_many(warm)) > 30
        processes, files, kilobytes = usage()
        jobs = (KINDS[n % len(KINDS)] for n in range(count))
        statuses = [outcome.status for outcome in runner.run_many(jobs, Limits(seconds=20))]
        assert len(statuses) == count and set(statuses) == {"ok", "error"}
        after = usage()
    assert after[0] == processes and after[1] == files
    assert after[2] < kilobytes * 1.1 + 4000, f"{kilobytes} kB before, {after[2]} kB after"
    assert len(below(os.getpid())) <= 1 + max(0, processes - 3), "the servers are still there"


def test_two_thousand_programs_leave_nothing_behind() -> None:
    hammer(2_000)


@pytest.mark.slow
def test_a_hundred_thousand_programs_leave_nothing_behind() -> None:
    hammer(100_000)
