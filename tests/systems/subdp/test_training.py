import numpy as np
import pytest
import torch

from groundling.algorithms.projection import SparseArcs
from groundling.errors import ConfigError, DataError, FormatError
from groundling.structures import Alignment, Dependencies
from groundling.systems.subdp import Config
from groundling.systems.subdp.evaluate import attachment
from groundling.systems.subdp.losses import partial_loss, targets_of
from groundling.systems.subdp.parser import Parser
from groundling.systems.subdp.predict import groups, parse_vectors, soft_parses
from groundling.systems.subdp.project import check_method, silver_hard, silver_self, silver_soft
from groundling.systems.subdp.shards import read_shards, write_shards
from groundling.systems.subdp.silver import Inventory, Silver, from_tree, treebank
from groundling.systems.subdp.train import Trees, agreement, new_parser, train_source, train_target
from groundling.systems.subdp.vectors import Vectors, cached_vectors, vectors_of
from systems.subdp.small import CONFIG, encoder, pairs

INVENTORY = Inventory.of([p.source for p in pairs()])


def vectors(sentences) -> Vectors:
    return vectors_of(encoder(), [tuple(s) for s in sentences], [0])


@pytest.fixture(scope="module")
def source() -> Parser:
    trees = [p.source for p in pairs()]
    train, dev = (
        Trees(vectors(t.words for t in part), treebank(part, INVENTORY)) for part in (trees[:130], trees[130:150])
    )
    parser, history = train_source(CONFIG, train, dev, INVENTORY, seed=1, device="cpu")
    assert history.records[-1]["loss"] < 0.3 * history.records[0]["loss"]
    assert history.best_value is not None and history.best_value > 0.9
    return parser.eval()


def test_subdp_learns_the_other_word_order_and_direct_transfer_does_not(source: Parser) -> None:
    bitext, test = pairs()[150:290], [p.target for p in pairs()[300:]]
    words = [p.target.words for p in bitext]
    links = [p.alignment for p in bitext]
    english, other, held_out = (
        vectors(side) for side in ([p.source.words for p in bitext], words, [t.words for t in test])
    )
    direct = attachment(source, held_out, test, INVENTORY)
    scores = {}
    for name, silver in {
        "subdp": silver_soft(source, english, words, links, CONFIG),
        "hard": silver_hard(source, english, words, links, INVENTORY),
        "st": silver_self(source, other, words, INVENTORY),
    }.items():
        made, _ = train_target(CONFIG, Trees(other, silver), source, seed=2, device="cpu")
        scores[name] = attachment(made, held_out, test, INVENTORY)
    assert direct["uas"] < 65 and scores["st"]["uas"] < 70
    assert min(scores["subdp"]["uas"], scores["hard"]["uas"]) > 85
    assert scores["subdp"]["las"] <= scores["subdp"]["uas"]
    again = attachment(source, held_out, test, INVENTORY)
    assert again == direct  # training the target leaves the source parser alone


def test_soft_parses_are_distributions_and_batches_do_not_matter(source: Parser) -> None:
    sentences = [p.source.words for p in pairs()[:12]]
    some = vectors(sentences)
    parses = dict(soft_parses(source, some, range(12), batch_words=60))
    for k, parse in soft_parses(source, some, range(12), batch_words=100_000):
        assert parse.arcs[1:].sum(1) == pytest.approx(1, abs=1e-4) and (np.diag(parse.arcs) < 1e-6).all()
        assert parse.labels.astype(float).sum(-1) == pytest.approx(1, abs=0.02)
        assert parse.arcs == pytest.approx(parses[k].arcs, abs=1e-4)
    one, other = (parse_vectors(source, some, INVENTORY, batch_words=n) for n in (1, 10_000))
    for words, a, b in zip(sentences, one, other, strict=True):
        assert a.heads.tolist() == b.heads.tolist()
        labels = [INVENTORY.labels[x] for x in a.labels]
        tree = Dependencies(words, tuple(a.heads.tolist()), tuple(labels))
        assert not tree.faults() and (np.array(labels) == "root").tolist() == (a.heads == 0).tolist()


