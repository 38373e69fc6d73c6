"""Answers from a learned lexicon: parse with the best entries, run the program symbolically or on tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from groundling.systems.g2l2.chart import evaluate
from groundling.systems.g2l2.domain import World
from groundling.systems.g2l2.model import Lexicon
from groundling.systems.g2l2.parse import Parser
from groundling.systems.g2l2.programs import Call, Concept, Program, Slot, rebuild, show, walk

CHUNK = 128  # examples whose programs are run together


def make_parser(lexicon: Lexicon) -> Parser:
    """Return the symbolic parser with the best entry of each word."""
    domain = lexicon.domain
    templates = [*domain.templates, None]  # the last entry is the empty one
    return Parser(domain, {word: templates[best] for word, best in zip(lexicon.words, lexicon.best(), strict=True)})


def answers(lexicon: Lexicon, examples: Sequence[Any], *, clear: bool = False) -> list[str | None]:
    """Return the answer to each example, None where it has no derivation.

    With `clear`, a sentence with two equally good readings has no answer either: training must not end there.
    """
    parser = make_parser(lexicon)
    found: list[tuple[str, Program] | None] = []
    for example in examples:
        readings = parser.readings(example.words)
        found.append(readings[0] if readings and (len(readings) == 1 or not clear) else None)
    results: list[str | None] = [None] * len(examples)
    if all(operation.hard is not None for operation in lexicon.domain.operations.values()):
        for place, meaning in enumerate(found):
            if meaning is not None:
                results[place] = lexicon.domain.answer(parser.run(meaning[1]), meaning[0], lexicon.words)
        return results
    for places, atom, values in _run_together(lexicon, examples, found):
        for place, value in zip(places, values, strict=True):
            results[place] = lexicon.domain.answer(value, atom, lexicon.words)
    return results


def are_right(lexicon: Lexicon, examples: Sequence[Any], *, clear: bool = False) -> list[bool]:
    """Return whether the answer to each example is right."""
    given = answers(lexicon, examples, clear=clear)
    return [answer == lexicon.domain.gold(example) for answer, example in zip(given, examples, strict=True)]


def accuracy(lexicon: Lexicon, examples: Sequence[Any], *, clear: bool = False) -> float:
    """Return the share of right answers."""
    return sum(are_right(lexicon, examples, clear=clear)) / max(1, len(examples))


def open_concepts(program: Program) -> tuple[Program, list[Concept]]:
    """Replace the concepts of a program by slots: programs that differ in words only are run together."""
    leaves: list[Concept] = []

    def change(node: Program) -> Program:
        if isinstance(node, Concept):
            leaves.append(node)
            return Slot(len(leaves) - 1)
        return rebuild(node, change)

    return change(program), leaves


@torch.no_grad()
def _run_together(
    lexicon: Lexicon, examples: Sequence[Any], found: list[tuple[str, Program] | None]
) -> Iterator[tuple[list[int], str, Tensor]]:
    kinds: dict[tuple[str, Program], list[tuple[int, list[Concept]]]] = {}
    for place, meaning in enumerate(found):
        if meaning is not None:
            shape, leaves = open_concepts(meaning[1])
            kinds.setdefault((meaning[0], shape), []).append((place, leaves))
    for (atom, shape), members in kinds.items():
        for start in range(0, len(members), CHUNK):
            part = members[start : start + CHUNK]
            world = lexicon.ground([examples[place] for place, _ in part])
            slots = ground_leaves(lexicon, world, [leaves for _, leaves in part])
            value = evaluate(shape, lexicon.domain, world, slots, None)
            assert isinstance(value, Tensor)
            yield [place for place, _ in part], atom, value.expand(len(part), *value.shape[1:]).cpu()


def ground_leaves(lexicon: Lexicon, world: World, rows: list[list[Concept]]) -> list[Tensor]:
    """Return the value of each concept leaf, [batch, *type]; `rows` has the leaves of each example."""
    grounded: dict[str, Tensor] = {}
    slots = []
    sentences = torch.arange(len(rows), device=lexicon.weights.device)
    for leaves in zip(*rows, strict=True):
        kind = leaves[0].type
        if kind not in grounded:
            grounded[kind] = lexicon.domain.concepts[kind].ground(world, lexicon.concepts[kind])
        numbers = torch.tensor([lexicon.index[leaf.word] for leaf in leaves], device=sentences.device)
        slots.append(grounded[kind][sentences, numbers])
    return slots


@torch.no_grad()
def trace(lexicon: Lexicon, example: Any, program: Program) -> list[tuple[str, str, Any]]:
    """Run a program step by step: (program, type, value) of every subprogram, the innermost first (table 6.3)."""
    domain = lexicon.domain
    steps: list[tuple[str, str, Any]] = []
    symbolic = all(operation.hard is not None for operation in domain.operations.values())
    world = World(1) if symbolic else lexicon.ground([example])
    for node in reversed(list(walk(program))):
        if not isinstance(node, Call) or any(step[0] == show(node) for step in steps):
            continue
        if symbolic:
            value: Any = Parser(domain, {}).run(node)
        else:
            shape, leaves = open_concepts(node)
            result = evaluate(shape, domain, world, ground_leaves(lexicon, world, [leaves]), None)
            assert isinstance(result, Tensor)
            value = result[0].tolist()
        steps.append((show(node), domain.operations[node.operation].result, value))
    return steps
