"""Nearest neighbours by faiss are those by blocks of torch."""

import numpy as np
import pytest
import torch

from groundling.systems.mlpalign import mining


@pytest.mark.parametrize(("queries", "keys"), [(7, 300), (300, 7), (150, 150)])
def test_faiss_agrees_with_torch(monkeypatch, queries: int, keys: int) -> None:
    pytest.importorskip("faiss")
    generator = torch.Generator().manual_seed(0)
    first, second = (
        torch.nn.functional.normalize(torch.randn(n, 16, generator=generator), dim=1) for n in (queries, keys)
    )
    by_torch = mining.nearest(first, second, 4)
    monkeypatch.setattr(mining, "MANY", 100)
    by_faiss = mining.nearest(first, second, 4)
    assert (by_faiss.places == by_torch.places).all()
    np.testing.assert_allclose(by_faiss.cosine, by_torch.cosine, atol=1e-5)


@pytest.mark.slow
def test_faiss_is_taken_above_a_hundred_thousand(monkeypatch) -> None:
    faiss = pytest.importorskip("faiss")
    generator = torch.Generator().manual_seed(0)
    keys = torch.nn.functional.normalize(torch.randn(mining.MANY + 1, 8, generator=generator), dim=1)
    by_faiss = mining.nearest(keys[:50], keys, 3)
    assert (by_faiss.places[:, 0] == np.arange(50)).all()
    monkeypatch.setattr(faiss, "IndexFlatIP", None)  # torch must not need it
    monkeypatch.setattr(mining, "MANY", 10**9)
    by_torch = mining.nearest(keys[:50], keys, 3)
    assert (by_faiss.places == by_torch.places).all()
