"""The thesis' mark-up prompts: `<info>`, `<text>`, `<code>`, groups of three of fifteen examples (7.2.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from groundling.errors import DataError

STOP = "</code>"
EXAMPLES, SHOTS = 15, 3


@dataclass(frozen=True)
class Example:
    """One exemplar, or, without `code`, the query."""

    text: str
    code: str = ""
    info: str = ""


def few_shot_prompt(examples: Sequence[Example], query: Example) -> str:
    """The prompt of table 701: the exemplars, then the query up to `<code>`.

    >>> print(few_shot_prompt([Example("list files", "ls")], Example("first lines of a.txt")))
    <text>list files</text>
    <code>ls</code>
    <text>first lines of a.txt</text>
    <code>
    """
    parts = [f"{_head(example)}<code>{example.code}</code>\n" for example in examples]
    return "".join(parts) + _head(query) + "<code>"


def _head(example: Example) -> str:
    info = f"<info>{example.info}</info>\n" if example.info else ""
    return f"{info}<text>{example.text}</text>\n"


def groups_of_three(examples: Sequence[Example]) -> list[list[Example]]:
    """Five prompts' worth of exemplars: fifteen examples in groups of three.

    >>> [len(group) for group in groups_of_three([Example(str(n), "x") for n in range(15)])]
    [3, 3, 3, 3, 3]
    """
    if len(examples) < SHOTS:
        raise DataError(f"there are {len(examples)} examples; a prompt needs {SHOTS}, and the thesis uses {EXAMPLES}.")
    chosen = examples[: min(EXAMPLES, len(examples) // SHOTS * SHOTS)]
    return [list(chosen[start : start + SHOTS]) for start in range(0, len(chosen), SHOTS)]


def cut_at_stop(completion: str) -> str:
    """The code of a completion: what stands before `</code>`.

    >>> cut_at_stop("ls -l</code> and more")
    'ls -l'
    """
    return completion.partition(STOP)[0]
