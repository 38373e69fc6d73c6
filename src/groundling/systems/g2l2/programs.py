"""Programs of a typed DSL as small syntax trees (thesis 6.2.1), and the partial evaluation that CKY-E2 merges by.

`λx.λy.concat(y, x)` is the tree `concat(Arg(1), Arg(0))`: arguments are numbered in the order in which they are taken.
In the chart every maximal subtree without unbound arguments is a value already; `Slot(k)` stands for it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from groundling.errors import ConfigError


@dataclass(frozen=True)
class Arg:
    """An unbound argument; 0 is the one taken next."""

    index: int


@dataclass(frozen=True)
class Slot:
    """A value (or a bound function) that the chart item carries."""

    index: int


@dataclass(frozen=True)
class Concept:
    """The `?` of a template: a concept of this type that belongs to the word."""

    type: str
    word: str = ""


@dataclass(frozen=True)
class Call:
    """An operation of the DSL on its arguments."""

    operation: str
    arguments: tuple[Program, ...] = ()


@dataclass(frozen=True)
class Apply:
    """A function argument (Arg or Slot) applied to something."""

    function: Program
    argument: Program


Program = Arg | Slot | Concept | Call | Apply
BOUND = Slot(-1)  # the argument that a transition has just taken


def parse_program(text: str, concepts: frozenset[str] = frozenset()) -> Program:
    """Read a program written as a Python lambda; names in `concepts` are concept slots.

    >>> show(parse_program("lambda f, x: repeat(f(x), four)"))
    'λf.λx.repeat(f(x), four)'
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        names = [arg.arg for arg in tree.args.args] if isinstance(tree, ast.Lambda) else []
        return _convert(tree.body if isinstance(tree, ast.Lambda) else tree, names, concepts)
    except (SyntaxError, ValueError, AttributeError) as error:
        raise ConfigError(
            f"{text!r} is no program: {error}. Write `lambda x, y: operation(y, x)`; calls and names only."
        ) from None


def _convert(node: ast.expr, names: list[str], concepts: frozenset[str]) -> Program:
    if isinstance(node, ast.Name):
        if node.id in names:
            return Arg(names.index(node.id))
        return Concept(node.id) if node.id in concepts else Call(node.id)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        arguments = tuple(_convert(argument, names, concepts) for argument in node.args)
        if node.func.id in names:
            return Apply(Arg(names.index(node.func.id)), arguments[0])
        return Call(node.func.id, arguments)
    raise ValueError("a part of it is neither a call nor a name")


def children(program: Program) -> tuple[Program, ...]:
    """Return the subtrees directly below."""
    if isinstance(program, Call):
        return program.arguments
    return (program.function, program.argument) if isinstance(program, Apply) else ()


def walk(program: Program) -> Iterator[Program]:
    """Yield every subtree, the whole first."""
    yield program
    for child in children(program):
        yield from walk(child)


def rebuild(program: Program, change: Callable[[Program], Program]) -> Program:
    """Apply `change` to the subtrees directly below."""
    if isinstance(program, Call):
        return Call(program.operation, tuple(change(argument) for argument in program.arguments))
    if isinstance(program, Apply):
        return Apply(change(program.function), change(program.argument))
    return program


def is_closed(program: Program) -> bool:
    """Whether no argument is unbound, so that the program can be evaluated now."""
    return not any(isinstance(node, Arg) for node in walk(program))


def partially_evaluate(program: Program) -> tuple[Program, tuple[Program, ...]]:
    """Replace each maximal closed subtree by a slot; return (residual program, what each slot evaluates).

    Two chart items with the same residual program differ only in subtrees that can be evaluated: they are merged
    (thesis 6.2.3, ExpectedExecution).

    >>> residual, slots = partially_evaluate(parse_program("lambda x: concat(repeat(walk(), two), x)"))
    >>> show(residual), [show(slot) for slot in slots]
    ('λx.concat($0, x)', ['repeat(walk, two)'])
    """
    slots: list[Program] = []

    def close(node: Program) -> Program:
        if not isinstance(node, Arg) and is_closed(node):
            if node not in slots:
                slots.append(node)
            return Slot(slots.index(node))
        return rebuild(node, close)

    return close(program), tuple(slots)


def take_argument(program: Program) -> tuple[Program, tuple[Program, ...]]:
    """Bind `Arg(0)` to `BOUND` and evaluate what closes: (residual program, what each of its slots evaluates)."""

    def bind(node: Program) -> Program:
        if isinstance(node, Arg):
            return BOUND if node.index == 0 else Arg(node.index - 1)
        return rebuild(node, bind)

    return partially_evaluate(bind(program))


def substitute(program: Program, argument: Program) -> Program:
    """Beta-reduce: `program` with `argument` (a program of its own) put for `Arg(0)`.

    >>> twice = parse_program("lambda x: repeat(x, two)")
    >>> show(substitute(parse_program("lambda f, x: f(f(x))"), twice))
    'λx.repeat(repeat(x, two), two)'
    """
    if isinstance(program, Apply) and program.function == Arg(0):
        return substitute(argument, substitute(program.argument, argument))
    if isinstance(program, Arg):
        return argument if program.index == 0 else Arg(program.index - 1)
    return rebuild(program, lambda node: substitute(node, argument))


def show(program: Program) -> str:
    """Return the program as the thesis writes it, `λx.filter(x, SHINY)`."""
    names = sorted({node.index for node in walk(program) if isinstance(node, Arg)})
    functions = {
        node.function.index for node in walk(program) if isinstance(node, Apply) if isinstance(node.function, Arg)
    }
    free = iter("xyzuvw")
    labels = {
        index: next(iter("fgh"[len([i for i in functions if i < index]) :])) if index in functions else next(free)
        for index in names
    }
    return "".join(f"λ{labels[index]}." for index in names) + _show(program, labels)


def _show(program: Program, labels: dict[int, str]) -> str:
    match program:
        case Arg(index):
            return labels[index]
        case Slot(index):
            return "$bound" if program == BOUND else f"${index}"
        case Concept(kind, word):
            return f"{word.upper()}_{kind}" if word else f"?{kind}"
        case Call(operation, arguments):
            return f"{operation}({', '.join(_show(a, labels) for a in arguments)})" if arguments else operation
        case Apply(function, argument):
            return f"{_show(function, labels)}({_show(argument, labels)})"
