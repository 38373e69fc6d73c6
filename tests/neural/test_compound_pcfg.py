from itertools import product

import numpy as np
import pytest
import torch

from groundling.errors import DataError
from groundling.neural.compound_pcfg import CompoundConfig, CompoundPCFG, train_compound_pcfg
from groundling.neural.inside import inside

SMALL = CompoundConfig(
    nonterminals=3, preterminals=5, z_dim=4, state_dim=16, encoder_dim=8, epochs=4, learning_rate=1e-2, warm_up=50
)


def language(count: int) -> list[np.ndarray]:
    """Noun phrase (determiner, noun) or a noun alone, then a verb, then a noun phrase."""
    rng = np.random.default_rng(0)

    def phrase() -> list[int]:
        return [int(rng.integers(1, 3)), int(rng.integers(3, 6))] if rng.random() < 0.7 else [int(rng.integers(3, 6))]

    return [np.array([*phrase(), int(rng.integers(6, 8)), *phrase()]) for _ in range(count)]


def test_the_probabilities_of_all_strings_sum_to_less_than_one() -> None:
    torch.manual_seed(0)
    model = CompoundPCFG(SMALL, 4).double()
    z = torch.randn(1, 4, dtype=torch.double)
    total = 0.0
    for length in (2, 3, 4):
        strings = torch.tensor(list(product(range(4), repeat=length)))
        grammar = model.grammar(strings, z.expand(len(strings), -1))
        total += inside(grammar, torch.full((len(strings),), length)).exp().sum().item()
        assert grammar.rules.sum((2, 3)).allclose(torch.ones(1, dtype=torch.double))
    short = model.grammar(torch.zeros(1, 2, dtype=torch.long), z)
    pairs = (short.root[:, :, None] * short.rules[:, :, 3:, 3:].flatten(2)).sum().item()  # p(two words)
    assert pairs < total < 1


def test_training_raises_the_likelihood_and_trees_are_binary() -> None:
    sequences = language(256)
    model = train_compound_pcfg(sequences, 8, SMALL, seed=0, device="cpu")
    untrained = train_compound_pcfg(sequences[:1], 8, CompoundConfig(**{**vars(SMALL), "epochs": 1}), seed=0)
    same = [s for s in sequences if len(s) == 5]
    numbers, lengths = torch.from_numpy(np.stack(same)), torch.full((len(same),), 5)
    after, before = (
        m.loss(numbers, lengths, torch.Generator().manual_seed(0))[1]["nats_per_word"] for m in (model, untrained)
    )
    assert after < 0.75 * before
    spans = model.spans([*sequences[:5], np.array([3])])
    assert [len(set(s)) for s in spans] == [len(s) - 1 for s in sequences[:5]] + [0]


def test_it_learns_that_pairs_embed_pairs() -> None:
    """Words of two kinds, each closed by its own kind in mirrored order: no other bracketing explains them as well."""
    rng = np.random.default_rng(0)
    kinds = [rng.integers(0, 2, 1 + min(int(rng.geometric(0.5)) - 1, 3)) for _ in range(400)]
    sequences = [np.array([*(1 + kind), *(3 + kind[::-1])]) for kind in kinds]
    config = CompoundConfig(**{**vars(SMALL), "nonterminals": 6, "batch_size": 16, "epochs": 2, "z_dim": 2})
    model = train_compound_pcfg(sequences, 5, config, seed=0, device="cpu")
    long = [one for one in sequences if len(one) > 2][:80]
    inner = [
        (k, len(s) - k) in spans
        for s, spans in zip(long, model.spans(long), strict=True)
        for k in range(1, len(s) // 2)
    ]
    assert np.mean(inner) > 0.9


def test_same_seed_gives_the_same_grammar() -> None:
    config = CompoundConfig(**{**vars(SMALL), "epochs": 1})
    first, again = (train_compound_pcfg(language(40), 8, config, seed=5, device="cpu") for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), again.parameters(), strict=True))


def test_symbols_out_of_range_are_refused() -> None:
    with pytest.raises(DataError, match="symbols must be numbers from 1 to 7; 0 is kept for padding"):
        train_compound_pcfg([np.array([1, 8])], 8, SMALL, seed=0)


def test_nothing_to_learn_from_is_refused() -> None:
    with pytest.raises(DataError, match="no sequence of 2 to 30 symbols to learn from"):
        train_compound_pcfg([np.array([1])], 8, SMALL, seed=0)
