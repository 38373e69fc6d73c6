import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.neural.retrieval_losses import match_aligned, match_all
from oracles.easy_first import triplets


def case(seed: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(seed)
    similarity = (torch.rand(5, 4, 5, dtype=torch.double) * 2 - 1).requires_grad_()
    mask = torch.rand(5, 4) > 0.3
    mask[:, 0] = True
    images = torch.tensor([0, 1, 1, 2, 3])  # two captions of one picture: no negatives of each other
    return similarity, mask, images[:, None] != images


@given(st.integers(0, 2**31), st.sampled_from([0.0, 0.2, 0.7]))
@settings(max_examples=25, deadline=None)
def test_all_negatives_equal_the_sum_term_by_term(seed: int, reward_margin: float) -> None:
    similarity, mask, other = case(seed)
    found = match_all(similarity, mask, other, 0.2, reward_margin)
    loss, concrete, abstract = triplets(similarity, mask, other, 0.2, reward_margin)
    assert found.loss.item() == pytest.approx(loss.item())
    assert torch.allclose(found.concrete, concrete.double(), atol=1e-6)
    assert torch.allclose(found.abstract, abstract.double(), atol=1e-6)
    ours, theirs = (torch.autograd.grad(value, similarity)[0] for value in (found.loss, loss))
    assert torch.allclose(ours, theirs)


@given(st.integers(0, 2**31))
@settings(max_examples=15, deadline=None)
def test_aligned_negatives_are_all_negatives_of_one_place(seed: int) -> None:
    similarity, _, other = case(seed)
    everywhere = torch.ones(5, 4, dtype=torch.bool)
    found = match_aligned(similarity, everywhere, other, 0.2, 0.1)
    places = [triplets(similarity[:, j : j + 1], everywhere[:, :1], other, 0.2, 0.1) for j in range(4)]
    assert found.loss.item() == pytest.approx(sum(place[0].item() for place in places))
    assert torch.allclose(found.concrete, torch.cat([place[1] for place in places], 1).double(), atol=1e-6)
    assert torch.allclose(found.abstract, torch.cat([place[2] for place in places], 1).double(), atol=1e-6)


def test_a_perfect_match_costs_nothing_and_is_concrete() -> None:
    similarity = torch.eye(3)[:, None, :]
    found = match_all(similarity, torch.ones(3, 1, dtype=torch.bool), ~torch.eye(3, dtype=torch.bool), 0.2, 0.2)
    assert found.loss.item() == 0
    assert found.concrete.flatten().tolist() == pytest.approx([1.6] * 3)  # (1 - 0 - 0.2) on both sides
    assert found.abstract.abs().max().item() == 0


def test_a_batch_of_one_picture_has_no_negatives() -> None:
    similarity = torch.rand(2, 1, 2)
    same = torch.zeros(2, 2, dtype=torch.bool)
    for match in (match_all, match_aligned):
        found = match(similarity, torch.ones(2, 1, dtype=torch.bool), same, 0.2, 0.2)
        assert found.loss.item() == 0 and found.concrete.abs().sum().item() == 0


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_gpu_and_cpu_match_alike() -> None:
    """The GPU sorts with torch, the CPU with numpy."""
    for work in (match_all, match_aligned):
        similarity, mask, other = case(7)
        here = work(similarity, mask, other, 0.2, 0.1)
        there = work(similarity.cuda(), mask.cuda(), other.cuda(), 0.2, 0.1)
        assert all(torch.allclose(a, b.cpu()) for a, b in zip(here, there, strict=True))
