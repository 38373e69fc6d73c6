"""Which programs passed: JSON lines, one result or one task a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

from groundling.errors import FormatError
from groundling.formats.files import open_text
from groundling.metrics.execution_accuracy import same_result
from groundling.metrics.pairing import Entry

_NONE: Any = object()


def read_tasks(path: str) -> Iterator[Entry]:
    """The tasks of a file, each once, with the expected `output` where one is given."""
    seen: set[str] = set()
    for _, fields in _objects(path):
        key = _key(fields)
        if key not in seen:
            seen.add(key)
            yield Entry(key, fields.get("output", _NONE))


def read_results(path: str, outputs: Mapping[str, Any]) -> Iterator[Entry]:
    """For each task, whether each of its samples passed; lines of one task need not stand together."""
    results: dict[str, list[bool]] = {}
    for where, fields in _objects(path):
        key = _key(fields)
        results.setdefault(key, []).extend(_passed(fields, outputs.get(key, _NONE), where))
    return (Entry(key, passed) for key, passed in results.items())


def _key(fields: Mapping[str, Any]) -> str:
    return f"task {str(fields['task_id'])!r}"


def _passed(fields: Mapping[str, Any], expected: Any, where: str) -> list[bool]:
    if "passed" in fields:
        listed: list[Any] = (
            cast(list[Any], fields["passed"]) if isinstance(fields["passed"], list) else [fields["passed"]]
        )
        if all(isinstance(one, bool) for one in listed):
            return listed
        raise FormatError(f"{where}: `passed` must be true, false or a list of these.")
    if "output" not in fields:
        raise FormatError(f"{where}: a result needs `passed`, or `output` to be compared with the gold's `output`.")
    if expected is _NONE:
        raise FormatError(f"{where}: {_key(fields)} gives an `output`, but the gold has none to compare it with.")
    return [same_result(expected, fields["output"])]


def _objects(path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    with open_text(path) as lines:
        for line in lines:
            if line and not line.isspace():
                yield lines.where, _object(line, lines.where)


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError):
        raise FormatError(
            f'{where}: not JSON. Write one object a line, e.g. {{"task_id": "a/1", "passed": true}}.'
        ) from None
    fields = cast(dict[str, Any], found) if isinstance(found, dict) else {}
    if not isinstance(fields.get("task_id"), str | int):
        raise FormatError(f"{where}: no `task_id`. Each line names the task that it belongs to.")
    return fields
