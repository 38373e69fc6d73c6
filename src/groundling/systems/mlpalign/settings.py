"""From the command line to a Config: a preset, a file, then single settings."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from groundling.systems.mlpalign.config import Config, preset
from groundling.training.config import dump_config, parse_config


def settings_of(features: str, path: Path | None, overrides: Iterable[str]) -> Config:
    """The preset of these features, or the file in its place; `key=value` overrides go on top.

    >>> settings_of("thesis", None, ["epochs=3"]).epochs
    3
    """
    text = dump_config(preset(features)) if path is None else path.read_text(encoding="utf-8")
    return parse_config(Config, text, overrides, where=str(path or "settings"))
