from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from groundling.errors import MissingExtraError
from groundling.experiments import avnsl_german
from groundling.experiments.avnsl_multi30k import PLAN, prepare_multi30k, run, spread_captions
from groundling.neural.compound_pcfg import CompoundConfig
from groundling.systems.vgnsl.data import Captions
from groundling.worlds.spoken_espeak import espeak_voice

pytest.importorskip("soxr")


@pytest.fixture
def spoken() -> None:
    try:
        espeak_voice("en-us")
    except MissingExtraError as error:
        pytest.skip(str(error))


def test_every_image_has_a_caption_before_any_has_two() -> None:
    captions = Captions((("a",),) * 9, np.repeat([0, 1, 2], 3), np.zeros((3, 2), dtype=np.float32))
    chosen = spread_captions(captions, 6, np.random.default_rng(0))
    assert len(set(chosen.tolist())) == 6
    assert sorted(captions.images[chosen[:3]]) == sorted(captions.images[chosen[3:]]) == [0, 1, 2]


@pytest.mark.usefixtures("spoken")
def test_multi30k_is_spoken_with_words_and_trees_in_seconds(data_dir: Path) -> None:
    material = prepare_multi30k(data_dir, 3, 2, seed=0)
    assert len(material.training.sounds) == 3 and len(material.gold_trees) == 2
    assert len(set(material.training.images.tolist())) == 3
    for words, tree, sound in zip(material.words, material.trees, material.data.sounds, strict=True):
        assert tree.unit == "seconds" and len(tree.words) == len(words.segments)
        assert all(any(c.isalnum() for c in word) for word in tree.words)
        assert words.segments[-1].end == pytest.approx(sound.duration, abs=0.1)


@pytest.mark.slow
@pytest.mark.usefixtures("spoken")
def test_the_tables_are_made_and_kept(data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = replace(
        PLAN.config, encoder_dim=16, encoder_heads=2, encoder_epochs=1, encoder_batch_size=16, embedding_dim=16,
        hidden_dim=16, epochs=1, batch_size=16, benepar_epochs=1, benepar_dim=8,
    )  # fmt: skip
    grammar = CompoundConfig(nonterminals=2, preterminals=3, z_dim=2, state_dim=4, encoder_dim=4, epochs=1)
    plan = replace(PLAN, config=tiny, units=5, grammar=grammar, device="cpu")
    rows = run(data_dir, tmp_path / "avnsl-multi30k", (0,), training=40, test=6, plan=plan)
    names = [row.name for row in rows]
    assert "trees, AV-NSL, MBR, Struct-IoU" in names and "oracle words, random images, F1" in names
    assert all("40 training and 6 test" in row.note or "Cut" in row.note for row in rows)
    trees = prepare_multi30k(data_dir, 1, 6, 0).gold_trees
    monkeypatch.setattr(avnsl_german, "german_references", lambda _: list(trees))  # the aligner is tested elsewhere
    german = avnsl_german.run(data_dir, tmp_path / "avnsl-german", (0,), training=40, test=6, plan=plan)
    assert {row.name: row.thesis for row in german}["German trees, AV-NSL, MBR, Struct-IoU"] == 0.487
