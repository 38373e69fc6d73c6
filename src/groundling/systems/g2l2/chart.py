"""CKY-E2: chart parsing and expected execution in one pass (thesis 6.2.3, algorithm 6.1), batched.

A chart item is (syntactic type, residual program); its slots hold the values of the subtrees that are evaluated
already. All derivations of a span with the same item are merged at once: weights by logsumexp, slots by expectation.
Every step is a tensor operation over (sentence, span, split); the loops run over widths and over kinds of items, never
over lexicon entries, spans or sentences. Exact where operations are linear and each function argument is used once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from groundling.systems.g2l2.categories import Category, Functor
from groundling.systems.g2l2.domain import Domain, Root, World
from groundling.systems.g2l2.programs import BOUND, Apply, Arg, Call, Program, Slot, take_argument, walk

State = tuple[Category, Program]  # what two derivations must share to be merged
TINY = 1e-30
DEAD = -5e8  # a log weight below has a pruned entry in it; an item that is so everywhere is left out


class Mixture:
    """An uncertain function, x -> sum_e p_e e(x): (residual program, p, slots) of each kind.

    Many states hold the same function and apply it to the same value; what was computed once is remembered here.
    """

    def __init__(self, parts: tuple[Part, ...]) -> None:
        self.parts = parts
        self._views: dict[object, Mixture] = {}
        self._results: dict[int, tuple[Tensor, Tensor]] = {}  # id of a value -> (the value, kept alive, and the result)

    def view(self, name: object, change: Callable[[Tensor], Tensor]) -> Mixture:
        """Return the mixture with `change` done to every tensor, made once a name."""
        if name not in self._views:

            def changed(value: Value) -> Value:
                return change(value) if isinstance(value, Tensor) else value.view(name, change)

            parts = ((program, change(p), tuple(map(changed, slots))) for program, p, slots in self.parts)
            self._views[name] = Mixture(tuple(parts))
        return self._views[name]

    def __call__(self, value: Tensor, domain: Domain, world: World) -> Tensor:
        """Return sum_e p_e e(value)."""
        if id(value) not in self._results:
            terms = []
            for program, probability, slots in self.parts:
                result = evaluate(program, domain, world, slots, None, value)
                assert isinstance(result, Tensor)
                terms.append(_like(probability, result) * result)
            self._results[id(value)] = value, sum(terms[1:], terms[0])
        return self._results[id(value)][1]


Value = Tensor | Mixture
Part = tuple[Program, Tensor, tuple[Value, ...]]


@dataclass(frozen=True)
class Item:
    """Log weight [batch, span] and slots [batch, span, *type] of one state, for all spans of one width."""

    log_weight: Tensor
    slots: tuple[Value, ...]


Row = dict[State, Item]  # the items of one width


@lru_cache(maxsize=4096)
def transition(state: State) -> tuple[State, tuple[Program, ...]]:
    """Return the state after taking the next argument, and the programs of its slots over the old ones and BOUND."""
    category, program = state
    assert isinstance(category, Functor)
    residual, slots = take_argument(program)
    return (category.result, residual), slots


def evaluate(
    program: Program,
    domain: Domain,
    world: World,
    slots: Sequence[Value],
    bound: Value | None,
    argument: Tensor | None = None,
) -> Value:
    """Run a program on tensors: slots, the bound value and, inside a function, its argument."""
    match program:
        case Slot(index):
            found = bound if program == BOUND else slots[index]
            assert found is not None
            return found
        case Arg():
            assert argument is not None
            return argument
        case Call(operation, arguments):
            values = [evaluate(node, domain, world, slots, bound, argument) for node in arguments]
            return domain.operations[operation].soft(world, *values)
        case Apply(function, node):
            mixture = evaluate(function, domain, world, slots, bound, argument)
            value = evaluate(node, domain, world, slots, bound, argument)
            assert isinstance(mixture, Mixture) and isinstance(value, Tensor)
            return mixture(value, domain, world)
    raise AssertionError(f"{program} is not evaluated in the chart")


def _like(weight: Tensor, value: Tensor) -> Tensor:
    return weight.reshape(*weight.shape, *(1,) * (value.dim() - weight.dim()))


@dataclass(frozen=True)
class _Derived:
    """Derivations of one state found in one way: log weight [batch, span, split] and slots with these dimensions."""

    log_weight: Tensor
    slots: tuple[Value, ...]


def expected_execution(domain: Domain, world: World, lexical: Row, empty: Tensor | None = None) -> dict[str, Root]:
    """Run CKY-E2 and return the readings of the whole sentences, by accepted atom.

    `lexical` holds the entries of each position, [batch, length]; `empty` the log weight of each word meaning nothing.
    Empty words join the entry to their right, the last ones the whole sentence, so each derivation is counted once.
    """
    length = next(iter(lexical.values())).log_weight.shape[1]
    final = frozenset(domain.roots) - _consumed(frozenset(category for category, _ in lexical))
    before = None if empty is None else torch.nn.functional.pad(empty.cumsum(1), (1, 0))
    chart: list[Row] = [{}]
    for width in range(1, length + 1):
        found: dict[State, list[_Derived]] = {}
        _add_lexical(found, lexical, before, width, length)
        _combine_values(found, domain, world, chart, width, length - width + 1, final)
        for split in range(1, width):
            _combine_functions(found, domain, world, chart[split], chart[width - split], split, length - width + 1)
        row = {state: _merge(_first(ways) if state[0] in final else ways) for state, ways in found.items()}
        chart.append({state: item for state, item in row.items() if float(item.log_weight.detach().max()) > DEAD})
    return _readings(domain, chart, before)


@lru_cache(maxsize=256)
def _consumed(categories: frozenset[Category]) -> frozenset[Category]:
    """Return all types that some functor among these, or among their arguments and results, takes.

    A root that nothing takes (a whole sentence) is of use at the beginning of the sentence only.
    """
    found: set[Category] = set()
    todo = list(categories)
    while todo:
        category = todo.pop()
        if isinstance(category, Functor):
            found.add(category.argument)
            todo += [category.argument, category.result]
    return frozenset(found)


def _first(ways: list[_Derived]) -> list[_Derived]:
    """Keep the span that begins the sentence."""
    return [
        _Derived(way.log_weight[:, :1], tuple(slot[:, :1] for slot in way.slots if isinstance(slot, Tensor)))
        for way in ways
    ]


def _add_lexical(
    found: dict[State, list[_Derived]], lexical: Row, before: Tensor | None, width: int, length: int
) -> None:
    if before is None and width > 1:
        return
    skipped = 0.0 if before is None else before[:, width - 1 : length] - before[:, : length - width + 1]
    for state, item in lexical.items():
        weight = item.log_weight[:, width - 1 :] + skipped
        slots = tuple(slot[:, width - 1 :, None] for slot in item.slots if isinstance(slot, Tensor))
        found.setdefault(state, []).append(_Derived(weight[:, :, None], slots))


def _combine_values(
    found: dict[State, list[_Derived]],
    domain: Domain,
    world: World,
    chart: list[Row],
    width: int,
    spans: int,
    final: frozenset[Category],
) -> None:
    """Apply functors to values, for all spans of one width and all split points at once."""
    stacked: dict[object, _Derived] = {}  # one argument serves many functors
    states = dict.fromkeys(state for row in chart[1:width] for state in row)
    for state in states:
        category = state[0]
        if not isinstance(category, Functor) or not _is_plain(state):
            continue
        value = (category.argument, Slot(0))
        left, right = (state, value) if category.slash == "/" else (value, state)
        splits = tuple(k for k in range(1, width) if left in chart[k] and right in chart[width - k])
        if splits:
            here, there = _sides(splits, width, category.slash)
            wanted = 1 if category.result in final else spans
            functor = _stack(chart, state, here, wanted)
            key = (value, there, wanted)
            if key not in stacked:
                stacked[key] = _stack(chart, value, there, wanted)
            target, programs = transition(state)
            bound = stacked[key].slots[0]
            values = tuple(evaluate(program, domain, world, functor.slots, bound) for program in programs)
            found.setdefault(target, []).append(_Derived(functor.log_weight + stacked[key].log_weight, values))


@lru_cache(maxsize=4096)
def _is_plain(state: State) -> bool:
    """Whether the state takes a value and holds no uncertain function."""
    category, program = state
    applied = any(isinstance(node, Apply) for node in walk(program))
    return isinstance(category, Functor) and not isinstance(category.argument, Functor) and not applied


def _sides(splits: tuple[int, ...], width: int, slash: str) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Return (width, first start) of the functor and of its argument, for each split point."""
    left, right = tuple((k, 0) for k in splits), tuple((width - k, k) for k in splits)
    return (left, right) if slash == "/" else (right, left)


