"""Candidate programs of a DSL, enumerated under the thesis' constraints (6.3.2): step (i) and (ii) of lexicon learning.

A program has at most `max_operations` operations (constants and applications of a function argument count), takes each
value argument exactly once (the condition under which expected execution is exact) and each function argument at least
once, and calls no combining operation twice: of programs that differ only in bracketing one is enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from groundling.systems.g2l2.categories import Functor, arguments, parse_category
from groundling.systems.g2l2.domain import Operation, Template
from groundling.systems.g2l2.programs import Apply, Arg, Call, Program, walk


def enumerate_templates(
    table: Mapping[str, Operation],
    atoms: Mapping[str, str],
    categories: list[str],
    *,
    max_operations: int = 3,
    neutral: tuple[str, ...] = (),
) -> list[Template]:
    r"""Return every candidate entry of the given syntactic types. `neutral` constants are not combined: no use.

    >>> from groundling.systems.g2l2.domains.navigation import OPERATIONS
    >>> found = enumerate_templates(OPERATIONS, {"V": "ActSeq"}, ["V\\V"], neutral=("empty",))
    >>> len(found), str(found[0])
    (15, 'V\\V : λx.concat(x, I_WALK)')
    """
    found = []
    for text in categories:
        category = parse_category(text)
        kinds = [atoms.get(str(argument), argument) for argument in arguments(category)]
        result = category
        while isinstance(result, Functor):
            result = result.result
        for program in _programs(atoms[str(result)], max_operations, table, atoms, kinds):
            if _uses_arguments_well(program, kinds) and _combines_well(program, table, neutral):
                found.append(Template((category,), program))
    return found


def _programs(
    kind: str, budget: int, table: Mapping[str, Operation], atoms: Mapping[str, str], kinds: Sequence[object]
) -> Iterator[Program]:
    """Yield all programs of a semantic type with at most `budget` operations over the arguments."""
    for index, argument in enumerate(kinds):
        if argument == kind:
            yield Arg(index)
        elif isinstance(argument, Functor) and budget and atoms[str(argument.result)] == kind:
            inner = atoms[str(argument.argument)]
            yield from (Apply(Arg(index), p) for p in _programs(inner, budget - 1, table, atoms, kinds))
    for operation in table.values():
        if operation.result == kind and budget:
            choices = [list(_programs(k, budget - 1, table, atoms, kinds)) for k in operation.arguments]
            for chosen in product(*choices):
                call = Call(operation.name, chosen)
                if size(call) <= budget:
                    yield call


def size(program: Program) -> int:
    """Return the number of operations: calls, constants and applications."""
    return sum(isinstance(node, Call | Apply) for node in walk(program))


def _uses_arguments_well(program: Program, kinds: Sequence[object]) -> bool:
    functions = [node.function for node in walk(program) if isinstance(node, Apply)]
    used = [node for node in walk(program) if isinstance(node, Arg)]
    for index, kind in enumerate(kinds):
        times = used.count(Arg(index))
        if (Arg(index) not in functions) if isinstance(kind, Functor) else times != 1:
            return False
    return bool(size(program))  # a bare argument is no program


def _combines_well(program: Program, table: Mapping[str, Operation], neutral: tuple[str, ...]) -> bool:
    calls = [node for node in walk(program) if isinstance(node, Call)]
    combining = [call.operation for call in calls if table[call.operation].arguments]
    void = any(Call(name) in call.arguments for call in calls for name in neutral)
    return len(combining) == len(set(combining)) and not void
