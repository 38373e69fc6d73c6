"""Bash in a throw-away tree: what it prints, what it changes, what it cannot reach."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from groundling.errors import ExecutionError
from groundling.execution import Limits, Runner
from groundling.execution.bash import BASH_LIMITS, pack, run_bash, tokens_of


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    try:
        runner = Runner(workers=1, level="bubblewrap")
    except ExecutionError as error:
        pytest.skip(f"bubblewrap does not work here: {error}")
    with runner:
        yield runner


TREE = pack({"/work/a.txt": "one\ntwo\n", "/work/sub/b.py": "print(1)"})


def test_output_and_tree_come_back(runner: Runner) -> None:
    outcome = run_bash("wc -l < /work/a.txt; mv /work/a.txt /work/c.txt; diff <(echo x) <(echo x)", runner, TREE)
    code, files = outcome.value[0]
    assert outcome.ok and code == 0 and outcome.stdout == "2\n"
    assert "/work/c.txt" in files and "/work/a.txt" not in files and files["/work/sub/b.py"][0] == "file"


def test_each_command_starts_from_the_same_tree(runner: Runner) -> None:
    first = run_bash("rm -rf /work /tmp/*; echo left > /tmp/x; touch /owned", runner, TREE)
    assert "/owned" in first.value[0][1]
    second = run_bash("find /work -type f | sort; ls /tmp; test -e /owned", runner, TREE)
    assert second.stdout == "/work/a.txt\n/work/sub/b.py\n" and second.value[0][0] == 1


@pytest.mark.parametrize(
    "command",
    [
        "cat /etc/shadow /root/.bashrc /home/*/.bashrc",
        "echo x > /usr/owned",
        "rm -rf --no-preserve-root /usr 2>/dev/null; test ! -e /usr/bin/env",
        "exec 3<>/dev/tcp/127.0.0.1/22",
        "mount -t tmpfs none /usr",
        "unshare -r true",
        "chroot /proc/1/root true",
        "kill -9 1; false",
        "cat /proc/1/environ | grep -q PYTHONPATH",
        "su -c true; sudo -n true; exit 5",
    ],
)
def test_a_command_cannot_get_out(command: str, runner: Runner) -> None:
    outcome = run_bash(command, runner, TREE)
    assert outcome.value[0] is None or outcome.value[0][0] != 0, outcome.stdout
    assert run_bash("echo well", runner).stdout == "well\n"


def test_fork_bombs_strays_and_floods_end(runner: Runner) -> None:
    short = Limits(seconds=1, processes=64, memory_bytes=BASH_LIMITS.memory_bytes)
    assert run_bash("f() { f | f & }; f; sleep 9", runner, limits=short).status in ("timeout", "ok")
    assert run_bash("(setsid sleep 60 &) ; echo done", runner).stdout == "done\n"
    assert run_bash("yes", runner, limits=short).status in ("output_limit", "timeout")
    assert run_bash("echo well", runner).stdout == "well\n"


def test_without_namespaces_bash_is_refused() -> None:
    class Weak(Runner):
        def __init__(self) -> None:
            self.level, self.workers = "landlock", 0

    with pytest.raises(ExecutionError, match="needs bubblewrap"):
        run_bash("ls", Weak())


def test_tokens_follow_bashlex() -> None:
    pytest.importorskip("bashlex")
    assert tokens_of("ls -l | wc") == ["ls", "-l", "|", "wc"]
    assert tokens_of("if then") is None and tokens_of("") is None


def test_intercode_trees_can_be_used(runner: Runner, data_dir: Path) -> None:
    tree = (data_dir / "programs/nl2bash/intercode/fs_1.tar.gz").read_bytes()
    outcome = run_bash("md5sum /testbed/*.java | awk '{print $1}' | sort | uniq -d", runner, tree)
    assert outcome.stdout == "f32a3a97638afeb2ee2a15cfe335ab72\n"
