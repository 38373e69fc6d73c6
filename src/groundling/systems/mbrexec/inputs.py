"""Test inputs without answers: calls taken from asserts, doctests and check functions. Expected values are dropped."""

from __future__ import annotations

import ast
import doctest
import io
import tokenize
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from groundling.errors import DataError
from groundling.execution import Limits, Runner

_RECORDER = "__recorded"
MAX_INPUTS = 200


def from_asserts(asserts: Iterable[str]) -> list[str]:
    """The side of each assert that calls something: what the candidate is asked, without what it should answer.

    >>> from_asserts(["assert add(1, 2) == 3", "assert not odd(4)", "assert set(f(2)) == {1, 2}"])
    ['add(1, 2)', 'odd(4)', 'set(f(2))']
    """
    found: list[str] = []
    for text in asserts:
        for statement in _parsed(text).body:
            if isinstance(statement, ast.Assert):
                found.append(ast.unparse(_question(statement.test)))
    return _unique(found)


def _question(test: ast.expr) -> ast.expr:
    if isinstance(test, ast.Compare) and len(test.comparators) == 1:
        return test.left if _calls(test.left) or not _calls(test.comparators[0]) else test.comparators[0]
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _question(test.operand)
    return test


def _calls(node: ast.AST, name: str | None = None) -> list[ast.Call]:
    calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
    return [c for c in calls if name is None or (isinstance(c.func, ast.Name) and c.func.id == name)]


def _parsed(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise DataError(f"a test is not Python: {text[:80]!r} ({error}). Give one assert an entry.") from None


def _unique(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))[:MAX_INPUTS]


def from_prompt(prompt: str) -> list[str]:
    """Calls in a prompt's doctests, and in asserts that stand in it (comments too).

    >>> from_prompt("# assert f(3) == 6")
    ['f(3)']
    """
    found = [source for source in _doctest_sources(prompt) if _is_expression(source)]
    for line in prompt.splitlines():
        text = line.strip().lstrip("#").strip()
        if text.startswith("assert ") and _is_statement(text):
            found += from_asserts([text])
    return _unique(found)


def _doctest_sources(prompt: str) -> Iterator[str]:
    try:
        for example in doctest.DocTestParser().get_examples(_docstrings(prompt)):
            yield example.source.strip()
    except ValueError:  # a malformed prompt: no inputs from its doctests
        return


def _docstrings(prompt: str) -> str:
    """Every string literal of an unfinished program, or all of it where it cannot be read."""
    found: list[str] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(prompt).readline):
            if token.type == tokenize.STRING:
                found.append(str(ast.literal_eval(token.string)))
    except (tokenize.TokenError, IndentationError, SyntaxError, ValueError):
        if not found:
            return prompt
    return "\n\n".join(found)


def _is_expression(source: str) -> bool:
    try:
        tree = ast.parse(source, mode="eval")
    except (SyntaxError, ValueError):
        return False
    return bool(_calls(tree))


def _is_statement(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    return True


def from_check(check: str, entry_point: str, prelude: str, runner: Runner) -> list[str]:
    """Calls that a HumanEval `check(candidate)` makes, loops unrolled: the candidate only notes its arguments.

    Asserts are cut down to the calls in them, so nothing depends on an answer. `prelude` defines what the check uses.
    """
    tree = _Rewriter().visit(_parsed(check))
    recorder = (
        f"import copy\n{_RECORDER} = []\n"
        f"def __note(*args, **kwargs): {_RECORDER}.append((copy.deepcopy(args), kwargs))\n"
    )
    program = "\n".join([prelude, recorder, ast.unparse(ast.fix_missing_locations(tree)), "check(__note)"])
    outcome = runner.run(program, [_RECORDER], Limits(seconds=10))
    if not outcome.ok:
        raise DataError(f"the check of {entry_point} could not be traced: {outcome.error}. Give `inputs` instead.")
    return _unique(_call_text(entry_point, args, kwargs) for args, kwargs in outcome.value[0])


def _call_text(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    parts = [_literal(arg) for arg in args] + [f"{key}={_literal(value)}" for key, value in kwargs.items()]
    return f"{name}({', '.join(parts)})"


def _literal(value: Any) -> str:
    """Source text of plain data; nan and inf, which `repr` does not give as source, included.

    >>> _literal([1, float("inf"), {"a": {2}}])
    "[1, float('inf'), {'a': {2}}]"
    """
    if type(value) is float and (value != value or value in (float("inf"), float("-inf"))):
        return f"float({str(value)!r})"
    if type(value) is list:
        return f"[{', '.join(map(_literal, value))}]"
    if type(value) is tuple:
        return f"({', '.join(map(_literal, value))}{',' if len(value) == 1 else ''})"
    if type(value) is dict:
        return "{" + ", ".join(f"{_literal(k)}: {_literal(v)}" for k, v in value.items()) + "}"
    return repr(value)


class _Rewriter(ast.NodeTransformer):
    """Replace each assert by the bare calls of `candidate` in it."""

    def visit_Assert(self, node: ast.Assert) -> list[ast.stmt]:
        return [ast.Expr(call) for call in _calls(node.test, "candidate")] or [ast.Pass()]


def from_generator(generate: Callable[[int], str], count: int) -> list[str]:
    """Inputs that the user's function proposes for the numbers 0, 1, ...; repeated ones count once.

    >>> from_generator(lambda n: f"f({n % 2})", 4)
    ['f(0)', 'f(1)']
    """
    return _unique(generate(number) for number in range(count))
