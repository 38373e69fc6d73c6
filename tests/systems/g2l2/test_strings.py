"""Probabilistic strings and match matrices against plain strings; categories, programs and the 178 candidates."""

from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.errors import ConfigError
from groundling.systems.g2l2.domain import template
from groundling.systems.g2l2.domains.navigation import OPERATIONS, Navigation, navigation, navigation_by_strings
from groundling.systems.g2l2.parse import Parser
from groundling.systems.g2l2.programs import Call, parse_program
from groundling.worlds.scan import ACTIONS, Instruction

NAVIGATION, BY_STRINGS = navigation(), navigation_by_strings()


def constants(program: Call) -> list[tuple[str, ...]]:
    return Parser(NAVIGATION, {}).run(program)


@st.composite
def string_programs(draw: st.DrawFn, depth: int = 3) -> Call:
    if depth == 0 or draw(st.booleans()):
        return Call(draw(st.sampled_from((*ACTIONS[:3], "empty"))))
    if draw(st.booleans()):
        return Call("concat", (draw(string_programs(depth - 1)), draw(string_programs(depth - 1))))
    return Call(
        "repeat", (draw(string_programs(depth - 1)), Call(draw(st.sampled_from(["times2", "times3", "times4"]))))
    )


@settings(max_examples=40, deadline=None)
@given(program=string_programs(), other=st.lists(st.sampled_from(ACTIONS[:3]), min_size=1, max_size=6))
def test_both_representations_know_their_string(program: Call, other: list[str]) -> None:
    """P(string = target) is 1 for the string that the program makes and 0 for any other, in both representations."""
    made = constants(program)
    if len(made) > 12:
        return
    for target in (made, tuple(other)):
        for domain in (NAVIGATION, BY_STRINGS):
            assert isinstance(domain, Navigation)
            world = domain.world([Instruction(("x",), target)], [])
            value = soft(program, domain, world)
            assert domain.probability(world, value)[0].item() == pytest.approx(float(made == target))


def soft(program: Call, domain: Navigation, world) -> torch.Tensor:
    values = [soft(argument, domain, world) for argument in program.arguments]  # type: ignore[arg-type]
    return domain.operations[program.operation].soft(world, *values)


def test_a_mixture_of_strings_is_exact_as_matrix_and_independent_as_strings() -> None:
    """Half (A A), half (B B): the thesis' strings give A B a quarter; the matrix knows that it cannot be."""
    target = (ACTIONS[0], ACTIONS[1])
    values = {}
    for domain in (NAVIGATION, BY_STRINGS):
        assert isinstance(domain, Navigation)
        world = domain.world([Instruction(("x",), target)], [])
        double = [soft(Call("repeat", (Call(a), Call("times2"))), domain, world) for a in ACTIONS[:2]]
        values[domain.name] = domain.probability(world, (double[0] + double[1]) / 2)[0].item()
    assert values == {"scan": 0.0, "scan-strings": 0.25}


def test_178_candidates_and_how_the_number_comes_about() -> None:
    counts = Counter(str(entry.categories[0]) for entry in NAVIGATION.templates)
    assert counts == {"V": 61, "V/V": 15, "V\\V": 15, "V\\V/V": 20, "S\\V/V": 20, "V\\V/(V\\V)": 47}
    assert sum(counts.values()) == 178
    assert len({str(entry) for entry in NAVIGATION.templates}) == 178


@pytest.mark.parametrize(
    ("category", "program", "message"),
    [
        ("V\\V", "lambda x: concat(x)", "concat takes"),
        ("V\\V", "lambda x: jumble(x)", "there is no operation 'jumble'"),
        ("V\\V", "lambda x: I_WALK", "the type has 1 arguments, the program uses"),
        ("V", "times2", "the program gives Integer"),
    ],
)
def test_a_wrong_entry_is_refused(category: str, program: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Navigation("scan", {"V": "ActSeq"}, ("V",), OPERATIONS, [template(category, program)])


def test_a_wrong_program_is_refused() -> None:
    with pytest.raises(ConfigError, match="is no program"):
        parse_program("lambda x: x + 1")
