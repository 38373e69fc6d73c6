# ruff: noqa: E501
"""Work over real Ray and Dask clusters of two workers on this machine; `make test-cluster` installs both.

In each case the result must be that of one process, also when a worker is killed (SIGKILL) in the middle.
"""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from groundling.algorithms.parallel import spread
from groundling.cli import mbrexec, mlpalign, score, subdp
from groundling.errors import ExecutionError, GroundlingError
from groundling.execution import Limits, Runner
from groundling.structures import Alignment, Program, Samples
from groundling.systems.mbrexec import Task, execute, spreading
from groundling.systems.mlpalign.counts import count

pytestmark = pytest.mark.filterwarnings("ignore")  # the clusters' own


@pytest.fixture(scope="module", params=["loky", "ray", "dask"])
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "loky":  # not a cluster, but the same promises
        yield "loky"
        return
    module = {"ray": "ray", "dask": "distributed"}[request.param]
    library = pytest.importorskip(module, reason=f"{module} is not installed; see `make test-cluster`")
    yield request.param
    library.shutdown() if request.param == "ray" else library.get_client().shutdown()


def killer(mark: Path) -> None:
    """Kill this process, once."""
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)


def pairs() -> list[tuple[Samples, Task]]:
    found: list[tuple[Samples, Task]] = []
    for task in range(12):
        codes = [f"def f(x):\n    return x {sign} {task}" for sign in "+-*+/"] + ["def f(x): return y"]
        samples = Samples(f"t{task}", tuple(Program(code) for code in codes))
        found.append((samples, Task(f"t{task}", inputs=("f(0)", "f(7)"), tests=(f"assert f(1) == {task + 1}",))))
    return found


def plain(executed: spreading.Executed) -> object:
    """Everything but the times."""
    runs = [(run.status, run.keys, run.shown) for run in executed.runs]
    return executed.task.task_id, runs, executed.passed


def test_the_work_is_really_spread(backend: str) -> None:
    def where(number: int) -> int:
        import time

        time.sleep(0.05)
        return os.getpid()

    workers = set(spread(where, range(32), n_jobs=2, backend=backend, batch=1))
    assert len(workers) >= 2 and os.getpid() not in workers


def test_a_killed_worker_is_made_good(backend: str, tmp_path: Path) -> None:
    mark = tmp_path / "died"

    def work(number: int) -> int:
        if number == 25:
            killer(mark)
        return number * number

    assert list(spread(work, range(60), n_jobs=2, backend=backend, batch=2)) == [n * n for n in range(60)]
    assert mark.exists()


def test_an_error_in_a_worker_comes_through(backend: str) -> None:
    def fail(number: int) -> int:
        raise GroundlingError(f"item {number}: bad")

    with pytest.raises(GroundlingError, match="item 0: bad"):
        list(spread(fail, [0], n_jobs=2, backend=backend))


def test_programs_run_in_the_workers_own_sandboxes(backend: str, tmp_path: Path) -> None:
    try:
        with Runner(workers=1) as runner:
            expected = [plain(one) for one in execute(pairs(), runner, grade=True)]
    except ExecutionError as error:
        pytest.skip(str(error))
    mark, cache = tmp_path / "died", str(tmp_path / "cache.jsonl")
    ordinary = spreading.Work(Limits(), True, False, cache)

    def work(pair: tuple[Samples, Task]) -> tuple[int, str, spreading.Executed]:
        if pair[1].task_id == "t7":
            killer(mark)  # in the middle, while its sandbox stands
        done = ordinary(pair)
        tasks = Path(f"/proc/{os.getpid()}/task").iterdir()
        sandbox = " ".join((task / "children").read_text() for task in tasks).strip()
        return os.getpid(), sandbox, done

    found = list(spread(work, pairs(), n_jobs=2, backend=backend, batch=1))
    assert [plain(done) for _, _, done in found] == expected
    assert mark.exists()
    sandboxes = {(worker, sandbox) for worker, sandbox, _ in found}
    workers = {worker for worker, _ in sandboxes}
    assert len(workers) >= 2 and len(sandboxes) == len(workers) and os.getpid() not in workers
    assert "" not in {sandbox for _, sandbox in sandboxes}
    assert list(spreading.execute_spread(pairs(), limits=Limits(), grade=True, backend=backend, cache_path=cache))


