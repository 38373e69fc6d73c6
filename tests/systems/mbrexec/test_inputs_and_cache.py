"""Inputs without answers; results that are run once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from groundling.errors import DataError, ExecutionError, FormatError
from groundling.execution import Limits, Runner
from groundling.structures import Program, Samples
from groundling.systems.mbrexec import executing, inputs, tasks
from groundling.systems.mbrexec.cache import Cache


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    try:
        runner = Runner(unsafe_local=True)
    except ExecutionError as error:
        pytest.skip(str(error))
    with runner:
        yield runner


def test_asserts_lose_their_answers() -> None:
    asserts = [
        "assert f(1) == 2, 'no'",
        "assert 3 == f(2)",
        "assert not f(3)",
        "assert f(4)",
        "assert isclose(f(5), 1.0)",
    ]
    assert inputs.from_asserts(asserts) == ["f(1)", "f(2)", "f(3)", "f(4)", "isclose(f(5), 1.0)"]
    assert inputs.from_asserts(["assert f(1) == 2", "assert f(1) == 3"]) == ["f(1)"]
    with pytest.raises(DataError, match="not Python"):
        inputs.from_asserts(["assert f("])


def test_prompts_give_doctests_and_asserts() -> None:
    doctests = ">>> f(2)\n    4\n    >>> y = f(3)\n    >>> f(y)\n    6\n"
    prompt = f'def f(x):\n    """ Twice.\n    {doctests}    """\n# assert f(5) == 10\n'
    assert inputs.from_prompt(prompt) == ["f(2)", "f(y)", "f(5)"]
    assert inputs.from_prompt("no code ''' here (") == []


def test_checks_are_traced_through_loops(runner: Runner) -> None:
    check = (
        "import math\ndef check(candidate):\n    assert candidate([1.5], inf=math.inf) == 1\n"
        "    for i in range(3):\n        x = helper(i)\n        assert candidate((x,)) < candidate(i)\n"
    )
    found = inputs.from_check(check, "f", "def helper(x): return x * 2", runner)
    assert found[0] == "f([1.5], inf=float('inf'))" and set(found[1:]) == {
        "f((0,))",
        "f(0)",
        "f((2,))",
        "f(1)",
        "f((4,))",
        "f(2)",
    }
    with pytest.raises(DataError, match=r"could not be traced.*helper"):
        inputs.from_check(check, "f", "", runner)


def test_tasks_are_read_in_three_shapes(tmp_path: Path, runner: Runner) -> None:
    path = tmp_path / "tests.jsonl"
    path.write_text(
        '{"task_id": 7, "test_list": ["assert f(1) == 2"], "test_setup_code": "y = 1"}\n'
        '{"task_id": "H/0", "prompt": "def g(x):\\n", "entry_point": "g", "test": "def check(candidate):\\n'
        '    assert candidate(3) == 3"}\n'
        '{"task_id": "own", "inputs": ["h(1)"], "tests": ["assert h(1) == 1"]}\n'
        '{"task_id": "plain", "prompt": "# assert k(2) == 4"}\n'
    )
    mbpp, human, own, plain = tasks.read(path, runner)
    assert (mbpp.task_id, mbpp.inputs, mbpp.setup) == ("MBPP/7", ("f(1)",), "y = 1")
    assert human.inputs == ("g(3)",) and human.completes
    assert human.program_text(Program("    return x\n\ndef other(): pass")) == "def g(x):\n    return x\n\n"
    assert own.inputs == ("h(1)",) and plain.inputs == ("k(2)",)
    path.write_text('{"x": 1}\n')
    with pytest.raises(FormatError, match=r"tests.jsonl:1: no `task_id`"):
        list(tasks.read(path, runner))
    with pytest.raises(DataError, match="comes twice"):
        tasks.by_name([own, own])


def test_results_are_cached_by_content_and_torn_lines_passed_over(tmp_path: Path, runner: Runner) -> None:
    path = tmp_path / "deep" / "cache.jsonl"
    samples = Samples(
        "t", (Program("def f(x): return x"), Program("def f(x): return 1 / x"), Program("def f(x): return x"))
    )
    task = tasks.Task("t", ("f(0)", "f(1)"), ("assert f(1) == 1",))
    with Cache(path) as cache:
        [first] = executing.execute([(samples, task)], runner, cache=cache, grade=True)
    assert [run.keys for run in first.runs] == [("0x0", "0x1"), (None, "0x1"), ("0x0", "0x1")]
    assert first.passed == (True, True, True) and len(path.read_bytes().splitlines()) == 4
    torn = path.read_bytes()[:-20]
    path.write_bytes(torn)
    with Cache(path) as cache:
        assert len(cache.values) == 3
        [second] = executing.execute([(samples, task)], runner, cache=cache, grade=True)
    assert second.passed == first.passed
    with Cache(path) as cache:
        assert len(cache.values) == 4


def test_other_limits_are_other_results(runner: Runner) -> None:
    cache = Cache()
    for seconds in (1.0, 2.0):
        executing.run_all([("", ["1"])], runner, Limits(seconds=seconds), cache)
    assert len(cache.values) == 2


def test_generators_propose_inputs() -> None:
    assert inputs.from_generator(lambda n: f"f({n})", 3) == ["f(0)", "f(1)", "f(2)"]
