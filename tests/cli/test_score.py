"""`groundling score`: what it prints, and what it says when files do not fit."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from groundling.cli import main as cli_main
from groundling.cli.main import build
from groundling.errors import ConfigError, DataError, FormatError, GroundlingError
from groundling.formats import conllu, ctm, textgrid
from groundling.structures import Dependencies, Segment, Segmentation

GOLD_TREES = "(S (NP (D a) (N cat)) (VP (V sees) (NP (N dogs))))\n(S (NP (N dogs)) (VP (V bark)))\n"
GOOD_TREES = "(S (NP (D a) (N cat)) (VP (V sees) (NP (N dogs))))\n(S (NP (N dogs)) (VP (V bark)))\n"
POOR_TREES = "(S (D a) (VP (NP (N cat) (V sees)) (N dogs)))\n(S (NP (N dogs)) (VP (V bark)))\n"


def run(*arguments: object, stdin: str | None = None):
    return CliRunner().invoke(build("score"), ["score", *map(str, arguments)], input=stdin)


def answer(*arguments: object, stdin: str | None = None) -> str:
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == 0, (result.output, result.exception)
    return result.stdout


def scores(*arguments: object) -> dict[tuple[str, str], dict]:
    found = json.loads(answer(*arguments, "--json"))
    return {(score["system"], score["name"]): score for score in found["scores"]}


def complaint(kind: type[GroundlingError], *arguments: object) -> str:
    error = run(*arguments).exception
    assert type(error) is kind, repr(error)
    return str(error)


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    for name, text in (("gold", GOLD_TREES), ("good", GOOD_TREES), ("poor", POOR_TREES)):
        (tmp_path / f"{name}.trees").write_text(text)
    return tmp_path


def test_one_system_prints_signed_scores(trees: Path) -> None:
    lines = answer("trees", trees / "gold.trees", trees / "good.trees").splitlines()
    assert lines[0].startswith("StructIoU|labels:yes|")
    assert lines[0].endswith("= 100.00 (95% CI 100.00-100.00, n=2)")
    assert lines[1].startswith("ParsEval|convention:evalb|labels:yes|")
    assert lines[2].split() == ["precision", "100.00", "recall", "100.00"]


def test_several_systems_print_a_table_and_paired_tests(trees: Path) -> None:
    files = [trees / f"{name}.trees" for name in ("gold", "good", "poor")]
    lines = answer("trees", *files, "--paired", "--bootstrap", 200).splitlines()
    assert lines[0].split()[:2] == ["system", "StructIoU"]
    assert lines[1].split()[:2] == ["good", "100.00"]
    assert lines[2].split()[0] == "poor"
    assert any(line.startswith("poor against good, StructIoU: -") and "paired bootstrap, n=2" in line for line in lines)
    assert any(line.startswith("poor against good, ParsEval: -") for line in lines)
    randomised = answer("trees", *files, "--paired", "--test", "randomisation")
    assert "paired randomisation, n=2" in randomised


def test_json_has_the_fixed_shape(trees: Path) -> None:
    found = json.loads(
        answer(
            "trees",
            trees / "gold.trees",
            trees / "good.trees",
            trees / "poor.trees",
            "--json",
            "--per-sentence",
            "--paired",
        )
    )
    assert {"name", "system", "value", "low", "high", "n", "signature"} <= found["scores"][0].keys()
    assert [(score["system"], score["name"]) for score in found["scores"]] == [
        ("good", "StructIoU"), ("good", "ParsEval"), ("poor", "StructIoU"), ("poor", "ParsEval"),
    ]  # fmt: skip
    assert found["items"][0] == {"item": "sentence 1", "system": "good", "values": {"StructIoU": 1.0, "ParsEval": 1.0}}
    assert found["comparisons"][0]["baseline"] == "good"
    assert 0 < found["comparisons"][0]["p"] <= 1


def test_per_sentence_lists_every_item(trees: Path) -> None:
    lines = answer(
        "trees", trees / "gold.trees", trees / "poor.trees", "--per-sentence", "-m", "struct-iou"
    ).splitlines()
    assert lines[0] == "item\tsystem\tStructIoU"
    assert lines[2] == "sentence 2\tpoor\t100.00"
    assert lines[3] == ""


def test_same_seed_gives_the_same_bytes_whatever_the_jobs(trees: Path) -> None:
    call = ["trees", trees / "gold.trees", trees / "poor.trees", "--seed", 3]
    first = answer(*call)
    assert first == answer(*call) == answer(*call, "--n-jobs", 2)
    assert first == answer(*call, "--n-jobs", 2, "--backend", "threading")
    assert "Did you mean 'ray'" in complaint(ConfigError, *call, "--backend", "rays")


def test_settings_reach_the_metrics_and_their_signatures(trees: Path) -> None:
    found = scores("trees", trees / "gold.trees", trees / "poor.trees", "--no-labels", "--average", "corpus")
    assert "|labels:no|" in found["poor", "StructIoU"]["signature"]
    assert "|average:corpus|" in found["poor", "StructIoU"]["signature"]
    assert "|convention:vgnsl|labels:no|average:corpus|" in found["poor", "ParsEval"]["signature"]
    chosen = scores("trees", trees / "gold.trees", trees / "poor.trees", "-m", "parseval", "--convention", "pcfg")
    assert list(chosen) == [("poor", "ParsEval")]


def test_unlabelled_predictions_are_scored_without_labels_and_that_is_said(trees: Path) -> None:
    bare = trees / "bare.trees"
    bare.write_text("( ( a cat ) ( sees dogs ) )\n( dogs bark )\n")
    result = run("trees", trees / "gold.trees", bare)
    assert "no labels there, so labels are not scored" in result.stderr
    assert "ParsEval|convention:vgnsl|labels:no|" in result.stdout
    assert "= 100.00" in result.stdout.splitlines()[1]
    same = trees / "same.trees"
    same.write_text("((a cat) (sees dogs))\n(dogs bark)\n")
    assert scores("trees", trees / "gold.trees", same, "--labelled-input", "no")["same", "ParsEval"]["value"] == 1


def test_gold_may_come_from_the_standard_input(trees: Path) -> None:
    assert answer("trees", "-", trees / "good.trees", stdin=GOLD_TREES) == answer(
        "trees", trees / "gold.trees", trees / "good.trees"
    )


def test_mismatched_trees_are_named(trees: Path) -> None:
    short, other = trees / "short.trees", trees / "other.trees"
    short.write_text(GOOD_TREES.splitlines()[0] + "\n")
    other.write_text("(S (NP (N cats)) (VP (V bark)))\n" + GOOD_TREES)
    assert "short: 1 item(s) do not match the gold: sentence 2 is missing." in complaint(
        DataError, "trees", trees / "gold.trees", short
    )
    message = complaint(DataError, "trees", trees / "gold.trees", other)
    assert "sentence 1: 4 words ('a cat sees dogs') in the gold, 2 words ('cats bark') in the prediction" in message
    assert "sentence 3 is extra" in message
    assert "--skip-mismatched" in message


def test_skipped_items_are_counted_and_reported(trees: Path) -> None:
    short = trees / "short.trees"
    short.write_text(GOOD_TREES.splitlines()[0] + "\n")
    call = ["trees", trees / "gold.trees", short, trees / "good.trees", "--skip-mismatched"]
    result = run(*call)
    assert "left out: short: 1 item(s) do not match the gold: sentence 2 is missing." in result.stderr
    found = json.loads(answer(*call, "--json", "--paired"))
    assert found["skipped"] == {"short": ["sentence 2 is missing"]}
    assert [score["n"] for score in found["scores"]] == [1, 1, 2, 2]
    assert found["comparisons"][0]["n"] == 1


def test_many_mismatches_are_counted_not_listed(trees: Path) -> None:
    long = trees / "long.trees"
    long.write_text(GOLD_TREES * 6)
    message = complaint(DataError, "trees", trees / "gold.trees", long)
    assert "10 item(s)" in message and "sentence 7 is extra; and 5 more" in message


def test_other_words_of_equal_number_are_noted(trees: Path) -> None:
    lower = trees / "lower.trees"
    lower.write_text(GOOD_TREES.replace("bark", "<unk>"))
    assert "sentence 2: Words unmatch" in complaint(DataError, "trees", trees / "gold.trees", lower)  # as EVALB says
    result = run("trees", trees / "gold.trees", lower, "-m", "struct-iou")
    assert "1 sentences have other words than the gold" in result.stderr
    assert result.exit_code == 0


def test_empty_elements_are_removed(trees: Path) -> None:
    traced = trees / "traced.trees"
    traced.write_text(GOLD_TREES.replace("(V bark)", "(V bark) (NP (-NONE- *))"))
    result = run("trees", traced, trees / "good.trees", "-m", "struct-iou")
    assert "1 trees had empty elements (-NONE-), which were removed" in result.stderr
    assert "= 100.00" in result.stdout


def test_characters_compare_trees_of_other_words(trees: Path) -> None:
    (trees / "split.trees").write_text("(S (N dog) (N s) (V bark))\n")
    (trees / "whole.trees").write_text("(S (N dogs) (V bark))\n")
    found = scores("trees", trees / "whole.trees", trees / "split.trees", "--unit", "characters")
    score = found["split", "StructIoU"]
    assert "|unit:characters|" in score["signature"]
    assert score["value"] == pytest.approx(2 * (1 + 3 / 4 + 1) / (3 + 4))
    (trees / "longer.trees").write_text("(S (N puppies) (V bark))\n")
    message = complaint(DataError, "trees", trees / "whole.trees", trees / "longer.trees", "--unit", "characters")
    assert "sentence 1: 8 characters in the gold, 11 in the prediction" in message


@pytest.fixture
def timed(trees: Path) -> Path:
    gold = (Segment(0, 1, "dogs"), Segment(1, 2, "bark"))
    found = (Segment(0, 1.5, "x"), Segment(1.5, 2, "x"))
    (trees / "one.trees").write_text("(S (N dogs) (V bark))\n")
    for folder, segments in (("times", gold), ("heard", found)):
        (trees / folder).mkdir()
        textgrid.write(trees / folder / "u1.TextGrid", [Segmentation(segments, 2.0, "words")])
    return trees


def test_seconds_take_times_from_segments(timed: Path) -> None:
    call = ["trees", timed / "one.trees", timed / "one.trees", "--unit", "seconds", "--segments-gold", timed / "times"]
    assert scores(*call)["one", "StructIoU"]["value"] == 1
    score = scores(*call, "--segments-pred", timed / "heard")["one", "StructIoU"]
    assert score["value"] == pytest.approx(2 * (1 + 1 / 1.5 + 0.5 / 1) / 6)
    assert "|unit:seconds|" in score["signature"]


def test_seconds_without_times_are_an_error(timed: Path) -> None:
    call = ["trees", timed / "one.trees", timed / "one.trees"]
    assert "give `--segments-gold`" in complaint(ConfigError, *call, "--unit", "seconds")
    assert "Add `--unit seconds`" in complaint(ConfigError, *call, "--segments-gold", timed / "times")
    (timed / "one.trees").write_text("(S (N dogs) (V bark) (R now))\n(S (N cats))\n")
    message = complaint(DataError, *call, "--unit", "seconds", "--segments-gold", timed / "times")
    assert "sentence 1: recording 'u1': the tree has 3 words but the segmentation has 2" in message
    assert "sentence 2: there is no recording for this tree" in message


def test_wrong_names_and_settings_are_answered(trees: Path) -> None:
    call = ["trees", trees / "gold.trees", trees / "good.trees"]
    assert "Did you mean 'parseval'" in complaint(ConfigError, *call, "-m", "parsevl")
    assert "has a setting 'convention'" in complaint(ConfigError, *call, "-m", "struct-iou", "--convention", "pcfg")
    assert "needs two systems" in complaint(ConfigError, *call, "--paired")
    assert "there is no such file" in complaint(DataError, "trees", trees / "gold.trees", trees / "absent.trees")
    (trees / "empty.trees").write_text("")
    assert "there is nothing to score" in complaint(DataError, "trees", trees / "empty.trees", trees / "empty.trees")


def test_the_program_prints_one_line_and_exits_2(trees: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(
        sys, "argv", ["groundling", "score", "trees", str(trees / "gold.trees"), str(trees / "no.trees")]
    )
    with pytest.raises(SystemExit) as stop:
        cli_main.main()
    assert stop.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def sentence(name: str, words: str, heads: list[int], labels: list[str]) -> Dependencies:
    split = tuple(words.split())
    tags = tuple("PUNCT" if word == "!" else "X" for word in split)
    return Dependencies(split, tuple(heads), tuple(labels), tags, (f"# sent_id = {name}",) if name else ())


GOLD_ARCS = [
    sentence("s1", "dogs bark !", [2, 0, 2], ["nsubj", "root", "punct"]),
    sentence("s2", "cats were seen", [3, 3, 0], ["nsubj:pass", "aux", "root"]),
]


@pytest.fixture
def arcs(tmp_path: Path) -> Path:
    wrong = [
        GOLD_ARCS[0].with_arcs([2, 0, 1], ["nsubj", "root", "punct"]),
        GOLD_ARCS[1].with_arcs([3, 3, 0], ["nsubj", "cop", "root"]),
    ]
    conllu.write(tmp_path / "gold.conllu", GOLD_ARCS)
    conllu.write(tmp_path / "turned.conllu", wrong[::-1])
    conllu.write(tmp_path / "part.conllu", wrong[:1])
    return tmp_path


def test_dependencies_are_paired_by_id(arcs: Path) -> None:
    found = scores("dependencies", arcs / "gold.conllu", arcs / "turned.conllu")
    assert found["turned", "UAS"]["value"] == pytest.approx(5 / 6)
    assert found["turned", "LAS"]["value"] == pytest.approx(4 / 6)
    strict = scores("dependencies", arcs / "gold.conllu", arcs / "turned.conllu", "--subtypes", "--no-punctuation")
    assert strict["turned", "LAS"]["value"] == pytest.approx(3 / 5)
    assert "|punctuation:no|subtypes:yes|" in strict["turned", "LAS"]["signature"]


def test_missing_and_unlike_sentences_are_named(arcs: Path) -> None:
    assert "part: 1 item(s) do not match the gold: sentence 's2' is missing" in complaint(
        DataError, "dependencies", arcs / "gold.conllu", arcs / "part.conllu"
    )
    conllu.write(arcs / "other.conllu", [GOLD_ARCS[0], sentence("s2", "cats are seen", [3, 3, 0], ["a", "b", "root"])])
    assert "sentence 's2': word 2 is 'were' in the gold, 'are' in the prediction" in complaint(
        DataError, "dependencies", arcs / "gold.conllu", arcs / "other.conllu"
    )
    conllu.write(arcs / "short.conllu", [GOLD_ARCS[0], sentence("s2", "cats", [0], ["root"])])
    assert "sentence 's2': 3 words ('cats were seen') in the gold, 1 words ('cats')" in complaint(
        DataError, "dependencies", arcs / "gold.conllu", arcs / "short.conllu"
    )
    conllu.write(arcs / "twice.conllu", [GOLD_ARCS[0], GOLD_ARCS[0]])
    assert "have sentence 's1' twice" in complaint(
        DataError, "dependencies", arcs / "gold.conllu", arcs / "twice.conllu"
    )
    assert "the gold has sentence 's1' twice" in complaint(
        DataError, "dependencies", arcs / "twice.conllu", arcs / "gold.conllu"
    )


def test_sentences_without_ids_are_paired_in_order(arcs: Path) -> None:
    conllu.write(arcs / "bare.conllu", [sentence("", "dogs bark !", [2, 0, 2], ["nsubj", "root", "punct"])])
    message = complaint(DataError, "dependencies", arcs / "gold.conllu", arcs / "bare.conllu")
    assert "sentence 2 is missing" in message
    conllu.write(arcs / "half.conllu", [GOLD_ARCS[0], sentence("", "cats were seen", [3, 3, 0], ["a", "b", "root"])])
    assert "sentence 2 has no sent_id, but the first has one" in complaint(
        DataError, "dependencies", arcs / "gold.conllu", arcs / "half.conllu"
    )


@pytest.fixture
def links(tmp_path: Path) -> Path:
    (tmp_path / "gold.tsv").write_text("a cat\tun chat\t0-0 1-1\nit rains\til pleut\t0-0 1p0 1-1\n")
    (tmp_path / "mine.talp").write_text("0-0 1-1\n0-0 1-0\n")
    (tmp_path / "one.align").write_text("1-1 2-2\n1-1 2-1\n")
    return tmp_path


def test_alignments_print_aer_precision_recall_f1(links: Path) -> None:
    lines = answer("alignments", links / "gold.tsv", links / "mine.talp").splitlines()
    assert lines[0].startswith("AER|v:") and " = 12.50 " in lines[0]
    assert lines[1].split() == ["precision", "100.00", "recall", "75.00", "f1", "85.71"]
    assert answer("alignments", links / "gold.tsv", links / "one.align", "--base", 1).splitlines() == lines


def test_gold_alignments_may_be_wpt_or_pharaoh(links: Path) -> None:
    (links / "gold.wa").write_text("1 1 1 S\n1 2 2 S\n2 1 1 S\n2 2 1 P\n2 2 2 S\n")
    (links / "gold.align").write_text("0-0 1-1\n0-0 1p0 1-1\n")
    for gold in ("gold.wa", "gold.align"):
        assert scores("alignments", links / gold, links / "mine.talp")["mine", "AER"]["value"] == pytest.approx(1 / 8)


def test_a_link_outside_the_words_and_missing_pairs_are_named(links: Path) -> None:
    assert "pair 1: the link 2-2 (from 0) lies outside 2 and 2 words" in complaint(
        DataError, "alignments", links / "gold.tsv", links / "one.align"
    )
    (links / "short.talp").write_text("0-0\n")
    assert "pair 2 is missing" in complaint(DataError, "alignments", links / "gold.tsv", links / "short.talp")


@pytest.fixture
def speech(tmp_path: Path) -> Path:
    gold = {
        "u2": (Segment(0, 0.5, "a"), Segment(0.5, 1, "cat")),
        "u10": (Segment(0.2, 0.6, "two"), Segment(0.6, 1.5, "dogs")),
    }
    (tmp_path / "gold").mkdir()
    for name, segments in gold.items():
        textgrid.write(tmp_path / "gold" / f"{name}.TextGrid", [Segmentation(segments, 2.0, "words")])
    found = [Segmentation((Segment(0.2, 0.61, "x"), Segment(0.61, 1.5, "x")), None, "u10")]
    found.append(Segmentation((Segment(0, 0.7, "x"), Segment(0.7, 1, "x")), None, "u2"))
    ctm.write(tmp_path / "found.ctm", found)
    return tmp_path


def test_segments_are_paired_by_recording(speech: Path) -> None:
    found = scores("segments", speech / "gold", speech / "found.ctm")
    boundaries = found["found", "Boundaries"]
    assert boundaries["value"] == pytest.approx(1 / 2)
    assert {"precision", "recall", "f1", "r-value"} <= boundaries["details"].keys()
    iou = ((0.5 / 0.7 + 0.3 / 0.5) / 2 + (0.4 / 0.41 + 0.89 / 0.9) / 2) / 2
    assert found["found", "SegmentIoU"]["value"] == pytest.approx(iou)
    wide = scores("segments", speech / "gold", speech / "found.ctm", "--tolerance", 0.2, "--edges", "-m", "boundaries")
    assert wide["found", "Boundaries"]["value"] == 1
    lines = answer("segments", speech / "gold", speech / "found.ctm").splitlines()
    assert lines[1].split()[::2] == ["precision", "recall", "r-value"]


def test_single_textgrids_are_one_recording_and_the_tier_is_chosen(speech: Path) -> None:
    phones = Segmentation((Segment(0, 0.2, "k"), Segment(0.2, 1, "t")), 2.0, "phones")
    words = Segmentation((Segment(0, 0.5, "a"), Segment(0.5, 1, "cat")), 2.0, "words")
    textgrid.write(speech / "other.TextGrid", [phones, words])
    gold = speech / "gold" / "u2.TextGrid"
    assert scores("segments", gold, speech / "other.TextGrid")["other", "Boundaries"]["value"] == 1
    textgrid.write(speech / "phones.TextGrid", [phones])
    assert scores("segments", gold, speech / "phones.TextGrid")["phones", "Boundaries"]["value"] == 0
    assert "no interval tier is called 'syllables'" in complaint(
        FormatError, "segments", gold, speech / "other.TextGrid", "--tier", "syllables"
    )


def test_recordings_that_do_not_fit_are_named(speech: Path) -> None:
    ctm.write(speech / "part.ctm", [Segmentation((Segment(0, 0.7, "x"),), None, "u2")])
    assert "recording 'u10' is missing" in complaint(DataError, "segments", speech / "gold", speech / "part.ctm")
    textgrid.write(speech / "long.TextGrid", [Segmentation((Segment(0, 0.7, "x"),), 9.0, "words")])
    assert "2.00 s long in the gold, 9.00 s in the prediction" in complaint(
        DataError, "segments", speech / "gold" / "u2.TextGrid", speech / "long.TextGrid"
    )
    (speech / "nothing").mkdir()
    assert "has no .TextGrid and no .ctm file" in complaint(
        DataError, "segments", speech / "nothing", speech / "part.ctm"
    )


def rows(path: Path, *items: dict) -> Path:
    path.write_text("".join(json.dumps(item) + "\n" for item in items))
    return path


def test_programs_print_pass_at_k(tmp_path: Path) -> None:
    gold = rows(tmp_path / "tasks.jsonl", {"task_id": "t/1"}, {"task_id": "t/2"})
    results = [{"task_id": "t/2", "passed": False}, {"task_id": "t/1", "passed": True}]
    results += [{"task_id": "t/1", "passed": False}, {"task_id": "t/2", "passed": [False]}]
    found = answer("programs", gold, rows(tmp_path / "mine.jsonl", *results), "-k", 1, "-k", 2).splitlines()
    assert [line.split(" = ")[1][:5] for line in found] == ["25.00", "50.00"]
    assert "PassAtK|k:2|" in found[1]
    assert "pass@3 needs 3 samples a task" in complaint(ConfigError, "programs", gold, tmp_path / "mine.jsonl", "-k", 3)
    assert "execution accuracy takes one result a task, here are 2" in complaint(
        DataError, "programs", gold, tmp_path / "mine.jsonl", "-m", "execution-accuracy"
    )


def test_program_outputs_are_compared_with_the_gold(tmp_path: Path) -> None:
    gold = rows(tmp_path / "tasks.jsonl", {"task_id": 1, "output": [1, 2]}, {"task_id": 2, "output": True})
    mine = rows(tmp_path / "mine.jsonl", {"task_id": 1, "output": [1, 2]}, {"task_id": 2, "output": 1})
    found = scores("programs", gold, mine, "-m", "execution-accuracy", "-m", "pass-at-k")
    assert found["mine", "ExecutionAccuracy"]["value"] == found["mine", "PassAtK"]["value"] == 0.5


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "mine.jsonl:1: not JSON"),
        ('{"passed": true}', "no `task_id`"),
        ('{"task_id": "a"}', "a result needs `passed`"),
        ('{"task_id": "a", "passed": 1}', "`passed` must be true, false or a list"),
        ('{"task_id": "a", "output": 1}', "the gold has none to compare it with"),
    ],
)
def test_bad_results_are_named(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "mine.jsonl").write_text(line + "\n")
    gold = rows(tmp_path / "tasks.jsonl", {"task_id": "a"})
    assert message in complaint(FormatError, "programs", gold, tmp_path / "mine.jsonl")


def test_missing_and_extra_tasks_are_named(tmp_path: Path) -> None:
    gold = rows(tmp_path / "tasks.jsonl", {"task_id": "a"}, {"task_id": "b"})
    mine = rows(tmp_path / "mine.jsonl", {"task_id": "b", "passed": True}, {"task_id": "c", "passed": True})
    assert "task 'a' is missing; task 'c' is extra" in complaint(DataError, "programs", gold, mine)


@pytest.mark.parametrize("kind", ["trees", "dependencies", "alignments", "segments", "programs"])
def test_help_has_an_example(kind: str) -> None:
    assert f"groundling score {kind}" in " ".join(answer(kind, "--help").split())


def test_published_outputs_in_one_table(data_dir: Path) -> None:
    folder = data_dir / "crosslingual" / "align_gold"
    files = [f"{system}.enfr.grow-diagonal.talp.gz" for system in ("fastalign", "giza")] + ["awesome-align.enfr.out.gz"]
    outputs = [folder / "reference_outputs" / file for file in files]
    found = scores("alignments", folder / "en-fr_hansards_wpt03.tsv.gz", *outputs, "--bootstrap", 0)
    assert [round(score["value"] * 100, 1) for score in found.values()] == [10.5, 5.9, 4.1]
