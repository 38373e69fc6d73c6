"""The runner: statuses, order, recovery, levels."""

import os
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import groundling
from groundling.errors import ConfigError, ExecutionError
from groundling.execution import Limits, Runner, launch, replies, run, run_many
from groundling.execution.launch import Level

ADD = "def add(a, b):\n    print('adding')\n    return a + b"


@pytest.fixture(scope="module", params=["bubblewrap", "landlock", "none"])
def runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    level: Level = request.param
    try:
        runner = Runner(level=level)
    except ExecutionError as error:
        pytest.skip(f"{level} does not work here: {error}")
    with runner:
        yield runner


def test_values_and_printed_text_come_back(runner: Runner) -> None:
    outcome = runner.run(ADD, ["add(1, 2)", "add('a', 'b')", "assert add(1, 1) == 2", "(add, {1: {2.5}}, None)[1]"])
    assert outcome.ok and outcome.value == (3, "ab", None, {1: {2.5}})
    assert outcome.stdout == "adding\n" * 3
    assert outcome.loaded and outcome.ms > 0
    assert runner.signature == f"sandbox:{runner.level}"


def test_one_failing_input_leaves_the_others(runner: Runner) -> None:
    outcome = runner.run(ADD, ["add(1, 'x')", "add(1, 2)", "assert add(1, 1) == 3", "1 +", "exit()"])
    assert [result.status for result in outcome.results] == ["error", "ok", "error", "error", "error"]
    assert outcome.status == "error" and outcome.value == (None, 3, None, None, None)
    errors = [result.error.partition(":")[0] for result in outcome.results]
    assert errors == ["TypeError", "", "AssertionError", "SyntaxError", "SystemExit"]


def test_a_program_that_does_not_load_fails_on_every_input(runner: Runner) -> None:
    outcome = runner.run("def f(:", ["1", "2"])
    assert outcome.status == "error" and not outcome.loaded and outcome.error.startswith("SyntaxError")
    assert [result.status for result in outcome.results] == ["error", "error"]


def test_what_came_before_a_time_out_is_kept(runner: Runner) -> None:
    outcome = runner.run("", ["1", "[x for x in iter(int, 1)]", "2"], Limits(seconds=0.5, memory_bytes=1 << 34))
    assert [result.status for result in outcome.results] == ["ok", "timeout", "timeout"]
    assert outcome.status == "timeout" and outcome.value[0] == 1 and "0.5 s" in outcome.error


def test_cpu_time_is_limited_apart_from_the_wall_clock(runner: Runner) -> None:
    outcome = runner.run("while True: pass", ["1"], Limits(seconds=60, cpu_seconds=1))
    assert outcome.status == "timeout" and outcome.ms < 30_000


def test_programs_see_the_same_random_numbers_and_nothing_of_each_other(runner: Runner) -> None:
    code = "import random, builtins\nold = getattr(builtins, 'mark', 0)\nbuiltins.mark = 1"
    first, second = [runner.run(code, ["random.random()", "old"]).value for _ in range(2)]
    assert first == second and first[1] == 0


def test_every_server_lists_a_set_in_the_same_order(runner: Runner) -> None:
    value = ["list({'a', 'bc', 'def', 'x' * 50})", "hash('groundling')", "hash(b'x')"]
    here = runner.run("", value).value
    with Runner(workers=1, level=runner.level) as other:
        assert other.run("", value).value == here


def test_dataclasses_and_surrogates_work(runner: Runner) -> None:
    code = "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\nprint('\\ud800')"
    outcome = runner.run(code, ["P(3).x", "'\\ud800'"])
    assert outcome.value == (3, "\ud800") and outcome.stdout == "\\ud800\n"


def test_outcomes_come_in_order(runner: Runner) -> None:
    jobs = [(f"import time\ntime.sleep({0.05 if n % 7 == 0 else 0})", [str(n)]) for n in range(40)]
    assert [outcome.value for outcome in runner.run_many(iter(jobs))] == [(n,) for n in range(40)]


def test_a_program_may_be_run_while_others_wait_to_be_read() -> None:
    with Runner(workers=2, unsafe_local=True) as runner:
        jobs = ((f"x = {n}", ["x"]) for n in range(5))
        found = [outcome.value[0] + runner.run("", ["100"]).value[0] for outcome in runner.run_many(jobs)]
        assert found == list(range(100, 105))
        left = runner.run_many([("while True: pass", ["1"])] * 3 + [("", ["1"])], Limits(seconds=30))
        begun = runner.run_many([("", ["7"])] * 3)
        assert next(begun).value == (7,)
    assert left is not None  # closing waits for nobody


def test_a_lost_server_is_replaced(runner: Runner) -> None:
    for _ in range(2):
        server = runner._servers.get()  # pyright: ignore[reportPrivateUsage]
        if server is not None:
            server.process.kill()
            server.process.wait()
        runner._servers.put(server)  # pyright: ignore[reportPrivateUsage]
    assert runner.run("", ["6 * 7"]).value == (42,)
    assert runner.run("", ["6 * 7"]).value == (42,)


