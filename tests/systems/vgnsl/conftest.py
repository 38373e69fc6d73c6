from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from groundling.systems.vgnsl import Captions, Config, Model, train
from groundling.worlds.captions import CaptionWorld, make_world

SMALL = Config(embedding_dim=32, scorer_hidden_dim=16, epochs=2, batch_size=32, min_count=1, learning_rate=2e-3)


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    """Small matrices are slower on two threads, and the tests themselves run two at a time."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def world() -> CaptionWorld:
    return make_world(80, np.random.default_rng(0))


@pytest.fixture(scope="session")
def captions(world: CaptionWorld) -> Captions:
    return Captions(world.sentences, world.images, world.features)


@pytest.fixture(scope="session")
def model(captions: Captions) -> Model:
    return train(SMALL, captions, seed=0, device="cpu")


@pytest.fixture(scope="session")
def saved(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vgnsl") / "model"
    model.save(folder)
    return folder
