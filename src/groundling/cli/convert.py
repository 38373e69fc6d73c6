"""`groundling convert`: from one format to another."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from groundling.errors import ConfigError

_LABELS = {"auto": "auto", "yes": True, "no": False}


def convert_command(
    source: Annotated[str, typer.Argument(metavar="IN", help="File to read; - is the standard input.")],
    target: Annotated[str, typer.Argument(metavar="OUT", help="File to write; - is the standard output.")],
    from_: Annotated[str | None, typer.Option("--from", help="Format of IN, where its name does not tell.")] = None,
    to: Annotated[str | None, typer.Option("--to", help="Format of OUT, where its name does not tell.")] = None,
    base: Annotated[int, typer.Option(help="Pharaoh: positions in IN count from 0 or 1.")] = 0,
    labels: Annotated[str, typer.Option(help="Brackets: do brackets in IN hold labels? auto, yes or no.")] = "auto",
) -> None:
    """Convert between formats that hold the same structure, and between plain, .gz and .xz.

    Example: groundling convert wsj_0001.mrg wsj_0001.trees.gz; groundling convert gold.wa gold.pharaoh
    """
    from groundling.formats import format_of
    from groundling.formats.converting import convert

    if labels not in _LABELS or base not in (0, 1):
        raise ConfigError("--labels is auto, yes or no, and --base is 0 or 1.")
    old = format_of(source, from_)
    options = {"brackets": {"labelled": _LABELS[labels]}, "pharaoh": {"base": base}}.get(old, {})
    count = convert(source, target, old, to, **options)
    print(f"{count} items written to {target}", file=sys.stderr)