def _stack(chart: list[Row], state: State, places: tuple[tuple[int, int], ...], spans: int) -> _Derived:
    items = [(chart[width][state], slice(start, start + spans)) for width, start in places]
    slots = []
    for index in range(len(items[0][0].slots)):
        slices = [item.slots[index] for item, _ in items]
        pairs = zip(slices, (where for _, where in items), strict=True)
        slots.append(torch.stack([value[:, where] for value, where in pairs if isinstance(value, Tensor)], 2))
    return _Derived(torch.stack([item.log_weight[:, where] for item, where in items], 2), tuple(slots))


def _combine_functions(
    found: dict[State, list[_Derived]], domain: Domain, world: World, left: Row, right: Row, split: int, spans: int
) -> None:
    """Apply functors that take or hold functions, for all spans of one width and one split point."""
    starts, ends = slice(0, spans), slice(split, split + spans)
    sides = ((left, right, "/", starts, ends), (right, left, "\\", ends, starts))
    for functors, arguments, slash, here, there in sides:
        taken: dict[Category, tuple[Tensor, Value] | None] = {}  # one argument serves many functors
        for state, functor in functors.items():
            category = state[0]
            if not isinstance(category, Functor) or category.slash != slash or _is_plain(state):
                continue
            if category.argument not in taken:
                taken[category.argument] = _argument(domain, arguments, category.argument, there)
            argument = taken[category.argument]
            if argument is None:
                continue
            target, programs = transition(state)
            slots = [_slice(slot, here) for slot in functor.slots]
            values = tuple(evaluate(program, domain, world, slots, argument[1]) for program in programs)
            weight = functor.log_weight[:, here, None] + argument[0]
            found.setdefault(target, []).append(_Derived(weight, values))


