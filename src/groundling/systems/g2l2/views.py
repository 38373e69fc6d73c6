"""What people look at: derivations as text and as nodes to draw, answers with their trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from groundling.errors import DataError
from groundling.systems.g2l2.predict import make_parser, trace
from groundling.systems.g2l2.saved import Model


def derivation_lines(tree: Mapping[str, Any], depth: int = 0) -> Iterator[str]:
    """Yield one line a constituent, indented: words, type, program.

    >>> print(*derivation_lines({"words": ["jump"], "category": "V", "program": "I_JUMP", "children": []}))
    jump  [V]  I_JUMP
    """
    yield f"{'  ' * depth}{' '.join(tree['words'])}  [{tree['category']}]  {tree['program']}"
    for child in tree["children"]:
        yield from derivation_lines(child, depth + 1)


def derivation_nodes(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Return the derivation as `groundling.drawing` takes it: words and nodes with start, end and parent."""
    nodes: list[dict[str, Any]] = []

    def add(node: Mapping[str, Any], start: int, parent: int) -> None:
        number, end = len(nodes), start + len(node["words"])
        shown = {"type": node["category"], "program": node["program"]}
        nodes.append({"start": start, "end": end, "parent": parent, **shown})
        for child in node["children"]:
            add(child, start, number)
            start += len(child["words"])

    add(tree, 0, -1)
    return {"words": list(tree["words"]), "nodes": nodes}


def answer_with_trace(model: Model, words: tuple[str, ...], scene: int = 0) -> tuple[str, list[tuple[str, str, Any]]]:
    """Return the answer and each step of the program that gives it (table 6.3)."""
    parser = make_parser(model.lexicon)
    meaning = parser.meaning(words)
    if meaning is None:
        raise DataError(
            f"{' '.join(words)!r} has no derivation with the learned lexicon. "
            "See `groundling g2l2 lexicon` for the entry of each word."
        )
    example = model.domain.ask(words, scene)
    steps = trace(model.lexicon, example, meaning[1])
    answer = model.answer([example])[0]
    assert answer is not None
    return answer, steps


def show_value(value: Any) -> str:
    """Return a value for people: numbers with two digits, long lists cut.

    >>> show_value([0.123, 1.0])
    '[0.12, 1.00]'
    """
    if isinstance(value, list | tuple):
        parts = [show_value(part) for part in value[:12]]
        return f"[{', '.join(parts)}{', ...' if len(value) > 12 else ''}]"
    return f"{value:.2f}" if isinstance(value, float) else str(value)
