"""What all tests share."""

import os
from pathlib import Path

import pytest

# Real corpora are not part of the project: $GROUNDLING_DATA, or a folder beside the checkout.
BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real corpora; the test is skipped where there is none."""
    folder = Path(os.environ.get("GROUNDLING_DATA") or BESIDE)
    if not folder.is_dir():
        pytest.skip("real corpora are absent: set $GROUNDLING_DATA to run this test")
    return folder
