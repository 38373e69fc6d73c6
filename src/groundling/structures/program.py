"""Programs that a model proposed, and the task they answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from groundling.errors import FormatError

Language = Literal["python", "sql", "bash"]


@dataclass(frozen=True)
class Program:
    """One candidate: its text and, where the model gave them, its total log-probability and its token count."""

    code: str
    language: Language = "python"
    logprob: float | None = None
    tokens: int | None = None
    source: str = ""  # which model or system wrote it

    @property
    def mean_logprob(self) -> float | None:
        """Log-probability a token (thesis ch. 7, MALL)."""
        return self.logprob / self.tokens if self.logprob is not None and self.tokens else None

    def __str__(self) -> str:
        return self.code


@dataclass(frozen=True)
class Samples:
    """All candidates for one task. `extra` keeps the fields of the file that have no name here."""

    task_id: str
    programs: tuple[Program, ...]
    prompt: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)

    def __post_init__(self) -> None:
        if not self.task_id:
            raise FormatError("a sample has no task_id. Give each task a name that the tests file uses too.")

    def __len__(self) -> int:
        return len(self.programs)

    def __str__(self) -> str:
        return f"{self.task_id}: {len(self)} programs"
