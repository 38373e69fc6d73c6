"""What every panel of the page answers, and how a refusal looks: one shape for all, in OpenAPI too."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from shlex import quote
from typing import Any

from pydantic import BaseModel, Field

from groundling.errors import GroundlingError

Cell = str | int | float | bool | None
_NEXT = re.compile(r"(?<=[.!?])\s+(?=[A-Z`])")


class Picture(BaseModel):
    """One drawing, self-contained."""

    name: str = Field(description="What it is called when it is saved.")
    caption: str
    svg: str


class Table(BaseModel):
    """Rows under a header; `marked` is the row that matters, counted from 0."""

    caption: str
    header: list[str]
    rows: Sequence[Sequence[Cell]]
    marked: int | None = None


class Answer(BaseModel):
    """What came out: a sentence, pictures, tables, the same as plain data, and the command that repeats it."""

    summary: str
    command: str = Field(default="", description="The same from the command line (bash).")
    code: str = Field(default="", description="A text to show as it is, e.g. the chosen program.")
    pictures: list[Picture] = []
    tables: list[Table] = []
    data: dict[str, Any] = {}


class Fault(BaseModel):
    """Why there is no answer: what is wrong, where (a field's name, if it is one), what to do next."""

    what: str
    where: str = ""
    next: str = ""


class Refusal(BaseModel):
    """The body of every answer that is not 200."""

    error: Fault


class FieldError(GroundlingError):
    """An error of ours with the name of the field that it is in."""

    def __init__(self, where: str, text: str) -> None:
        super().__init__(text)
        self.where = where


class AbsentError(GroundlingError):
    """A model or tool that a panel needs is not here."""


@contextmanager
def field(name: str) -> Iterator[None]:
    """Say of every error within that it is about the field `name`."""
    try:
        yield
    except GroundlingError as error:
        raise FieldError(name, str(error)) from error


def given(text: str) -> str:
    r"""A text as a file of a bash command line.

    >>> print(given("dogs bark"))
    <(printf '%s\n' 'dogs bark')
    """
    return rf"<(printf '%s\n' {quote(text)})"


def fault_of(error: GroundlingError, where: str = "") -> Fault:
    """Split an error of ours into what is wrong and what to do next.

    >>> fault_of(GroundlingError("no closing bracket. Add one."), "gold")
    Fault(what='no closing bracket.', where='gold', next='Add one.')
    """
    what, *rest = _NEXT.split(str(error), maxsplit=1)
    return Fault(what=what, where=getattr(error, "where", where), next=" ".join(rest))
