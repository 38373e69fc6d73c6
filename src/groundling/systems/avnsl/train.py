"""Train AV-NSL: encoder by retrieval, words from its attention, trees over them, then s-Benepar on those trees."""

from __future__ import annotations

from collections.abc import Callable

from groundling.systems.avnsl.benepar import train_benepar
from groundling.systems.avnsl.config import Config
from groundling.systems.avnsl.data import Utterances
from groundling.systems.avnsl.encoder import listen, train_encoder
from groundling.systems.avnsl.induce import parse_spans, train_learner
from groundling.systems.avnsl.model import Model, Network, rows_of, segmented
from groundling.systems.avnsl.segment import Cut, segment_by_attention

Say = Callable[[str], None]


def train(config: Config, data: Utterances, *, seed: int, say: Say = lambda _: None, device: str = "auto") -> Model:
    """Learn to cut and parse speech from recordings and pictures alone (thesis 4.2). Same seed, same bytes."""
    say("learning to find pictures by speech")
    encoder = train_encoder(config, data, seed=seed, device=device)
    say("cutting speech into words")
    heard = listen(encoder, data.sounds)
    words = [segment_by_attention(s, h, Cut.of(config)) for s, h in zip(data.sounds, heard, strict=True)]
    rows = rows_of(config, heard, words)
    material = segmented(rows, data.images, data.features)
    say("inducing trees")
    learner = train_learner(config, material, seed=seed, device=device)
    again = None
    if config.benepar_epochs:
        say("self-training")
        again = train_benepar(config, rows, parse_spans(learner, material), seed=seed, device=device)
    return Model(config, Network(encoder, learner, again), {"seed": seed, "utterances": len(data.sounds)})
