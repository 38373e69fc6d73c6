"""The option `--report`, the same for every command that learns, scores or chooses."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

Report = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE.html", help="Also write a page: scores, curves, worst examples, settings."),
]


def command_line() -> str:
    """What was typed, for the page's last line."""
    return shlex.join(["groundling", *sys.argv[1:]])


def report_training(path: Path | None, model: Path, title: str, *data: str | Path | None) -> None:
    """Write the page of a training, if one was asked for."""
    if path is None:
        return
    from groundling.reports.job import write_report

    write_report(path, title, command=command_line(), model=model, data=data, curves=True)
    typer.echo(f"report: {path}", err=True)
