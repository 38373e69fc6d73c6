"""The tools round the library: the table of benchmarks, the bill of materials, the summary of fuzzing."""

import json
import math
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]
from benchmarks import Row, absent, against  # noqa: E402
from benchmarks import __main__ as bench  # noqa: E402
from fuzz.__main__ import summary  # noqa: E402


def test_a_ratio_under_its_floor_does_not_hold() -> None:
    assert against("fast", 1.0, 3.0, floor=2).holds
    assert not against("slow", 1.0, 3.0, floor=4).holds
    missing = absent("no peer", 4)
    assert missing.holds and math.isnan(missing.ratio)


def test_the_table_names_what_is_slow_and_what_is_not_here() -> None:
    text = bench.table([against("slow", 1.0, 3.0, 4), absent("no peer", 4)])
    assert "3.0x      4x  UNDER ITS FLOOR" in text and "not here" in text


def test_the_page_is_written_from_what_was_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "KEPT", tmp_path)
    bench.keep("some_part", [Row("a thing", 1.0, 3.0, 3.0, 4.0, "ms"), absent("another", 2)])
    page = bench.page()
    assert "## some part" in page and "| a thing | 1 ms | 3 ms | **3.0x** | 4x |" in page
    assert "| another | - | not here | - | 2x |" in page


def test_the_bill_of_materials_names_us_and_what_we_need() -> None:
    import sbom

    bill = sbom.bill()
    assert bill["metadata"]["component"]["name"] == "groundling"
    names = {part["name"].lower() for part in bill["components"]}
    assert {"numpy", "numba", "typer"} <= names and not names & {"pip", "groundling"}
    assert bill["serialNumber"] == sbom.bill()["serialNumber"]
    assert json.loads(json.dumps(bill)) == bill


def test_the_summary_of_fuzzing_says_why_a_target_fell() -> None:
    log = "#8 NEW cov: 12 ft: 3\nstat::number_of_executed_units: 99\nValueError: no\n"
    assert summary(log, fell=True) == "99 inputs, coverage 12; ValueError: no"
    assert summary(log, fell=False) == "99 inputs, coverage 12"
