"""TextGrids, against praatio."""

import io
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from praatio.utilities.textgrid_io import getTextgridAsStr, parseTextgridStr

from groundling.formats import textgrid
from groundling.structures import Segmentation
from oracles.structure_strategies import segmentations

MANY = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def by_praatio(text: str) -> list[tuple[str, list[tuple[float, float, str]]]]:
    return [
        (tier["name"], [(float(a), float(b), word) for a, b, word in tier["entries"]])
        for tier in parseTextgridStr(text)["tiers"]
        if tier["class"] == "IntervalTier"
    ]


def by_us(data: bytes) -> list[tuple[str, list[tuple[float, float, str]]]]:
    return [(tier.id, [tuple(s) for s in tier.segments]) for tier in textgrid.read(io.BytesIO(data))]


# praatio finds tiers by searching for these marks, in labels too, and cannot read 1e-06, which it writes.
MILLISECONDS = st.integers(0, 10**6).map(lambda n: n / 1000)
PLAIN = segmentations(MILLISECONDS).filter(lambda s: not set('"[]=\\{}') & set("".join([s.id, *s.words])))


@MANY
@given(st.lists(PLAIN, min_size=1, max_size=3), st.sampled_from(["long_textgrid", "short_textgrid"]))
def test_long_and_short_grids_are_read_as_praatio_reads_them(items: list[Segmentation], form: str) -> None:
    end = max([1.0, *(s.end for item in items for s in item.segments)])
    tiers = [
        {
            "class": "IntervalTier",
            "name": item.id,
            "xmin": 0.0,
            "xmax": end,
            "entries": [tuple(s) for s in item.segments],
        }
        for item in items
    ]
    tiers.append({"class": "TextTier", "name": "points", "xmin": 0.0, "xmax": end, "entries": [(0.5, "p")]})
    text = getTextgridAsStr({"xmin": 0.0, "xmax": end, "tiers": tiers}, form, True, minimumIntervalLength=None)
    assert by_us(text.encode()) == by_us(text.encode("utf-16")) == by_praatio(text)


@MANY
@given(st.lists(PLAIN.filter(lambda s: s.segments), min_size=1, max_size=3))
def test_what_we_write_praatio_reads(tmp_path: Path, items: list[Segmentation]) -> None:
    textgrid.write(tmp_path / "x.TextGrid", items)
    text = (tmp_path / "x.TextGrid").read_text(encoding="utf-8")
    assert by_praatio(text) == by_us(text.encode())


def test_comments_and_missing_blanks_are_understood() -> None:
    text = '"ooTextFile" ! a comment with 1 and "x"\n"TextGrid" xmin=0 xmax=1 <exists> 1\n'
    text += '"IntervalTier" "w" 0 1 1 0 1 "a!b"'
    assert by_us(text.encode()) == [("w", [(0.0, 1.0, "a!b")])]
    assert by_us(b'"ooTextFile" "TextGrid" 0 1 <absent>') == []
