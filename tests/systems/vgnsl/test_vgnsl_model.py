from pathlib import Path

import numpy as np
import pytest
import torch

from groundling.errors import DataError, FormatError
from groundling.systems.vgnsl import Captions, Model, learn_vectors, read_captions, read_vectors
from groundling.systems.vgnsl.concreteness import correlation, read_norms, word_concreteness
from groundling.systems.vgnsl.data import read_features
from groundling.systems.vgnsl.retrieval import recalls, retrieval
from groundling.systems.vgnsl.vectors import write_vectors
from groundling.systems.vgnsl.words import Vocabulary, pad, tokenise
from groundling.training.batching import batches_by_length


def test_saved_model_parses_alike(model: Model, saved: Path, captions: Captions) -> None:
    loaded = Model.load(saved)
    assert loaded.vocabulary == model.vocabulary and loaded.config == model.config
    assert list(loaded.parse(captions.sentences)) == list(model.parse(captions.sentences))


def test_parse_gives_binary_trees_over_the_words_in_order(model: Model) -> None:
    sentences = [("a", "red", "square"), ("zebra",), ("unheard", "of", "words", "here"), ("a", "ring")]
    trees = list(model.parse(iter(sentences)))
    assert [tree.words for tree in trees] == sentences
    assert [len(tree.labels) for tree in trees] == [2, 1, 3, 1]
    assert str(trees[1]) == "( zebra )"


def test_parse_of_nothing_is_nothing(model: Model) -> None:
    assert list(model.parse([])) == []


def test_an_empty_sentence_is_named(model: Model) -> None:
    with pytest.raises(DataError, match="sentence 2 has no words"):
        list(model.parse([("a",), ()]))


def test_batching_does_not_change_trees(model: Model, captions: Captions) -> None:
    alone = [next(iter(model.parse([words]))) for words in captions.sentences[:20]]
    assert alone == list(model.parse(captions.sentences[:20]))


def test_threads_do_not_change_spans(model: Model, captions: Captions) -> None:
    many = (captions.sentences * 4)[:600]  # several batches
    for one, two in zip(model.spans(many, n_jobs=1), model.spans(many, n_jobs=2), strict=True):
        assert np.array_equal(one, two)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("A man's dog.", ["A", "man", "'s", "dog", "."]),
        ("doesn't", ["does", "n't"]),
        ("A t-shirt, 3.5 m", ["A", "t-shirt", ",", "3.5", "m"]),
        ("l'homme près d’un chien", ["l", "'", "homme", "près", "d", "'", "un", "chien"]),
        ("", []),
        ('"Hi!" (there)', ['"', "Hi", "!", '"', "(", "there", ")"]),
    ],
)
def test_tokens_of_raw_text(text: str, tokens: list[str]) -> None:
    assert list(tokenise(text)) == tokens


def test_rare_words_are_unknown() -> None:
    words = Vocabulary.of([["A", "dog"], ["a", "cat"]], min_count=2)
    assert words.encode(["a", "A", "dog", "emu"]).tolist() == [2, 2, 1, 1]
    assert Vocabulary.of([["A"], ["a"]], 2, lowercase=False).words == ("<pad>", "<unk>")


def test_padding_puts_words_first() -> None:
    words, lengths = pad([np.array([5, 6]), np.array([7])])
    assert words.tolist() == [[5, 6], [7, 0]] and lengths.tolist() == [2, 1]


def test_batches_hold_every_caption_once_and_are_of_like_length() -> None:
    lengths = np.random.default_rng(0).integers(2, 20, 1000)
    found = list(batches_by_length(lengths, 32, np.random.default_rng(1)))
    assert sorted(np.concatenate(found).tolist()) == list(range(1000))
    spread = np.mean([lengths[batch].max() - lengths[batch].min() for batch in found])
    assert spread < 2


def test_recalls_count_any_caption_of_an_image() -> None:
    similarity = np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3], [0.95, 0.1]])  # captions 0, 1 | 2, 3
    found = recalls(similarity, np.array([0, 0, 1, 1]))
    assert found["t2i R@1"] == 25 and found["t2i R@5"] == 100
    assert found["i2t R@1"] == 0  # caption 3 beats image 0's best, caption 1 beats image 1's
    assert found["rsum"] == pytest.approx(25 + 0 + 4 * 100)


def test_retrieval_after_training_beats_chance(model: Model, captions: Captions) -> None:
    assert retrieval(model, captions)["t2i R@10"] > 1.5 * 1000 / 80


def test_concreteness_is_measured_for_every_known_word(model: Model, captions: Captions) -> None:
    found = word_concreteness(model, captions)
    assert set(found) == set(model.vocabulary.words[2:])
    assert all(value >= 0 for value in found.values())
    value, count = correlation(found, {**found, "unheard": 1.0}, captions.sentences, 10)
    assert value == pytest.approx(1) and count == 10


