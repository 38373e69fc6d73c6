"""A domain: the types, operations, concept slots and candidate entries that one short file declares (thesis 6.2.1).

Subclass `Domain`, fill in its tables and methods, and give the file to `groundling g2l2 train --domain`.

Values are tensors whose last dimensions are the type's own and whose leading dimensions are what the chart asks for,
the batch first; every type is mixed linearly, so an operation that is linear in each argument makes CKY-E2 exact.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from groundling.errors import ConfigError, DataError
from groundling.systems.g2l2.categories import Category, arguments, parse_category
from groundling.systems.g2l2.programs import Apply, Arg, Call, Concept, Program, parse_program, show, walk


class Example(Protocol):
    """A sentence with whatever its domain grounds it in."""

    @property
    def words(self) -> tuple[str, ...]:
        """The words, as the lexicon knows them."""
        ...


@dataclass(frozen=True)
class Operation:
    """An operation of the DSL: `soft(world, *tensors)` for learning, `hard(*values)` for symbolic execution.

    Without `hard` the program is run on tensors at test time too (neural domains).
    """

    name: str
    arguments: tuple[str, ...]
    result: str
    soft: Callable[..., Tensor]
    hard: Callable[..., Any] | None = None


@dataclass(frozen=True)
class ConceptType:
    """Concepts that words bring along: `size` numbers a word, grounded as `ground(world, parameters[word, size])`.

    The result has the shape [batch, word, *type]. Size None is one number for each word of the lexicon.
    """

    size: int | None
    ground: Callable[[World, Tensor], Tensor]
    start: float = 0.0  # mean of the initial values
    spread: float = 0.1  # their standard deviation


@dataclass(frozen=True)
class Template:
    """A candidate lexicon entry: a program and the syntactic types it may have, which share one weight.

    Most have one type; generalised conjunction `T CONJ T -> T` has one for each T.
    """

    categories: tuple[Category, ...]
    program: Program

    def __str__(self) -> str:
        return f"{' or '.join(map(str, self.categories))} : {show(self.program)}"


class World:
    """What a batch of sentences is grounded in: named tensors with the batch as first dimension."""

    def __init__(self, size: int, **tensors: Tensor):
        self.size = size
        self.tensors = tensors

    def __getitem__(self, name: str) -> Tensor:
        return self.tensors[name]

    def lift(self, name: str, rank: int) -> Tensor:
        """Return [batch, 1, ..., 1, *rest] with `rank` leading dimensions, to broadcast with a value."""
        tensor = self.tensors[name]
        return tensor.reshape(tensor.shape[0], *(1,) * (rank - 1), *tensor.shape[1:])

    def to(self, device: torch.device) -> World:
        """Move all tensors."""
        return World(self.size, **{name: tensor.to(device) for name, tensor in self.tensors.items()})


@dataclass(frozen=True)
class Root:
    """One reading of whole sentences: log weight [batch] and value [batch, *type] of an accepted atom."""

    log_weight: Tensor
    value: Tensor


@dataclass
class Domain(ABC):
    """Tables and the methods that a domain fills in."""

    name: str
    atoms: Mapping[str, str]  # syntactic atom -> semantic type
    roots: tuple[str, ...]  # atoms that a sentence may have
    operations: Mapping[str, Operation]
    templates: Sequence[Template]
    concepts: Mapping[str, ConceptType] = field(default_factory=dict[str, ConceptType])
    allow_empty: bool = False  # whether a word may mean nothing (thesis 6.3.1, the empty entry)
    nested_functions: bool = False  # whether a function made from a function may itself be an argument (slow)

    def __post_init__(self) -> None:
        for template in self.templates:
            check(self, template)

    @abstractmethod
    def world(self, examples: Sequence[Any], words: Sequence[str]) -> World:
        """Return what a batch is grounded in; `words` is the lexicon's vocabulary."""

    @abstractmethod
    def log_likelihood(self, world: World, roots: Mapping[str, Root]) -> Tensor:
        """Return the log probability [batch] of the right answers under the mixture of readings."""

    @abstractmethod
    def answer(self, value: Any, atom: str, words: Sequence[str]) -> str:
        """Return the answer in words, from the value of the executed program."""

    @abstractmethod
    def gold(self, example: Any) -> str:
        """Return the right answer of an example in the same words."""

    @abstractmethod
    def read(self, path: str | Path) -> Iterator[Any]:
        """Read examples from a file."""

    @abstractmethod
    def ask(self, words: tuple[str, ...], place: int) -> Any:
        """Return an example without an answer: these words, about scene number `place` where it has scenes."""

    def effort(self, example: Any) -> float:
        """Return how hard an example is: the curriculum and the cost of the chart go by it."""
        return len(example.words)

    def answer_words(self) -> Iterable[str]:
        """Words that answers need though no sentence may have them; they get concepts too."""
        return ()


def operations(*items: Operation) -> dict[str, Operation]:
    """Make the table of operations."""
    return {item.name: item for item in items}


def template(category: str, program: str, concepts: Iterable[str] = ()) -> Template:
    r"""Declare a candidate entry: types (several parted by `or`) and a lambda.

    >>> print(template("V\\V", "lambda x: concat(look, x)"))
    V\V : λx.concat(look, x)
    """
    types = tuple(parse_category(part) for part in category.split(" or "))
    return Template(types, parse_program(program, frozenset(concepts)))


def check(domain: Domain, candidate: Template) -> None:
    """Type-check an entry against the DSL."""
    for category in candidate.categories:
        wanted = arguments(category)
        found = _infer(domain, candidate.program, wanted, str(candidate))
        result = category
        for _ in wanted:
            result = result.result  # type: ignore[union-attr]
        if domain.atoms.get(str(result)) != found:
            raise ConfigError(f"{candidate}: the program gives {found}, but the syntactic type says {result}.")
        used = {node.index for node in walk(candidate.program) if isinstance(node, Arg)}
        if used != set(range(len(wanted))):
            raise ConfigError(f"{candidate}: the type has {len(wanted)} arguments, the program uses {sorted(used)}.")


def _infer(domain: Domain, node: Program, wanted: list[Category], where: str) -> str:
    if isinstance(node, Arg):
        if node.index >= len(wanted) or str(wanted[node.index]) not in domain.atoms:
            raise ConfigError(f"{where}: argument {node.index} is not a value of a declared type.")
        return domain.atoms[str(wanted[node.index])]
    if isinstance(node, Concept):
        return node.type
    if isinstance(node, Apply):
        assert isinstance(node.function, Arg)
        function = wanted[node.function.index]
        return domain.atoms[str(function.result)]  # type: ignore[union-attr]
    if not isinstance(node, Call) or node.operation not in domain.operations:
        raise ConfigError(f"{where}: there is no operation {getattr(node, 'operation', node)!r} in {domain.name}.")
    operation = domain.operations[node.operation]
    given = tuple(_infer(domain, argument, wanted, where) for argument in node.arguments)
    if given != operation.arguments:
        raise ConfigError(f"{where}: {operation.name} takes {operation.arguments}, not {given}.")
    return operation.result


def known_words(examples: Iterable[Any]) -> list[str]:
    """Return the vocabulary of the examples, sorted."""
    return sorted({word for example in examples for word in example.words})


def refuse_unknown(words: Iterable[str], known: Iterable[str], where: str = "") -> None:
    """Raise an error that names the words the lexicon does not have."""
    missing = sorted(set(words) - set(known))
    if missing:
        raise DataError(
            f"{where + ': ' if where else ''}unknown words: {', '.join(missing)}. "
            "The lexicon learns words from training sentences only; train on sentences that have them."
        )
