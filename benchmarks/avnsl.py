"""AV-NSL's parts: DPDP against the 45 ms of the program it replaces, features and segmentation against real time."""

import numpy as np
import torch

from benchmarks import Row, against, best_of
from groundling.algorithms.dpdp import dpdp
from groundling.backbones.log_mel import log_mel
from groundling.systems.avnsl import Config, Model
from groundling.systems.avnsl.encoder import build_encoder
from groundling.systems.avnsl.induce import Segmented
from groundling.systems.avnsl.learner import Learner
from groundling.systems.avnsl.model import Network
from groundling.worlds.spoken_captions import make_spoken_world

DPDP_SECONDS, STEP_SECONDS = 0.045, 1.0  # 250 frames; 128 captions of 12 words


def run() -> list[Row]:
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    frames, codes = rng.normal(size=(250, 64)), rng.normal(size=(100, 64))
    dpdp(frames, codes)  # compiled
    repeated = best_of(lambda: [dpdp(frames, codes) for _ in range(20)]) / 20
    clips = [clip.samples for clip in make_spoken_world(20, seed=0).clips()]
    spoken = sum(map(len, clips)) / 16_000
    config = Config()
    model = Model(config, Network(build_encoder(config, 128), Learner(config, config.encoder_dim, 128)))
    return [
        against("DPDP, 250 frames x 100 codes", repeated, DPDP_SECONDS, 10.0),
        against("log-Mel, a second of speech", best_of(lambda: [log_mel(c) for c in clips]) / spoken, 1.0, 100.0),
        against("log-Mel to words, a second of speech", best_of(lambda: model.segment(clips)) / spoken, 1.0, 100.0),
        against("training step, 128 x 12 segments, 512 dimensions", training_step(rng), STEP_SECONDS),
    ]


def training_step(rng: np.random.Generator) -> float:
    rows = [rng.normal(size=(12, 64)).astype(np.float32) for _ in range(128)]
    features = rng.normal(size=(128, 128)).astype(np.float32)
    data = Segmented(rows, np.full(128, 12), np.arange(128), features)
    learner = Learner(Config(embedding_dim=512, scorer_hidden_dim=128), 64, 128)
    batch, generator = data.batch(np.arange(128), torch.device("cpu")), torch.Generator()
    return best_of(lambda: learner.loss(batch, generator)[0].backward())
