import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.algorithms.projection import (
    SparseArcs,
    add_dummy_position,
    alignment_matrices,
    mean_of_sources,
    normalise_rows,
    one_to_one,
    project,
    project_arcs,
    project_hard,
    project_labels,
    project_sparse,
)
from groundling.errors import FormatError
from groundling.structures import Alignment, SoftDependencies

seeds = st.integers(0, 10**6)
sizes = st.integers(1, 6)


def random_source(rng: np.random.Generator, n: int, labels: int = 3) -> SoftDependencies:
    arcs = normalise_rows(rng.random((n + 1, n + 1)))
    label = rng.random((n + 1, n + 1, labels))
    return SoftDependencies(
        tuple(f"s{i}" for i in range(n)), arcs, label / label.sum(-1, keepdims=True), tuple("abc"[:labels])
    )


@settings(max_examples=100, deadline=None)
@given(seeds, sizes, sizes)
def test_projection_equals_the_sums_of_the_thesis(seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    a_ts, a_st = normalise_rows(rng.random((m, n))), normalise_rows(rng.random((n, m)))
    arcs = normalise_rows(rng.random((n, n)))
    labels = rng.random((n, n, 3))
    labels /= labels.sum(-1, keepdims=True)
    for p in range(m):
        for q in range(m):
            pairs = [(i, j) for i in range(n) for j in range(n)]
            assert project_arcs(arcs, a_ts, a_st)[p, q] == pytest.approx(
                sum(a_ts[p, i] * arcs[i, j] * a_st[j, q] for i, j in pairs)
            )
            assert project_labels(labels, a_ts)[p, q] == pytest.approx(
                sum(a_ts[p, i] * labels[i, j] * a_ts[q, j] for i, j in pairs)
            )


@settings(max_examples=100, deadline=None)
@given(seeds, sizes, sizes)
def test_projections_are_distributions(seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    matrices = alignment_matrices((rng.random((n, m)) < 0.4).astype(float))
    assert matrices.src_to_tgt.sum(1) == pytest.approx(1)
    assert matrices.tgt_to_src.sum(1) == pytest.approx(1)
    arcs = normalise_rows(rng.random((n + 2, n + 2)))
    assert project_arcs(arcs, matrices.tgt_to_src, matrices.src_to_tgt).sum(1) == pytest.approx(1)
    labels = rng.random((n + 2, n + 2, 4))
    labels /= labels.sum(-1, keepdims=True)
    assert project_labels(labels, matrices.tgt_to_src).sum(-1) == pytest.approx(1)


@settings(max_examples=50, deadline=None)
@given(seeds, sizes)
def test_identity_alignment_changes_nothing(seed: int, n: int) -> None:
    source = random_source(np.random.default_rng(seed), n)
    target = project(source, Alignment(frozenset((i, i) for i in range(n))), source.words)
    assert target.arcs[1:] == pytest.approx(source.arcs[1:])
    assert target.label_probabilities == pytest.approx(source.label_probabilities)


def test_unaligned_words_lose_their_mass() -> None:
    source = random_source(np.random.default_rng(0), 3)
    target = project(source, Alignment.from_pharaoh("0-0 1-1"), ("a", "b", "c"))
    assert target.arcs[3].sum() == 0  # an unaligned target word has no head
    assert (target.arcs[1:3, 3] == 0).all() and (target.arcs[1:3].sum(1) < 1).all()
    assert target.label_probabilities is not None and target.label_probabilities.sum(-1) == pytest.approx(1)


def test_operators_and_filter() -> None:
    assert add_dummy_position(np.zeros((1, 1))).tolist() == [[0, 1], [0, 1]]
    assert one_to_one(Alignment.from_pharaoh("0-0 0-1 2-2 3-2 4-4")).sure == {(4, 4)}
    with pytest.raises(FormatError, match="outside a pair"):
        project(random_source(np.random.default_rng(0), 2), Alignment.from_pharaoh("5-0"), ("a",))


@settings(max_examples=100, deadline=None)
@given(seeds, sizes, sizes)
def test_sparse_projection_equals_the_dense_one(seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    source = random_source(rng, n)
    source.arcs[0] = 0
    alignment = Alignment.from_matrix(rng.random((n, m)) < 0.5)
    words = tuple(f"t{j}" for j in range(m))
    dense = project(source, alignment, words)
    assert source.label_probabilities is not None and dense.label_probabilities is not None
    sparse = project_sparse(source.arcs, source.label_probabilities, alignment.matrix(n, m), least=0)
    again = np.zeros_like(dense.arcs)
    again[sparse.dependent, sparse.head] = sparse.weight
    wanted = dense.arcs.copy()
    np.fill_diagonal(wanted, 0)
    assert again == pytest.approx(wanted, abs=1e-6)
    assert sparse.labels == pytest.approx(dense.label_probabilities[sparse.dependent, sparse.head], abs=1e-5)
    few = project_sparse(source.arcs, source.label_probabilities, alignment.matrix(n, m), least=0.2)
    assert sorted(few.weight) == pytest.approx(sorted(w for w in sparse.weight if w > 0.2))


def test_hard_projection_keeps_arcs_between_one_to_one_links() -> None:
    # source: 1 -> 2 -> root, 3 -> 2; word 3 is linked twice, so its arc is lost
    assert project_hard([2, 0, 2], Alignment.from_pharaoh("0-1 1-0 2-2 2-3"), 4).tolist() == [0, 1, -1, -1]
    assert project_hard([2, 0], Alignment.from_pharaoh("0-0"), 1).tolist() == [-1]  # the head has no partner


@settings(max_examples=50, deadline=None)
@given(seeds, sizes)
def test_soft_projection_of_a_hard_tree_through_one_to_one_links_is_hard_projection(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    heads = [int(rng.integers(0, i + 1)) for i in range(n)]  # earlier words, or the root
    arcs = np.zeros((n + 1, n + 1))
    arcs[np.arange(1, n + 1), heads] = 1
    order = rng.permutation(n)
    alignment = Alignment(frozenset((i, int(order[i])) for i in range(n) if rng.random() < 0.7))
    sparse = project_sparse(arcs, np.ones((n + 1, n + 1, 1)), alignment.matrix(n, n))
    hard = project_hard(heads, alignment, n)
    assert dict(zip(sparse.dependent.tolist(), sparse.head.tolist(), strict=True)) == {
        j + 1: int(h) for j, h in enumerate(hard) if h >= 0
    }


def test_mean_of_sources_averages_those_that_speak() -> None:
    one = SparseArcs(*map(np.array, ([1, 2], [0, 1], [1.0, 0.5])), np.array([[1.0, 0.0], [1.0, 0.0]]))
    two = SparseArcs(*map(np.array, ([1, 1], [0, 2], [0.5, 0.5])), np.array([[0.0, 1.0], [0.0, 1.0]]))
    mean = mean_of_sources([one, two], 2)
    found = {(d, h): w for d, h, w in zip(*(x.tolist() for x in mean[:3]), strict=True)}
    assert found == {(1, 0): 0.75, (1, 2): 0.25, (2, 1): 0.5}
    assert mean.labels[0] == pytest.approx([2 / 3, 1 / 3])
