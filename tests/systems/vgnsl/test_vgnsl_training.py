from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from groundling.algorithms.branching import left_branching, random_binary, right_branching
from groundling.errors import ConfigError, DataError
from groundling.experiments.demo_vgnsl import f1, learn
from groundling.systems.vgnsl import Captions, Config, Model, Vectors, train
from groundling.systems.vgnsl.learner import Batch, Learner
from groundling.systems.vgnsl.train import _rate
from groundling.training.runs import RunFolder
from groundling.worlds.captions import make_world

SMALL = Config(embedding_dim=32, scorer_hidden_dim=16, epochs=2, batch_size=32, min_count=1, learning_rate=2e-3)


def test_vision_teaches_syntax_and_wrong_pictures_do_not() -> None:
    """The issue's claim: 20 F1 over random and over both branchings; most of it is lost with shuffled pictures."""
    rng = np.random.default_rng(5)
    world, test = make_world(780, rng).split(700)
    _, curve = learn(world, test, seed=0)
    _, blind = learn(world._replace(images=rng.permutation(world.images)), test, seed=0)
    words = [tree.words for tree in test.trees]
    random = f1(test.trees, [random_binary(w, rng) for w in words])
    branching = max(f1(test.trees, [branch(w) for w in words]) for branch in (left_branching, right_branching))
    gain = curve[-1] - max(random, branching)
    assert gain >= 20
    assert blind[-1] - max(random, branching) < gain / 2


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"negatives": "aligned"},
        {"bias": 0.0},
        {"head": "final"},
        {"share_gradient": True},
        {"scorer_schedule": "linear"},
    ],
)
def test_every_setting_trains_with_finite_numbers(captions: Captions, change: dict[str, object]) -> None:
    config = replace(SMALL, **change)  # pyright: ignore[reportArgumentType]
    trained = train(replace(config, epochs=1), captions, seed=0, device="cpu")
    assert all(torch.isfinite(tensor).all() for tensor in trained.learner.state_dict().values())


def test_loss_falls(captions: Captions, tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run") as run:
        train(replace(SMALL, epochs=5), captions, seed=0, run=run, device="cpu")
        losses = [record["matching"] for record in run.read_metrics()]
    assert losses[-1] < 0.9 * losses[0]
    kept = Model.load(tmp_path / "run")
    assert set(kept.info["concreteness"]) == set(kept.vocabulary.words[2:])  # pages colour words by it


def test_a_resumed_run_ends_like_an_unbroken_one(captions: Captions, tmp_path: Path) -> None:
    config = replace(SMALL, epochs=3)
    with RunFolder(tmp_path / "whole") as run:
        whole = train(config, captions, seed=3, run=run, device="cpu")

    class Stop(Exception):
        pass

    seen: list[int] = []

    def interrupt(_: Model) -> dict[str, float]:
        seen.append(1)
        if len(seen) == 2:
            raise Stop
        return {}

    with pytest.raises(Stop), RunFolder(tmp_path / "cut") as run:
        train(config, captions, seed=3, run=run, watch=interrupt, device="cpu")
    with RunFolder(tmp_path / "cut", resume=True) as run:
        resumed = train(config, captions, seed=3, run=run, device="cpu")
    for name, tensor in whole.learner.state_dict().items():
        assert torch.equal(tensor, resumed.learner.state_dict()[name]), name


def test_same_seed_same_model_and_another_seed_another(captions: Captions, model: Model) -> None:
    again, other = train(SMALL, captions, seed=0, device="cpu"), train(SMALL, captions, seed=1, device="cpu")
    assert torch.equal(model.learner.embedding.weight, again.learner.embedding.weight)
    assert not torch.equal(model.learner.embedding.weight, other.learner.embedding.weight)


def test_reward_reaches_the_words_only_if_asked() -> None:
    """The thesis trains Theta alone by the reward; the program's other way is the option share_gradient."""
    grads: list[float] = []
    for share in (False, True):
        config = replace(SMALL, share_gradient=share, margin=-5.0)  # margin so low that the hinge loss is flat
        torch.manual_seed(0)
        learner = Learner(config, 9, 4)
        batch = Batch(torch.randint(2, 9, (4, 5)), torch.full((4,), 5), torch.randn(4, 4), torch.arange(4))
        learner.loss(batch, torch.Generator().manual_seed(0))[0].backward()
        grad = learner.embedding.weight.grad
        grads.append(0.0 if grad is None else float(grad.abs().sum()))
    assert grads[0] == 0 < grads[1]


def test_the_rate_of_the_score_network_can_fall_to_nothing() -> None:
    config = Config(epochs=4, drop_epoch=3, scorer_schedule="linear")
    assert [_rate(config, "scorer", epoch) for epoch in range(4)] == pytest.approx([1, 0.75, 0.5, 0.025])
    assert [_rate(config, "image", epoch) for epoch in range(4)] == pytest.approx([1, 1, 1, 0.1])


def test_given_vectors_stay_fixed_and_give_unseen_words_a_place(captions: Captions) -> None:
    words = sorted({word for sentence in captions.sentences for word in sentence})
    given = Vectors((*words, "hexagon"), np.random.default_rng(0).normal(size=(len(words) + 1, 8)).astype(np.float32))
    trained = train(replace(SMALL, epochs=1), captions, seed=0, vectors=given, device="cpu")
    row = trained.vocabulary.numbers["hexagon"]
    assert np.array_equal(trained.learner.vectors[row].numpy(), given.matrix[-1])
    assert trained.learner.embedding.weight.shape[1] == SMALL.embedding_dim - 8


def test_vectors_wider_than_the_embedding_are_refused(captions: Captions) -> None:
    given = Vectors(("a",), np.ones((1, 32), dtype=np.float32))
    with pytest.raises(ConfigError, match="word vectors have 32 numbers; embedding_dim is 32"):
        train(SMALL, captions, seed=0, vectors=given, device="cpu")


def test_nothing_to_learn_from_is_an_error(captions: Captions) -> None:
    with pytest.raises(DataError, match="fewer than two captions"):
        train(SMALL, captions.take(np.array([0])), seed=0, device="cpu")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bias": -1.0}, "bias is -1.0"),
        ({"batch_size": 1}, "needs others"),
        ({"epochs": 0}, "epochs is 0"),
    ],
)
def test_settings_out_of_range_are_refused(change: dict[str, float], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Config(**change)  # pyright: ignore[reportArgumentType]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_gpu_and_cpu_have_the_same_loss(captions: Captions) -> None:
    """Of captions of two words, which have one tree: nothing is left to chance, which differs between the two."""
    torch.manual_seed(0)
    words = torch.randint(2, 9, (16, 2))
    batch = Batch(words, torch.full((16,), 2), torch.randn(16, 4), torch.arange(16))
    learner = Learner(SMALL, 9, 4)
    here = learner.loss(batch, torch.Generator().manual_seed(0))
    moved = Batch(*(part.cuda() for part in batch[:4]))
    there = learner.cuda().loss(moved, torch.Generator("cuda").manual_seed(0))
    assert here[0].item() == pytest.approx(there[0].item(), rel=1e-4)
    assert here[1]["reward"].item() == pytest.approx(there[1]["reward"].item(), rel=1e-3)
