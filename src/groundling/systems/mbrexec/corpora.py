"""The corpora of programs (`groundling data list`) as pairs of samples and task."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from groundling.execution import Runner
from groundling.formats import samples as samples_format
from groundling.structures import Program, Samples
from groundling.systems.mbrexec import tasks
from groundling.systems.mbrexec.tasks import Task

Pair = tuple[Samples, Task]


def humaneval(data: Path, runner: Runner, model: str = "codegen16b_n100") -> list[Pair]:
    """HumanEval with the samples of one model: `codegen16b_n100` or `mistral7b_n10`."""
    known = tasks.by_name(tasks.read(data / "programs/humaneval/HumanEval.jsonl.gz", runner))
    indent = "    " if model.startswith("mistral") else ""  # its completions lack their first indentation
    path = data / f"programs/samples/humaneval_{model}.jsonl.gz"
    return [(item, replace(known[item.task_id], indent=indent)) for item in samples_format.read(path)]


def humaneval_generated_tests(data: Path) -> dict[str, list[str]]:
    """Completions that CodeGen wrote after `assert`, by task: raw text, for `dual.asserts_from`."""
    path = data / "programs/samples/humaneval_codegen16b_generated_tests_n100.jsonl.gz"
    return {row["task_id"]: row["completions"] for row in _rows(path)}


def mbpp(data: Path, runner: Runner) -> list[Pair]:
    """MBPP's test tasks with one program of each of seven models."""
    known = tasks.by_name(tasks.read(data / "programs/mbpp/mbpp.jsonl", runner))
    pairs: list[Pair] = []
    for row in _rows(data / "programs/samples/mbpp_seven_models_greedy.jsonl.gz"):
        programs = tuple(Program(c["program"], source=c["model"]) for c in row["candidates"])
        pairs.append((Samples(row["task_id"], programs, extra={"text": row["prompt"]}), known[row["task_id"]]))
    return pairs


_WEAK = (
    "bison",
    "gpt-3.5",
    "InterCode gpt-4 1-turn",
)  # no schema given, or weak models: the README's nine leave them out


def spider(data: Path, *, strong_only: bool = True) -> list[Pair]:
    """Spider's dev questions on the 19 databases at hand."""
    found: list[Pair] = []
    for row in _rows(data / "programs/samples/spider_dev_systems.jsonl.gz"):
        path = data / f"programs/spider/database/{row['db_id']}/{row['db_id']}.sqlite"
        if not path.exists():
            continue
        chosen = [c for c in row["candidates"] if not strong_only or not any(w in c["system"] for w in _WEAK)]
        programs = tuple(Program(c["sql"], "sql", source=c["system"]) for c in chosen)
        name = f"spider/{row['index']}"
        task = Task(name, ("result",), language="sql", database=str(path), gold=row["gold"])
        found.append((Samples(name, programs, extra={"text": row["question"]}), task))
    return found


def nl2bash(data: Path) -> list[Pair]:
    """InterCode's NL2Bash tasks with each model's first command, on the file trees that are at hand."""
    found: list[Pair] = []
    for row in _rows(data / "programs/samples/nl2bash_intercode_candidates.jsonl.gz"):
        path = data / f"programs/nl2bash/intercode/fs_{row['file_system']}.tar.gz"
        programs = tuple(Program(c["command"], "bash", source=c["model"]) for c in row["candidates"] if c["turn"] == 0)
        task = Task(
            row["task_id"], ("result",), language="bash", tree=str(path) if path.exists() else "", gold=row["gold"]
        )
        found.append((Samples(row["task_id"], programs, extra={"text": row["query"]}), task))
    return found


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
