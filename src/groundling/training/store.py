"""Files of a run: atomic, with errors that say what to do. No torch here."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from pathlib import Path

from groundling.errors import DataError, GroundlingError
from groundling.formats.writing import atomic_write


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn the system's errors of writing into ours."""
    try:
        yield
    except OSError as error:
        raise GroundlingError(
            f"{path}: cannot be written ({error.strerror or error}). What was saved before is untouched; "
            "make room or choose a folder you may write to, then go on with `--resume`."
        ) from error


def make_folder(path: Path) -> None:
    """Make the folder and its parents."""
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)


def write_bytes(path: Path, data: bytes) -> None:
    """Write a whole file under a temporary name, then rename it: a kill leaves the old file or the new one."""
    with writing(path), atomic_write(path, binary=True) as file:
        file.write(data)


def write_text(path: Path, text: str) -> None:
    """Write a whole UTF-8 text file, as `write_bytes` does."""
    write_bytes(path, text.encode())


def hash_data(*paths: str | Path) -> dict[str, str]:
    """Return `{file name: sha256}` of the files that a model was trained on, for `run.json`.

    Names only, without folders: the same data elsewhere gives the same `run.json`.
    """
    return {Path(path).name: hash_file(Path(path)) for path in paths}


def hash_file(path: Path) -> str:
    """Return the sha256 of a file, read in pieces."""
    if path.exists() and not path.is_file():  # a pipe would be waited for, for ever
        raise DataError(f"{path}: not a file. Give the path of a file.")
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}). Give the path of a file.") from error
