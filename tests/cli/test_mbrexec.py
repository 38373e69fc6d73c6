"""The commands: run, select, evaluate, sample, and the page of choices."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from groundling.cli.mbrexec import app
from groundling.errors import DataError

PROGRAMS = {
    "a": ["def f(x):\n    return x + 1", "def f(x):\n    return 1 + x", "def f(x):\n    return x - 1", "def f(x)"],
    "b": ["def g(x):\n    return x[0]", "def g(x):\n    return min(x)", "def g(x):\n    return sorted(x)[0]"],
}
TESTS = [
    {"task_id": "a", "tests": ["assert f(1) == 2", "assert f(5) == 6"]},
    {"task_id": "b", "tests": ["assert g([2, 1]) == 1", "assert g([3, 4]) == 3"]},
]


BODIES = ["    return x\n", "    return x + 1\n", "    return 1 + x\n"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = [json.dumps({"task_id": task, "completion": code}) for task, codes in PROGRAMS.items() for code in codes]
    (tmp_path / "samples.jsonl").write_text("\n".join(lines))
    (tmp_path / "tests.jsonl").write_text("\n".join(map(json.dumps, TESTS)))
    return tmp_path


def call(*arguments: str) -> str:
    result = CliRunner().invoke(app, [*arguments, "--unsafe-local"] if arguments[0] != "sample" else list(arguments))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_select_writes_the_consensus_and_a_page(folder: Path) -> None:
    out, page = folder / "chosen.jsonl", folder / "page.html"
    call("select", f"{folder}/samples.jsonl", "--tests", f"{folder}/tests.jsonl", "-o", str(out), "--page", str(page))
    chosen = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(row["task_id"], row["index"]) for row in chosen] == [("a", 0), ("b", 1)]
    assert chosen[1]["completion"] == PROGRAMS["b"][1]
    html = page.read_text()
    assert "f(5)" in html and "was chosen" in html and "sandbox:" in html and "SyntaxError" in html


def test_evaluate_prints_the_table_and_curves_from_the_cache(folder: Path) -> None:
    arguments = [
        "evaluate",
        f"{folder}/samples.jsonl",
        "--tests",
        f"{folder}/tests.jsonl",
        "--cache",
        f"{folder}/c.jsonl",
    ]
    text = call(*arguments, "--sizes", "2,3", "--curves", f"{folder}/curves.svg")
    assert "mbr-exec (all)" in text and "oracle (all)" in text and "N = 3" in text and "|sandbox:" in text
    assert (folder / "curves.svg").read_text().startswith("<svg")
    result = json.loads(call(*arguments, "--json"))
    scores = {score["system"]: score["value"] for score in result["scores"]}
    assert scores["mbr-exec (all)"] == 1.0 and scores["random (all)"] == pytest.approx((2 / 4 + 2 / 3) / 2)
    assert call(*arguments, "--json") == call(*arguments, "--json")


def test_run_counts_statuses_and_spreads(folder: Path) -> None:
    arguments = ["run", f"{folder}/samples.jsonl", "--tests", f"{folder}/tests.jsonl", "--cache", f"{folder}/c.jsonl"]
    assert "7 programs of 2 tasks" in call(*arguments) and "6 ok, 1 error" in call(*arguments)
    spread = json.loads(call(*arguments, "--backend", "loky", "--json"))
    assert spread["statuses"] == {"ok": 6, "error": 1} and spread["programs"] == 7


def test_without_tests_inputs_come_from_the_prompt(tmp_path: Path) -> None:
    prompt = 'def f(x):\n    """Add one.\n    >>> f(2)\n    3\n    """\n'
    rows = [
        {
            "task_id": "a",
            "prompt": prompt,
            "completions": ["    return x\n", "    return x + 1\n", "    return 1 + x\n"],
        }
    ]
    (tmp_path / "s.jsonl").write_text(json.dumps(rows[0]))
    chosen = json.loads(call("select", f"{tmp_path}/s.jsonl"))
    assert chosen["index"] == 1


def test_dual_agreement_needs_no_input_at_all(tmp_path: Path) -> None:
    prompt = "def f(x):\n"
    samples = {
        "task_id": "a",
        "prompt": prompt,
        "completions": ["    return x\n", "    return x + 1\n", "    return 1 + x\n"],
    }
    tests = {"task_id": "a", "completions": ["f(1) == 2\nassert f(2) == 3", "f(1) == 1", "f(0) == 1"]}
    (tmp_path / "s.jsonl").write_text(json.dumps(samples))
    (tmp_path / "t.jsonl").write_text(json.dumps(tests))
    out = call("select", f"{tmp_path}/s.jsonl", "--method", "dual", "--generated-tests", f"{tmp_path}/t.jsonl")
    assert json.loads(out)["index"] == 1


def test_sql_is_chosen_by_its_rows(tmp_path: Path) -> None:
    import sqlite3

    connection = sqlite3.connect(tmp_path / "d.sqlite")
    connection.executescript("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2);")
    connection.close()
    queries = ["SELECT a FROM u", "SELECT a FROM t", "SELECT a FROM t ORDER BY a DESC", "SELECT t.a FROM t"]
    (tmp_path / "s.jsonl").write_text(json.dumps({"task_id": "q", "completions": queries, "language": "sql"}))
    task = {"task_id": "q", "language": "sql", "database": f"{tmp_path}/d.sqlite", "gold": "SELECT a FROM t"}
    (tmp_path / "t.jsonl").write_text(json.dumps(task))
    assert json.loads(call("select", f"{tmp_path}/s.jsonl", "--tests", f"{tmp_path}/t.jsonl"))["index"] == 1
    result = json.loads(call("evaluate", f"{tmp_path}/s.jsonl", "--tests", f"{tmp_path}/t.jsonl", "--json"))
    assert {s["system"]: s["value"] for s in result["scores"]}["random (all)"] == 0.75


def test_tasks_that_do_not_match_are_named(folder: Path) -> None:
    (folder / "tests.jsonl").write_text('{"task_id": "aa", "inputs": ["f(1)"]}')
    with pytest.raises(DataError, match=r"task 'a' that the tests have not. Did you mean 'aa'\?"):
        call("select", f"{folder}/samples.jsonl", "--tests", f"{folder}/tests.jsonl")
