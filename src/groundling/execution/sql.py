"""Run untrusted SQL queries on SQLite files: read-only, authorised for reading alone, bounded in time and size.

No process is needed: SQLite itself refuses everything but SELECT, and its virtual machine stops at the deadline.
"""

from __future__ import annotations

import os
import re
import sqlite3
import time
from typing import Any

from groundling.errors import DataError
from groundling.execution.guest.encode import encode
from groundling.execution.outcome import Limits, Outcome, Result, Status
from groundling.execution.values import parse

MAX_ROWS = 100_000
_STEPS = 2_000  # virtual machine instructions between two looks at the clock
_ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
_FORBIDDEN_FUNCTIONS = {"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer", "fts5", "sqlite_offset"}
_BOUNDS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 1 << 20,  # of one text or blob
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 1 << 17,
    sqlite3.SQLITE_LIMIT_COLUMN: 200,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1000,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?\*/", re.DOTALL)
_Rows = list[tuple[Any, ...]]


def run_sql(query: str, database: str | os.PathLike[str], limits: Limits | None = None) -> Outcome:
    """Run one query; the value is the list of its rows, in the order in which they came."""
    limits, start = limits or Limits(), time.monotonic()
    if not os.path.isfile(database):
        raise DataError(f"{database}: there is no such SQLite file. Name the database of each task.")
    refused: list[str] = []
    connection = _opened(database, refused)
    try:
        deadline = start + limits.seconds
        connection.set_progress_handler(lambda: int(time.monotonic() > deadline), _STEPS)
        rows, result = _fetched(connection, query, limits)
        if result is None:
            result = Result("ok", parse(encode(rows)))
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError, MemoryError) as error:
        late = time.monotonic() - start > limits.seconds
        result = Result(_status(error, late, refused), error=f"{type(error).__name__}: {(refused or [str(error)])[0]}")
        rows = None
    finally:
        connection.close()
    ms = (time.monotonic() - start) * 1e3
    return Outcome(result.status, (rows,), "", ms, (result,), result.error, loaded=result.status == "ok")


def _opened(database: str | os.PathLike[str], refused: list[str]) -> sqlite3.Connection:
    path = os.path.abspath(database).replace("?", "%3f").replace("#", "%23")
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True, isolation_level=None)
    for bound, value in _BOUNDS.items():
        connection.setlimit(bound, value)
    connection.text_factory = _text

    def authorise(action: int, first: str | None, second: str | None, *_: str | None) -> int:
        allowed = action in _ALLOWED and not (action == sqlite3.SQLITE_FUNCTION and second in _FORBIDDEN_FUNCTIONS)
        if not allowed:
            refused.append(f"only reading is allowed (action {action}, {first or second})")
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY

    connection.set_authorizer(authorise)
    return connection


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")  # real databases hold what is no UTF-8


def _fetched(connection: sqlite3.Connection, query: str, limits: Limits) -> tuple[_Rows, Result | None]:
    rows: _Rows = []
    size = 0
    for row in connection.execute(query):
        size += sum(len(cell) if isinstance(cell, str | bytes) else 8 for cell in row)
        if len(rows) >= MAX_ROWS or size > 4 * limits.result_bytes:
            return rows, Result("output_limit", error=f"over {MAX_ROWS} rows or {4 * limits.result_bytes} bytes")
        rows.append(tuple(row))
    return rows, None


def _status(error: Exception, late: bool, refused: list[str]) -> Status:
    if refused:
        return "refused"
    if late and "interrupted" in str(error):
        return "timeout"
    return "memory" if isinstance(error, MemoryError) or "out of memory" in str(error) else "error"


def is_ordered(query: str) -> bool:
    """Whether the outermost SELECT orders its rows.

    >>> is_ordered("SELECT a FROM t ORDER BY a"), is_ordered("SELECT * FROM (SELECT a FROM t ORDER BY a)")
    (True, False)
    """
    depth, outer = 0, list[str]()
    for char in _QUOTED.sub(" ", query):
        depth += (char == "(") - (char == ")")
        outer.append(char if depth == 0 else " ")
    return re.search(r"\border\s+by\b", "".join(outer), re.IGNORECASE) is not None


def as_multiset(rows: _Rows) -> _Rows:
    """The same rows in an order that depends on their values alone.

    >>> as_multiset([(2, "b"), (1, None), (2, "a")])
    [(1, None), (2, 'a'), (2, 'b')]
    """
    return sorted(rows, key=lambda row: [_rank(cell) for cell in row])


def _rank(cell: Any) -> tuple[int, Any]:
    if cell is None:
        return 0, 0
    if isinstance(cell, int | float):
        return 1, cell
    return (2, cell) if isinstance(cell, str) else (3, cell)
