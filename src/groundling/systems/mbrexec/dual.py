"""Dual agreement with tests that a model wrote (CodeT, Chen et al. 2022): a choice where no input is known."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from groundling.errors import DataError
from groundling.execution import Limits, Runner
from groundling.formats import samples as samples_format
from groundling.systems.mbrexec.cache import Cache
from groundling.systems.mbrexec.executing import Executed, run_all
from groundling.systems.mbrexec.inputs import from_asserts
from groundling.systems.mbrexec.methods import Pool

_LINE_BREAK = re.compile(r"^assert\s+")  # models like to start a new line after the word
PER_COMPLETION = 5  # a completion's first asserts only, as in CodeT: later ones repeat themselves


def asserts_from(completions: Iterable[str], entry_point: str, *, start: str = "assert ") -> list[str]:
    r"""Whole asserts that call the function, out of completions that go on after `start`; repeats count once.

    >>> asserts_from([" f(1) == 2\nassert\n f(2) == 3, 'x'\nassert f(", " True"], "f")
    ['assert f(1) == 2', "assert f(2) == 3, 'x'"]
    """
    found: dict[str, None] = {}
    for completion in completions:
        pieces = (start + completion).split("\nassert")
        texts = [pieces[0].strip(), *("assert" + piece.rstrip() for piece in pieces[1:])]
        texts = [_LINE_BREAK.sub("assert ", text) for text in texts]
        for text in texts[:PER_COMPLETION]:
            if (clean := _clean(text, entry_point)) is not None:
                found.setdefault(clean)
    return list(found)


def _clean(text: str, entry_point: str) -> str | None:
    """The assert alone, without what follows it; None where it is none, or asks the function nothing."""
    lines = text.split("\n")
    for end in range(len(lines), 0, -1):  # a completion is cut anywhere: take the longest head that parses
        try:
            body = ast.parse("\n".join(lines[:end])).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        if not body or not isinstance(body[0], ast.Assert):
            return None
        calls = [node for node in ast.walk(body[0].test) if isinstance(node, ast.Call)]
        named = any(isinstance(call.func, ast.Name) and call.func.id == entry_point for call in calls)
        return ast.unparse(body[0]) if named else None
    return None


def read_generated(path: str) -> dict[str, list[str]]:
    """Completions after `assert`, by task, from JSON lines with `task_id` and `completions`."""
    piles = samples_format.merged(samples_format.read(path))
    return {pile.task_id: [program.code for program in pile.programs] for pile in piles}


def entry_point(prompt: str) -> str:
    """The function that a prompt begins: the last one defined at the left margin.

    >>> entry_point("def f(x):")
    'f'
    """
    names = re.findall(r"^def\s+(\w+)", prompt, re.MULTILINE)
    if not names:
        raise DataError(f"no function is defined in the prompt {prompt[:60]!r}. Dual agreement needs its name.")
    return names[-1]


def with_generated_tests(
    found: Sequence[Executed], generated: Mapping[str, Sequence[str]], runner: Runner, limits: Limits, cache: Cache
) -> list[Pool]:
    """Run every candidate on the asserts that a model wrote for its task."""
    pools: list[Pool] = []
    for item in found:
        prompt = item.samples.prompt or item.task.prompt
        asserts = asserts_from(generated.get(item.task.task_id, ()), entry_point(prompt))
        texts = [item.task.program_text(program, item.samples.prompt) for program in item.samples.programs]
        runs = run_all([(text, asserts) for text in texts], runner, limits, cache)
        pools.append(replace(Pool.of(item), test_runs=tuple(runs)))
    return pools


def generated_inputs(asserts: Sequence[str]) -> list[str]:
    """The questions of the asserts without their answers: inputs for MBR-Exec."""
    return from_asserts(asserts)
