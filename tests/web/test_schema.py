"""The API does what /openapi.json says: schemathesis makes requests from it, right ones and wrong ones."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from groundling.structures import Alignment
from groundling.web.app import PANELS, create_app

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed: pip install schemathesis")
HEADERS = {"Host": "localhost"}
# Not `not_a_server_error`: 503 is the right answer where a model is not here.
CHECKS = [
    getattr(import_module("schemathesis.specs.openapi.checks"), f"{what}_conformance")
    for what in ("status_code", "content_type", "response_schema")
]
ROUTES = [("/api/models", "GET"), *((f"/api/{name}", "POST") for name in PANELS if name != "programs")]
# Nothing can be wrong about a request without a body.
ASKED = [
    (route, mode) for route in ROUTES for mode in ("positive", "negative") if mode == "positive" or route[1] == "POST"
]


@pytest.fixture(scope="module")
def schema() -> Iterator[Any]:
    """The description as the server gives it; aligning is left out, which needs weights and is tested elsewhere."""

    def align(source: list[str], target: list[str], method: str, shop: object) -> Alignment:
        return Alignment(frozenset({(0, 0)}), probabilities={(0, 0): 0.5})

    patch = pytest.MonkeyPatch()
    patch.setattr("groundling.web.panels.words.align_pair", align)
    patch.setattr("groundling.web.panels.transfer.align_pair", align)
    yield schemathesis.openapi.from_asgi("/openapi.json", create_app(), headers=HEADERS)
    patch.undo()


def test_every_panel_is_described(schema: Any) -> None:
    described = {(one.ok().path, one.ok().method.upper()) for one in schema.get_all_operations()}
    assert {*ROUTES, ("/api/programs", "POST"), ("/api/learn", "POST")} == described


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("route", "mode"), ASKED, ids=[f"{mode} {path}" for (path, _), mode in ASKED])
def test_requests_made_from_the_description(schema: Any, route: tuple[str, str], mode: str) -> None:
    generation = schemathesis.GenerationMode(mode)

    @settings(
        max_examples=12, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate],
    )  # fmt: skip
    @given(st.data())
    def fuzz(data: st.DataObject) -> None:
        case = data.draw(schema[route[0]][route[1]].as_strategy(generation_mode=generation))
        reply = case.call(headers=HEADERS)
        case.validate_response(reply, checks=CHECKS)
        assert reply.status_code != 500
        if mode == "negative":
            assert reply.status_code in (400, 413, 422, 503), reply.status_code

    fuzz()
