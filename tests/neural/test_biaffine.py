import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.neural.biaffine import ArcScorer, LabelScorer, Projection, WordDropout
from groundling.neural.scalar_mix import ScalarMix


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 5), st.integers(1, 4))
def test_scores_equal_the_sums_of_the_thesis(seed: int, n: int, dim: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    d, h = torch.randn(1, n, dim, generator=generator), torch.randn(1, n, dim, generator=generator)
    arcs, labels = ArcScorer(dim), LabelScorer(dim, 3)
    with torch.no_grad():
        arcs.weight.normal_(generator=generator)
        labels.weight.normal_(generator=generator)
        one, every = arcs(d, h)[0], labels.all_pairs(d, h)[0]
        places = [(i, j) for i in range(n) for j in range(n)]
        chosen = labels(d, h, tuple(torch.tensor(x) for x in ([0] * n * n, *map(list, zip(*places, strict=True)))))
    D, H = (np.append(x[0].numpy(), np.ones((n, 1)), 1) for x in (d, h))
    for k, (i, j) in enumerate(places):
        assert one[i, j].item() == pytest.approx(
            D[i] @ arcs.weight.detach().numpy() @ h[0, j].numpy(), rel=1e-4, abs=1e-4
        )
        for label in range(3):
            wanted = D[i] @ labels.weight.detach().numpy()[:, label] @ H[j]
            assert every[i, j, label].item() == pytest.approx(wanted, rel=1e-4, abs=1e-4)
            assert chosen[k, label].item() == pytest.approx(wanted, rel=1e-4, abs=1e-4)


def test_dropout_is_shared_by_the_words_of_a_sentence_and_off_in_evaluation() -> None:
    drop = WordDropout(0.5)
    torch.manual_seed(0)
    x = drop(torch.ones(4, 6, 50))
    assert (x == x[:, :1]).all() and set(x.unique().tolist()) == {0.0, 2.0}
    assert (drop.eval()(torch.ones(2, 3, 4)) == 1).all()
    assert Projection(4, 3, 0.5).eval()(torch.ones(2, 5, 4)).shape == (2, 5, 3)


def test_scalar_mix_learns_which_layer_matters() -> None:
    torch.manual_seed(0)
    layers = torch.randn(50, 3, 4)
    mix = ScalarMix(3)
    assert mix.weights.tolist() == pytest.approx([1 / 3] * 3)
    optimizer = torch.optim.Adam(mix.parameters(), lr=0.1)
    for _ in range(150):
        optimizer.zero_grad()
        (mix(layers) - layers[:, 1]).square().mean().backward()
        optimizer.step()
    assert mix.weights[1] > 0.9 and mix.weights.sum().item() == pytest.approx(1)
