"""Whatever is sent, the server answers or refuses in its one shape; it never breaks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundling.structures import Alignment
from groundling.web.app import PANELS, create_app

PIECES = [
    "(",
    ")",
    "(S ",
    "a",
    " ",
    "\n",
    "\t",
    "---",
    "0",
    "1",
    "2",
    "root",
    "\0",
    "\u202e",
    "é",
    '"',
    "File type",
    "==",
]
TEXT = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=25).map("".join)
JSON = st.none() | st.booleans() | st.floats() | st.integers() | TEXT | st.lists(TEXT, max_size=2)
FUZZED = [name for name in PANELS if name != "programs"]  # the sandbox has its own tests, and is slow


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    def align(source: list[str], target: list[str], method: str, shop: object) -> Alignment:
        return Alignment(frozenset({(0, 0)}), probabilities={(0, 0): 0.5})

    patch = pytest.MonkeyPatch()
    patch.setattr("groundling.web.panels.words.align_pair", align)
    patch.setattr("groundling.web.panels.transfer.align_pair", align)
    with TestClient(create_app(), base_url="http://localhost", raise_server_exceptions=True) as one:
        yield one
    patch.undo()


@st.composite
def requests(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A panel and a body: mostly text in every field, sometimes anything."""
    name = draw(st.sampled_from(FUZZED))
    fields = PANELS[name][0].model_fields
    texts = {key: draw(TEXT) for key, kind in fields.items() if kind.annotation is str}
    odd = draw(st.dictionaries(st.sampled_from([*fields, "more"]), JSON, max_size=1)) if draw(st.booleans()) else {}
    return name, texts | odd


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(requests())
def test_every_request_is_answered_in_the_one_shape(client: TestClient, asked: tuple[str, dict[str, Any]]) -> None:
    name, body = asked
    headers = {"content-type": "application/json"}
    reply = client.post(f"/api/{name}", content=json.dumps(body).encode(), headers=headers)
    found = reply.json()
    if reply.status_code == 200:
        assert found["summary"] and all(one["svg"].startswith("<svg") for one in found["pictures"])
    else:
        assert reply.status_code in (400, 422, 503), found
        assert set(found["error"]) == {"what", "where", "next"} and found["error"]["what"]