def test_projective_decoding_gives_no_crossing_arcs(source: Parser) -> None:
    for parse in parse_vectors(source, vectors([p.target.words for p in pairs()[:20]]), INVENTORY, projective=True):
        arcs = [sorted((d, int(h))) for d, h in enumerate(parse.heads, 1) if h]
        assert not any(a < c < b < d for a, b in arcs for c, d in arcs)


def test_partial_loss_is_the_thesis_sum_over_known_arcs() -> None:
    tree = Dependencies(("lete", "letele"), (2, 0), ("nsubj", "root"), ("NOUN", "VERB"))
    parser = new_parser(CONFIG, vectors([tree.words]), INVENTORY, seed=3).eval()
    with torch.no_grad():
        for p in parser.parameters():
            p.normal_(0, 0.3)
    scored = parser(vectors([tree.words]).batch([0], "cpu"))
    labels = np.full((3, len(INVENTORY.labels)), 1 / len(INVENTORY.labels), dtype=np.float32)
    arcs = SparseArcs(np.array([1, 1, 2]), np.array([0, 2, 1]), np.array([0.2, 0.3, 0.5], np.float32), labels)
    silver = Silver(tree.words, arcs, np.zeros((2, len(INVENTORY.tags)), np.float32))
    parts = partial_loss(parser, scored, targets_of([silver], "cpu"))
    logs = scored.arcs[0].detach().numpy()
    assert parts["arc"].item() == pytest.approx(-(0.2 * logs[1, 0] + 0.3 * logs[1, 2] + 0.5 * logs[2, 1]), rel=1e-4)
    each = parser.labels(scored, targets_of([silver], "cpu").arcs).detach().numpy().mean(1)
    assert parts["label"].item() == pytest.approx(-(each @ arcs.weight), rel=1e-4)
    assert partial_loss(parser, scored, targets_of([silver], "cpu"), all_pairs=True)["label"].item() == pytest.approx(
        -each.mean(), rel=1e-4
    )
    assert parts["tag"].item() == 0  # nothing is known about the tags


def test_loss_of_a_perfect_answer_is_the_entropy_and_agreement_counts_weight() -> None:
    gold = [p.source for p in pairs()[:20]]
    trees = Trees(vectors(t.words for t in gold), treebank(gold, INVENTORY))
    parser = new_parser(CONFIG, trees.vectors, INVENTORY, seed=0).eval()
    values = agreement(parser, trees)
    assert 0 <= values["dev_las"] <= values["dev_uas"] <= 1 and values["dev_loss"] > 0


def test_same_seed_gives_the_same_parser() -> None:
    gold = [p.source for p in pairs()[:30]]
    trees = Trees(vectors(t.words for t in gold), treebank(gold, INVENTORY))
    config = Config(**{**CONFIG.__dict__, "source_epochs": 1})
    one, two, three = (train_source(config, trees, trees, INVENTORY, seed=s, device="cpu")[0] for s in (5, 5, 6))
    same = [torch.equal(a, b) for a, b in zip(one.state_dict().values(), two.state_dict().values(), strict=True)]
    other = [torch.equal(a, b) for a, b in zip(one.state_dict().values(), three.state_dict().values(), strict=True)]
    assert all(same) and not all(other)


def test_gold_trees_are_mixed_in_and_lost_mass_is_filled(source: Parser) -> None:
    bitext = pairs()[150:190]
    words = [p.target.words for p in bitext]
    english, other = vectors(p.source.words for p in bitext), vectors(words)
    bare = [Alignment(frozenset(sorted(p.alignment.sure)[1:])) for p in bitext]
    filled = silver_soft(source, english, words, bare, Config(**{**CONFIG.__dict__, "fill": True, "least": 0.0}), other)
    for tree in filled:
        assert np.bincount(tree.arcs.dependent, tree.arcs.weight)[1:] == pytest.approx(1, abs=0.02)
    gold = [p.source for p in pairs()[:50]]
    mixed = Config(**{**CONFIG.__dict__, "source_share": 1.0, "target_epochs": 1, "target_batches": 0})
    trees = Trees(vectors(t.words for t in gold), treebank(gold, INVENTORY))
    made, history = train_target(mixed, Trees(other, filled), source, device="cpu", gold=trees)
    plain, less = train_target(mixed, Trees(other, filled), source, device="cpu")
    assert history.step > less.step and isinstance(made, Parser) and isinstance(plain, Parser)


