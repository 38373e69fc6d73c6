"""Prompts word for word as in the thesis; a server that stumbles; resuming; a local model."""

import json
from pathlib import Path
from typing import Any

import pytest

from groundling.errors import ConfigError, DataError, FormatError
from groundling.systems.mbrexec import sampling
from groundling.systems.mbrexec.prompts import Example, cut_at_stop, few_shot_prompt, groups_of_three

httpx = pytest.importorskip("httpx")


def test_the_prompt_is_the_thesis_one() -> None:
    """Table 701, instantiation 1."""
    exemplar = Example("Write a function that adds 2 integers", "def add(a, b): return a + b", "assert add(1, 2) == 3")
    query = Example('Write a function that outputs the string "cat"', info='assert cat() == "cat"')
    assert few_shot_prompt([exemplar], query) == (
        "<info>assert add(1, 2) == 3</info>\n<text>Write a function that adds 2 integers</text>\n"
        "<code>def add(a, b): return a + b</code>\n"
        '<info>assert cat() == "cat"</info>\n<text>Write a function that outputs the string "cat"</text>\n<code>'
    )
    assert cut_at_stop("ls</code>\n<info>") == "ls"


def test_groups_of_three() -> None:
    examples = [Example(str(n), "x") for n in range(17)]
    groups = groups_of_three(examples)
    assert [example.text for group in groups for example in group] == [str(n) for n in range(15)]
    with pytest.raises(DataError, match="a prompt needs 3"):
        groups_of_three(examples[:2])


class Server:
    """Answers `n` completions a request; `plan` holds what to answer first instead."""

    def __init__(self, *plan: Any) -> None:
        self.plan, self.asked = list(plan), list[dict[str, Any]]()

    def __call__(self, request: Any) -> Any:
        self.asked.append(json.loads(request.content))
        if self.plan:
            first = self.plan.pop(0)
            if isinstance(first, Exception):
                raise first
            return first
        choice = {"text": "pass</code>", "logprobs": {"token_logprobs": [None, -0.5, -1.5]}}
        return httpx.Response(200, json={"choices": [choice] * self.asked[-1]["n"]})


def endpoint(server: Server, waits: list[float] | None = None, tries: int = 4) -> sampling.Endpoint:
    client = httpx.Client(transport=httpx.MockTransport(server))
    sleep = waits.append if waits is not None else (lambda _: None)
    return sampling.Endpoint("http://model/v1/", "m", client=client, sleep=sleep, tries=tries)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    examples = [{"text": f"task {n}", "code": "x", "test_list": [f"assert f({n})"]} for n in range(15)]
    (tmp_path / "examples.jsonl").write_text("\n".join(map(json.dumps, examples)))
    (tmp_path / "tasks.jsonl").write_text('{"task_id": "a", "text": "A"}\n{"task_id": "b", "text": "B"}\n')
    return {name: str(tmp_path / f"{name}.jsonl") for name in ("tasks", "examples", "out")}


def test_samples_are_collected_over_five_prompts_and_resumed(files: dict[str, str]) -> None:
    server = Server()
    settings = sampling.Settings(count=7)
    assert sampling.collect(files["tasks"], files["examples"], endpoint(server), files["out"], settings) == 14
    assert [body["n"] for body in server.asked] == [2, 2, 1, 1, 1] * 2
    assert len({body["prompt"] for body in server.asked}) == 10
    assert all(body["temperature"] == 0.3 and body["stop"] == ["</code>"] for body in server.asked)
    lines = Path(files["out"]).read_text().splitlines()
    first = json.loads(lines[0])
    assert first["completion"] == "pass" and first["logprob"] == -2.0 and first["tokens"] == 2
    Path(files["out"]).write_text("\n".join(lines[:9]) + '\n{"task_id": "b", "comp')  # killed in the middle of a line
    server = Server()
    assert sampling.collect(files["tasks"], files["examples"], endpoint(server), files["out"], settings) == 5
    assert len(Path(files["out"]).read_text().splitlines()) == 14


def test_a_server_that_stumbles_is_asked_again(files: dict[str, str]) -> None:
    waits: list[float] = []
    stumbles = [httpx.Response(429, headers={"retry-after": "7"}), httpx.ConnectError("down"), httpx.Response(503)]
    got = endpoint(Server(*stumbles), waits).complete("p", 2, sampling.Settings())
    assert [one.text for one in got] == ["pass", "pass"] and waits == [7.0, 2.0, 4.0]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (httpx.Response(401, text="bad key"), "status 401: bad key.*OPENAI_API_KEY"),
        (httpx.Response(200, json={"error": "x"}), "without `choices`"),
    ],
)
def test_a_server_that_refuses_is_an_error(answer: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        endpoint(Server(answer)).complete("p", 1, sampling.Settings())


def test_a_dead_server_is_an_error_in_the_end() -> None:
    server = Server(*[httpx.ConnectError("down")] * 4)
    with pytest.raises(DataError, match=r"no completions \(down\)"):
        endpoint(server).complete("p", 1, sampling.Settings())


def test_bad_files_and_settings_are_errors(files: dict[str, str]) -> None:
    Path(files["tasks"]).write_text('{"task_id": "a"}\n')
    with pytest.raises(FormatError, match=r"tasks.jsonl:1: no `text`"):
        sampling.collect(files["tasks"], files["examples"], endpoint(Server()), files["out"], sampling.Settings())
    with pytest.raises(ConfigError, match="no language is called 'perl'"):
        sampling.Settings(language="perl")