def test_the_commands_take_the_backend(backend: str, tmp_path: Path) -> None:
    samples, tasks = tmp_path / "samples.jsonl", tmp_path / "tasks.jsonl"
    lines = [{"task_id": s.task_id, "completions": [p.code for p in s.programs]} for s, _ in pairs()]
    samples.write_text("".join(json.dumps(line) + "\n" for line in lines))
    wanted = [{"task_id": t.task_id, "inputs": list(t.inputs), "tests": list(t.tests)} for _, t in pairs()]
    tasks.write_text("".join(json.dumps(line) + "\n" for line in wanted))
    chosen = {}
    for name, more in (("here", []), (backend, ["--backend", backend, "--workers", "2"])):
        out = tmp_path / f"{name}.jsonl"
        command = ["select", str(samples), "--tests", str(tasks), "-o", str(out), *more]
        result = CliRunner().invoke(mbrexec.app, command)
        if "no sandbox works here" in result.output:
            pytest.skip(result.output)
        assert result.exit_code == 0, result.output
        chosen[name] = out.read_bytes()
    assert chosen[backend] == chosen["here"]
    gold = tmp_path / "gold.txt"
    gold.write_text("(a (b c))\n((a b) c)\n" * 500)
    scores = [
        CliRunner().invoke(score.app, ["trees", str(gold), str(gold), "--json", *more])
        for more in ([], ["--backend", backend, "--n-jobs", "2"])
    ]
    assert [score.exit_code for score in scores] == [0, 0], scores
    assert scores[0].stdout == scores[1].stdout


def answer(app: typer.Typer, *arguments: object) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_counting_is_the_same(backend: str) -> None:
    rng = np.random.default_rng(0)
    pairs = [([f"s{n}" for n in rng.integers(0, 30, 6)], [f"t{n}" for n in rng.integers(0, 30, 5)]) for _ in range(90)]
    items = [(*pair, Alignment(frozenset({(0, 0), (2, 1)}))) for pair in pairs]
    alone = count(items, block=10)
    spread_out = count(items, block=10, n_jobs=2, backend=backend)
    for name, array in alone.arrays().items():
        assert np.array_equal(array, spread_out.arrays()[name]), name


def test_mining_is_the_same_and_sends_no_encoder(backend: str, tmp_path: Path) -> None:
    words = [f"w{n}" for n in range(40)]
    rng = np.random.default_rng(1)
    table = [f"{word} {' '.join(f'{x:.4f}' for x in rng.normal(size=8))}" for word in words]
    vectors = tmp_path / "words.vec"
    vectors.write_text("\n".join([f"{len(words)} 8", *table]) + "\n")
    lines = [" ".join(rng.choice(words, 5)) for _ in range(30)]
    (tmp_path / "a.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "b.txt").write_text("\n".join(reversed(lines)) + "\n")
    call = ["mine", tmp_path / "a.txt", tmp_path / "b.txt", "--encoder", vectors, "--share", 1, "--least", 0]
    found = answer(mlpalign.app, *call)
    assert len(found.splitlines()) > 10
    assert answer(mlpalign.app, *call, "--n-jobs", 2, "--backend", backend) == found


def test_projection_is_the_same(backend: str, tmp_path: Path) -> None:
    tree = "1\tthe\t_\tDET\t_\t_\t2\tdet\t_\t_\n2\tcat\t_\tNOUN\t_\t_\t3\tnsubj\t_\t_\n3\tsleeps\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    (tmp_path / "en.conllu").write_text(tree * 150)
    (tmp_path / "de.txt").write_text("die Katze schläft\n" * 150)
    (tmp_path / "links.txt").write_text("0-0 1-1 2-2\n" * 75 + "0-0 2-1\n" * 75)
    call = ["project", tmp_path / "en.conllu", tmp_path / "de.txt", "--alignments", tmp_path / "links.txt"]
    for name in ("hard.conllu", "soft"):
        alone, spread_out = tmp_path / f"alone-{name}", tmp_path / f"spread-{name}"
        answer(subdp.app, *call, "-o", alone)
        answer(subdp.app, *call, "-o", spread_out, "--n-jobs", 2, "--backend", backend)
        files = sorted(alone.glob("*")) or [alone]
        for path in files:
            other = spread_out / path.name if path != alone else spread_out
            assert path.read_bytes() == other.read_bytes() or _arrays(path) == _arrays(other), path


def _arrays(path: Path) -> dict[str, bytes]:
    with np.load(path) as arrays:
        return {name: array.tobytes() for name, array in arrays.items()}
