"""Every long command, killed and resumed, leaves the files of an unbroken run; `make endurance` kills 50 times."""

import json
import os
import subprocess
import sys
from pathlib import Path

from endurance.jobs import JOBS, results_kept, without_seconds
from endurance.killing import differences

SCRIPT = Path(__file__).parent / "killing.py"


def test_killed_and_resumed_commands_leave_the_same_files(tmp_path: Path) -> None:
    light = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, str(SCRIPT), "--kills", "2", "--json", "--workdir", str(tmp_path / "work")]
    done = subprocess.run(command, capture_output=True, text=True, env=light)
    found = {one["name"]: one for one in json.loads(done.stdout)}
    assert {name: one["faults"] for name, one in found.items()} == {name: [] for name in JOBS}
    assert min(one["kills"] for one in found.values()) >= 1  # on a busy machine a command may end before its kill
    assert done.returncode == 0


def test_the_harness_sees_what_differs() -> None:
    wanted = {"a": 1, "b": 2, "c": 3}
    assert differences(wanted, wanted) == ""
    assert differences({"b": 0, "c": 3, ".x.tmp": 1}, wanted) == "missing: a; too many: .x.tmp; unequal: b"


def test_only_times_and_torn_lines_are_left_out_of_the_comparison() -> None:
    assert without_seconds(b'{"seconds": 1.5, "rows": 2}') == without_seconds(b'{"seconds": 9, "rows": 2}')
    assert without_seconds(b'{"seconds": 1, "rows": 2}') != without_seconds(b'{"seconds": 1, "rows": 3}')
    line = b'{"key": "k", "value": {"status": "ok", "ms": 3}}\n'
    assert results_kept(line + b'{"key": "l", "va') == {"k": {"status": "ok"}} == results_kept(line.replace(b"3", b"4"))
    assert results_kept(line) != results_kept(line.replace(b"ok", b"error"))
