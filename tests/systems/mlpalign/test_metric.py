"""The learnt metric: it forgets what differs between languages, and equals itself however it is applied."""

import numpy as np
import pytest
import torch

from groundling.algorithms.mutual_argmax import argmax
from groundling.backbones.text import Encoded, encode
from groundling.systems.mlpalign.metric import learn_metric, mixed
from groundling.systems.mlpalign.similarity import similarity, vectors_of
from groundling.systems.mlpalign.streams import Pair
from systems.mlpalign.toy_encoder import ToyEncoder, toy_pairs

LAYERS, DIM = 2, 12


def noisy_pairs(count: int, seed: int = 0) -> list[Pair]:
    """Word i means word i; four of the twelve directions are noise, half as loud again as the meaning."""
    generator = torch.Generator().manual_seed(seed)
    loud = torch.ones(DIM)
    loud[8:] = 1.5
    pairs: list[Pair] = []
    for _ in range(count):
        meaning = torch.randn(6, DIM, generator=generator)
        sides = []
        for _ in range(2):
            noise = torch.randn(LAYERS, 6, DIM, generator=generator)
            quiet = meaning + 0.3 * noise
            sides.append(Encoded(torch.where(torch.arange(DIM) < 8, quiet, loud * noise), np.arange(6)))
        pairs.append(Pair(["a"] * 6, ["b"] * 6, (sides[0], sides[1])))
    return pairs


def right(pairs: list[Pair]) -> float:
    links = [argmax(similarity(*(vectors_of(side, "subword") for side in pair.encoded), centre=True)) for pair in pairs]
    return sum(np.trace(found) for found in links) / (6 * len(pairs))


def test_the_metric_forgets_directions_that_only_differ() -> None:
    mix = learn_metric(noisy_pairs(120), rank=12)
    assert mix.shape == (LAYERS, DIM, 12)
    unseen = noisy_pairs(60, seed=1)
    plain, mapped = right(unseen), right([mixed(pair, mix) for pair in unseen])
    assert plain < 0.8 and mapped > 0.93


def test_rank_is_at_most_what_there_is_and_equal_sides_are_no_trouble() -> None:
    pairs = noisy_pairs(20)
    same = [pair._replace(encoded=(pair.encoded[0], pair.encoded[0])) for pair in pairs]
    mix = learn_metric(same, rank=500)
    assert mix.shape == (LAYERS, DIM, LAYERS * DIM)
    assert torch.isfinite(mix).all()


@pytest.mark.parametrize("layers", [(0,), (3, 7)])
def test_mixing_while_encoding_equals_mixing_after(layers) -> None:
    encoder, (pairs, _) = ToyEncoder(), toy_pairs(3)
    mix = torch.randn(len(layers), encoder.dim, 5, generator=torch.Generator().manual_seed(0))
    for source, target in pairs:
        while_encoding = encode(encoder, [source, target], layers, mix=mix)
        both = encode(encoder, [source, target], layers)
        after = mixed(Pair(source, target, (both[0], both[1])), mix)
        for ours, theirs in zip(while_encoding, after.encoded or (), strict=True):
            assert ours.vectors.shape == (1, len(source), 5)
            torch.testing.assert_close(ours.vectors, theirs.vectors, rtol=1e-4, atol=1e-4)
