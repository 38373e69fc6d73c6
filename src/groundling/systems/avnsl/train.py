"""Train AV-NSL: encoder by retrieval, words from its attention, trees over them, then s-Benepar on those trees."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from groundling.errors import DataError
from groundling.systems.avnsl.benepar import train_benepar
from groundling.systems.avnsl.config import Config
from groundling.systems.avnsl.data import Utterances
from groundling.systems.avnsl.encoder import listen, train_encoder
from groundling.systems.avnsl.induce import parse_spans, train_learner
from groundling.systems.avnsl.model import Model, Network, rows_of, segmented
from groundling.systems.avnsl.segment import Cut, segment_by_attention
from groundling.training.runs import RunFolder

Say = Callable[[str], None]


def train(
    config: Config,
    data: Utterances,
    *,
    seed: int,
    say: Say = lambda _: None,
    folder: str | Path | None = None,
    resume: bool = False,
    device: str = "auto",
) -> Model:
    """Learn to cut and parse speech from recordings and pictures alone (thesis 4.2). Same seed, same bytes.

    With `folder` the two long trainings are saved under it as they go, in `encoder` and `learner`; `resume` takes up
    what is there.
    """

    def part(name: str) -> AbstractContextManager[RunFolder | None]:
        return nullcontext() if folder is None else RunFolder(Path(folder) / name, resume=resume)

    if config.vectors != "encoder" and any(sound.given is None for sound in data.sounds):
        raise DataError(f"the recordings come without frames of {config.vectors!r}. Hear them with `hearer(config)`.")
    say("learning to find pictures by speech")
    with part("encoder") as run:
        if run is not None:
            run.keep_config(config)
        encoder = train_encoder(config, data, seed=seed, run=run, device=device)
    say("cutting speech into words")
    heard = listen(encoder, data.sounds)
    words = [segment_by_attention(s, h, Cut.of(config)) for s, h in zip(data.sounds, heard, strict=True)]
    rows = rows_of(config, heard, words)
    material = segmented(rows, data.images, data.features)
    say("inducing trees")
    with part("learner") as run:
        learner = train_learner(config, material, seed=seed, run=run, device=device)
    again = None
    if config.benepar_epochs:
        say("self-training")
        again = train_benepar(config, rows, parse_spans(learner, material), seed=seed, device=device)
    return Model(config, Network(encoder, learner, again), {"seed": seed, "utterances": len(data.sounds)})
