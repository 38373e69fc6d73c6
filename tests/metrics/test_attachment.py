import gzip
import io
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.errors import DataError
from groundling.metrics import LAS, UAS
from groundling.structures import Dependencies

LABELS = ["nsubj", "nsubj:pass", "obj", "punct"]


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Dependencies, Dependencies]:
    n = draw(st.integers(1, 6))
    head = st.lists(st.integers(0, n), min_size=n, max_size=n).filter(
        lambda hs: all(h != i for i, h in enumerate(hs, 1))
    )
    labels = st.lists(st.sampled_from(LABELS), min_size=n, max_size=n)
    tags = draw(st.lists(st.sampled_from(["NOUN", "PUNCT"]), min_size=n, max_size=n))
    words = tuple(f"w{i}" for i in range(n))
    gold, pred = (Dependencies(words, tuple(draw(head)), tuple(draw(labels)), tuple(tags)) for _ in range(2))
    return gold, pred


def count(gold: Dependencies, pred: Dependencies, punctuation: bool, labels: str) -> tuple[int, int]:
    right = words = 0
    rows = zip(gold.tags, gold.heads, pred.heads, gold.labels, pred.labels, strict=True)
    for tag, head, other_head, label, other_label in rows:
        if tag == "PUNCT" and not punctuation:
            continue
        words += 1
        same = {
            "none": True,
            "main": label.split(":")[0] == other_label.split(":")[0],
            "full": label == other_label,
        }[labels]
        right += head == other_head and same
    return right, words


@settings(max_examples=100, deadline=None)
@given(st.lists(pairs(), min_size=1, max_size=3), st.booleans())
def test_attachment_scores_equal_counting(items, punctuation: bool) -> None:
    golds, preds = zip(*items, strict=True)
    for metric, labels in (
        (UAS(punctuation), "none"),
        (LAS(punctuation), "main"),
        (LAS(punctuation, subtypes=True), "full"),
    ):
        right, words = map(sum, zip(*(count(g, p, punctuation, labels) for g, p in items), strict=True))
        score = metric.corpus(golds, preds, bootstrap=0)
        assert score.value == pytest.approx(right / words if words else 1)
        assert (score.details["correct"], score.details["words"]) == (right, words)


@settings(max_examples=50, deadline=None)
@given(pairs())
def test_las_never_exceeds_uas_and_identity_scores_one(item) -> None:
    gold, pred = item
    assert LAS(subtypes=True).score(gold, pred).value <= LAS().score(gold, pred).value <= UAS().score(gold, pred).value
    assert LAS(subtypes=True).score(gold, gold).value == 1


def test_signatures_name_the_conventions() -> None:
    assert "|punctuation:no|subtypes:yes|" in LAS(punctuation=False, subtypes=True).signature


def test_mismatches_are_named() -> None:
    gold = Dependencies(("a", "b"), (2, 0), ("x", "root"))
    with pytest.raises(DataError, match="2 words but the prediction 1"):
        UAS().score(gold, Dependencies(("a",), (0,), ("root",)))
    with pytest.raises(DataError, match="word 2 is 'b' in the gold but 'c'"):
        UAS().score(gold, Dependencies(("a", "c"), (2, 0), ("x", "root")))
    with pytest.raises(DataError, match="has no UPOS tags"):
        UAS(punctuation=False).score(gold, gold)


def perturbed(text: str, rng: random.Random) -> str:
    """Every sentence stays a tree with one root: words move only to the root word or keep their head."""
    blocks = []
    for block in text.strip("\n").split("\n\n"):
        rows = [line.split("\t") for line in block.split("\n")]
        words = [row for row in rows if row[0].isdigit()]
        root = next(row[0] for row in words if row[6] == "0")
        for row in words:
            if row[0] != root and rng.random() < 0.2:
                row[6] = root
            if row[6] != "0" and rng.random() < 0.2:
                row[7] = rng.choice(["nsubj", "obl:tmod", "obj"])
        blocks.append("\n".join("\t".join(row) for row in rows))
    return "\n\n".join(blocks) + "\n\n"


def read_sentences(text: str) -> list[Dependencies]:
    trees = []
    for block in text.strip("\n").split("\n\n"):
        rows = [line.split("\t") for line in block.split("\n") if line.split("\t")[0].isdigit()]
        words, tags, heads, labels = ([row[column] for row in rows] for column in (1, 3, 6, 7))
        trees.append(Dependencies(tuple(words), tuple(map(int, heads)), tuple(labels), tuple(tags)))
    return trees


def first_sentences(path: Path, most: int | None) -> str:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return "\n\n".join(file.read().strip("\n").split("\n\n")[:most]) + "\n\n"


@pytest.mark.parametrize("most", [60, pytest.param(None, marks=pytest.mark.slow)])
def test_attachment_scores_equal_udtools(data_dir: Path, most: int | None) -> None:
    udeval = pytest.importorskip("udtools.udeval")
    folder = data_dir / "crosslingual" / "ud"
    paths = sorted(path for path in folder.rglob("*.conllu.gz") if "train" not in path.name)
    assert len(paths) >= 10
    rng = random.Random(0)
    for path in paths:
        gold = first_sentences(path, most)
        pred = perturbed(gold, rng)
        wanted = udeval.evaluate(*(udeval.load_conllu(io.StringIO(text), str(path), {}) for text in (gold, pred)))
        golds, preds = read_sentences(gold), read_sentences(pred)
        for name, metric in (("UAS", UAS()), ("LAS", LAS())):
            ours = metric.corpus(golds, preds, bootstrap=0)
            assert ours.value == pytest.approx(wanted[name].f1), (path.name, name)
            assert ours.details["words"] == wanted[name].gold_total
