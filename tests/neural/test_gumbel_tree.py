import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.neural.easy_first import Scorer, compose, parse, step_scores
from groundling.neural.gumbel_tree import gumbel_tree


def batch_of(seed: int, longest: int = 6) -> tuple[Scorer, torch.Tensor, torch.Tensor]:
    torch.manual_seed(seed)
    lengths = torch.randint(1, longest + 1, (4,))
    lengths[0] = longest
    return Scorer(5, 6).double(), torch.randn(4, longest, 5, dtype=torch.double), lengths


@given(st.integers(0, 2**31))
@settings(max_examples=30, deadline=None)
def test_greedy_trees_and_roots_are_those_of_the_easy_first_parser(seed: int) -> None:
    scorer, words, lengths = batch_of(seed)
    root, spans = gumbel_tree(scorer, words, lengths)
    found = parse(scorer, words, lengths)
    nodes = compose(words, found.merges)
    for row, length in enumerate(lengths.tolist()):
        assert torch.equal(spans[row, : length - 1], found.spans[row, : length - 1])
        assert (spans[row, length - 1 :] == 0).all()
        last = words.shape[1] + length - 2 if length > 1 else 0
        assert torch.allclose(root[row], nodes[row, last])


def test_sampling_follows_the_softmax_of_the_scores() -> None:
    torch.manual_seed(0)
    scorer, words, lengths = Scorer(3, 4), torch.randn(1, 3, 3).expand(4000, 3, 3), torch.full((4000,), 3)
    _, spans = gumbel_tree(scorer, words, lengths, torch.Generator().manual_seed(1))
    found = parse(scorer, words[:1], lengths[:1])
    expected = step_scores(scorer, compose(words[:1], found.merges), found)[1][0, 0].exp()[0].item()
    assert (spans[:, 0, 0] == 0).float().mean().item() == pytest.approx(expected, abs=0.03)


def test_the_root_teaches_the_scorer_through_the_softmax() -> None:
    scorer, words, lengths = batch_of(5)
    root, _ = gumbel_tree(scorer, words, lengths, torch.Generator().manual_seed(0))
    (root * torch.randn_like(root)).sum().backward()
    assert scorer.sides.weight.grad is not None and scorer.sides.weight.grad.abs().sum() > 0
    assert torch.isfinite(scorer.sides.weight.grad).all()


def test_a_single_choice_has_no_gradient_to_the_scorer() -> None:
    scorer, words, _ = batch_of(6)
    root, _ = gumbel_tree(scorer, words[:, :2], torch.full((4,), 2), torch.Generator().manual_seed(0))
    root.sum().backward()
    assert scorer.out.weight.grad is not None and torch.allclose(scorer.out.weight.grad, torch.zeros(1, 6).double())


def test_one_word_is_its_own_root() -> None:
    word = torch.randn(2, 1, 5)
    root, spans = gumbel_tree(Scorer(5, 6), word, torch.tensor([1, 1]))
    assert torch.equal(root, word[:, 0]) and spans.shape == (2, 0, 2)
