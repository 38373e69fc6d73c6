"""`groundling reproduce`: the catalogue, a run, what is stored, the page."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

from groundling.cli.main import build
from groundling.errors import ConfigError, DataError
from groundling.experiments import catalogue, results_page, studies
from groundling.experiments.tables import ResultRow
from groundling.formats.corpora import CORPORA

ROWS = [ResultRow("ours | theirs", 27.1, 27.25, "five seeds"), ResultRow("no number", None, 3.0)]


def reproduce(*words: str) -> str:
    result = CliRunner().invoke(build("reproduce"), ["reproduce", *words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Table 5.1 without its work; the list counts calls."""
    calls: list[int] = []

    def run(data: Path | None, out: Path, seed: int, say: catalogue.Say) -> list[ResultRow]:
        say("working")
        calls.append(seed)
        return ROWS

    monkeypatch.setattr(studies, "ambiguity", run)
    return calls


def test_every_table_of_the_thesis_is_listed() -> None:
    names = set(catalogue.ENTRIES)
    assert {f"3.{k}" for k in range(1, 5)} | {f"4.{k}" for k in range(1, 8)} <= names
    assert {"5.1", "6.4", "6.5", "7.1", "7.2", "8.1", "9.1", "9.2", "9.3", "figure-5.5", "figure-5.7"} <= names
    for entry in catalogue.ENTRIES.values():
        assert set(entry.data) <= set(CORPORA), entry.name
        assert re.compile(entry.rows) and entry.title
        assert entry.study in studies.STUDIES or entry.differs, f"{entry.name}: say why it cannot be run"


def test_every_study_is_a_function_of_the_one_shape() -> None:
    for name, study in studies.STUDIES.items():
        function = catalogue.load(study.target)
        assert list(function.__annotations__)[:4] == ["data", "out", "seed", "say"], name


