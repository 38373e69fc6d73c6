"""Threads, queue and time limit; models on the shelf, and learned on the spot."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from groundling.errors import ConfigError, DataError
from groundling.web import learning, shop
from groundling.web.app import create_app
from groundling.web.work import BusyError, LateError, Workers


def test_late_work_is_given_up_but_keeps_its_place() -> None:
    gate = threading.Event()
    crew = Workers(threads=1, waiting=1, seconds=0.05)

    async def story() -> None:
        with pytest.raises(LateError, match=r"within 0.05 seconds"):
            await crew.do(gate.wait)
        with pytest.raises(LateError):
            await crew.do(gate.wait)  # waits behind the first, which still holds the thread; is dropped from the line
        gate.set()
        await asyncio.sleep(0.05)
        assert await crew.do(lambda: 3) == 3

    asyncio.run(story())
    crew.close()


def test_too_long_a_line_is_refused() -> None:
    gate = threading.Event()
    crew = Workers(threads=1, waiting=1, seconds=5)

    async def story() -> None:
        waiting = [asyncio.create_task(crew.do(gate.wait)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(BusyError, match="too much to do"):
            await crew.do(gate.wait)
        gate.set()
        assert await asyncio.gather(*waiting) == [True, True]

    asyncio.run(story())
    crew.close()


def test_late_work_is_answered_with_504() -> None:
    crew = Workers(threads=1, seconds=0.0)
    with TestClient(create_app(workers=crew), base_url="http://localhost") as client:
        reply = client.post("/api/trees", json={"gold": "(S a)", "pred": "(S a)"})
    assert reply.status_code == 504 and reply.json()["error"]["next"] == "Give less to do."


class Learned:
    """A model as far as the shop knows one."""

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        (folder / shop.WEIGHTS).write_bytes(b"")


def wait_for(client: TestClient, state: str) -> dict[str, Any]:
    for _ in range(200):
        found = client.get("/api/models").json()["g2l2"]
        if found["state"] == state:
            return found
        time.sleep(0.01)
    raise AssertionError(found)


def test_a_model_is_learned_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate, made = threading.Event(), []

    def learn() -> Learned:
        gate.wait(5)
        made.append(Learned())
        return made[-1]

    monkeypatch.setitem(learning.LEARNERS, "g2l2", (learn, "nothing"))
    with TestClient(create_app(runs=tmp_path), base_url="http://localhost") as client:
        assert client.post("/api/learn", json={"model": "g2l2"}).json()["state"] == "learning"
        assert client.post("/api/learn", json={"model": "g2l2"}).json()["state"] == "learning"
        assert client.post("/api/learn", json={"model": "vgnsl"}).status_code == 503  # one at a time
        gate.set()
        wait_for(client, "here")
    assert len(made) == 1 and shop.parse_models([], tmp_path) == {"g2l2": tmp_path / "g2l2"}


def test_learning_that_breaks_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(learning.LEARNERS, "g2l2", (lambda: 1 / 0, "nothing"))
    with TestClient(create_app(runs=tmp_path), base_url="http://localhost") as client:
        client.post("/api/learn", json={"model": "g2l2"})
        assert "our fault" in wait_for(client, "failed")["error"]


def test_models_are_named_with_their_folders(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="has no '='"):
        shop.parse_models(["runs/x"])
    with pytest.raises(ConfigError, match="Did you mean 'vgnsl'"):
        shop.parse_models(["vgnls=x"])
    with pytest.raises(DataError, match=r"there is no model\.safetensors"):
        shop.parse_models([f"g2l2={tmp_path}"])
