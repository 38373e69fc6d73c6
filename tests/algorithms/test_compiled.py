"""Compiled kernels: kept on disk, and used even where nothing can be kept."""

import os
import subprocess
import sys
from pathlib import Path

CODE = """
import numpy as np
from groundling.algorithms.arborescence import maximum_arborescence
print(maximum_arborescence(np.array([[0, 0, 0], [5.0, 0, 1], [1.0, 4, 0]])).tolist()[1:])
"""


def run(**environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_kernels_are_kept_where_asked(tmp_path: Path) -> None:
    assert run(NUMBA_CACHE_DIR=str(tmp_path)) == "[0, 1]"
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")}
    assert kept
    assert run(NUMBA_CACHE_DIR=str(tmp_path)) == "[0, 1]"
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")} == kept  # read, not compiled again


def test_where_nothing_can_be_kept_kernels_work_all_the_same() -> None:
    """A read-only installation and no home: numba then refuses to make a cached function at all."""
    assert run(NUMBA_CACHE_LOCATOR_CLASSES="IPythonCacheLocator") == "[0, 1]"
