from pathlib import Path

import pytest

from groundling.errors import MissingExtraError
from groundling.experiments.avnsl_multi30k import prepare_multi30k


def test_multi30k_is_spoken_with_words_and_trees_in_seconds(data_dir: Path) -> None:
    pytest.importorskip("soxr")
    try:
        material = prepare_multi30k(data_dir, 3, 2, seed=0)
    except MissingExtraError as error:
        pytest.skip(str(error))
    assert len(material.training.sounds) == 3 and len(material.gold_trees) == 2
    assert len(set(material.training.images.tolist())) == 3
    for words, tree, sound in zip(material.words, material.trees, material.data.sounds, strict=True):
        assert tree.unit == "seconds" and len(tree.words) == len(words.segments)
        assert all(any(c.isalnum() for c in word) for word in tree.words)
        assert words.segments[-1].end == pytest.approx(sound.duration, abs=0.1)
