"""CKY-E2 the slow, obviously right way: list every derivation of a sentence, run each, take the weighted mean."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from groundling.systems.g2l2.categories import Category, Functor
from groundling.systems.g2l2.model import Lexicon
from groundling.systems.g2l2.parse import name_concepts
from groundling.systems.g2l2.programs import Call, Concept, Program, substitute


def derivations(entries: Sequence[tuple[Category, Program]]) -> list[tuple[Category, Program]]:
    """All ways to combine these entries, in order, into one constituent."""
    if len(entries) == 1:
        return list(entries)
    found = []
    for split in range(1, len(entries)):
        for left, right in itertools.product(derivations(entries[:split]), derivations(entries[split:])):
            for functor, argument, slash in ((left, right, "/"), (right, left, "\\")):
                category = functor[0]
                if isinstance(category, Functor) and (category.slash, category.argument) == (slash, argument[0]):
                    found.append((category.result, substitute(functor[1], argument[1])))
    return found


def run(program: Program, lexicon: Lexicon, world: Any) -> Tensor:
    """Execute a closed program on tensors, [batch, *type]."""
    if isinstance(program, Concept):
        number = lexicon.index[program.word]
        kind = lexicon.domain.concepts[program.type]
        return kind.ground(world, lexicon.concepts[program.type][number : number + 1])[:, 0]
    assert isinstance(program, Call)
    values = [run(argument, lexicon, world) for argument in program.arguments]
    return lexicon.domain.operations[program.operation].soft(world, *values)


def expected_readings(lexicon: Lexicon, example: Any) -> dict[str, tuple[Tensor, Tensor]]:
    """atom -> (log of the summed weight, expected value) over all derivations of one example."""
    domain, world = lexicon.domain, lexicon.ground([example])
    log_p = lexicon.log_probabilities()
    columns = range(log_p.shape[1])
    found: dict[str, list[tuple[Tensor, Tensor]]] = {}
    for chosen in itertools.product(columns, repeat=len(example.words)):
        weight = sum(log_p[lexicon.index[word], column] for word, column in zip(example.words, chosen, strict=True))
        kept = [(word, c) for word, c in zip(example.words, chosen, strict=True) if c < len(domain.templates)]
        if not kept:
            continue
        types = [domain.templates[c].categories for _, c in kept]
        programs = [name_concepts(domain.templates[c].program, word) for word, c in kept]
        for categories in itertools.product(*types):
            for category, program in derivations(list(zip(categories, programs, strict=True))):
                if category in domain.roots:
                    found.setdefault(str(category), []).append((weight, run(program, lexicon, world)[0]))
    result = {}
    for atom, pairs in found.items():
        weights = torch.stack([weight for weight, _ in pairs])
        values = torch.stack([value for _, value in pairs])
        shares = torch.softmax(weights, 0)
        result[atom] = torch.logsumexp(weights, 0), torch.einsum("d,d...->...", shares, values)
    return result
