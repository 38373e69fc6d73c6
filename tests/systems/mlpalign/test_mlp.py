"""Counts, training, saving, inference of the MLP, on a toy encoder."""

from dataclasses import replace
from itertools import count as count_up

import numpy as np
import pytest

from groundling.errors import ConfigError, DataError, FormatError
from groundling.structures import Alignment
from groundling.systems.mlpalign import Counts, Model, align, count_bitext, preset, train
from groundling.systems.mlpalign.counts import ALIGNED, ONE_TO_ONE, TOGETHER, count
from groundling.systems.mlpalign.direct import choose_layer
from groundling.systems.mlpalign.mining import mine_bitext
from groundling.systems.mlpalign.reading import lexicon
from systems.mlpalign.toy_encoder import ToyEncoder, toy_pairs

SMALL = {"training_pairs": 60, "encoded_pairs": 60, "epochs": 6, "batch": 256}


@pytest.fixture(scope="module")
def model() -> Model:
    return train(preset("extended", **SMALL), toy_pairs(120)[0], encoder=ToyEncoder(), seed=1)


def right(found, links) -> float:
    found = list(found)
    hits = sum(len(a.sure & gold) for a, gold in zip(found, links, strict=True))
    return 2 * hits / sum(len(a.sure) + len(gold) for a, gold in zip(found, links, strict=True))


def test_counts_of_a_hand_worked_text() -> None:
    items = [
        (["a", "B"], ["x", "y"], Alignment.from_pharaoh("0-0 1-1")),
        (["a", "b"], ["x"], Alignment.from_pharaoh("0-0 1-0")),
        (["a"], ["z"], None),
    ]
    counts = count(items, expect=False)
    cells = counts.cells(["A", "b", "new"], ["x", "y"])
    assert cells.source.tolist() == [3, 2, 0] and cells.target.tolist() == [2, 1]
    assert cells.values[..., ALIGNED].tolist() == [[2, 0], [1, 1], [0, 0]]
    assert cells.values[..., ONE_TO_ONE].tolist() == [[1, 0], [0, 1], [0, 0]]
    assert cells.values[..., TOGETHER].tolist() == [[2, 1], [2, 1], [0, 0]]


def test_shards_add_up_and_files_hold_what_was_saved(tmp_path) -> None:
    pairs = toy_pairs(40)[0]
    items = [(s, t, Alignment.from_pharaoh("0-0")) for s, t in pairs]
    whole, parts = count(items, expect=False), [count(items[:13], expect=False), count(items[13:], expect=False)]
    parts[1].save(tmp_path / "b.npz")
    added = parts[0] + Counts.load(tmp_path / "b.npz")
    assert count(items, block=7, expect=False).values.sum() == whole.values.sum()
    for source, target in pairs[:5]:
        for ours, theirs in zip(added.cells(source, target), whole.cells(source, target), strict=True):
            assert (ours == theirs).all()


def test_the_mlp_finds_the_links_and_is_no_worse_than_argmax(model) -> None:
    pairs, links = toy_pairs(60, seed=5)
    sources, targets = zip(*pairs, strict=True)
    encoder = ToyEncoder()
    found = list(model.align(sources, targets, encoder=encoder))
    assert right(found, links) > 0.97
    assert right(found, links) >= right(align(sources, targets, encoder=encoder), links)
    assert all(0 < p <= 1 for a in found for p in a.probabilities.values())
    bar = float(np.median([p for a in found for p in a.probabilities.values()]))
    strong = list(model.align(sources, targets, encoder=encoder, null=bar))
    assert [a.sure for a in strong] == [{x for x, p in a.probabilities.items() if p > bar} for a in found]
    empty = list(model.align([[], ["w1"]], [["v1"], ["v1"]], encoder=encoder))
    assert not empty[0].sure and empty[1].sure == {(0, 0)}


def test_the_thesis_mlp_keeps_cells_over_one() -> None:
    small = train(
        preset("thesis", **{**SMALL, "epochs": 25, "learning_rate": 5e-3}),
        toy_pairs(80)[0],
        encoder=ToyEncoder(),
        seed=0,
    )
    expected = np.array([[1.2, 0.9], [1.1, 0.2]])
    assert small.links(expected).sure == {(0, 0), (1, 0)}
    pairs, links = toy_pairs(30, seed=6)
    assert right(list(small.align(*zip(*pairs, strict=True), encoder=ToyEncoder())), links) > 0.85


