"""The report of a command says what went in, what came out, and how to repeat it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from groundling.formats.aligned import AlignedPair
from groundling.metrics import AER, LAS, ParsEval
from groundling.metrics.base import Score
from groundling.reports.job import curve_sections, data_sections, scores_section, settings_sections, write_report
from groundling.reports.worst import lowest, worst_alignments, worst_dependencies, worst_trees
from groundling.structures import Alignment, Dependencies, Tree

SIGNED = Score(0.71, 0.70, 0.72, 50, "ParsEval|convention:vgnsl|v:1", "ParsEval")
GOLD = [Tree.from_brackets("((a b) (c d))", labelled=False), Tree.from_brackets("(a (b c))", labelled=False)]
PRED = [Tree.from_brackets("(a (b (c d)))", labelled=False), Tree.from_brackets("(a (b c))", labelled=False)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run folder as every system writes it, with a run of a part below."""
    run = tmp_path / "run"
    (run / "source").mkdir(parents=True)
    (run / "config.toml").write_text('epochs = 3\nencoder = "x<y"\n', encoding="utf-8")
    (run / "run.json").write_text(json.dumps({"format": 1, "seed": 7, "versions": {"torch": "9"}, "words": ["a"]}))
    for place in (run, run / "source"):
        records = [{"step": 10 * k, "epoch": k, "loss": 3.0 / k, "f1": 0.2 * k} for k in (1, 2, 3)]
        (place / "metrics.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return run


def test_the_whole_page(folder: Path, tmp_path: Path) -> None:
    data = tmp_path / "gold.trees"
    data.write_text("(a b)\n", encoding="utf-8")
    page = tmp_path / "report.html"
    write_report(
        page, "A title", command="groundling x y", model=folder, data=[data, "-", None], scores=[("mine", SIGNED)],
        curves=True, worst=worst_trees(ParsEval("vgnsl"), GOLD, PRED),
    )  # fmt: skip
    text = page.read_text(encoding="utf-8")
    titles = ["Scores", "Curves", "Curves, source", "Worst examples", "Data", "Settings", "The command"]
    assert [text.index(f">{title} </h2>") for title in titles] == sorted(text.index(f">{t} </h2>") for t in titles)
    for said in (
        "71.00",
        "70.00-72.00",
        SIGNED.signature,
        "gold.trees",
        "standard input",
        "x&lt;y",
        "torch",
        "y</code>",
    ):
        assert said in text, said
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert str(tmp_path) not in text  # a page that is sent to someone names no folder of this machine


def test_scores_of_several_metrics_are_told_apart() -> None:
    other = Score(0.5, None, None, 50, "StructIoU|v:1", "StructIoU")
    section = scores_section([("a", SIGNED), ("a", other)])
    assert [row[1:4] for row in section.tables[0].rows] == [
        ["ParsEval", "71.00", "70.00-72.00"],
        ["StructIoU", "50.00", None],
    ]
    assert "ParsEval, a" in section.pictures[0].svg and "StructIoU, a" in section.pictures[0].svg  # type: ignore[union-attr]


def test_curves_part_losses_from_measures(folder: Path) -> None:
    first, second = curve_sections(folder)
    assert (first.title, second.title) == ("Curves", "Curves, source")
    assert len(first.pictures) == 2 and first.tables[0].rows[-1] == [30, 3, 1.0, pytest.approx(0.6)]
    assert curve_sections(folder.parent / "nowhere") == []


def test_settings_and_data_that_are_not_there_are_left_out(tmp_path: Path) -> None:
    assert settings_sections(tmp_path) == [] and data_sections([None, ""]) == []
    assert data_sections([tmp_path])[0].tables[0].rows == [[tmp_path.name, "0 files", None]]


def test_worst_come_first_whichever_way_is_better() -> None:
    assert lowest(ParsEval("vgnsl"), GOLD, PRED) == [0, 1]
    gold = [Alignment.from_pharaoh("0-0"), Alignment.from_pharaoh("0-0 1-1")]
    pred = [Alignment.from_pharaoh("0-0"), Alignment.from_pharaoh("0-1 1-0")]
    assert lowest(AER(), gold, pred, -1.0) == [1, 0]
    pairs = [AlignedPair(("a",), ("b",), gold[0]), AlignedPair(("a", "c"), ("b", "d"), gold[1])]
    pictures = worst_alignments(AER(), pairs, pred)
    assert "Number 2, predicted: AER 100.00" in pictures[1].caption and "data-link" in pictures[1].svg


def test_dependencies_are_drawn_gold_then_predicted_and_long_ones_left_out() -> None:
    gold = Dependencies(("dogs", "bark"), (2, 0), ("nsubj", "root"))
    long = Dependencies(tuple("w" * 70), (0, *(1 for _ in range(69))), ("root", *("dep" for _ in range(69))))
    pictures = worst_dependencies(LAS(), [gold, long], [gold.with_arcs([0, 1], ["root", "obj"]), long])
    assert [picture.caption for picture in pictures] == ["Number 1, gold.", "Number 1, predicted: LAS 0.00"]
