import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.metrics import AER
from groundling.structures import Alignment

links = st.frozensets(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=8)
alignments = st.builds(Alignment, links, links)
predictions = st.builds(Alignment, links)


def aer_by_counting(pairs: list[tuple[Alignment, Alignment]]) -> float:
    hits = size = 0
    for gold, pred in pairs:
        for link in pred.sure:
            hits += (link in gold.sure) + (link in gold.possible)
        size += len(pred.sure) + len(gold.sure)
    return 1 - hits / size if size else 0.0


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(alignments, predictions), min_size=1, max_size=4))
def test_aer_equals_counting_link_by_link(pairs) -> None:
    golds, preds = zip(*pairs, strict=True)
    assert AER().corpus(golds, preds, bootstrap=0).value == pytest.approx(aer_by_counting(pairs))


@settings(max_examples=50, deadline=None)
@given(alignments)
def test_aer_of_any_choice_between_sure_and_possible_is_zero(gold: Alignment) -> None:
    assert AER().score(gold, gold).value == 0
    assert AER().score(gold, Alignment(gold.sure)).value == 0


@settings(max_examples=50, deadline=None)
@given(alignments, predictions)
def test_aer_is_one_minus_f1_without_possible_links_and_keeps_direction(gold: Alignment, pred: Alignment) -> None:
    sure_only = Alignment(gold.sure)
    score = AER().score(sure_only, pred)
    if gold.sure and pred.sure:
        assert score.value == pytest.approx(1 - score.details["f1"])
    assert AER().score(sure_only.inverted(), pred.inverted()).value == score.value


def test_worked_example() -> None:
    # Och and Ney's definitions by hand: A = 4 links, 2 of them sure, 3 possible; S = 3.
    gold = Alignment.from_pharaoh("0-0 1-1 2-2 2p3 3p2")
    pred = Alignment.from_pharaoh("0-0 1-1 2-3 3-0")
    score = AER().score(gold, pred)
    assert score.value == pytest.approx(1 - 5 / 7)
    assert score.details["precision"] == 0.75
    assert score.details["recall"] == pytest.approx(2 / 3)
    assert score.details["links"], score.details["sure"] == (4, 3)


@pytest.mark.parametrize(
    ("file", "published"),
    [
        ("fastalign.enfr.grow-diagonal.talp.gz", 10.5),
        ("giza.enfr.grow-diagonal.talp.gz", 5.9),
        ("awesome-align.enfr.out.gz", 4.1),
    ],
)
def test_published_outputs_score_their_published_aer(data_dir: Path, file: str, published: float) -> None:
    folder = data_dir / "crosslingual" / "align_gold"
    with gzip.open(folder / "en-fr_hansards_wpt03.tsv.gz", "rt", encoding="utf-8") as lines:
        golds = [Alignment.from_pharaoh(line.rstrip("\n").split("\t")[2]) for line in lines]
    with gzip.open(folder / "reference_outputs" / file, "rt", encoding="utf-8") as lines:
        score = AER().corpus(golds, map(Alignment.from_pharaoh, lines))
    assert round(score.value * 100, 1) == published
    assert score.n == 447