def test_same_seed_same_model_and_saving_keeps_it(model, tmp_path) -> None:
    again = train(preset("extended", **SMALL), toy_pairs(120)[0], encoder=ToyEncoder(), seed=1)
    model.save(tmp_path / "a")
    again.save(tmp_path / "b")
    for name in ("config.toml", "model.safetensors", "run.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    fewer = replace(model.config, layers=(5, 6))
    Model(fewer, model.network, model.counts, model.mix).save(tmp_path / "c")
    with pytest.raises(FormatError, match="its metric does not fit its 2 layers"):
        Model.load(tmp_path / "c")
    pairs, _ = toy_pairs(10, seed=7)
    loaded = Model.load(tmp_path / "a")
    ours, theirs = (list(m.align(*zip(*pairs, strict=True), encoder=ToyEncoder())) for m in (model, loaded))
    assert [a.pharaoh(probabilities=True) for a in ours] == [a.pharaoh(probabilities=True) for a in theirs]


def test_counts_counted_before_may_be_given(model) -> None:
    config, pairs = preset("extended", **SMALL), toy_pairs(120)[0]
    counts = count_bitext(config, pairs, ToyEncoder())
    given = train(config, pairs, counts=counts, encoder=ToyEncoder(), seed=1)
    assert all((given.network.state_dict()[k] == v).all() for k, v in model.network.state_dict().items())


def test_mining_finds_shuffled_translations() -> None:
    pairs, _ = toy_pairs(50, seed=3)
    order = np.random.default_rng(0).permutation(50)
    found = mine_bitext([s for s, _ in pairs], [pairs[k][1] for k in order], ToyEncoder(), share=1.0)
    assert sum(order[m.target] == m.source for m in found) >= 45
    with pytest.raises(DataError, match="one side has no sentence"):
        mine_bitext([[]], [["v1"]], ToyEncoder())


def test_lexicon_and_layer_choice() -> None:
    pairs, links = toy_pairs(80, seed=2)
    entries = lexicon((s, t, Alignment(frozenset(gold))) for (s, t), gold in zip(pairs, links, strict=True))
    assert len(entries) == 60 and all(e.source[1:] == e.target[1:] and e.score == 1 for e in entries)
    assert choose_layer(pairs[:5], ToyEncoder()) == 0


def test_errors_say_what_to_do(tmp_path) -> None:
    with pytest.raises(DataError, match="no sentence pair has words on both sides"):
        train(preset("extended"), [([], ["a"])], encoder=ToyEncoder())
    with pytest.raises(ConfigError, match="There are: thesis, extended"):
        preset("seven")
    with pytest.raises(ConfigError, match="from 0 to 2"):
        preset("extended", bar=3.0)
    with pytest.raises(ConfigError, match="at least one layer"):
        preset("extended", layers=())
    with pytest.raises(ConfigError, match="number of directions"):
        preset("extended", metric=-1)
    with pytest.raises(ConfigError, match="must be at least 1"):
        preset("extended", hidden=0)
    (tmp_path / "bad.npz").write_bytes(b"nothing")
    with pytest.raises(FormatError, match="not a count file"):
        Counts.load(tmp_path / "bad.npz")


def test_streams_without_end_are_aligned_chunk_by_chunk(model) -> None:
    seen = 0

    def endless():
        nonlocal seen
        while True:
            seen += 1
            yield ["w1", "w2"]

    for stream in (
        align(endless(), (["v2", "v1"] for _ in count_up()), encoder=ToyEncoder(), chunk=4),
        model.align(endless(), (["v2", "v1"] for _ in count_up()), encoder=ToyEncoder(), chunk=4),
    ):
        seen = 0
        assert [next(stream).sure for _ in range(6)] == [{(0, 1), (1, 0)}] * 6
        assert seen == 8  # two chunks: memory does not depend on the length of the stream