def test_forged_and_torn_lines_count_as_not_written() -> None:
    asked = replies.request("", ["1"], Limits(), "abc")
    ending = replies.Ending("exit", 0, 0.0, 1.0)
    lines = [
        b'{"nonce":"xyz","index":0,"value":6}',
        b'{"nonce":"abc","index":99,"value":6}',
        b'{"nonce":"abc","index":true,"value":6}',
        b'{"nonce":"abc","index":0,"value":{"float":"no"}}',
        b"[1]",
        b'{"nonce":"abc","index":-1,"value":null}',
        b'{"nonce":"abc","index":0,"val',
    ]
    outcome = replies.outcome(asked, ending, b"\n".join(lines), b"\xff")
    assert outcome.status == "error" and outcome.error == "ended early with code 0" and outcome.stdout == "\ufffd"
    lines[-1] = b'{"nonce":"abc","index":0,"value":7}'
    assert replies.outcome(asked, ending, b"\n".join(lines), b"").value == (7,)


def test_limits_are_checked() -> None:
    with pytest.raises(ConfigError, match="limit seconds is 0"):
        Limits(seconds=0)
    with pytest.raises(ConfigError, match="processes"):
        Limits(processes=-1)


def test_no_sandbox_means_no_run_unless_the_user_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    real = launch.start

    def broken(level: Level, plans: int, endings: int, *, processes: bool) -> "subprocess.Popen[bytes]":
        if level == "bubblewrap":
            raise FileNotFoundError("no bwrap")
        return real(level, plans, endings) if level == "none" else subprocess.Popen(["false"], stderr=-1)

    monkeypatch.setattr(launch, "start", broken)
    with pytest.raises(ExecutionError, match=r"no sandbox works here .*no bwrap.*--unsafe-local"):
        run("", ["1"])
    outcome = run("", ["1 + 1"], unsafe_local=True)
    assert outcome.value == (2,)


def test_without_bubblewrap_landlock_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "_bubblewrap", lambda guest: ["/nowhere/bwrap"])
    try:
        runner = Runner(workers=1)
    except ExecutionError as error:
        pytest.skip(f"no Landlock here: {error}")
    with runner:
        assert runner.level == "landlock" and runner.run("", ["2 ** 100"]).value == (2**100,)


def test_the_functions_make_their_own_runner() -> None:
    try:
        assert run(ADD, ["add(2, 3)"]).value == (5,)
    except ExecutionError as error:
        pytest.skip(str(error))
    assert [outcome.value for outcome in run_many([("", ["1"]), ("", ["2"])])] == [(1,), (2,)]


def test_low_hard_limits_of_a_container_are_kept() -> None:
    """A hard limit below what we ask for must not raise."""
    code = "from groundling.execution import run; print(run('', ['40 + 2'], unsafe_local=True).value)"
    command = f'ulimit -n 40; ulimit -f 2000; ulimit -s 4096; exec {sys.executable} -c "{code}"'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.stdout == "(42,)\n", done.stderr


def test_few_descriptors_mean_fewer_programs_ahead() -> None:
    code = (
        "import resource, sys\n"
        "from groundling.execution import Runner\n"
        "with Runner(workers=2, unsafe_local=True) as runner:\n"
        "    list(runner.run_many([('', ['1'])] * 4))\n"
        "    resource.setrlimit(resource.RLIMIT_NOFILE, (22, 22))\n"
        "    print(sum(outcome.value[0] for outcome in runner.run_many([('', ['1'])] * 200)))\n"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert done.stdout == "200\n", done.stderr


def test_it_works_as_an_ordinary_user_too() -> None:
    """CI is root: run once more as nobody, with an interpreter that nobody may read."""
    python = "/usr/bin/python3"
    paths = [str(Path(groundling.__file__).parents[1]), sysconfig.get_path("purelib")]
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("this run is not root's, so every other test has shown it")
    drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env", f"PYTHONPATH={':'.join(paths)}"]
    probe = subprocess.run(
        [*drop, python, "-c", "import sys, pyseccomp, groundling; assert sys.version_info >= (3, 11)"],
        capture_output=True,
        text=True,
        cwd="/",
    )
    if probe.returncode:
        pytest.skip(f"no interpreter of 3.11 or newer that an ordinary user may read: {probe.stderr[-100:]}")
    code = (
        "from groundling.execution import Runner, Limits\n"
        "with Runner(workers=1) as r:\n"
        "    print(r.level, r.run('', ['1 + 1']).value, r.run('while 1: pass', ['1'], Limits(seconds=0.3)).status)"
    )
    done = subprocess.run(
        [*drop, "PYTHONDONTWRITEBYTECODE=1", python, "-c", code], capture_output=True, text=True, cwd="/"
    )
    assert done.stdout.split(" ", 1)[1] == "(2,) timeout\n", done.stderr


def test_a_killed_host_leaves_no_server_behind() -> None:
    """The servers and the endless program end when the host's end of the pipe closes."""
    code = (
        "import threading, time\n"
        "from groundling.execution import Runner, Limits\n"
        "runner = Runner(workers=1, unsafe_local=True)\n"
        "threading.Thread(target=runner.run, args=('while True: pass', ['1'], Limits(seconds=100))).start()\n"
        "time.sleep(0.5)\n"
        "print('running', flush=True)\n"
        "time.sleep(100)\n"
    )
    host = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert host.stdout is not None
    assert host.stdout.readline() == "running\n"
    below = _below(host.pid)
    assert len(below) >= 2
    host.kill()
    host.wait()
    host.stdout.close()
    deadline = time.monotonic() + 20
    while (left := [pid for pid in below if _alive(pid)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []


def _below(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            found += [int(child), *_below(int(child))]
    return found


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
