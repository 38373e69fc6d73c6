"""Where real corpora stand, and what each is: they are read from `--data DIR` or `$GROUNDLING_DATA`."""

from __future__ import annotations

import os
from pathlib import Path

from groundling.errors import DataError


def data_dir(option: str | os.PathLike[str] | None = None) -> Path | None:
    """The folder of corpora: the one given, else `$GROUNDLING_DATA`, else None."""
    given = os.fspath(option) if option is not None else os.environ.get("GROUNDLING_DATA", "")
    if not given:
        return None
    folder = Path(given).expanduser()
    if not folder.is_dir():
        raise DataError(f"{folder}: there is no such folder of corpora. Correct --data or $GROUNDLING_DATA.")
    return folder
