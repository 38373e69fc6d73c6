"""BLEU against sacrebleu, every method by name, dual agreement, tables and curves, spreading over processes."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU

from groundling.errors import ConfigError, DataError, ExecutionError
from groundling.execution import Limits, Runner
from groundling.metrics.passing import pass_at_k
from groundling.structures import Program, Samples
from groundling.systems.mbrexec import (
    METHODS,
    Graded,
    Pool,
    Run,
    Task,
    bleu,
    curves,
    dual,
    execute,
    scores_of,
    select,
    table,
)
from groundling.systems.mbrexec.cache import Cache
from groundling.systems.mbrexec.evaluate import SelectionAccuracy, expected_pass_at_k
from groundling.systems.mbrexec.spreading import execute_spread

words = st.lists(st.sampled_from("abc"), max_size=9)


@settings(max_examples=60, deadline=None)
@given(st.lists(words, min_size=1, max_size=5))
def test_pairwise_bleu_is_sacrebleus(texts: list[list[str]]) -> None:
    sacre = BLEU(effective_order=True, tokenize="none", force=True)
    expected = [[sacre.sentence_score(" ".join(a), [" ".join(b)]).score for b in texts] for a in texts]
    assert bleu.pairwise_bleu(texts) == pytest.approx(np.array(expected), abs=1e-9)


def test_characters_are_sacrebleus() -> None:
    sacre = BLEU(effective_order=True, tokenize="char", force=True)
    a, b = "def f(x):\n\treturn x  + 1", "def g(y): return 1 + y"
    ours = bleu.pairwise_bleu([bleu.characters(a), bleu.characters(b)])[0, 1]
    assert ours == pytest.approx(sacre.sentence_score(a, [b]).score)


def test_bash_tokens_are_bashlexs_where_it_parses() -> None:
    pytest.importorskip("bashlex")
    assert bleu.tokens("find . -name '*.py'|wc -l", "bash") == ["find", ".", "-name", "*.py", "|", "wc", "-l"]
    assert bleu.tokens("ls | | x", "bash") == ["ls", "|", "|", "x"]


def pool(*keys: str, logprobs: tuple[float, ...] | None = None) -> Pool:
    """One letter an input; a dot is a failure."""
    runs = [Run("ok", tuple(None if c == "." else c for c in text), tuple(text)) for text in keys]
    logs = logprobs or (None,) * len(keys)
    programs = tuple(Program(f"x = {i}", logprob=log, tokens=i + 1 if log else None) for i, log in enumerate(logs))
    return Pool(programs, tuple(runs), task_id="t")


def test_each_method_chooses_what_it_should() -> None:
    mine = pool("aa", "bb", "bb", "b.", logprobs=(-1.0, -8.0, -2.0, -0.5))
    assert [select(mine, name) for name in ("ml", "mall", "mbr-exec", "mbr-exec-soft", "executability-ml")] == [
        3,
        3,
        2,
        2,
        0,
    ]
    assert select(mine.first_inputs(1), "mbr-exec") == 3  # three agree on the first input; the likeliest of them wins
    assert select(mine, "random") == 3 and select(mine, "executable") == 0


def test_where_nothing_runs_the_filter_lets_all_through() -> None:
    assert select(pool(".", ".", logprobs=(-2.0, -1.0)), "executability-ml") == 1


def test_text_agreement_breaks_what_results_leave_open() -> None:
    runs = (Run("ok", ("a",), ("a",)),) * 3
    programs = (Program("return sorted(x)[0]"), Program("return min(x)"), Program("return min(x )"))
    assert select(Pool(programs, runs), "mbr-exec-text") in (1, 2)
    failing = Pool(programs, (Run("ok", ("a",), ()), Run("error", (None,), ()), Run("error", (None,), ())))
    assert select(failing, "mbr-exec-text") == 0


def test_wrong_names_and_missing_data_say_what_to_do() -> None:
    with pytest.raises(ConfigError, match=r"no method is called 'mbr-exce'. Did you mean 'mbr-exec'\?"):
        scores_of("mbr-exce", pool("a"))
    with pytest.raises(DataError, match="has no likelihood"):
        scores_of("ml", pool("a"))
    with pytest.raises(DataError, match="--generated-tests"):
        scores_of("dual", pool("a"))
    assert set(METHODS) >= {"ml", "mall", "mbr-charbleu", "mbr-tokenbleu", "mbr-exec", "dual"}


def test_asserts_are_taken_whole_from_cut_off_text() -> None:
    completions = [
        "\n    f(1) == 2, 'one'\nassert f(2) == 3\nassert f([1,\n  2]) == 4\nassert f(",
        "f(1) == 2, 'one'\nimport os",
        "True",
        "g(1) == 2",
        "",
    ]
    assert dual.asserts_from(completions, "f") == [
        "assert f(1) == 2, 'one'",
        "assert f(2) == 3",
        "assert f([1, 2]) == 4",
    ]
    assert dual.generated_inputs(["assert f(1) == 2"]) == ["f(1)"]
    with pytest.raises(DataError, match="no function is defined"):
        dual.entry_point("x = 1")


def test_dual_agreement_prefers_the_group_that_passes_more_and_is_larger() -> None:
    mine = pool("a", "a", "a", "a")
    tests = ["oo.", "oo.", "o..", "..o"]
    runs = tuple(Run("ok", tuple(None if c == "." else "None" for c in text), ()) for text in tests)
    assert scores_of("dual", replace(mine, test_runs=runs)).tolist() == pytest.approx(
        [2 * 2**0.5, 2 * 2**0.5, 1.0, 1.0]
    )


def test_table_and_curves() -> None:
    graded = [Graded(pool("a", "a", "b"), (True, True, False)), Graded(pool("a", "b", "c"), (True, False, False))]
    rows = dict(table(graded, sandbox="none", seconds=3))
    assert rows["mbr-exec (all)"].value == pytest.approx((1 + 1 / 3) / 2)
    assert rows["random (all)"].value == pytest.approx(0.5) and rows["oracle (all)"].value == 1.0
    assert "method:mbr-exec|inputs:all|samples:3" in rows["mbr-exec (all)"].signature
    assert "ml (all)" not in rows and "dual (all)" not in rows
    points = curves(graded, [("random", 0), ("mbr-exec", 1)], [1, 3], np.random.default_rng(0), draws=4)
    assert [(p.size, p.method) for p in points] == [(1, "random"), (1, "mbr-exec"), (3, "random"), (3, "mbr-exec")]
    assert points[2].mean == pytest.approx(50) and points[2].deviation == pytest.approx(0, abs=1e-9)
    assert expected_pass_at_k(graded, 2) == pytest.approx((pass_at_k(3, 2, 2) + pass_at_k(3, 1, 2)) / 2)
    assert SelectionAccuracy().score([True, False], [True, True]).value == 0.5
    with pytest.raises(DataError, match="task_ids match"):
        table([], sandbox="none", seconds=3)


def test_spread_runs_give_the_same_as_one_runner(tmp_path: Path) -> None:
    task = Task("t", ("f(1)", "f(2)"), ("assert f(1) == 1",))
    pairs = [
        (
            Samples(f"t{n}", (Program("def f(x): return x"), Program(f"def f(x): return {n}"))),
            replace(task, task_id=f"t{n}"),
        )
        for n in range(6)
    ]
    limits = Limits(seconds=10)
    try:
        spread = list(execute_spread(pairs, limits=limits, grade=True, n_jobs=2, cache_path=str(tmp_path / "c.jsonl")))
    except ExecutionError as error:
        pytest.skip(str(error))
    with Runner(workers=1) as runner:
        alone = list(execute(pairs, runner, limits=limits, grade=True))
    assert [[run.keys for run in item.runs] for item in spread] == [[run.keys for run in item.runs] for item in alone]
    assert [item.passed for item in spread] == [item.passed for item in alone]
    with Cache(tmp_path / "c.jsonl") as cache:
        assert len(cache.values) == 14  # six programs and the one that all tasks share, on inputs and on tests
