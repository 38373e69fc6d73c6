import numpy as np

from groundling.worlds.parallel_treebank import MEANINGS, generate, vectors


def test_pairs_are_trees_and_translations() -> None:
    for pair in generate(200, np.random.default_rng(3)):
        assert not pair.source.faults() and not pair.target.faults()
        assert "det" not in pair.target.labels  # the second language has no articles
        linked = {i for i, _ in pair.alignment.sure}
        assert all(i in linked for i, label in enumerate(pair.source.labels) if label != "det")
        for i, j in pair.alignment.sure:
            assert pair.source.tags[i] == pair.target.tags[j] and pair.source.labels[i] == pair.target.labels[j]
            head, other = pair.source.heads[i], pair.target.heads[j]
            assert (head == 0) == (other == 0) and (not head or (head - 1, other - 1) in pair.alignment.sure)


def test_verb_order_differs_and_seed_decides() -> None:
    pairs = generate(100, np.random.default_rng(0))
    with_object = [p for p in pairs if "obj" in p.source.labels]
    assert all(p.source.labels.index("root") < p.source.labels.index("obj") for p in with_object)
    assert all(p.target.labels.index("root") > p.target.labels.index("obj") for p in with_object)
    assert pairs == generate(100, np.random.default_rng(0)) != generate(100, np.random.default_rng(1))


def test_words_are_distinct_and_translations_are_near() -> None:
    table = vectors()
    assert len(table) == 2 * (sum(MEANINGS.values()) + 1)
    assert {w for p in generate(50, np.random.default_rng(0)) for w in (*p.source.words, *p.target.words)} <= set(table)
    rows = np.stack(list(table.values()))
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    nearest = (unit[::2] @ unit[1::2].T).argmax(1)
    assert (nearest == np.arange(len(nearest))).mean() > 0.95
