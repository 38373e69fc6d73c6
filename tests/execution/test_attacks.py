"""None of the attacks reaches the host, the server or a neighbour, at any level that works on this machine."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from execution.attacks import ATTACKS, SECRET, Attack
from groundling.errors import ExecutionError
from groundling.execution import Limits, Runner
from groundling.execution.launch import Level

HONEST = ("def f(x):\n    return [x, x + 1]", ["f(1)"])


@pytest.fixture(scope="module", params=["bubblewrap", "landlock"])
def runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    level: Level = request.param
    try:
        runner = Runner(workers=1, level=level)
    except ExecutionError as error:
        pytest.skip(f"{level} does not work here: {error}")
    with runner:
        yield runner


@pytest.fixture(scope="module")
def secret(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("host")
    path = folder / "secret"
    path.write_text(SECRET)
    for place in (folder, *folder.parents):  # let permissions not be what hides it
        if place.owner() == path.owner() and place != Path("/"):
            place.chmod(place.stat().st_mode | 0o055)
    return path


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_attack_is_stopped(attack: Attack, runner: Runner, secret: Path) -> None:
    if attack.needs_namespaces and runner.level != "bubblewrap":
        pytest.skip("processes may only be started behind namespaces")
    code = attack.code.replace("{secret!r}", repr(str(secret))).replace("{folder!r}", repr(str(secret.parent)))
    code = code.replace("{folder}", str(secret.parent)).replace("{{", "{").replace("}}", "}")
    before = _children()
    outcome = runner.run(code, [attack.input], Limits(seconds=attack.seconds, processes=attack.processes))
    assert outcome.status in attack.statuses, outcome
    assert outcome.value[0] is not True, f"the attack got through: {outcome}"
    assert SECRET not in str(outcome)
    assert outcome.ms < (attack.seconds + 5) * 1000
    assert secret.read_text() == SECRET and [p.name for p in secret.parent.iterdir()] == ["secret"]
    assert runner.run(*HONEST).value == ([1, 2],)
    assert _children() <= before, "a process outlived its program"


def _children() -> int:
    """How many processes there are below this one."""
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                parents[int(name)] = int(Path(f"/proc/{name}/stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, ValueError):
                continue
    below, fresh = set[int](), {os.getpid()}
    while fresh:
        below |= fresh
        fresh = {pid for pid, parent in parents.items() if parent in fresh} - below
    return len(below)


def test_there_are_at_least_forty_attacks() -> None:
    assert len({attack.name for attack in ATTACKS}) >= 40
