"""Spreading work: the same results in the same order, whatever the workers do."""

import itertools
import os
import signal
from pathlib import Path

import pytest

from groundling.algorithms.parallel import spread
from groundling.errors import ConfigError, DataError, GroundlingError, MissingExtraError


def square(number: int) -> int:
    return number * number


@pytest.mark.parametrize(("n_jobs", "backend"), [(1, None), (2, None), (2, "loky"), (2, "threading"), (1, "loky")])
def test_results_keep_the_order(n_jobs: int, backend: str | None) -> None:
    found = list(spread(square, range(100), n_jobs=n_jobs, backend=backend, batch=3))
    assert found == [number * number for number in range(100)]


def test_an_endless_stream_is_read_a_window_at_a_time() -> None:
    taken = []

    def watched() -> itertools.count:
        for number in itertools.count():
            taken.append(number)
            yield number

    results = spread(square, watched(), n_jobs=2, batch=2, backend="threading")
    assert list(itertools.islice(results, 5)) == [0, 1, 4, 9, 16]
    assert len(taken) == 2 * 8 * 2


def test_an_error_in_a_worker_comes_through() -> None:
    def fail(number: int) -> int:
        raise DataError(f"item {number}: bad")

    with pytest.raises(DataError, match="item 0: bad"):
        list(spread(fail, [0], n_jobs=2, backend="loky"))


def test_a_killed_worker_is_replaced(tmp_path: Path) -> None:
    mark = tmp_path / "died"

    def die_once(number: int) -> int:
        if number == 5 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    assert list(spread(die_once, range(20), n_jobs=2, batch=2)) == list(range(20))


def test_workers_that_always_die_are_reported() -> None:
    def die(number: int) -> int:
        os.kill(os.getpid(), signal.SIGKILL)
        return number

    with pytest.raises(GroundlingError, match=r"killed twice .* Use fewer than 2 jobs"):
        list(spread(die, [1], n_jobs=2))


def test_wrong_settings_are_named() -> None:
    with pytest.raises(ConfigError, match=r"no backend is called 'rai'. Did you mean 'ray'"):
        spread(square, [], backend="rai")
    with pytest.raises(ConfigError, match="0 jobs with batches of 64 cannot be"):
        spread(square, [], n_jobs=0)


@pytest.mark.parametrize(("backend", "module"), [("ray", "ray"), ("dask", "distributed")])
def test_a_missing_cluster_library_is_named(backend: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(MissingExtraError, match=f"pip install 'groundling\\[{backend}\\]'"):
        spread(square, [1], backend=backend)
