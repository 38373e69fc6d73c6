"""The page's server: each panel, each refusal, and the door."""

from __future__ import annotations

import base64
import io
import json
import os
import subprocess
import sys
import wave
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient

from groundling.errors import DataError, ExecutionError
from groundling.structures import Alignment
from groundling.web import guard
from groundling.web.app import FILES, PANELS, create_app
from groundling.web.panels import words

BASE = "http://127.0.0.1:8765"
TREES = {"gold": "(S (NP (N dogs)) (VP (V bark)))", "pred": "(S (N dogs) (V bark))"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    app = create_app(runs=tmp_path_factory.mktemp("runs"))
    with TestClient(app, base_url=BASE, raise_server_exceptions=False) as one:
        yield one


@pytest.fixture
def diagonal(monkeypatch: pytest.MonkeyPatch) -> None:
    """An aligner that needs no encoder: word i goes with word i."""

    def align(source: list[str], target: list[str], method: str, shop: object) -> Alignment:
        links = [(i, i) for i in range(min(len(source), len(target)))]
        return Alignment(frozenset(links), probabilities=dict.fromkeys(links, 0.9))

    monkeypatch.setattr(words, "align_pair", align)
    monkeypatch.setattr("groundling.web.panels.transfer.align_pair", align)


def fault(client: TestClient, name: str, body: object, status: int = 422) -> dict[str, str]:
    reply = client.post(f"/api/{name}", json=body)
    assert reply.status_code == status, reply.text
    assert set(reply.json()["error"]) == {"what", "where", "next"}
    return reply.json()["error"]


def test_trees_are_scored_and_drawn(client: TestClient) -> None:
    found = client.post("/api/trees", json=TREES).json()
    assert [score["value"] for score in found["data"]["scores"]] == [0.75, 0.5]
    assert found["data"]["matches"] == [[0, 0, 1.0], [2, 1, 1.0], [4, 2, 1.0]]
    assert 'data-match="pred-0"' in found["pictures"][0]["svg"]
    assert found["command"].startswith(r"groundling score trees <(printf '%s\n' '(S (NP (N dogs))")


def test_trees_over_different_words_have_no_parseval(client: TestClient) -> None:
    found = client.post("/api/trees", json={"gold": "(S (N dogs) (V bark))", "pred": "(S (N cats) (V bark))"}).json()
    assert [score["name"] for score in found["data"]["scores"]] == ["StructIoU"] and "left out" in found["summary"]


def test_a_broken_tree_names_its_field(client: TestClient) -> None:
    assert fault(client, "trees", TREES | {"pred": "(S (N dogs"})["where"] == "pred"
    error = fault(client, "trees", TREES | {"gold": "(S " + "(N a) " * 300 + ")"})
    assert error["where"] == "gold" and "up to 200 words" in error["what"]


GRID = """File type = "ooTextFile"
Object class = "TextGrid"

0
1
<exists>
1
"IntervalTier"
"words"
0
1
2
0
{0}
"the"
{0}
1
"dog"
"""


def test_textgrids_are_scored_in_place_of_trees(client: TestClient) -> None:
    found = client.post("/api/trees", json={"gold": GRID.format(0.4), "pred": GRID.format(0.41)}).json()
    assert [score["name"] for score in found["data"]["scores"]] == ["Boundaries", "SegmentIoU"]
    assert found["data"]["scores"][0]["value"] == 1.0 and found["data"]["gold"]["segments"][0][2] == "the"
    assert fault(client, "trees", {"gold": GRID.format(0.4), "pred": "(S a)"})["where"] == "pred"
    assert fault(client, "trees", {"gold": GRID.format(7), "pred": GRID.format(0.4)})["where"] == "gold"
    empty = 'File type = "ooTextFile"\nObject class = "TextGrid"\n0 1 <exists> 0'
    assert fault(client, "trees", {"gold": empty, "pred": empty})["where"] == "gold"


def test_words_are_aligned(client: TestClient, diagonal: None) -> None:
    found = client.post("/api/words", json={"source": "the dog", "target": "der Hund"}).json()
    assert found["data"]["pharaoh"] == "0-0 1-1" and len(found["pictures"]) == 2
    assert fault(client, "words", {"source": "the", "target": "  "})["where"] == "target"
    assert "at most 60" in fault(client, "words", {"source": "a " * 61, "target": "b"})["next"]
    assert fault(client, "words", {"source": "a", "target": "b", "method": "magic"})["where"] == "method"


def test_a_tree_is_carried_over(client: TestClient, diagonal: None) -> None:
    body = {"tree": "dogs 2 nsubj\nbark 0 root", "target": "Hunde bellen laut"}
    found = client.post("/api/transfer", json=body).json()["data"]["tree"]
    assert (found["heads"][:2], found["labels"][:2]) == ([2, 0], ["nsubj", "root"])
    long = "1\tdogs\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tbark\t_\tVERB\t_\t_\t0\troot\t_\t_\n"
    same = client.post("/api/transfer", json=body | {"tree": long}).json()["data"]["tree"]
    assert same["heads"] == found["heads"]


@pytest.mark.parametrize("tree", ["", "dogs x nsubj", "dogs 2 nsubj\nbark 1 root", "dogs 7 nsubj", "1\tdogs"])
def test_a_tree_that_is_none_is_refused(client: TestClient, diagonal: None, tree: str) -> None:
    assert fault(client, "transfer", {"tree": tree, "target": "Hunde"})["where"] == "tree"


def test_programs_are_chosen_by_agreement(client: TestClient) -> None:
    codes = ["def f(x): return x * x", "def f(x): return x + x", "def f(x): return 2 * x", "def f(x): return y"]
    reply = client.post("/api/programs", json={"programs": "\n---\n".join(codes), "inputs": "f(1)\nf(3)"})
    if reply.status_code == 503:
        pytest.skip(reply.json()["error"]["what"])
    found = reply.json()
    assert found["data"]["chosen"] == 1 and found["code"] == codes[1] and found["tables"][0]["marked"] == 1
    assert [group["programs"] for group in found["data"]["groups"]] == [[1, 2], [0], [3]]
    assert found["data"]["sandbox"] in ("bubblewrap", "landlock")


def test_programs_are_refused_where_there_is_no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(**_: object) -> None:
        raise ExecutionError("no sandbox works here. Install bubblewrap.")

    monkeypatch.setattr("groundling.execution.Runner", nowhere)
    with TestClient(create_app(), base_url=BASE) as client:
        error = fault(client, "programs", {"programs": "x = 1", "inputs": "x"}, 503)
    assert error["next"] == "Install bubblewrap."


def test_too_many_programs_or_none_are_refused(client: TestClient) -> None:
    assert fault(client, "programs", {"programs": "x\n---\n" * 26, "inputs": "x"})["where"] == "programs"
    assert fault(client, "programs", {"programs": "---", "inputs": "x"})["where"] == "programs"
    assert fault(client, "programs", {"programs": "x", "inputs": "\n"})["where"] == "inputs"
    assert fault(client, "programs", {"programs": "x", "inputs": "x\n" * 13})["where"] == "inputs"


def sound(seconds: float, rate: int = 16_000) -> str:
    tone = (8000 * np.sin(np.arange(int(seconds * rate)) * 0.1)).astype("<i2")
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(tone.tobytes())
    return base64.b64encode(out.getvalue()).decode()


def test_speech_is_drawn_and_says_how_to_get_a_tree(client: TestClient) -> None:
    found = client.post("/api/speech", json={"sound": sound(1.0)}).json()
    assert found["data"]["seconds"] == 1.0 and "--model avnsl=DIR" in found["summary"]
    spoken = client.post("/api/speech", json={"words": "the dog"}).json()
    assert spoken["pictures"][0]["svg"].count("data-segment") >= 3  # voice, and two words


def test_sound_that_is_none_is_refused_without_naming_a_path(client: TestClient) -> None:
    assert "base64" in fault(client, "speech", {"sound": "%%"})["what"]
    for text in (base64.b64encode(b"no sound").decode(), sound(0.0), sound(25.0)):
        error = fault(client, "speech", {"sound": text})
        assert error["where"] == "sound" and "groundling-web-" not in str(error)
    assert fault(client, "speech", {})["where"] == "words"


@pytest.mark.parametrize("name", ["meaning", "captions"])
def test_a_panel_without_model_says_how_to_get_one(client: TestClient, name: str) -> None:
    error = fault(client, name, {"sentence": "jump twice"}, 503)
    assert "groundling web --model" in error["next"]
    assert client.get("/api/models").json()["g2l2"]["learnable"]


@pytest.mark.parametrize("body", [{}, {"gold": 3, "pred": "x"}, [], {"gold": "x" * 20_001, "pred": "x"}])
def test_a_body_of_the_wrong_shape_is_refused(client: TestClient, body: object) -> None:
    fault(client, "trees", body)


def test_what_is_not_json_is_refused(client: TestClient) -> None:
    headers = {"content-type": "application/json"}
    assert client.post("/api/trees", content=b"{", headers=headers).json()["error"]["what"]
    assert client.post("/api/trees", content=b"gold=x").status_code == 422


def test_a_foreign_host_or_page_is_refused(client: TestClient) -> None:
    for headers in (
        {"host": "evil.example"},
        {"host": "127.0.0.1.evil.example:8765"},
        {"host": "evil.example@127.0.0.1"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"sec-fetch-site": "cross-site"},
    ):
        reply = client.post("/api/trees", json=TREES, headers=headers)
        assert reply.status_code == 403 and reply.json()["error"]["what"], headers
    for headers in ({"host": "localhost:8765"}, {"origin": BASE}, {"sec-fetch-site": "same-origin"}):
        assert client.post("/api/trees", json=TREES, headers=headers).status_code == 200, headers


def test_a_long_body_is_refused_whether_or_not_it_says_so(client: TestClient) -> None:
    long = b"x" * (guard.MOST_BYTES + 1)
    assert client.post("/api/trees", content=long).status_code == 413
    assert client.post("/api/trees", content=iter([long])).status_code == 413  # chunked, no length given
    assert client.post("/api/trees", content=b"{}", headers={"content-length": "-1"}).status_code in (400, 413)


def test_only_the_page_is_served(client: TestClient) -> None:
    for path in FILES:
        reply = client.get(path)
        assert reply.status_code == 200 and "default-src 'none'" in reply.headers["content-security-policy"]
    for path in ("/app.py", "/static/page.js", "/../app.py", "/%2e%2e/app.py", "/page.js/../app.py", "//etc/passwd"):
        reply = client.get(path)
        assert reply.status_code == 404 and reply.json()["error"]["what"] == "Not Found.", path


def test_the_page_loads_nothing_from_elsewhere() -> None:
    folder = Path(guard.__file__).parent / "static"
    text = "".join(path.read_text(encoding="utf-8") for path in folder.iterdir())
    assert "://" not in text and "url(" not in text and "innerHTML" not in text


def test_the_api_is_described(client: TestClient) -> None:
    schema = client.get("/openapi.json").json()
    for name in PANELS:
        post = schema["paths"][f"/api/{name}"]["post"]
        assert post["summary"] and {"200", "403", "413", "422", "503", "504"} <= set(post["responses"])
    assert schema["components"]["schemas"]["Refusal"]
    assert client.get("/docs").status_code == 404  # that page would load scripts from elsewhere


def test_our_own_bugs_are_one_plain_sentence(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundling.web.panels.trees.read_tree", lambda *_: 1 / 0)
    assert "our fault" in fault(client, "trees", TREES, 500)["what"]
    monkeypatch.setattr("groundling.web.panels.trees.read_tree", lambda *_: (_ for _ in ()).throw(DataError("No. Do.")))
    assert fault(client, "trees", TREES) == {"what": "No.", "where": "trees", "next": "Do."}


@pytest.mark.parametrize("labels", [True, False])
def test_the_command_of_the_trees_panel_gives_the_same_scores(client: TestClient, labels: bool) -> None:
    asked = {
        "gold": "(S (NP (N it's)) (VP (V b)))",
        "pred": "(S (N it's) (V b))",
        "labels": labels,
        "convention": "vgnsl",
    }
    found = client.post("/api/trees", json=asked).json()
    printed = by_shell(found["command"])
    for score in found["data"]["scores"][: 2 if labels else 1]:
        assert f"{score['signature']} = {100 * score['value']:.2f}" in printed


def test_the_command_of_the_programs_panel_makes_the_same_choice(client: TestClient) -> None:
    asked = {
        "programs": "def f(x): return x\n---\ndef f(x): return 2 * x\n---\ndef f(x): return x + x",
        "inputs": "f(3)",
    }
    reply = client.post("/api/programs", json=asked)
    if reply.status_code == 503:
        pytest.skip("no sandbox works here")
    found = reply.json()
    assert json.loads(by_shell(found["command"]))["completion"] == found["code"]


def by_shell(command: str) -> str:
    """What a command that the page shows prints."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
