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


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A causal language model of random weights over single characters, saved as transformers saves any."""
    transformers, tokenizers = pytest.importorskip("transformers"), pytest.importorskip("tokenizers")
    torch = pytest.importorskip("torch")
    vocabulary = ["<end>", "<pad>", *(chr(code) for code in (10, *range(32, 127)))]
    inner = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({text: place for place, text in enumerate(vocabulary)}, unk_token="?")
    )
    inner.pre_tokenizer = tokenizers.pre_tokenizers.Split(tokenizers.Regex(r"[\s\S]"), "isolated")
    inner.decoder = tokenizers.decoders.Fuse()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<end>", pad_token="<pad>")
    torch.manual_seed(0)
    shape = transformers.GPT2Config(
        vocab_size=len(vocabulary), n_positions=512, n_embd=32, n_layer=2, n_head=2, eos_token_id=0, bos_token_id=0
    )
    folder = tmp_path_factory.mktemp("model")
    model = transformers.GPT2LMHeadModel(shape)
    with torch.no_grad():
        model.transformer.wte.weight *= 20  # so that it is not uniform, and the temperature matters
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def own_logprob(model: sampling.LocalModel, prompt: str, text: str, ended: bool) -> float:
    """What the model itself says of a text, by one plain pass."""
    ids = model.tokenizer(prompt + text).input_ids + [model.tokenizer.eos_token_id] * ended
    first = len(model.tokenizer(prompt).input_ids)
    with model.torch.no_grad():
        chances = model.model(model.torch.tensor([ids])).logits[0].log_softmax(-1)
    return sum(float(chances[place - 1, ids[place]]) for place in range(first, len(ids)))


def test_a_local_model_gives_its_own_log_probabilities(tiny_model: Path) -> None:
    model = sampling.LocalModel(str(tiny_model), seed=1)
    settings = sampling.Settings(temperature=2.0, max_tokens=40)
    got = model.complete("<code>", 24, settings)
    assert len(got) == 24 and len({one.text for one in got}) > 12
    ended = [one.tokens == len(one.text) + 1 for one in got]  # the end itself is a token without text
    assert any(ended) and not all(ended)
    for one, end in zip(got, ended, strict=True):
        assert one.logprob == pytest.approx(own_logprob(model, "<code>", one.text, end), abs=1e-3)
    text = "ab</code>"
    tokens, scores = model.torch.tensor(model.tokenizer(text + "junk").input_ids), model.torch.full((13,), -0.5)
    assert model._completion(tokens, scores) == sampling.Completion("ab", -0.5 * len(text), len(text))
    again = sampling.LocalModel(str(tiny_model), seed=1).complete("<code>", 24, settings)
    assert again == got
    [best] = model.complete("<code>", 5, sampling.Settings(temperature=0.0, max_tokens=5))
    assert best.logprob is not None and best.logprob >= max(
        own_logprob(model, "<code>", best.text[:-1] + letter, False) for letter in "abc"
    )


def test_the_command_samples_from_a_local_model(files: dict[str, str], tiny_model: Path) -> None:
    from typer.testing import CliRunner

    from groundling.cli.mbrexec import app

    command = ["sample", files["tasks"], "--model", str(tiny_model), "--local", "--examples", files["examples"]]
    command += ["--n", "5", "--max-tokens", "12", "-o", files["out"]]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in Path(files["out"]).read_text().splitlines()]
    assert [row["task_id"] for row in rows] == ["a"] * 5 + ["b"] * 5
    assert all(row["logprob"] < 0 and 0 < row["tokens"] <= 12 for row in rows)