def test_correlation_needs_words() -> None:
    with pytest.raises(DataError, match="0 words have both"):
        correlation({}, {}, [])


def test_norms_are_read_and_faults_named(tmp_path: Path) -> None:
    path = tmp_path / "norms.txt"
    path.write_text("Word\tBigram\tConc.M\nDog\t0\t4.9\n")
    assert read_norms(path) == {"dog": 4.9}
    path.write_text("Word\tBigram\tConc.M\nDog\t0\tmuch\n")
    with pytest.raises(FormatError, match=r"norms.txt:2: no word with a rating"):
        read_norms(path)
    path.write_text("dog 4\n")
    with pytest.raises(FormatError, match=r"no columns 'Word' and 'Conc\.M'"):
        read_norms(path)


def test_captions_and_features_must_fit(tmp_path: Path) -> None:
    np.save(tmp_path / "f.npy", np.ones((2, 3)))
    (tmp_path / "c.txt").write_text("a dog\na cat\na b\n")
    with pytest.raises(DataError, match=r"3 captions cannot be shared by the 2 images .*--rows"):
        read_captions(tmp_path / "c.txt", tmp_path / "f.npy")
    (tmp_path / "rows.txt").write_text("0\n1\n1\n")
    assert read_captions(tmp_path / "c.txt", tmp_path / "f.npy", tmp_path / "rows.txt").images.tolist() == [0, 1, 1]
    (tmp_path / "rows.txt").write_text("0\n1\n7\n")
    with pytest.raises(DataError, match=r"images 0 \.\. 7, but there are features of 2"):
        read_captions(tmp_path / "c.txt", tmp_path / "f.npy", tmp_path / "rows.txt")
    (tmp_path / "rows.txt").write_text("0\nx\n1\n")
    with pytest.raises(FormatError, match=r"rows.txt:2: 'x' is not an image number"):
        read_captions(tmp_path / "c.txt", tmp_path / "f.npy", tmp_path / "rows.txt")
    (tmp_path / "rows.txt").write_text("0\n")
    with pytest.raises(DataError, match="3 captions but 1 image numbers"):
        read_captions(tmp_path / "c.txt", tmp_path / "f.npy", tmp_path / "rows.txt")
    (tmp_path / "c.txt").write_text("a dog\n\n")
    with pytest.raises(DataError, match=r"c.txt:2: an empty caption"):
        read_captions(tmp_path / "c.txt", tmp_path / "f.npy")


def test_consecutive_captions_share_an_image(tmp_path: Path) -> None:
    np.savez(tmp_path / "f.npz", features=np.ones((2, 3), dtype=np.float16))
    (tmp_path / "c.txt").write_text("a\nb\nc\nd\n")
    assert read_captions(tmp_path / "c.txt", tmp_path / "f.npz").images.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("array", "message"),
    [(np.ones(3), "shape"), (np.full((2, 2), np.nan), "NaN"), (np.array([["a"]]), "numbers"), (None, "no readable")],
)
def test_odd_features_are_refused(tmp_path: Path, array: np.ndarray | None, message: str) -> None:
    path = tmp_path / "f.npy"
    path.write_bytes(b"junk") if array is None else np.save(path, array)
    with pytest.raises(FormatError, match=message):
        read_features(path)


def test_features_file_without_the_array_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "f.npz", images=np.ones((1, 1)))
    with pytest.raises(FormatError, match="no array called 'features'"):
        read_features(tmp_path / "f.npz")


def test_vectors_are_read_back_and_cut_to_unit_length(tmp_path: Path) -> None:
    made = learn_vectors([("a", "dog", "runs"), ("a", "cat", "runs"), ("the", "dog", "sleeps")] * 3, dim=4)
    write_vectors(tmp_path / "x.vec", made)
    again = read_vectors(tmp_path / "x.vec")
    assert again.words == made.words and np.allclose(again.matrix, made.matrix, atol=1e-3)
    assert np.allclose(np.linalg.norm(again.matrix, axis=1), 1, atol=1e-3)
    assert read_vectors(tmp_path / "x.vec", only=frozenset({"dog"})).words == ("dog",)
    assert np.array_equal(made.rows(["emu"]), np.zeros((1, 4), dtype=np.float32))


@pytest.mark.parametrize(
    ("text", "message"), [("a 1 2\nb 1\n", ":2: 1 numbers, expected 2"), ("a x\n", ":1: not a word"), ("", "holds no")]
)
def test_broken_vector_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "x.vec").write_text(text)
    with pytest.raises(FormatError, match=message):
        read_vectors(tmp_path / "x.vec")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_gpu_and_cpu_parse_alike(model: Model, saved: Path, captions: Captions) -> None:
    there = Model.load(saved)
    there.learner.cuda()
    assert list(there.parse(captions.sentences)) == list(model.parse(captions.sentences))
