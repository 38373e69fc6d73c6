import numpy as np
import pytest

from groundling.errors import ConfigError, DataError, MissingExtraError
from groundling.worlds.spoken_captions import make_spoken_world, voice_called
from groundling.worlds.spoken_espeak import _times, speak_espeak

pytest.importorskip("soxr")


@pytest.fixture(autouse=True)
def espeak() -> None:
    try:
        voice_called("espeak")
    except MissingExtraError as error:
        pytest.skip(str(error))


def test_words_follow_each_other_and_end_with_the_sound() -> None:
    words = "a man of the city stands in front of a large red square".split()
    clip = speak_espeak(words)
    assert clip.words.words == tuple(words)
    lengths = {s.word: s.end - s.start for s in clip.words.segments}
    assert all(0.03 < length < 0.8 for length in lengths.values())
    assert lengths["square"] > lengths["a"]
    assert 0 <= len(clip.samples) / 16000 - clip.words.segments[-1].end <= 0.06


def test_merged_words_share_their_time_by_letters() -> None:
    words = _times(("of", "the", "city"), {1: 0.0, 8: 0.7}, 1.0)
    assert [s.start for s in words] == pytest.approx([0.0, 0.3, 0.7])


def test_german_and_other_voices() -> None:
    clip = voice_called("espeak:de")(("ein", "großer", "Hund"), np.random.default_rng(0))
    assert len(clip.words.segments) == 3 and len(clip.samples) > 8000
    world = make_spoken_world(2, seed=0, voice=voice_called("espeak"))
    first, second = world.clip(1), world.clip(1)
    assert first.words.words == second.words.words
    # eSpeak remembers what it said before: the same words come out some milliseconds longer or shorter.
    assert first.words.boundaries == pytest.approx(second.words.boundaries, abs=0.02)


def test_unknown_voices_are_refused() -> None:
    with pytest.raises(DataError, match="no voice 'klingonese'"):
        speak_espeak(("a",), "klingonese")
    with pytest.raises(ConfigError, match="no voice is called 'loud'"):
        voice_called("loud")
