"""CKY-E2 against the list of all derivations; laws of weights and merging."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from groundling.systems.g2l2.chart import total_weight
from groundling.systems.g2l2.domain import Domain, Operation, Root, Template, World, operations, template
from groundling.systems.g2l2.domains.navigation import navigation
from groundling.systems.g2l2.model import Lexicon
from groundling.worlds.scan import Instruction
from oracles.derivations import expected_readings


@dataclasses.dataclass(frozen=True)
class Sentence:
    words: tuple[str, ...]


class Vectors(Domain):
    """Values are vectors; join, scale and blend are linear in each argument, so CKY-E2 must be exact."""

    def world(self, examples: Sequence[Sentence], words: Sequence[str]) -> World:
        return World(len(examples), base=torch.eye(3).expand(len(examples), 3, 3))

    def log_likelihood(self, world: World, roots: Mapping[str, Root]) -> Tensor:
        raise NotImplementedError

    def answer(self, value: Any, atom: str, words: Sequence[str]) -> str:
        raise NotImplementedError

    def gold(self, example: Sentence) -> str:
        raise NotImplementedError

    def ask(self, words: tuple[str, ...], place: int) -> Sentence:
        return Sentence(words)

    def read(self, path: str | Path):
        raise NotImplementedError


TURN = torch.tensor([[0.1, 0.9, 0.3], [0.5, 0.2, 0.4], [0.7, 0.6, 0.8]])


def constant(number: int) -> Callable[[World], Tensor]:
    return lambda world: world["base"][:, number]


TABLE = operations(
    Operation("a", (), "vector", constant(0)),
    Operation("b", (), "vector", constant(1)),
    Operation("c", (), "vector", constant(2)),
    Operation("turn", ("vector",), "vector", lambda _, x: x @ TURN),
    Operation("blend", ("vector", "vector"), "vector", lambda _, x, y: x * (y @ TURN)),
)
LINEAR = [
    template("V", "a"),
    template("V", "turn(b)"),
    template("V/V", "lambda x: blend(x, c)"),
    template("V/V", "lambda x: blend(x, a)"),
    template("V\\V", "lambda x: turn(x)"),
    template("V\\V/V", "lambda x, y: blend(y, x)"),
    template("S\\V/V", "lambda x, y: blend(turn(x), y)"),
    template("V\\V/(V\\V)", "lambda f, x: turn(f(x))"),
    template("V\\V/(V\\V)", "lambda f, x: blend(x, f(b))"),
    template("V/V or V\\V", "lambda x: turn(turn(x))"),
]


def vectors(templates: list[Template], allow_empty: bool) -> Domain:
    atoms = {"V": "vector", "S": "vector"}
    options = {"allow_empty": allow_empty, "nested_functions": True}
    return Vectors("vectors", atoms, ("S", "V"), TABLE, templates, **options)


@settings(max_examples=25, deadline=None)
@given(
    words=st.lists(st.sampled_from("pqr"), min_size=1, max_size=3),
    picked=st.sets(st.integers(0, len(LINEAR) - 1), min_size=3, max_size=8),
    seed=st.integers(0, 2**31),
)
def test_chart_equals_the_sum_over_all_derivations(words: list[str], picked: set[int], seed: int) -> None:
    domain = vectors([LINEAR[number] for number in sorted(picked)], allow_empty=False)
    lexicon = Lexicon(domain, list("pqr"), spread=1.0, generator=torch.Generator().manual_seed(seed))
    example = Sentence(tuple(words))
    _, roots = lexicon.readings([example])
    wanted = expected_readings(lexicon, example)
    assert set(roots) == set(wanted)
    for atom, (weight, value) in wanted.items():
        torch.testing.assert_close(roots[atom].log_weight[0], weight, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(roots[atom].value[0], value, rtol=1e-4, atol=1e-5)


@settings(max_examples=15, deadline=None)
@given(words=st.lists(st.sampled_from("pq"), min_size=1, max_size=4), seed=st.integers(0, 2**31))
def test_empty_words_are_counted_once(words: list[str], seed: int) -> None:
    domain = vectors([LINEAR[0], LINEAR[2], LINEAR[4]], allow_empty=True)
    lexicon = Lexicon(domain, list("pq"), spread=1.0, generator=torch.Generator().manual_seed(seed))
    example = Sentence(tuple(words))
    _, roots = lexicon.readings([example])
    wanted = expected_readings(lexicon, example)
    torch.testing.assert_close(roots["V"].log_weight[0], wanted["V"][0], rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(roots["V"].value[0], wanted["V"][1], rtol=1e-4, atol=1e-5)


def test_four_words_with_functions_of_functions_are_exact() -> None:
    domain = vectors([LINEAR[0], LINEAR[4], LINEAR[5], LINEAR[7], LINEAR[8]], allow_empty=False)
    lexicon = Lexicon(domain, list("pqr"), spread=1.0, generator=torch.Generator().manual_seed(1))
    example = Sentence(tuple("pqrq"))
    _, roots = lexicon.readings([example])
    weight, value = expected_readings(lexicon, example)["V"]
    torch.testing.assert_close(roots["V"].log_weight[0], weight, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(roots["V"].value[0], value, rtol=1e-4, atol=1e-5)


def test_merged_weight_is_the_logsumexp_not_the_sum() -> None:
    domain = vectors([template("V", "a"), template("V", "b")], allow_empty=False)
    lexicon = Lexicon(domain, ["p"], spread=1.0, generator=torch.Generator().manual_seed(0))
    _, roots = lexicon.readings([Sentence(("p",))])
    assert float(roots["V"].log_weight.detach()) == pytest.approx(0.0, abs=1e-6)  # all probability of the word
    assert float(roots["V"].value.detach().sum()) == pytest.approx(1.0)


def scan_lexicon() -> Lexicon:
    words = ["after", "around", "jump", "left", "twice", "turn"]
    return Lexicon(navigation(), words, spread=1.0, generator=torch.Generator().manual_seed(0))


LEFT_JUMP = ("I_TURN_LEFT", "I_JUMP")
COMMANDS = [
    Instruction(("jump", "around", "left"), LEFT_JUMP * 4),
    Instruction(("jump", "left", "twice"), LEFT_JUMP * 2),
    Instruction(("turn", "left", "twice"), ("I_TURN_LEFT",) * 2),
]


def test_a_batch_gives_what_each_sentence_gives_alone() -> None:
    lexicon = scan_lexicon()
    together = lexicon.loss(COMMANDS)
    alone = torch.cat([lexicon.loss([command]) for command in COMMANDS])
    torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-4)


def test_usage_counts_every_word_once() -> None:
    """Each successful derivation uses one entry a word, so the expected counts of a sentence sum to its length."""
    lexicon = scan_lexicon()
    lexicon.count_usage([COMMANDS[:1]])
    assert lexicon.usage.sum(1)[[1, 2, 3]].tolist() == pytest.approx([1, 1, 1], abs=0.01)  # f(f(x)): 1.001
    assert lexicon.usage.sum().item() == pytest.approx(3, abs=0.01)


def test_pruned_entries_take_no_part() -> None:
    lexicon = scan_lexicon()
    lexicon.count_usage([COMMANDS])
    before = lexicon.active.sum()
    lexicon.prune(0.05)
    assert lexicon.active.sum() < before
    assert bool(lexicon.active[0].all())  # `after` was never used: nothing is known of it
    used, entries = lexicon.index["jump"], lexicon.log_probabilities().exp()
    assert float(entries[used][~lexicon.active[used]].detach().sum()) == 0
    assert torch.isfinite(lexicon.loss(COMMANDS)).all()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_gpu_gives_the_same_numbers() -> None:
    lexicon = scan_lexicon()
    here = lexicon.loss(COMMANDS).detach()
    there = lexicon.cuda().loss(COMMANDS).detach().cpu()
    torch.testing.assert_close(here, there, rtol=1e-4, atol=1e-4)


def test_total_weight_adds_the_readings() -> None:
    half = Root(torch.log(torch.tensor([0.5])), torch.zeros(1, 1))
    assert float(total_weight({"S": half, "V": half})) == pytest.approx(0.0)