def test_few_pairs_are_cut_into_several_batches(source: Parser) -> None:
    words = [p.target.words for p in pairs()[150:170]]
    trees = Trees(vectors(words), silver_self(source, vectors(words), words, INVENTORY))
    steps = {}
    for batches in (0, 6):
        config = Config(
            **{**CONFIG.__dict__, "target_epochs": 1, "target_batch_words": 5000, "target_batches": batches}
        )
        steps[batches] = train_target(config, trees, source, device="cpu")[1].step
    assert steps[0] == 1 and steps[6] >= 6


def test_vectors_keep_endpoints_select_join_and_cache(tmp_path) -> None:
    sentences = [p.source.words for p in pairs()[:7]]
    every = vectors(sentences)
    some = every.select([4, 2])
    assert some.lengths.tolist() == [len(sentences[4]), len(sentences[2])]
    batch, same = some.batch([1], "cpu"), every.batch([2], "cpu")
    assert torch.equal(batch.pieces[batch.first], same.pieces[same.first])
    joined = some.joined(every.select([0]))
    last = joined.batch([2], "cpu")
    assert torch.equal(last.pieces[last.last], every.batch([0], "cpu").pieces[every.batch([0], "cpu").last])
    stored, again = (cached_vectors(encoder(), sentences, [0], tmp_path) for _ in range(2))
    assert torch.equal(stored.pieces, again.pieces) and torch.equal(stored.pieces, every.pieces)
    assert len(list(tmp_path.iterdir())) == 2


def test_groups_hold_every_sentence_once_and_keep_the_limit() -> None:
    lengths = np.random.default_rng(0).integers(1, 40, 200)
    made = groups(lengths, 100)
    assert sorted(np.concatenate(made).tolist()) == list(range(200))
    assert all(len(g) == 1 or len(g) * lengths[g].max() <= 100 for g in made)


def test_shards_give_back_the_trees(tmp_path) -> None:
    trees = [from_tree(p.source, INVENTORY) for p in pairs()[:5]]
    assert write_shards(tmp_path, trees, INVENTORY) == 1
    again, inventory = read_shards(tmp_path)
    assert inventory == INVENTORY
    for a, b in zip(trees, again, strict=True):
        assert a.words == b.words and (a.tags == b.tags).all()
        assert all((x == y).all() for x, y in zip(a.arcs, b.arcs, strict=True))
    (tmp_path / "00000.npz").write_bytes(b"no zip")
    with pytest.raises(FormatError, match="not a shard of silver trees"):
        read_shards(tmp_path)
    with pytest.raises(DataError, match="no silver trees"):
        read_shards(tmp_path / "nowhere")


def test_errors_name_what_is_wrong() -> None:
    loop = Dependencies(("a", "b", "c"), (2, 1, 0), ("x", "y", "root"), comments=("# sent_id = s7",))
    with pytest.raises(DataError, match=r"sentence 's7' of the treebank: words 1 -> 2 -> 1 form a cycle"):
        treebank([loop], INVENTORY)
    parser = new_parser(CONFIG, vectors([("lete",)]), INVENTORY, seed=0)
    with pytest.raises(DataError, match="1 source sentences, 2 target sentences and 1 alignments do not pair"):
        silver_soft(parser, vectors([("lete",)]), [("a",), ("b",)], [Alignment(frozenset())], CONFIG)
    bare = silver_soft(parser, vectors([("lete",)]), [("a",)], [Alignment(frozenset())], CONFIG)
    with pytest.raises(DataError, match="0 of 1 sentence pairs have a projected arc"):
        train_target(CONFIG, Trees(vectors([("a",)]), bare), parser, device="cpu")
    with pytest.raises(ConfigError, match=r"no way to silver trees is called 'hrad'\. Did you mean 'hard'"):
        check_method("hrad")
    with pytest.raises(ConfigError, match="dropout and least"):
        Config(dropout=1.0)
    with pytest.raises(ConfigError, match="lstm_dim"):
        Config(lstm_dim=-1)
    with pytest.raises(ConfigError, match="source_share"):
        Config(source_share=-1.0)
