"""`groundling demo`: one report, whatever breaks."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from groundling.cli.main import build
from groundling.errors import ConfigError, DataError
from groundling.experiments import demo
from groundling.reports.sections import Section


def fine(say, seed: int) -> list[Section]:
    say("working")
    return [Section(f"Fine with seed {seed}"), Section("More")]


def broken(say, seed: int) -> list[Section]:
    raise ValueError("no ``` such <thing>")


def stopped(say, seed: int) -> list[Section]:
    raise KeyboardInterrupt


def unfit(say, seed: int) -> list[Section]:
    raise DataError("the corpus is not there. Set $GROUNDLING_DATA.")


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> None:
    # pytest imports test files under names of its own; the table needs one that can be imported.
    monkeypatch.setitem(sys.modules, "demo_parts", sys.modules[__name__])
    table = {name: (f"demo_parts:{name}", name.title()) for name in ("broken", "fine", "unfit")}
    monkeypatch.setattr(demo, "PARTS", table)


def run(*arguments: str):
    return CliRunner().invoke(build("demo"), ["demo", *arguments])


@pytest.mark.usefixtures("parts")
def test_demo_goes_on_after_a_failure_and_exits_1(tmp_path: Path) -> None:
    result = run("-o", str(tmp_path), "--seed", "7")
    assert result.exit_code == 1
    assert result.stdout.strip() == str(tmp_path / "report.html")
    assert "'broken' failed: ValueError" in result.stderr and "'unfit' failed: the corpus" in result.stderr
    page = (tmp_path / "report.html").read_text()
    assert "Fine with seed 7" in page and "More" in page
    assert "Traceback" in page and "such &lt;thing&gt;" in page
    assert page.count('class="badge"') == 2


@pytest.mark.usefixtures("parts")
def test_demo_prints_json(tmp_path: Path) -> None:
    result = run("-o", str(tmp_path), "--only", "fine", "--json")
    assert result.exit_code == 0
    answer = json.loads(result.stdout)
    assert [(part["name"], part["error"]) for part in answer["parts"]] == [("fine", "")]
    assert answer["report"] == str(tmp_path / "report.html")


@pytest.mark.usefixtures("parts")
def test_demo_that_is_stopped_keeps_what_is_done(tmp_path: Path) -> None:
    demo.PARTS["stopped"] = ("demo_parts:stopped", "Stopped")
    with pytest.raises(KeyboardInterrupt):
        demo.run_demo(out=tmp_path)
    assert "Fine with seed 0" in (tmp_path / "report.html").read_text()


def test_demo_names_the_nearest_part() -> None:
    with pytest.raises(ConfigError, match=r"called 'structure'\. Did you mean 'structures'"):
        demo.run_demo("structure")


def test_demo_lists_its_parts() -> None:
    assert "structures\tStructures" in run("--list").stdout


def test_structures_part_draws_every_structure_and_repeats_itself(tmp_path: Path) -> None:
    first = demo.run_demo("structures", out=tmp_path / "a")
    page = first.report.read_text()
    assert first.failed == [] and page.count("<svg") == 8
    assert "StructIoU|" in page and "groundling demo --only structures --seed 0" in page
    from groundling.experiments.demo_structures import run as part

    assert part(lambda what: None, 0) == part(lambda what: None, 1)


def test_every_part_of_the_table_can_be_loaded() -> None:
    from groundling.names import load

    assert all(callable(load(target)) and title for target, title in demo.PARTS.values())
