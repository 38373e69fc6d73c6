"""Commands in trouble say so in one line and lose nothing: some of them here, all of them by `make endurance`."""

import json
import os
import subprocess
import sys
from pathlib import Path

from endurance.faults import cut_off, other_version

SCRIPT = Path(__file__).parent / "faults.py"
SOME = ["vgnsl train", "mlpalign align", "mbrexec select", "subdp project", "reproduce"]
TROUBLES = {
    "disk_full", "read_only", "interrupted_twice", "clock_jumps", "damaged_checkpoint", "other_config",
}  # fmt: skip


def test_troubles_are_told_and_nothing_is_lost() -> None:
    light = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run([sys.executable, str(SCRIPT), "--json", *SOME], capture_output=True, text=True, env=light)
    found = json.loads(done.stdout)
    assert {name: set(troubles) for name, troubles in found.items()} == dict.fromkeys(SOME, TROUBLES)
    assert [(name, *one) for name, troubles in found.items() for one in troubles.items() if one[1]] == []
    assert done.returncode == 0


def test_the_damages_are_damages(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b'{"format": "groundling checkpoint 1"}')
    other_version(path)
    assert b"checkpoint 9" in path.read_bytes()
    cut_off(path)
    assert len(path.read_bytes()) == 18
