"""PMI and concreteness trees."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.systems.vgnsl.baselines import Options, train
from groundling.systems.vgnsl.baselines.concreteness import ConcretenessTrees, mutual_neighbours, spans_by_concreteness
from groundling.systems.vgnsl.baselines.pmi import PMI, SMOOTH
from groundling.systems.vgnsl.data import Captions

values = st.lists(st.integers(-20, 20).map(float), min_size=1, max_size=8)


def captions_of(sentences: list[str], images: int = 1) -> Captions:
    words = tuple(tuple(sentence.split()) for sentence in sentences)
    return Captions(words, np.arange(len(words)) % images, np.zeros((images, 2), dtype=np.float32))


def test_pmi_distance_is_hand_worked() -> None:
    parser = train("pmi", captions_of(["a b", "a b", "a b", "c b", "c b", "c b"]), seed=0)
    assert isinstance(parser, PMI)  # 5 words with padding and unknown; six pairs
    expected = math.log((3 + SMOOTH * 5) * (6 + SMOOTH * 5)) - math.log((3 + SMOOTH) * (6 + SMOOTH * 25))
    assert parser.distances(["a", "b"]).tolist() == pytest.approx([expected])


def test_pmi_keeps_words_together_that_come_together() -> None:
    parser = train(
        "pmi", captions_of(["new york x", "x new york", "new york y", "y new york", "x y", "y x"] * 3), seed=0
    )
    assert str(parser.parse([("x", "new", "york", "y")])[0]) in ("( ( x ( new york ) ) y )", "( x ( ( new york ) y ) )")


def tree_of_the_thesis(a: list[float], tau: float) -> list[tuple[int, int]]:
    """Algorithm 3.2 line by line, 1-based and inclusive as printed, then turned into our spans."""
    left, right, found = list(range(1, len(a) + 1)), list(range(1, len(a) + 1)), []
    while len(a) > 1:
        scores = [a[j] + tau * a[j + 1] for j in range(len(a) - 1)]
        p = scores.index(max(scores))
        found.append((left[p] - 1, right[p + 1]))
        a = [*a[:p], (a[p] + a[p + 1]) / 2, *a[p + 2 :]]
        left = [*left[:p], left[p], *left[p + 2 :]]
        right = [*right[:p], right[p + 1], *right[p + 2 :]]
    return found


@given(values, st.sampled_from([1.0, 2.0, 20.0]))
@settings(max_examples=100, deadline=None)
def test_concreteness_trees_are_those_of_algorithm_3_2(a: list[float], tau: float) -> None:
    found = spans_by_concreteness(a, tau)
    assert found == tree_of_the_thesis(a, tau)
    assert len(set(found)) == len(a) - 1
    assert spans_by_concreteness([4 * x + 8 for x in a], tau) == found  # normalising changes nothing


def test_a_word_without_a_value_is_as_abstract_as_any() -> None:
    trees = ConcretenessTrees({"a": 1.0, "cat": 5.0, "mat": 4.0}, tau=20.0)
    assert str(trees.parse([("A", "cat", "upon", "a", "mat")])[0]) == "( ( A cat ) ( upon ( a mat ) ) )"


@given(st.integers(0, 1000))
@settings(max_examples=15, deadline=None)
def test_mutual_neighbours_equal_counting_one_by_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sentences = [tuple(rng.choice(list("abcd"), 3)) for _ in range(24)]
    images, features = np.arange(24) // 2 + 1, rng.standard_normal((14, 4)).astype(np.float32)
    found = mutual_neighbours(sentences, images, features, neighbours=3, min_count=1)
    used = sorted(set(images.tolist()))
    centred = features[used] - features[used].mean(0)
    units = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    near = [sorted((j for j in range(12) if j != i), key=lambda j: -units[i] @ units[j])[:3] for i in range(12)]
    for word in found:
        own = {used.index(i) for s, i in zip(sentences, images.tolist(), strict=True) if word in s}
        observed = sum(j in own for i in own for j in near[i])
        assert found[word] == pytest.approx((observed + 1) / (len(own) * 3 * (len(own) - 1) / 11 + 1))


def test_a_word_of_similar_images_is_more_concrete_than_one_of_any_image() -> None:
    rng = np.random.default_rng(1)
    kind = rng.integers(0, 4, 200)
    features = (np.eye(4)[kind] * 3 + rng.standard_normal((200, 4))).astype(np.float32)
    sentences = [("the", ("cat", "dog", "car", "tree")[k]) for k in kind]
    found = mutual_neighbours(sentences, np.arange(200), features, neighbours=20)
    assert min(found["cat"], found["tree"]) > 2 > found["the"]


def test_trees_without_images_and_with_them_differ_by_what_they_read() -> None:
    captions = captions_of(["a cat sits", "a dog sits", "a cat sits"], images=3)
    assert train("hessel", captions, seed=0, options=Options()).parse([("a", "cat")])[0].words == ("a", "cat")
