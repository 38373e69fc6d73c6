"""Segments, vectors, learner, s-Benepar and selection, each alone."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from groundling.errors import ConfigError, DataError
from groundling.neural.compound_pcfg import CompoundConfig
from groundling.structures.segmentation import Segmentation
from groundling.systems.avnsl import Config, Utterances, hear
from groundling.systems.avnsl.benepar import SpanScorer, decode, train_benepar
from groundling.systems.avnsl.data import pad_mels
from groundling.systems.avnsl.encoder import Listened, rise_and_fall, train_encoder
from groundling.systems.avnsl.induce import Segmented, parse_spans, timed_tree, train_learner
from groundling.systems.avnsl.learner import Batch, Learner
from groundling.systems.avnsl.segment import Cut, learn_codes, segment_by_attention, segment_by_dpdp
from groundling.systems.avnsl.select import choose_segmentation, choose_tree, merge_trees, most_chosen
from groundling.systems.avnsl.units import learn_unit_grammar
from groundling.systems.avnsl.vectors import frame_ranges, segment_vectors
from groundling.training.batching import batches_by_length
from groundling.worlds.spoken_captions import make_spoken_world

RNG = np.random.default_rng(0)


def test_segment_vectors_equal_a_plain_sum() -> None:
    frames, attention = RNG.normal(size=(20, 3)), RNG.random((2, 20))
    words = Segmentation.from_frames([(2, 7), (7, 8), (12, 20)], 50)
    found = segment_vectors(frames, words, attention)
    for (a, b), row in zip([(2, 7), (7, 8), (12, 20)], found, strict=True):
        weights = attention.sum(0)[a:b] / attention.sum(0)[a:b].sum()
        assert row == pytest.approx(sum(w * f for w, f in zip(weights, frames[a:b], strict=True)), abs=1e-5)
    assert segment_vectors(frames, Segmentation(()), attention).shape == (0, 3)


def test_three_parts_are_the_means_of_three_stretches() -> None:
    frames, words = RNG.normal(size=(12, 2)), Segmentation.from_frames([(0, 9), (9, 10), (10, 12)], 50)
    found = segment_vectors(frames, words, parts=3)
    assert found.shape == (3, 6)
    assert found[0] == pytest.approx(np.concatenate([frames[k : k + 3].mean(0) for k in (0, 3, 6)]), abs=1e-6)
    assert found[1] == pytest.approx(np.tile(frames[9], 3), abs=1e-6)
    assert found[2] == pytest.approx(np.concatenate([frames[10], frames[10], frames[11]]), abs=1e-6)
    with pytest.raises(ConfigError, match="vector_parts is 0"):
        Config(vector_parts=0)


def test_the_encoders_rate_rises_then_falls() -> None:
    world = make_spoken_world(8, seed=0)
    data = Utterances([hear(clip.samples) for clip in world.clips()], world.images, world.features)
    plain = Config(encoder_dim=8, encoder_heads=2, encoder_epochs=2, encoder_batch_size=4)
    busy = replace(plain, encoder_warm_up=2, encoder_noise=0.1, encoder_drop=0.2)
    first, again, other = (train_encoder(c, data, seed=0).image.weight for c in (busy, busy, plain))
    assert torch.equal(first, again) and not torch.equal(first, other)
    rates = []
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    scheduler = rise_and_fall(busy, optimizer, 8)
    assert scheduler is not None and rise_and_fall(plain, optimizer, 8) is None
    for _ in range(5):
        rates.append(scheduler.get_last_lr()[0])
        optimizer.step()
        scheduler.step()
    assert rates == pytest.approx([0.5, (1 + 2**-0.5) / 2, 0.5, (1 - 2**-0.5) / 2, 0.0])


def test_frame_ranges_stay_inside() -> None:
    words = Segmentation.from_boundaries([0.0, 0.004, 0.39, 0.5])
    assert frame_ranges(words, 20) == [(0, 1), (0, 20), (19, 20)]


def test_attention_cuts_a_known_sound() -> None:
    sound = hear(make_spoken_world(1, seed=0).clip(0).samples)
    attention = np.zeros((1, 1, sound.frames), dtype=np.float32)
    start = int(sound.voiced[0][0] * 50) + 1
    attention[..., start + 5 : start + 10] = 1
    attention[..., start + 20 : start + 25] = 1
    heard = Listened(np.zeros((2, sound.frames, 4), dtype=np.float32), attention)
    plain = segment_by_attention(sound, heard, Cut(0, "mass", 0.9, 0.0))
    assert len(plain.segments) == 2
    assert plain.segments[0].end == pytest.approx((start + 15) / 50)
    more = segment_by_attention(sound, heard, Cut(0, "mass", 0.9, 0.3))
    assert len(more.segments) > 2 and set(plain.boundaries[:1]) <= set(more.boundaries)


def test_dpdp_finds_the_changes_of_a_stepped_sound() -> None:
    levels = np.repeat([0.0, 5.0, 1.0, 9.0], [10, 7, 12, 6])[:, None] + RNG.normal(0, 0.05, (35, 1))
    codes = learn_codes([levels], 4, np.random.default_rng(0))
    words = segment_by_dpdp(levels, [(0.0, 0.7)], codes, 0.7)
    assert words.boundaries == pytest.approx((0.0, 0.2, 0.34, 0.58, 0.7))


def test_codes_of_silence_are_refused() -> None:
    with pytest.raises(DataError, match="no voiced frame"):
        learn_codes([np.zeros((0, 2))], 4, RNG)


def toy(count: int = 60, seed: int = 0) -> tuple[Segmented, list[int]]:
    """Three segments: two of them name the picture, the third is noise; it comes first or last."""
    rng = np.random.default_rng(seed)
    kinds, colours = rng.normal(size=(4, 6)), rng.normal(size=(4, 6))
    features, rows, sides = [], [], []
    for _ in range(count):
        kind, colour, side = rng.integers(4), rng.integers(4), int(rng.integers(2))
        features.append(np.concatenate([np.eye(4)[kind], np.eye(4)[colour]]))
        grounded = [np.append(colours[colour], [1, 0]), np.append(kinds[kind], [1, 0])]
        noise = np.append(rng.normal(size=6) * 0.1, [0, 1])
        rows.append(np.array([noise, *grounded] if side else [*grounded, noise], dtype=np.float32))
        sides.append(side)
    data = Segmented(rows, np.full(count, 3), np.arange(count), np.array(features, dtype=np.float32))
    return data, sides


TOY = Config(embedding_dim=16, hidden_dim=16, scorer_hidden_dim=16, epochs=40, batch_size=30, scorer_learning_rate=5e-3)


def test_the_learner_joins_what_the_picture_shows() -> None:
    data, sides = toy()
    learner = train_learner(TOY, data, seed=0)
    right = [
        (1, 3) in spans if side else (0, 2) in spans
        for spans, side in zip(parse_spans(learner, data), sides, strict=True)
    ]
    assert np.mean(right) > 0.9


def test_training_twice_gives_the_same_weights() -> None:
    data, _ = toy(20)
    short = Config(embedding_dim=8, hidden_dim=0, scorer_hidden_dim=4, epochs=2, batch_size=10)
    first, second = (train_learner(short, data, seed=3).state_dict() for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_learned_attention_of_one_frame_segments_equals_given_vectors() -> None:
    data, _ = toy(6)
    frames = Segmented(data.rows, data.counts, data.images, data.features, [np.arange(3)] * 6)
    torch.manual_seed(0)
    learner = Learner(TOY, 8, 8, learned_attention=True)
    chosen = np.arange(6)
    cpu = torch.device("cpu")
    assert torch.allclose(
        learner.segments(frames.batch(chosen, cpu)), learner.segments(data.batch(chosen, cpu)), atol=1e-6
    )


def test_learned_attention_mixes_inside_segments_only() -> None:
    learner = Learner(TOY, 2, 3, learned_attention=True)
    frames = torch.tensor([[0.0, 0.0], [2.0, 2.0], [5.0, 5.0]])
    learner.segment = torch.nn.Identity()  # type: ignore[assignment]
    batch = Batch(frames, torch.tensor([2]), torch.zeros(1, 3), torch.zeros(1), torch.tensor([0, 0, 1]))
    with torch.no_grad():
        mixed = learner.segments(batch)[0]
    assert 0 < mixed[0, 0] < 2 and mixed[1].tolist() == [5.0, 5.0]


def test_one_segment_has_no_span_and_none_is_refused() -> None:
    data, _ = toy(4)
    rows = [data.rows[0][:1], data.rows[1], data.rows[2][:2], data.rows[3]]
    mixed = Segmented(rows, np.array([1, 3, 2, 3]), data.images, data.features)
    learner = Learner(TOY, 8, 8)
    assert [len(spans) for spans in parse_spans(learner, mixed)] == [0, 2, 1, 2]
    with pytest.raises(DataError, match="two segments or more"):
        train_learner(TOY, Segmented(rows[:1], np.array([1]), data.images[:1], data.features), seed=0)


def test_benepar_learns_the_trees_it_is_shown() -> None:
    data, sides = toy(80)
    trees = [[(0, 3), (1, 3)] if side else [(0, 3), (0, 2)] for side in sides]
    config = Config(benepar_epochs=40, benepar_dim=16, batch_size=20, benepar_learning_rate=1e-2)
    scorer = train_benepar(config, data.rows, trees, seed=0)
    other, _ = toy(40, seed=5)
    goal = toy(40, seed=5)[1]
    fit = [
        decoded == tree
        for decoded, tree in zip(map(sorted, decode(scorer, data.rows)), map(sorted, trees), strict=True)
    ]
    assert np.mean(fit) > 0.95 and len(goal) == len(decode(scorer, other.rows))


def test_benepar_scores_do_not_depend_on_padding() -> None:
    torch.manual_seed(0)
    scorer = SpanScorer(4, 8).eval()
    vectors = torch.randn(1, 3, 4)
    padded = torch.cat([vectors, torch.randn(1, 2, 4)], dim=1)
    with torch.no_grad():
        alone = scorer(vectors, torch.tensor([3]))
        both = scorer(torch.cat([padded, torch.randn(1, 5, 4)]), torch.tensor([3, 5]))
    assert torch.allclose(alone[0], both[0, :4, :4], atol=1e-6)


def test_a_grammar_of_units_parses_every_segment() -> None:
    data, _ = toy(30)
    config = CompoundConfig(nonterminals=2, preterminals=3, z_dim=2, state_dim=8, encoder_dim=4, epochs=1)
    found = learn_unit_grammar(data.rows, 5, config, seed=0)
    assert found.codes.shape == (5, 8)
    assert all(len(spans) == 2 and (0, 3) in spans for spans in found.spans(data.rows))
    again = learn_unit_grammar(data.rows, 5, config, seed=0)
    assert again.spans(data.rows) == found.spans(data.rows)


def test_mbr_takes_the_segmentation_in_the_middle() -> None:
    cuts = [Segmentation.from_boundaries([0, x, 1.0]) for x in (0.1, 0.5, 0.5, 0.52, 0.9)]
    assert choose_segmentation(cuts) in (1, 2)
    assert most_chosen([[cuts[0]] * 3, [cuts[1]] * 3, [cuts[3]] * 3], 1) == [1]


def test_mbr_over_trees_votes() -> None:
    left, right = [(0, 3), (0, 2)], [(0, 3), (1, 3)]
    assert choose_tree([left, right, right]) == 1
    assert merge_trees([[left, right], [left, left], [right, right]]) == [left, right]
    assert choose_tree([[], []]) == 0


def test_timed_trees_keep_the_seconds() -> None:
    tree = timed_tree([(0, 3), (1, 3)], Segmentation.from_boundaries([0.1, 0.2, 0.5, 0.9]))
    assert (
        str(tree) == "( 1 ( 2 3 ) )" and tree.times == ((0.1, 0.2), (0.2, 0.5), (0.5, 0.9)) and tree.unit == "seconds"
    )


def test_batches_hold_every_utterance_once() -> None:
    lengths = RNG.integers(1, 50, 101)
    found = list(batches_by_length(lengths, 10, np.random.default_rng(0), window=8))
    assert sorted(
        np.concatenate(found).tolist() + [i for i in range(101) if i not in set(np.concatenate(found))]
    ) == list(range(101))
    assert all(len(batch) > 1 for batch in found)


def test_padding_keeps_sounds() -> None:
    sounds = [hear(np.zeros(n, dtype=np.float32)) for n in (1, 8000)]
    mels, lengths = pad_mels(sounds)
    assert mels.shape == (2, 50, 40) and lengths.tolist() == [1, 25]
    assert sounds[1].voiced == []


def test_utterances_that_do_not_fit_are_refused() -> None:
    sound = hear(np.zeros(800, dtype=np.float32))
    with pytest.raises(DataError, match="1 recordings but 2"):
        Utterances([sound], np.array([0, 1]), np.zeros((2, 2), dtype=np.float32))
    with pytest.raises(DataError, match="features of 1"):
        Utterances([sound], np.array([3]), np.zeros((1, 2), dtype=np.float32))


@pytest.mark.parametrize(
    ("setting", "what"),
    [({"threshold": 1.0}, "between 0 and 1"), ({"gap": -1.0}, "at least 0"), ({"encoder_dim": 30}, "shared by 4 heads"),
     ({"vector_layer": 5}, "layers 0 to"), ({"batch_size": 1}, "at least 2")],
)  # fmt: skip
def test_settings_out_of_range_are_refused(setting: dict[str, float], what: str) -> None:
    with pytest.raises(ConfigError, match=what):
        Config(**setting)  # type: ignore[arg-type]
