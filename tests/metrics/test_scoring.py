"""Several systems, several metrics, one pass: the same numbers as one by one."""

import importlib.metadata
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling import names
from groundling.errors import ConfigError, DataError
from groundling.metrics import ExecutionAccuracy, PassAtK, load_metric
from groundling.metrics.choosing import make_metrics, system_names
from groundling.metrics.pairing import Case, Entry, Mismatches, by_key, in_order
from groundling.metrics.scoring import Options, score_cases


def no_fault(gold: object, pred: object) -> str:
    return ""


def entries(values: dict[str, int]) -> list[Entry]:
    return [Entry(key, value) for key, value in values.items()]


tables = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 2), min_size=1)


@settings(max_examples=80, deadline=None)
@given(tables, st.lists(tables, min_size=1, max_size=3))
def test_pairing_by_key_finds_every_match_and_names_the_rest(gold: dict, systems: list[dict]) -> None:
    cases = list(by_key(entries(gold), [entries(system) for system in systems], no_fault))
    for number, system in enumerate(systems):
        mine = [case for case in cases if case.system == number]
        assert {(c.key, c.gold, c.pred) for c in mine if not c.fault} == {
            (key, gold[key], system[key]) for key in gold.keys() & system.keys()
        }
        assert {c.fault for c in mine if c.fault} == {f"{key} is missing" for key in gold.keys() - system.keys()} | {
            f"{key} is extra" for key in system.keys() - gold.keys()
        }


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=12))
def test_one_pass_equals_scoring_each_system_alone(rows: list[tuple[int, int, int]]) -> None:
    columns = [[Entry(str(i), row[column]) for i, row in enumerate(rows)] for column in range(3)]
    cases = in_order(columns[0], columns[1:], no_fault)
    report = score_cases(cases, [ExecutionAccuracy()], ["a", "b"], Options(bootstrap=50))
    for number, system in enumerate(report.systems, 1):
        alone = ExecutionAccuracy().corpus([row[0] for row in rows], [row[number] for row in rows], bootstrap=50)
        assert system.scores[0] == alone


def test_faults_keep_their_place_among_good_items() -> None:
    cases = [Case(0, "1", 1, 1), Case(0, "2", 1, 1, "2 is odd"), Case(0, "3", 1, 2)]
    report = score_cases(cases, [ExecutionAccuracy()], ["a"], Options(skip_mismatched=True))
    assert report.systems[0].keys == ("1", "3")
    assert [values for _, _, values in report.per_item()] == [[1.0], [0.0]]
    assert report.systems[0].skipped == Mismatches("a", ("2 is odd",))


def test_what_a_metric_refuses_is_a_mismatch_but_a_bad_setting_is_not() -> None:
    from groundling.metrics import UAS
    from groundling.structures import Dependencies

    one, two = Dependencies(("a",), (0,), ("root",)), Dependencies(("b",), (0,), ("root",))
    cases = [Case(0, "s1", one, one), Case(0, "s2", one, two)]
    with pytest.raises(DataError, match="s2: word 1 is 'a' in the gold but 'b' in the prediction"):
        score_cases(cases, [UAS()], ["a"])
    assert score_cases(cases, [UAS()], ["a"], Options(skip_mismatched=True)).systems[0].scores[0].n == 1
    with pytest.raises(ConfigError, match="t2: pass@2 needs 2 samples"):
        score_cases([Case(0, "t2", None, [True])], [PassAtK(2)], ["a"], Options(skip_mismatched=True))


def test_paired_tests_line_up_the_items_that_both_have() -> None:
    answers = [{"1": 0, "2": 1, "3": 1}, {"3": 1, "2": 1}]  # equal where both answered
    cases = [Case(system, key, 1, pred) for system, each in enumerate(answers) for key, pred in each.items()]
    report = score_cases(cases, [ExecutionAccuracy()], ["a", "b"], Options(paired=True))
    [(base, other, name, result)] = report.comparisons
    assert (base, other, name) == ("a", "b", "ExecutionAccuracy")
    assert (result.difference, result.p, result.n) == (0.0, 1.0, 2)


def test_systems_without_a_common_item_cannot_be_paired() -> None:
    cases = [Case(0, "1", 1, 1), Case(1, "2", 1, 1)]
    with pytest.raises(DataError, match="a and b share no item"):
        score_cases(cases, [ExecutionAccuracy()], ["a", "b"], Options(paired=True))


def test_watch_sees_every_case() -> None:
    seen = []

    def watch(cases):
        for case in cases:
            seen.append(case.key)
            yield case

    score_cases([Case(0, str(i), 1, 1) for i in range(600)], [ExecutionAccuracy()], ["a"], Options(watch=watch))
    assert len(seen) == 600


def test_settings_go_to_the_metrics_that_have_them() -> None:
    uas, las = make_metrics(["uas", "las"], {"punctuation": False, "subtypes": True})
    assert (uas.punctuation, las.punctuation, las.subtypes) == (False, False, True)


def test_system_names_are_distinct() -> None:
    assert system_names(["a/x.txt", "a/y.txt"]) == ["x", "y"]
    assert system_names(["a/x.txt", "b/x.txt"]) == ["a/x.txt", "b/x.txt"]
    assert system_names(["out/"]) == ["out"]


def test_third_parties_add_metrics_by_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = SimpleNamespace(name="theirs", load=lambda: PassAtK)

    def entry_points(group: str):
        return [entry] if group == "groundling.metrics" else importlib.metadata.entry_points(group=group)

    monkeypatch.setattr(names, "_entry_points", entry_points)
    assert load_metric("theirs") is PassAtK
