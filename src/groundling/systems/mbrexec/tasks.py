"""What to run candidates on: inputs without answers for choosing, tests with answers for grading."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from groundling.errors import DataError, FormatError, GroundlingError
from groundling.execution import Runner
from groundling.formats.files import Source, open_text
from groundling.names import did_you_mean
from groundling.structures import Samples
from groundling.structures.program import Language, Program
from groundling.systems.mbrexec import inputs as extract

# Where a completion of a function goes on to something else (Chen et al. 2021).
STOP_STRINGS = ("\nclass", "\ndef", "\n#", "\nif", "\nprint", "\n@", "\nassert")


@dataclass(frozen=True)
class Task:
    """One task: `inputs` are expressions to evaluate, `tests` statements that raise where a program is wrong."""

    task_id: str
    inputs: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    prompt: str = ""  # stands before a completion
    setup: str = ""  # runs after the candidate (MBPP 367 and 927 need that order)
    language: Language = "python"
    completes: bool = False  # the program is the prompt and a completion, cut at the stop strings
    indent: str = ""  # put before a completion that lacks its first indentation
    database: str = ""  # SQL: path of a SQLite file
    tree: str = ""  # Bash: path of a tar archive that becomes `/`; empty for an empty tree
    gold: str = ""  # SQL and Bash: the right query or command, for grading only

    def program_text(self, program: Program, prompt: str = "") -> str:
        """The whole text to run for one candidate."""
        if not self.completes:
            return "\n".join(part for part in (program.code, self.setup) if part)
        return (prompt or self.prompt) + cut(self.indent + program.code) + "\n" + self.setup


def cut(completion: str) -> str:
    r"""Cut a completion at the first stop string.

    >>> cut("    return 1\n\ndef g():\n    pass")
    '    return 1\n'
    """
    places = [place for stop in STOP_STRINGS if (place := completion.find(stop)) >= 0]
    return completion[: min(places)] if places else completion


def read(source: Source, runner: Runner) -> Iterator[Task]:
    """Read tasks from JSON lines: `inputs` as they are, MBPP's `test_list`, or HumanEval's `test` and `entry_point`.

    The runner traces HumanEval checks. The inputs never hold an expected answer.
    """
    with open_text(source) as lines:
        for line in lines:
            if line.strip():
                try:
                    yield from_fields(_object(line), runner)
                except GroundlingError as error:
                    raise error.at(lines.where) from None
                except (TypeError, KeyError, ValueError, AttributeError) as error:
                    raise FormatError(f"{lines.where}: a field is missing or of another kind ({error!r}).") from None


def _object(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not JSON ({error}). Write one object a line.") from None
    if not isinstance(value, dict) or "task_id" not in value:
        raise FormatError("no `task_id`. Give each task the name that the samples file uses.")
    return value


def from_fields(fields: Mapping[str, Any], runner: Runner) -> Task:
    """Make a task from one line of a known shape."""
    name = fields["task_id"]
    if "test" in fields and "entry_point" in fields:
        return _humaneval(fields, runner)
    if "test_list" in fields:
        setup = "\n".join([*fields.get("test_imports", []), fields.get("test_setup_code", "")]).strip()
        tests = tuple(fields["test_list"])
        return Task(
            f"MBPP/{name}" if isinstance(name, int) else name, tuple(extract.from_asserts(tests)), tests, setup=setup
        )
    language: Language = fields.get("language", "python")
    if language != "python":
        database, tree, gold = (str(fields.get(key, "")) for key in ("database", "tree", "gold"))
        return Task(str(name), ("result",), language=language, database=database, tree=tree, gold=gold)
    given = [str(text) for text in fields.get("inputs", ())]
    tests = tuple(str(text) for text in fields.get("tests", ()))
    prompt = str(fields.get("prompt", ""))
    found = given or extract.from_asserts(tests) or extract.from_prompt(prompt)
    return Task(str(name), tuple(found), tests, prompt, str(fields.get("setup", "")))


def _humaneval(fields: Mapping[str, Any], runner: Runner) -> Task:
    name, prompt = fields["entry_point"], fields["prompt"]
    calls = extract.from_check(fields["test"], name, prompt + "    pass\n", runner)
    test = f"{fields['test']}\ncheck({name})"
    return Task(fields["task_id"], tuple(calls), (test,), prompt, completes=True)


def paired(piles: Iterable[Samples], known: Mapping[str, Task] | None) -> list[tuple[Samples, Task]]:
    """Give every pile of samples its task; without a tests file the inputs come from the prompt."""
    pairs: list[tuple[Samples, Task]] = []
    for pile in piles:
        if known is None:
            task = Task(
                pile.task_id, tuple(extract.from_prompt(pile.prompt)), prompt=pile.prompt, completes=bool(pile.prompt)
            )
        elif pile.task_id in known:
            task = known[pile.task_id]
        else:
            hint = did_you_mean(pile.task_id, known)
            raise DataError(f"the samples have a task {pile.task_id!r} that the tests have not.{hint}")
        pairs.append((pile, task))
    return pairs


def by_name(tasks: Iterable[Task]) -> dict[str, Task]:
    """Tasks by their names, which must differ."""
    found: dict[str, Task] = {}
    for task in tasks:
        if task.task_id in found:
            raise DataError(f"the task {task.task_id!r} comes twice in the tests. Keep one line a task.")
        found[task.task_id] = task
    return found