def test_what_studies_import_is_there() -> None:
    tree = ast.parse(Path(studies.__file__).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("groundling.experiments"):
            module = import_module(str(node.module))
            assert all(hasattr(module, name.name) for name in node.names), node.module


def test_list_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GROUNDLING_DATA", raising=False)
    text = reproduce("--list", "-o", str(tmp_path))
    assert "5.1          ready" in text and "ljspeech (missing)" in text
    (tmp_path / CORPORA["ljspeech"].path).mkdir(parents=True)
    found = json.loads(reproduce("--list", "--json", "--data", str(tmp_path), "-o", str(tmp_path)))["entries"]
    state = {one["name"]: (one["runnable"], one["missing"], one["stored"]) for one in found}
    assert state["figure-5.5"] == (True, [], False) and state["8.1"] == (False, ["align-gold", "bitext"], False)


def test_a_table_is_run_printed_and_stored(tmp_path: Path, fake: list[int]) -> None:
    text = reproduce("5.1", "--seed", "3", "-o", str(tmp_path))
    assert "ours | theirs   27.10   27.25   +0.15  five seeds" in text and fake == [3]
    as_json = json.loads(reproduce("table-5.1", "--seed", "3", "--json", "-o", str(tmp_path)))
    assert as_json["rows"][0]["ours"] == 27.25
    kept = catalogue.stored(catalogue.ENTRIES["5.1"], tmp_path)
    assert kept is not None and kept["rows"] == ROWS and kept["seed"] == 3


def test_the_page_is_made_of_stored_results_only(tmp_path: Path, fake: list[int]) -> None:
    page = tmp_path / "results.md"
    reproduce("5.1", "--write-docs", "--docs", str(page), "-o", str(tmp_path))
    text = page.read_text()
    assert r"| ours \| theirs | 27.10 | 27.25 | +0.15 | five seeds |" in text
    assert text.count("\n## ") == 2 and "- `3.1` VG-NSL" in text
    assert results_page.results_page(tmp_path) == text


def test_what_cannot_be_run_says_why(tmp_path: Path) -> None:
    def run(name: str) -> None:
        catalogue.run_entry(catalogue.ENTRIES[name], None, tmp_path, 0, print)

    with pytest.raises(DataError, match=r"8\.1 needs align-gold, bitext"):
        run("8.1")
    with pytest.raises(DataError, match=r"4\.5 cannot be run: the thesis' speech"):
        catalogue.run_entry(replace(catalogue.ENTRIES["4.5"], study="nowhere"), None, tmp_path, 0, print)
    with pytest.raises(ConfigError, match=r"Did you mean '5\.1'"):
        catalogue.find_entry("51")
    with pytest.raises(ConfigError, match="nothing to do"):
        reproduce()


def test_an_entry_whose_module_is_not_there_is_not_runnable(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = studies.Study("groundling.experiments.nowhere", "groundling.experiments.studies:nowhere", "x")
    monkeypatch.setitem(studies.STUDIES, "ambiguity", gone)
    assert not catalogue.ENTRIES["5.1"].runnable


def test_rows_of_chapter_3_and_4_are_shared_out() -> None:
    names = [
        "VG-NSL, NP",
        "Brysbaert et al. + HI, F1",
        "VG-NSL, by R@1, F1",
        "VG-NSL, concreteness against Brysbaert",
        "VG-NSL+AI, F1",
    ]
    names += ["VG-NSL+AI, 10 % of images, F1", "VG-NSL+AI, one caption, en, F1"]
    names += ["words, MBR, f1", "trees, left on MBR words, Struct-IoU", "trees, AV-NSL, MBR, Struct-IoU"]
    names += ["trees, AV-NSL -> s-Benepar, Struct-IoU", "oracle words, random, F1", "oracle words, oracle AV-NSL, F1"]
    names += ["oracle words, random images, F1", "oracle AV-NSL, recall of NP"]
    entries = [one for one in catalogue.ENTRIES.values() if one.study in ("vgnsl", "avnsl")]
    owners = {
        name: [one.name for one in entries if catalogue.own_rows(one, [ResultRow(name, None, 0.0)])] for name in names
    }
    assert owners == {
        "VG-NSL, NP": ["3.1"],
        "Brysbaert et al. + HI, F1": ["3.1"],
        "VG-NSL, by R@1, F1": ["3.3"],
        "VG-NSL, concreteness against Brysbaert": ["3.2"],
        "VG-NSL+AI, F1": ["3.1", "3.3"],
        "VG-NSL+AI, 10 % of images, F1": ["figure-3.4"],
        "VG-NSL+AI, one caption, en, F1": ["3.4"],
        "words, MBR, f1": ["4.1"],
        "trees, left on MBR words, Struct-IoU": ["4.2"],
        "trees, AV-NSL, MBR, Struct-IoU": ["4.2", "4.3"],
        "trees, AV-NSL -> s-Benepar, Struct-IoU": ["4.3"],
        "oracle words, random, F1": ["4.4"],
        "oracle words, oracle AV-NSL, F1": ["4.4"],
        "oracle words, random images, F1": ["4.7"],
        "oracle AV-NSL, recall of NP": ["4.6"],
    }


def test_stored_prints_what_is_kept_and_runs_nothing(fake: list[int], tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"5\.1 is not stored in .*\. Leave out --stored to run it \(about a minute\)"):
        reproduce("5.1", "--stored", "-o", str(tmp_path))
    reproduce("5.1", "-o", str(tmp_path))
    assert "27.25" in reproduce("5.1", "--stored", "-o", str(tmp_path)) and fake == [0]


def test_a_report_and_a_figure_are_written(fake: list[int], tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    reproduce("5.1", "-o", str(tmp_path), "--report", str(page))
    assert "27.25" in page.read_text(encoding="utf-8")
    with pytest.raises(ConfigError, match=r"5\.1 is a table"):
        reproduce("5.1", "-o", str(tmp_path), "--figure", str(tmp_path / "f.svg"))
    with pytest.raises(ConfigError, match="--figure draws one figure"):
        reproduce("5.1", "6.5", "-o", str(tmp_path), "--figure", str(tmp_path / "f.svg"))
