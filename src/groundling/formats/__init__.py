"""Text files <-> structures, and nothing else. Each module has `read(path) -> iterator` and `write(path, items)`."""

from __future__ import annotations

import os
from typing import Any

from groundling.errors import ConfigError
from groundling.names import lookup

# name -> module; each has read(source), write(path, items) and scan(lines), which yields faults in place of items
FORMATS = {
    "brackets": "groundling.formats.brackets",
    "conllu": "groundling.formats.conllu",
    "pharaoh": "groundling.formats.pharaoh",
    "wa": "groundling.formats.wa",
    "aligned": "groundling.formats.aligned",
    "textgrid": "groundling.formats.textgrid",
    "ctm": "groundling.formats.ctm",
    "samples": "groundling.formats.samples",
}

SUFFIXES = {
    ".trees": "brackets",
    ".brackets": "brackets",
    ".mrg": "brackets",
    ".ptb": "brackets",
    ".gld": "brackets",
    ".tst": "brackets",
    ".conllu": "conllu",
    ".pharaoh": "pharaoh",
    ".align": "pharaoh",
    ".talp": "pharaoh",
    ".wa": "wa",
    ".tsv": "aligned",
    ".textgrid": "textgrid",
    ".ctm": "ctm",
    ".jsonl": "samples",
}


def format_of(path: str | os.PathLike[str], name: str | None = None) -> str:
    """The format's name: the one given, else by the suffix (before .gz or .xz).

    >>> format_of("dev.conllu.gz"), format_of("dev.txt", "brackets")
    ('conllu', 'brackets')
    """
    if name is not None:
        load_format(name)
        return name
    plain = os.fspath(path).removesuffix(".gz").removesuffix(".xz")
    suffix = os.path.splitext(plain)[1].lower()
    if suffix not in SUFFIXES:
        raise ConfigError(
            f"{os.fspath(path)}: the name does not tell the format. Name it: one of {', '.join(sorted(FORMATS))}."
        )
    return SUFFIXES[suffix]


def load_format(name: str) -> Any:
    """The module of a format; a wrong name answers with the nearest right one."""
    return lookup(FORMATS, name, "format")
