"""SQL: results, order, refusal of everything but reading, bounds."""

import sqlite3
from pathlib import Path

import pytest

from groundling.errors import DataError
from groundling.execution import Limits
from groundling.execution.sql import as_multiset, is_ordered, run_sql


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "a b?.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(
        "CREATE TABLE t (a, b); INSERT INTO t VALUES (2, 'x'), (1, NULL), (3, CAST(x'ff41' AS TEXT));"
    )
    connection.close()
    return path


def test_rows_come_back(database: Path) -> None:
    outcome = run_sql("SELECT a, b FROM t WHERE a < 3 ORDER BY a", database)
    assert outcome.ok and outcome.value == ([(1, None), (2, "x")],)
    assert run_sql("SELECT b FROM t WHERE a = 3", database).value == ([("\udcffA",)],)


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM t",
        "INSERT INTO t VALUES (9, 9)",
        "UPDATE t SET a = 0",
        "DROP TABLE t",
        "CREATE TABLE u (x)",
        "CREATE TEMP TABLE u (x)",
        "ATTACH '/etc/passwd' AS other",
        "PRAGMA writable_schema = 1",
        "PRAGMA database_list",
        "VACUUM INTO '/tmp/groundling-copy'",
        "SELECT load_extension('/tmp/evil.so')",
        "SELECT readfile('/etc/passwd')",
        "BEGIN EXCLUSIVE",
    ],
)
def test_everything_but_reading_is_refused_and_changes_nothing(query: str, database: Path) -> None:
    before = database.read_bytes()
    assert run_sql(query, database).status in ("refused", "error")
    assert database.read_bytes() == before and [path.name for path in database.parent.iterdir()] == [database.name]
    assert run_sql("SELECT count(*) FROM t", database).value == ([(3,)],)


def test_two_statements_are_an_error(database: Path) -> None:
    assert run_sql("SELECT 1; DELETE FROM t", database).status == "error"


def test_bounds_hold(database: Path) -> None:
    endless = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
    assert run_sql(endless + "SELECT count(*) FROM r", database, Limits(seconds=0.3)).status == "timeout"
    assert run_sql(endless + "SELECT n FROM r", database).status == "output_limit"
    assert run_sql(endless + "SELECT hex(zeroblob(400000)) FROM r", database).status == "output_limit"
    assert run_sql("SELECT zeroblob(1000000000)", database).status == "error"
    assert run_sql("SELECT " + "(" * 500 + "1" + ")" * 500, database).status == "error"
    assert run_sql("SELECT '\x00", database).status == "error"


def test_a_missing_database_is_an_error_of_the_user(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such SQLite file"):
        run_sql("SELECT 1", tmp_path / "none.sqlite")


@pytest.mark.parametrize(
    ("query", "ordered"),
    [
        ("select a from t order  by a desc limit 1", True),
        ("SELECT a FROM t WHERE b = 'order by' ", False),
        ('SELECT "order by" FROM t', False),
        ("SELECT a FROM t -- order by a", False),
        ("SELECT a FROM t WHERE a IN (SELECT a FROM t ORDER BY a LIMIT 1)", False),
        ("SELECT a FROM (SELECT 1) UNION SELECT 2 ORDER BY 1", True),
    ],
)
def test_order_counts_only_outside(query: str, ordered: bool) -> None:
    assert is_ordered(query) is ordered


def test_a_multiset_has_one_order_for_mixed_types() -> None:
    rows = [(b"x",), ("a",), (None,), (1.5,), (1,)]
    assert as_multiset(rows) == as_multiset(rows[::-1]) == [(None,), (1,), (1.5,), ("a",), (b"x",)]
