"""Collect programs from a model: an OpenAI-compatible server or a local transformers model. It resumes."""

from __future__ import annotations

import json
import os
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, get_args

from groundling.errors import ConfigError, DataError, FormatError
from groundling.formats import samples as samples_format
from groundling.formats.files import open_text
from groundling.names import require
from groundling.structures.program import Language
from groundling.systems.mbrexec.prompts import STOP, Example, cut_at_stop, few_shot_prompt, groups_of_three
from groundling.training.progress import Progress

_RETRY = {408, 409, 429, 500, 502, 503, 504}


@dataclass(frozen=True)
class Settings:
    """How to sample: thesis 7.3.1 (25 samples over five prompts, temperature 0.3, at most 1024 tokens)."""

    count: int = 25
    temperature: float = 0.3
    max_tokens: int = 1024
    language: str = "python"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.language not in get_args(Language):
            raise ConfigError(f"no language is called {self.language!r}. There are: {', '.join(get_args(Language))}.")


@dataclass(frozen=True)
class Completion:
    """One completion with its total log-probability and token count, where the model gives them."""

    text: str
    logprob: float | None = None
    tokens: int | None = None


class Source(Protocol):
    """What can complete a prompt."""

    def complete(self, prompt: str, count: int, settings: Settings) -> list[Completion]: ...


class Endpoint:
    """A server that speaks OpenAI's completions: waits when told to, tries again when it stumbles."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        tries: int = 6,
        client: Any = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self.url, self.model, self.tries, self.sleep = url.rstrip("/"), model, tries, sleep
        self.httpx: Any = require("httpx", "llm", "asking a server for programs")
        key = os.environ.get("OPENAI_API_KEY", "")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self.client = client or self.httpx.Client(timeout=300, headers=headers)

    def complete(self, prompt: str, count: int, settings: Settings) -> list[Completion]:
        body = {
            "model": self.model,
            "prompt": prompt,
            "n": count,
            "temperature": settings.temperature,
            "max_tokens": settings.max_tokens,
            "stop": [STOP],
            "logprobs": 1,
            "seed": settings.seed,
        }
        answer = self._post(body)
        choices = answer.get("choices")
        if not isinstance(choices, list) or not choices:
            raise DataError(f"{self.url} answered without `choices`: {str(answer)[:200]}. Is it OpenAI-compatible?")
        return [_completion(choice) for choice in choices]

    def _post(self, body: dict[str, Any]) -> dict[str, Any]:
        reason = ""
        for attempt in range(self.tries):
            try:
                reply = self.client.post(f"{self.url}/completions", json=body)
            except self.httpx.TransportError as error:
                reason, wait = str(error) or type(error).__name__, 0.0
            else:
                if reply.status_code == 200:
                    return reply.json()
                reason, wait = f"status {reply.status_code}: {reply.text[:200]}", _wait_asked(reply)
                if reply.status_code not in _RETRY:
                    break
            if attempt + 1 < self.tries:
                self.sleep(max(wait, min(60.0, 2.0**attempt)))
        raise DataError(f"{self.url} gave no completions ({reason}). Check --endpoint, --model and $OPENAI_API_KEY.")


def _wait_asked(reply: Any) -> float:
    try:
        return min(600.0, float(reply.headers.get("retry-after", 0)))
    except ValueError:  # a date: our own waiting will do
        return 0.0


def _completion(choice: dict[str, Any]) -> Completion:
    values = ((choice.get("logprobs") or {}).get("token_logprobs")) or []
    known = [value for value in values if value is not None]
    return Completion(cut_at_stop(choice.get("text", "")), sum(known) if known else None, len(known) or None)


class LocalModel:
    """A causal language model run here with transformers."""

    def __init__(self, folder: str, *, seed: int = 0) -> None:
        transformers = require("transformers", "learn", "sampling from a local model")
        self.torch: Any = require("torch", "learn", "sampling from a local model")
        self.tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder)
        self.model: Any = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
        self.torch.manual_seed(seed)

    def complete(self, prompt: str, count: int, settings: Settings) -> list[Completion]:
        """Sampled from the whole distribution; log-probabilities are the model's own, whatever the temperature."""
        asked = self.tokenizer(prompt, return_tensors="pt")
        drawn, pad = settings.temperature > 0, self.tokenizer.pad_token_id
        with self.torch.no_grad():
            out = self.model.generate(
                asked.input_ids,
                attention_mask=asked.attention_mask,
                do_sample=drawn,
                num_return_sequences=count if drawn else 1,
                max_new_tokens=settings.max_tokens,
                return_dict_in_generate=True,
                output_logits=True,
                stop_strings=[STOP],
                tokenizer=self.tokenizer,
                pad_token_id=(self.tokenizer.eos_token_id or 0) if pad is None else pad,
                **({"temperature": settings.temperature, "top_k": 0, "top_p": 1.0} if drawn else {}),
            )
        scores = self.model.compute_transition_scores(out.sequences, out.logits, normalize_logits=True)
        rows = out.sequences[:, asked.input_ids.shape[1] :]
        return [self._completion(row, mine) for row, mine in zip(rows, scores, strict=True)]

    def _completion(self, tokens: Any, scores: Any) -> Completion:
        """Without what stands after the end: other samples of the batch may be longer."""
        ends = (tokens == self.tokenizer.eos_token_id).nonzero()
        size = int(ends[0]) + 1 if len(ends) else len(tokens)
        if STOP in self._text(tokens[:size]):
            size = bisect_left(range(size), True, key=lambda count: STOP in self._text(tokens[:count]))
        return Completion(cut_at_stop(self._text(tokens[:size])), float(scores[:size].sum()), size)

    def _text(self, tokens: Any) -> str:
        return str(self.tokenizer.decode(tokens, skip_special_tokens=True))


