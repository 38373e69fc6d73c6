import numpy as np

from groundling.backbones.log_mel import log_mel
from groundling.worlds.spoken_captions import make_spoken_world
from groundling.worlds.spoken_synthesis import Speaker, speak


def test_a_spoken_world_is_the_same_each_time() -> None:
    first, second = make_spoken_world(3, seed=4), make_spoken_world(3, seed=4)
    assert np.array_equal(first.clip(2).samples, second.clip(2).samples)
    assert not np.array_equal(first.clip(2).samples[:4000], make_spoken_world(3, seed=5).clip(2).samples[:4000])


def test_words_fill_the_speech_without_pauses() -> None:
    world = make_spoken_world(4, seed=0)
    for i, clip in enumerate(world.clips()):
        assert clip.words.words == world.trees[i].words
        ends = [s.end for s in clip.words.segments[:-1]]
        assert ends == [s.start for s in clip.words.segments[1:]]
        assert clip.words.duration == len(clip.samples) / 16000
        loud = np.sqrt(np.mean(clip.samples[int(clip.words.segments[0].start * 16000) : -2400] ** 2))
        assert loud > 10 * np.sqrt(np.mean(clip.samples[:480] ** 2))


def test_a_word_sounds_more_like_itself_than_like_another() -> None:
    rng = np.random.default_rng(0)
    slow = Speaker(120, 1.0, 1.1, 0.001)
    other = Speaker(200, 1.05, 1.1, 0.001)

    def sound(word: str, speaker: Speaker) -> np.ndarray:
        return log_mel(speak((word,), speaker, rng).samples).max(0)

    words = ("square", "purple", "circle")
    first, second = [sound(w, slow) for w in words], [sound(w, other) for w in words]
    distance = np.array([[np.linalg.norm(a - b) for b in second] for a in first])
    assert distance.argmin(1).tolist() == [0, 1, 2]


def test_no_punctuation_is_spoken() -> None:
    world = make_spoken_world(5, seed=1)
    assert all(word.isalpha() for tree in world.trees for word in tree.words)
