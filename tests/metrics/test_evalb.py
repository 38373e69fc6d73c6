from pathlib import Path

import pytest

from groundling.errors import DataError, FormatError
from groundling.metrics import ParsEval
from groundling.metrics.evalb import evalb
from groundling.metrics.evalb_prm import EvalbParameters, parse_prm, read_prm
from groundling.structures import Tree


def lines(path: Path) -> list[str]:
    return path.read_text().split("\n")[:-1]


def plain(report: list[str]) -> list[str]:
    return [" ".join(line.split()) for line in report]


def test_sample_set_to_the_last_digit(data_dir: Path) -> None:
    folder = data_dir / "vision" / "evalb"
    report = evalb(lines(folder / "sample.gld"), lines(folder / "sample.tst"), read_prm(str(folder / "sample.prm")))
    ours = [line for line in plain(str(report).split("\n")) if "FMeasure" not in line]  # its version printed none
    assert ours == plain(lines(folder / "sample.rsl"))


def test_bug_set_to_the_last_digit(data_dir: Path) -> None:
    folder = data_dir / "vision" / "evalb"
    report = evalb(lines(folder / "bug.gld"), lines(folder / "bug.tst"), read_prm(str(folder / "new.prm")))
    assert plain(str(report).split("\n")) == plain(lines(folder / "bug.rsl-new"))


def test_bug_set_without_quote_labels_fails_as_the_old_program_did(data_dir: Path) -> None:
    folder = data_dir / "vision" / "evalb"
    report = evalb(lines(folder / "bug.gld"), lines(folder / "bug.tst"), read_prm(str(folder / "sample.prm")))
    printed = plain(lines(folder / "bug.rsl-old"))
    assert [f"{i} : {row.note}" for i, row in enumerate(report.rows, 1)] == [x for x in printed if "unmatch" in x]
    summary = plain(str(report).split("\n"))
    assert summary[summary.index("-- All --") :] == printed[printed.index("-- All --") :]


def test_the_metric_agrees_with_the_table_on_trees(data_dir: Path) -> None:
    folder = data_dir / "vision" / "evalb"
    prm = str(folder / "new.prm")
    golds, tests = ([Tree.from_brackets(x) for x in lines(folder / f"bug.{end}")] for end in ("gld", "tst"))
    score = ParsEval(prm=prm).corpus(golds, tests)
    summary = evalb(lines(folder / "bug.gld"), lines(folder / "bug.tst"), read_prm(prm)).summary()
    assert 100 * score.value == pytest.approx(summary.fmeasure)
    assert 100 * score.details["2 or less crossing"] == pytest.approx(summary.two_or_less)
    assert 100 * score.details["tagging"] == pytest.approx(summary.tagging)


def test_status_of_sentences() -> None:
    golds = ["(S (N dogs))"] * 4
    report = evalb(golds, ["(S (N dogs))", "", "(S (N cats))", "(S (N a) (N b))"])
    assert [row.status for row in report.rows] == [0, 2, 1, 1]
    assert [row.note for row in report.rows] == ["", "", "Words unmatch (dogs|cats)", "Length unmatch (1|2)"]


def test_errors_name_the_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="line 2: the test file has no such line"):
        evalb(["(N a)", "(N b)"], ["(N a)"])
    with pytest.raises(FormatError, match=r"x.prm:2: not a line of an EVALB .prm file: 'DELETE TOP'"):
        parse_prm("LABELED 1\nDELETE TOP", "x.prm")
    with pytest.raises(DataError, match=r"cannot be read: No such file or directory. Give the path of an EVALB"):
        read_prm(str(tmp_path / "none.prm"))
    for text, what in [("(S (N a)", "not closed"), ("(N a))", "closes nothing"), ("(S a b)", "has no tag of its own")]:
        for before in ([], ["(N a)"] * 600):  # both readers
            with pytest.raises(FormatError, match=f"line {len(before) + 1}: .*{what}"):
                evalb([*before, text], [*before, "(N a)"])


def test_the_compiled_reader_gives_the_rows_of_the_plain_one(data_dir: Path) -> None:
    folder = data_dir / "vision" / "evalb"
    for name, prm in [("sample", "sample"), ("bug", "new"), ("bug", "sample")]:
        golds, tests = lines(folder / f"{name}.gld"), lines(folder / f"{name}.tst")
        parameters = read_prm(str(folder / f"{prm}.prm"))
        few, many = evalb(golds, tests, parameters), evalb(golds * 100, tests * 100, parameters)
        assert many.rows == few.rows * 100


def test_equal_labels_merge_over_lines() -> None:
    prm = parse_prm("EQ_LABEL A B\nEQ_LABEL C D\nEQ_LABEL B C\n")
    assert all(prm.same_label(x, y) for x in "ABCD" for y in "ABCD") and not prm.same_label("A", "E")


def test_defaults_are_those_of_collins(data_dir: Path) -> None:
    given, ours = read_prm(str(data_dir / "vision" / "evalb" / "COLLINS.prm")), EvalbParameters()
    for field in ("delete", "delete_for_length", "quotes", "label_class", "word_class", "labelled", "cutoff"):
        assert getattr(given, field) == getattr(ours, field)