def collect(tasks: str, examples: str, source: Source, output: str, settings: Settings) -> int:
    """Sample for every task, a line a program; tasks that `output` already holds in full are passed over.

    Returns how many samples were written now.
    """
    groups = groups_of_three([_example(row) for row in _rows(examples)])
    queries = list(_rows(tasks))
    have = _already(output)
    written = 0
    with _appending(output) as file, Progress("sampling", len(queries)) as progress:
        for row in queries:
            missing = settings.count - have.get(str(row["task_id"]), 0)
            for program in _programs(_example(row), groups, source, settings, missing):
                line = {"task_id": str(row["task_id"]), "completion": program.text, "language": settings.language}
                line |= {"logprob": program.logprob, "tokens": program.tokens}
                file.write(json.dumps(line) + "\n")
                written += 1
            file.flush()
            progress.advance()
    return written


def _programs(
    query: Example, groups: list[list[Example]], source: Source, settings: Settings, missing: int
) -> Iterator[Completion]:
    """`missing` completions, shared out over the prompts."""
    shares = [missing // len(groups) + (place < missing % len(groups)) for place in range(len(groups))]
    for group, share in zip(groups, shares, strict=True):
        while share > 0:
            got = source.complete(few_shot_prompt(group, query), share, settings)[:share]
            if not got:
                raise DataError("the model gave no completion at all.")
            yield from got
            share -= len(got)


def _rows(path: str) -> Iterable[dict[str, Any]]:
    with open_text(path) as lines:
        for line in lines:
            if line.strip():
                try:
                    row = json.loads(line)
                except ValueError as error:
                    raise FormatError(f"{lines.where}: not JSON ({error}). Write one object a line.") from None
                if not isinstance(row, dict) or "text" not in row:
                    raise FormatError(f"{lines.where}: no `text`. Give each task or example what it asks for.")
                yield row


def _example(row: dict[str, Any]) -> Example:
    info = row.get("info") or (row.get("test_list") or [""])[0]  # MBPP: the first assert, as in the thesis
    return Example(str(row["text"]), str(row.get("code", "")), str(info))


def _already(output: str) -> dict[str, int]:
    if output == "-" or not Path(output).exists():
        return {}
    path = Path(output)
    whole = path.read_bytes()
    if whole and not whole.endswith(b"\n"):  # killed in the middle of a line: that program is asked for again
        path.write_bytes(whole[: whole.rfind(b"\n") + 1])
    return {pile.task_id: len(pile) for pile in samples_format.merged(samples_format.read(output))}


def _appending(output: str) -> Any:
    return open("/dev/stdout", "w", encoding="utf-8") if output == "-" else open(output, "a", encoding="utf-8")
