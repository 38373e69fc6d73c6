"""The pictures of the documentation are what the program draws today."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def test_images_are_up_to_date() -> None:
    if not DOCS.exists():
        pytest.skip("the documentation is not in this checkout")
    drawn = runpy.run_path(str(DOCS / "make_images.py"))["pictures"]()
    stored = {path.name: path.read_text(encoding="utf-8").rstrip("\n") for path in (DOCS / "images").glob("*.svg")}
    assert {name: stored.get(name) == picture for name, picture in drawn.items()} == dict.fromkeys(drawn, True), (
        "run `python docs/make_images.py`"
    )
