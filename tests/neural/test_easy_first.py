import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.neural.easy_first import Scorer, at_steps, compose, parse, step_scores
from oracles.easy_first import greedy_tree

seeds = st.integers(0, 2**31)


def batch_of(seed: int, longest: int = 7, dim: int = 5) -> tuple[Scorer, torch.Tensor, torch.Tensor]:
    torch.manual_seed(seed)
    lengths = torch.randint(1, longest + 1, (4,))
    lengths[0] = longest
    return Scorer(dim, 6).double(), torch.randn(4, longest, dim, dtype=torch.double), lengths


@given(seeds)
@settings(max_examples=40, deadline=None)
def test_greedy_parse_equals_one_by_one_merging(seed: int) -> None:
    scorer, words, lengths = batch_of(seed)
    found = parse(scorer, words, lengths)
    for row, length in enumerate(lengths.tolist()):
        spans = [tuple(span) for span in found.spans[row, : length - 1].tolist()]
        assert spans == greedy_tree(scorer, words[row, :length])


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_padding_and_neighbours_in_the_batch_change_nothing(seed: int) -> None:
    scorer, words, lengths = batch_of(seed)
    together = parse(scorer, words, lengths)
    for row, length in enumerate(lengths.tolist()):
        alone = parse(scorer, words[row : row + 1, :length], lengths[row : row + 1])
        assert torch.equal(alone.spans[0], together.spans[row, : length - 1])


def test_sampling_follows_the_softmax_of_the_scores() -> None:
    torch.manual_seed(0)
    scorer = Scorer(3, 4)
    words = torch.randn(1, 3, 3).expand(4000, 3, 3)
    lengths = torch.full((4000,), 3)
    found = parse(scorer, words, lengths, torch.Generator().manual_seed(1))
    _, log_probs = step_scores(scorer, compose(words, found.merges), found)
    expected = log_probs[0, 0].exp()[0].item()
    assert (found.choice[:, 0] == 0).float().mean().item() == pytest.approx(expected, abs=0.03)


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_log_probs_are_those_of_the_steps_taken(seed: int) -> None:
    scorer, words, lengths = batch_of(seed)
    found = parse(scorer, words, lengths, torch.Generator().manual_seed(seed))
    nodes = compose(words, found.merges)
    _, log_probs = step_scores(scorer, nodes, found)
    assert torch.allclose(log_probs.exp().sum(2), torch.ones_like(log_probs[..., 0]))
    n = words.shape[1]
    for row in range(len(words)):
        present = list(range(int(lengths[row])))  # nodes from left to right
        for t in range(int(lengths[row]) - 1):
            sides = scorer.sides(nodes[row, present])
            expected = scorer.score(sides[:-1], sides[1:]).log_softmax(0)
            left, right = found.merges[row, t].tolist()
            place = present.index(left)
            assert present[place + 1] == right
            assert torch.allclose(log_probs[row, t, found.choice[row, t]], expected[place])
            present[place : place + 2] = [n + t]


def test_gradient_of_compose_is_right() -> None:
    scorer, words, lengths = batch_of(3, longest=5)
    merges = parse(scorer, words, lengths).merges
    assert torch.autograd.gradcheck(lambda w: compose(w, merges), (words.requires_grad_(),))


def test_policy_gradient_reaches_the_scorer_and_is_finite_for_short_captions() -> None:
    scorer, words, lengths = batch_of(5)
    found = parse(scorer, words, lengths, torch.Generator().manual_seed(0))
    _, log_probs = step_scores(scorer, compose(words, found.merges), found)
    loss = (log_probs.gather(2, found.choice[..., None]).squeeze(2) * found.mask).sum()
    loss.backward()
    assert torch.isfinite(loss)
    assert scorer.sides.weight.grad is not None and torch.isfinite(scorer.sides.weight.grad).all()
    assert scorer.sides.weight.grad.abs().sum() > 0


def test_one_word_is_a_tree_without_merges() -> None:
    found = parse(Scorer(2, 3), torch.randn(2, 1, 2), torch.tensor([1, 1]))
    assert found.spans.shape == (2, 0, 2)
    assert found.node_mask().tolist() == [[True], [True]]
    assert at_steps(torch.zeros(2, 0), found, 0.0).shape == (2, 0, 1)


def test_opposite_vectors_make_no_nan() -> None:
    word = torch.tensor([1.0, 0.0])
    nodes = compose(torch.stack([word, -word])[None], torch.tensor([[[0, 1]]]))
    assert torch.isfinite(nodes).all()


def test_same_seed_gives_the_same_trees() -> None:
    scorer, words, lengths = batch_of(9)
    first, second = (parse(scorer, words, lengths, torch.Generator().manual_seed(4)).spans for _ in range(2))
    assert torch.equal(first, second)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_gpu_and_cpu_agree() -> None:
    scorer, words, lengths = batch_of(11)
    here = parse(scorer, words, lengths).spans
    there = parse(scorer.cuda(), words.cuda(), lengths.cuda()).spans.cpu()
    assert torch.equal(here, there)
