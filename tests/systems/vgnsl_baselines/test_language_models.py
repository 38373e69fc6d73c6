"""PRPN and ON-LSTM."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.errors import DataError
from groundling.systems.vgnsl.baselines import Options, on_lstm, prpn
from groundling.systems.vgnsl.baselines.language_model import LanguageConfig, LanguageModel, learn_language
from groundling.systems.vgnsl.baselines.on_lstm import OrderedCell, OrderedLSTM
from groundling.systems.vgnsl.baselines.prpn import PRPN, RESOLUTION, gates
from groundling.systems.vgnsl.data import Captions

SMALL = LanguageConfig(dim=32, dropout=0.0, batch_size=32, epochs=12, learning_rate=1e-2)


@given(st.lists(st.integers(0, 20), min_size=2, max_size=6))
@settings(max_examples=40, deadline=None)
def test_gates_are_products_of_what_lies_between(levels: list[int]) -> None:
    d = torch.tensor([levels], dtype=torch.double) / 20
    found = gates(d, d)[0]
    for t in range(len(levels)):
        for i in range(len(levels)):
            alphas = [min(max((d[0, t] - d[0, j]).item() / RESOLUTION + 1, 0), 1) for j in range(i + 1, t)]
            assert found[t, i].item() == pytest.approx(math.prod(alphas) if i < t else 0.0, abs=1e-9)


@pytest.mark.parametrize("kind", [PRPN, OrderedLSTM])
def test_no_model_looks_ahead_or_at_padding(kind: type[LanguageModel]) -> None:
    torch.manual_seed(0)
    model = kind(SMALL, 12).eval()
    vectors = torch.randn(2, 6, 32)
    changed = torch.cat([vectors[:, :4], torch.randn(2, 2, 32)], 1)
    for before, after in zip(model.read(vectors), model.read(changed), strict=True):
        assert torch.allclose(before[:, :4], after[:, :4], atol=1e-6)
        assert not torch.allclose(before[:, 4:], after[:, 4:], atol=1e-3)


def test_loss_counts_each_word_and_one_end_and_no_padding() -> None:
    torch.manual_seed(0)
    model = PRPN(SMALL, 12).eval()
    words = torch.tensor([[3, 4, 5, 6], [7, 8, 0, 0]])
    together = model.loss(words)[0].item()
    alone = model.loss(words[:1])[0].item() * 5, model.loss(words[1:, :2])[0].item() * 3
    assert together == pytest.approx(sum(alone) / 8, rel=1e-5)


def test_master_gates_keep_long_memory_first() -> None:
    torch.manual_seed(0)
    cell = OrderedCell(32)
    _, _, keep = cell.step(torch.randn(5, 4 * 32 + 8), torch.zeros(5, 32))
    assert (keep.diff(dim=1) >= 0).all() and torch.allclose(keep[:, -1], torch.ones(5))
    states, distances = cell(torch.randn(2, 4, 32))
    assert states.shape == (2, 4, 32) and ((distances >= 0) & (distances < 1)).all()


def chain(count: int) -> Captions:
    """Each word all but decides the next, so that a model that reads beats the frequencies of words."""
    rng = np.random.default_rng(0)
    sentences = []
    for _ in range(count):
        start = int(rng.integers(8))
        sentences.append(tuple(f"w{(start + 3 * k) % 8}" for k in range(int(rng.integers(3, 9)))))
    return Captions(tuple(sentences), np.zeros(count, dtype=np.int64), np.zeros((1, 1), dtype=np.float32))


@pytest.mark.parametrize("kind", [PRPN, OrderedLSTM])
def test_training_learns_what_follows_what(kind: type[LanguageModel]) -> None:
    captions = chain(320)
    parser = learn_language(kind, captions, 0, Options(device="cpu"), SMALL)
    words = torch.from_numpy(np.stack([parser.vocabulary.encode(s) for s in captions.sentences if len(s) == 6]))
    assert parser.model.loss(words)[0].item() < 1.0  # ln 8 = 2.08 by frequencies; about 0.5 where all is known


def test_models_learn_by_their_names() -> None:
    for module in (prpn, on_lstm):
        parser = module.learn(chain(64), 0, Options(epochs=1, device="cpu"), SMALL)
        assert parser.spans([("w1", "w4"), ("w1",)]) == [[(0, 2)], []]


def test_too_few_captions_are_refused() -> None:
    with pytest.raises(DataError, match="fewer than two captions of 2 or more words"):
        prpn.learn(chain(1), 0, Options(device="cpu"), SMALL)
