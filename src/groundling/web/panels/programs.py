"""Programs: candidates and inputs in, the one that most others agree with out (MBR-Exec, thesis ch. 7).

Programs run in the sandbox only; where there is none, the panel refuses.
"""

from __future__ import annotations

import json
import re
from typing import Literal

from pydantic import BaseModel, Field

from groundling.drawing.programs import draw_agreement
from groundling.errors import DataError
from groundling.execution import Limits
from groundling.experiments.mbrexec_page import agreement_groups
from groundling.structures import Program, Samples
from groundling.systems.mbrexec import Pool, Task, execute, scores_of, select
from groundling.web.answers import Answer, Picture, Table, field, given
from groundling.web.shop import Shop

MOST_PROGRAMS, MOST_INPUTS = 25, 12
LIMITS = Limits(seconds=2.0, memory_bytes=512 << 20, output_bytes=1 << 16, result_bytes=1 << 16)
_RULE = re.compile(r"^-{3,}[ \t]*$", re.MULTILINE)


class Request(BaseModel):
    """Python programs, separated by lines of `---`, and expressions to evaluate, one a line."""

    programs: str = Field(max_length=100_000, examples=["def f(x): return x + x\n---\ndef f(x): return 2 * x"])
    inputs: str = Field(max_length=10_000, examples=["f(1)\nf(3)"])
    method: Literal["mbr-exec", "mbr-exec-soft", "mbr-exec-text", "mbr-charbleu"] = "mbr-exec"


def run(asked: Request, shop: Shop) -> Answer:
    """Run all, compare, choose."""
    codes, inputs = read_programs(asked.programs), read_inputs(asked.inputs)
    samples = Samples("page", tuple(Program(code) for code in codes))
    [executed] = execute([(samples, Task("page", tuple(inputs)))], shop.runner(), limits=LIMITS)
    pool = Pool.of(executed)
    chosen, groups = select(pool, asked.method), agreement_groups(pool)
    return Answer(
        summary=reason(pool, chosen, asked.method),
        code=codes[chosen],
        command=command(codes, inputs, asked.method),
        pictures=[
            Picture(
                name="agreement",
                caption="Programs by their results; the chosen one is filled.",
                svg=draw_agreement(groups, chosen=chosen),
            )
        ],
        tables=[results(pool, inputs, chosen, asked.method)],
        data={
            "chosen": chosen,
            "method": asked.method,
            "groups": groups,
            "sandbox": shop.runner().level,
            "programs": [
                {"status": run.status, "shown": list(run.shown), "ms": run.ms, "code": code}
                for run, code in zip(pool.runs, codes, strict=True)
            ],
        },
    )


def read_programs(text: str) -> list[str]:
    """Cut at lines of three or more dashes."""
    codes = [code.strip("\n") for code in _RULE.split(text.replace("\r\n", "\n")) if code.strip()]
    with field("programs"):
        if not codes:
            raise DataError("there is no program. Write some, with a line `---` between two.")
        if len(codes) > MOST_PROGRAMS:
            raise DataError(
                f"{len(codes)} programs are too many for the page. Give at most {MOST_PROGRAMS}, or use the command."
            )
    return codes


def read_inputs(text: str) -> list[str]:
    """One expression a line."""
    inputs = [line.strip() for line in text.splitlines() if line.strip()]
    with field("inputs"):
        if not inputs:
            raise DataError("there is no input. Write calls such as `f(1)`, one a line; no answers are needed.")
        if len(inputs) > MOST_INPUTS:
            raise DataError(f"{len(inputs)} inputs are too many for the page. Give at most {MOST_INPUTS}.")
    return inputs


def reason(pool: Pool, chosen: int, method: str) -> str:
    """Why this one."""
    scores = scores_of(method, pool)
    ties = int((scores == scores[chosen]).sum())
    shared = f", shared by {ties}, of which it comes first" if ties > 1 else ""
    return (
        f"Program {chosen} was chosen: its score by {method} is {scores[chosen]:.2f}, the highest of "
        f"{len(scores)}{shared}. No expected answer was used."
    )


def results(pool: Pool, inputs: list[str], chosen: int, method: str) -> Table:
    """A row a program: what it gave on each input."""
    scores = scores_of(method, pool)
    rows: list[list[str | int | float | bool | None]] = [
        [number, *(run.shown[k] if k < len(run.shown) else run.status for k in range(len(inputs))), f"{score:.2f}"]
        for number, (run, score) in enumerate(zip(pool.runs, scores.tolist(), strict=True))
    ]
    return Table(caption="What each program gave", header=["program", *inputs, "score"], rows=rows, marked=chosen)


def command(codes: list[str], inputs: list[str], method: str) -> str:
    """The same with files."""
    samples = given(json.dumps({"task_id": "page", "completions": codes}))
    task = given(json.dumps({"task_id": "page", "inputs": inputs}))
    return f"groundling mbrexec select {samples} --tests {task} --method {method}"