def _slice(value: Value, spans: slice) -> Value:
    if isinstance(value, Tensor):
        return value[:, spans, None]
    return value.view((spans.start, spans.stop), lambda tensor: tensor[:, spans, None])


def _argument(domain: Domain, row: Row, category: Category, spans: slice) -> tuple[Tensor, Value] | None:
    """Return log weight [batch, span, 1] and value of an argument: a value, or a mixture of functions of this type."""
    if not isinstance(category, Functor):
        item = row.get((category, Slot(0)))
        return None if item is None else (item.log_weight[:, spans, None], _slice(item.slots[0], spans))
    items = [(state[1], item) for state, item in row.items() if state[0] == category]
    if not domain.nested_functions:
        items = [(program, item) for program, item in items if all(isinstance(slot, Tensor) for slot in item.slots)]
    if not items:
        return None
    weights = torch.stack([item.log_weight[:, spans, None] for _, item in items])
    parts = tuple(
        (program, p, tuple(_slice(slot, spans) for slot in item.slots))
        for (program, item), p in zip(items, torch.softmax(weights, 0), strict=True)
    )
    return torch.logsumexp(weights, 0), Mixture(parts)


def _merge(ways: list[_Derived]) -> Item:
    """Merge all derivations of one state: tau = logsumexp tau_i, slots = sum_i softmax(tau)_i slot_i."""
    if len(ways) == 1 and ways[0].log_weight.shape[2] == 1:
        return Item(ways[0].log_weight[:, :, 0], tuple(_squeeze(slot) for slot in ways[0].slots))
    weights = torch.cat([way.log_weight for way in ways], 2)
    shares = torch.softmax(weights, 2).split([way.log_weight.shape[2] for way in ways], 2)
    merged = tuple(_expectation(shares, [way.slots[index] for way in ways]) for index in range(len(ways[0].slots)))
    return Item(torch.logsumexp(weights, 2), merged)


def _squeeze(value: Value) -> Value:
    if isinstance(value, Tensor):
        return value[:, :, 0]
    return value.view("squeeze", lambda tensor: tensor[:, :, 0])


def _expectation(shares: Sequence[Tensor], values: Sequence[Value]) -> Value:
    if isinstance(values[0], Tensor):
        tensors = [value for value in values if isinstance(value, Tensor)]
        return sum((_like(share, value) * value).sum(2) for share, value in zip(shares, tensors, strict=True))  # type: ignore[return-value]
    kinds: dict[Program, list[tuple[Tensor, tuple[Value, ...]]]] = {}
    for share, mixture in zip(shares, values, strict=True):
        assert isinstance(mixture, Mixture)
        for program, p, slots in mixture.parts:
            kinds.setdefault(program, []).append((share * p, slots))
    return Mixture(tuple((program, *_average(ways)) for program, ways in kinds.items()))


def _average(ways: list[tuple[Tensor, tuple[Value, ...]]]) -> tuple[Tensor, tuple[Value, ...]]:
    """Merge functions of one kind, [batch, span, split] each: the sum of their shares, and slots given the kind."""
    total = torch.cat([p for p, _ in ways], 2).sum(2)
    shares = [p / (total[:, :, None] + TINY) for p, _ in ways]
    slots = tuple(_expectation(shares, [slots[index] for _, slots in ways]) for index in range(len(ways[0][1])))
    return total, slots


def _readings(domain: Domain, chart: list[Row], before: Tensor | None) -> dict[str, Root]:
    """Collect the accepted atoms of the whole sentence; words after the last span mean nothing."""
    length = len(chart) - 1
    roots: dict[str, Root] = {}
    for atom in domain.roots:
        ways = []
        for width in range(length if before is None else 1, length + 1):
            item = chart[width].get((atom, Slot(0)))
            if item is not None:
                rest = 0.0 if before is None else before[:, length] - before[:, width]
                value = item.slots[0]
                assert isinstance(value, Tensor)
                ways.append(_Derived((item.log_weight[:, 0] + rest)[:, None, None], (value[:, :1, None],)))
        if ways:
            merged = _merge(ways)
            value = merged.slots[0]
            assert isinstance(value, Tensor)
            roots[atom] = Root(merged.log_weight[:, 0], value[:, 0])
    return roots


def total_weight(roots: Mapping[str, Root]) -> Tensor:
    """Return the log of the summed weight of all readings, [batch]."""
    return torch.logsumexp(torch.stack([root.log_weight for root in roots.values()]), 0)
