"""Pages whose blocks can be run: what to run, and what must come out.

A fence after `<!-- run -->` is run (sh or python); a fence after `<!-- output -->` is what the block before it prints,
where `...` is anything. `<!-- output: about -->` lets numbers differ a little (other processors),
`<!-- output: any -->` lets all numbers differ.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

_FENCE = re.compile(r"<!-- (run|output)(?:: (about|any))? -->\n```(\w+)\n(.*?)```", re.DOTALL)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


class Block(NamedTuple):
    """A block to run and what it should print (None: whatever)."""

    kind: str
    code: str
    output: str | None
    leniency: str


def read_blocks(path: Path) -> list[Block]:
    """The blocks of a page, in order."""
    found: list[Block] = []
    for what, leniency, kind, text in _FENCE.findall(path.read_text(encoding="utf-8")):
        if what == "run":
            found.append(Block(kind, text, None, ""))
        else:
            assert found and found[-1].output is None, f"{path.name}: an output without a block before it"
            found[-1] = found[-1]._replace(output=text, leniency=leniency)
    return found


def complaint(block: Block, printed: str) -> str:
    """What is wrong with what was printed; empty when nothing is."""
    if block.output is None:
        return ""
    shown = _NUMBER.sub("0", block.output) if block.leniency else block.output
    heard = _NUMBER.sub("0", printed) if block.leniency else printed
    squeezed = [re.sub(r"[ \t]+", " ", text.strip()) for text in (shown, heard)]
    pattern = ".*?".join(re.escape(part) for part in squeezed[0].split("..."))
    if not re.fullmatch(pattern, squeezed[1], re.DOTALL):
        return f"shown:\n{block.output}\nprinted:\n{printed}"
    far = _far_apart(block.output, printed) if block.leniency == "about" else []
    return f"too far apart: {far}\nprinted:\n{printed}" if far else ""


def _far_apart(shown: str, printed: str) -> list[tuple[str, str]]:
    """Lines `name = number ...` without a line of the same name whose number is within 6."""
    wrong: list[tuple[str, str]] = []
    for name, value in _named(shown):
        near = [number for other, number in _named(printed) if other == name]
        if not any(abs(value - number) <= 6 for number in near):
            wrong.append((f"{name} {value}", str(near)))
    return wrong


def _named(text: str) -> list[tuple[str, float]]:
    found: list[tuple[str, float]] = []
    for line in text.splitlines():
        name, equals, rest = line.partition(" = ")
        if equals and (number := _NUMBER.match(rest)):
            found.append((re.split(r"[:|]", name)[0], float(number[0])))
    return found
