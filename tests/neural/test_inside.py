import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.errors import DataError
from groundling.neural.inside import Grammar, best_spans, inside, span_marginals
from oracles.pcfg import inside_in_logs, trees_by_enumeration

seeds = st.integers(0, 2**31)


def grammar_of(seed: int, batch: int, n: int, nonterminals: int = 2, preterminals: int = 2) -> Grammar:
    torch.manual_seed(seed)
    symbols = nonterminals + preterminals
    root = torch.randn(batch, nonterminals, dtype=torch.double).softmax(1)
    rules = (2 * torch.randn(batch, nonterminals, symbols**2, dtype=torch.double)).softmax(2)
    emissions = torch.randn(batch, n, preterminals, dtype=torch.double) - 3
    return Grammar(root, rules.view(batch, nonterminals, symbols, symbols), emissions)


@given(seeds, st.integers(2, 4))
@settings(max_examples=12, deadline=None)
def test_inside_equals_the_sum_over_all_derivations(seed: int, n: int) -> None:
    grammar = grammar_of(seed, 1, n)
    trees = trees_by_enumeration(grammar.root[0], grammar.rules[0], grammar.emissions[0].exp())
    lengths = torch.tensor([n])
    total = sum(trees.values())
    assert inside(grammar, lengths).item() == pytest.approx(math.log(total), abs=1e-9)
    _, marginals = span_marginals(grammar, lengths)
    for i in range(n):
        for j in range(i + 2, n + 1):
            expected = sum(weight for spans, weight in trees.items() if (i, j) in spans) / total
            assert marginals[0, i, j].item() == pytest.approx(expected, abs=1e-9)
    found = frozenset(best_spans(marginals, lengths)[0])
    gain = {spans: sum(float(marginals[0, i, j]) for i, j in spans) for spans in trees}
    assert gain[found] == pytest.approx(max(gain.values()))


@given(seeds)
@settings(max_examples=10, deadline=None)
def test_inside_and_its_gradient_equal_those_of_a_pass_in_logarithms(seed: int) -> None:
    grammar = Grammar(*(part.requires_grad_() for part in grammar_of(seed, 3, 7, 3, 4)))
    ours = inside(grammar, torch.full((3,), 7))
    plain = inside_in_logs(grammar.root.log(), grammar.rules.log()[:, :], grammar.emissions)
    assert torch.allclose(ours, plain)
    for mine, theirs in zip(
        torch.autograd.grad(ours.sum(), grammar), torch.autograd.grad(plain.sum(), grammar), strict=True
    ):
        assert torch.allclose(mine, theirs, atol=1e-9)


@given(seeds)
@settings(max_examples=10, deadline=None)
def test_sentences_of_other_lengths_in_the_batch_change_nothing(seed: int) -> None:
    grammar, lengths = grammar_of(seed, 4, 6, 3, 2), torch.tensor([6, 2, 5, 3])
    log_z, marginals = span_marginals(grammar, lengths)
    for row, length in enumerate(lengths.tolist()):
        part = Grammar(
            grammar.root[row : row + 1], grammar.rules[row : row + 1], grammar.emissions[row : row + 1, :length]
        )
        alone, spans = span_marginals(part, lengths[row : row + 1])
        assert torch.allclose(alone[0], log_z[row])
        assert torch.allclose(spans[0], marginals[row, : length + 1, : length + 1])
        assert marginals[row].sum().item() == pytest.approx(length - 1)


def test_long_sentences_of_rare_words_do_not_vanish_in_single_precision() -> None:
    grammar = grammar_of(0, 2, 60, 4, 5)
    rare = Grammar(grammar.root.float(), grammar.rules.float(), grammar.emissions.float() - 40)
    exact = inside(Grammar(grammar.root, grammar.rules, grammar.emissions - 40), torch.tensor([60, 59]))
    found = inside(rare, torch.tensor([60, 59]))
    assert torch.allclose(found.double(), exact, rtol=1e-5)
    assert exact.max() < -2000  # the probability itself is far below the smallest float


def test_a_rule_of_weight_zero_is_never_used() -> None:
    grammar = grammar_of(1, 1, 5, 1, 2)
    rules = grammar.rules.clone()
    rules[:, :, 0, :] = 0  # no phrase as left child: right-branching is all that is left
    _, marginals = span_marginals(Grammar(grammar.root, rules, grammar.emissions), torch.tensor([5]))
    assert best_spans(marginals, torch.tensor([5])) == [[(0, 5), (1, 5), (2, 5), (3, 5)]]
    assert marginals[0, 0, 5] == marginals[0, 3, 5] == pytest.approx(1.0)


def test_one_word_is_refused() -> None:
    with pytest.raises(DataError, match="two words or more: a nonterminal spans no single word"):
        inside(grammar_of(0, 2, 3), torch.tensor([3, 1]))


def test_one_word_has_no_spans() -> None:
    assert best_spans(torch.zeros(1, 2, 2), torch.tensor([1])) == [[]]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_gpu_and_cpu_agree_on_the_inside_pass() -> None:
    grammar = grammar_of(3, 3, 7, 3, 4)
    lengths = torch.tensor([7, 5, 6])
    here = inside(grammar, lengths)
    there = inside(Grammar(*(part.cuda() for part in grammar)), lengths.cuda()).cpu()
    assert torch.allclose(here, there)
