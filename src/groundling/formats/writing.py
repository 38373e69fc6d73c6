"""Writing files so that they are whole or not there."""

from __future__ import annotations

import errno
import gzip
import io
import lzma
import os
import secrets
import stat
import sys
from collections.abc import Generator, Iterable
from contextlib import AbstractContextManager, contextmanager, suppress
from hashlib import sha256
from typing import IO, Any, BinaryIO, Literal, TextIO, cast, overload

from groundling.errors import DataError, FormatError

_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS}


@overload
def atomic_write(path: str | os.PathLike[str], binary: Literal[False] = False) -> AbstractContextManager[TextIO]: ...
@overload
def atomic_write(path: str | os.PathLike[str], binary: Literal[True]) -> AbstractContextManager[BinaryIO]: ...
def atomic_write(path: str | os.PathLike[str], binary: bool = False) -> AbstractContextManager[IO[Any]]:
    r"""Open a file for writing that takes its name only when all is written; after an error nothing is left.

    UTF-8 with `\n` line ends, compressed where the name ends in .gz or .xz; `-` is the standard output. The bytes
    depend on the content only (gzip's time stamp is left out).
    """
    name = os.fspath(path)
    if name == "-":
        return _standard_output(binary)
    target = os.path.realpath(name)  # write through a symbolic link, do not replace it
    if os.path.exists(target) and not os.path.isfile(target):
        return _in_place(name, binary)  # a pipe, a terminal or /dev/null must not be replaced by a file
    return _renamed(name, target, binary)


@contextmanager
def _standard_output(binary: bool) -> Generator[IO[Any]]:
    yield sys.stdout.buffer if binary else sys.stdout
    sys.stdout.flush()


@contextmanager
def _in_place(name: str, binary: bool) -> Generator[IO[Any]]:
    with _explained(name):
        raw = open(name, "wb")  # noqa: SIM115
    with _explained(name), raw, _layers(name, raw, binary) as handle:
        yield handle


@contextmanager
def _renamed(name: str, target: str, binary: bool) -> Generator[IO[Any]]:
    folder = os.path.dirname(target)
    temporary = os.path.join(folder, f".{secrets.token_hex(8)}.tmp")
    with _explained(name):
        file, named = _open_new(folder, temporary)
        raw = os.fdopen(file, "wb")
    try:
        with _explained(name), raw:
            with _layers(name, raw, binary) as handle:
                yield handle
            raw.flush()
            os.fsync(raw.fileno())
            if os.path.exists(target):
                os.fchmod(raw.fileno(), stat.S_IMODE(os.stat(target).st_mode))
            if named:
                os.replace(temporary, target)
            else:
                _give_name(raw.fileno(), target)
            _sync_folder(folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _open_new(folder: str, temporary: str) -> tuple[int, bool]:
    """Open a file that has no name yet, so that a kill leaves nothing behind; with a name where that cannot be."""
    if os.path.exists("/proc/self/fd"):
        with suppress(OSError):  # a file system that cannot, or a folder that is not there: the other way will say
            return os.open(folder, os.O_WRONLY | os.O_TMPFILE, 0o666), False
    return os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), True


def _give_name(file: int, target: str) -> None:
    """Give a nameless file its name: at once where no file has it yet, else by a rename.

    A kill just before the rename leaves a file with a temporary name; it is always the same for a target, so the next
    writer takes it away.
    """
    path = f"/proc/self/fd/{file}"
    try:  # a folder's handle must be given, though the path needs none: without it Python does not follow the link
        os.link(path, target, src_dir_fd=file, follow_symlinks=True)
        return
    except FileExistsError:
        folder, name = os.path.split(target)
        temporary = os.path.join(folder, f".{sha256(os.fsencode(name)).hexdigest()[:16]}.tmp")
    with suppress(FileNotFoundError):
        os.unlink(temporary)
    try:
        os.link(path, temporary, src_dir_fd=file, follow_symlinks=True)
        os.replace(temporary, target)
    except (FileExistsError, FileNotFoundError):  # another writer of the same file came between: one of us is the last
        if not os.path.exists(target):
            raise


@contextmanager
def _layers(name: str, raw: BinaryIO, binary: bool) -> Generator[IO[Any]]:
    packed: BinaryIO = raw
    if name.endswith(".gz"):
        packed = cast(BinaryIO, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0))
    elif name.endswith(".xz"):
        packed = cast(BinaryIO, lzma.LZMAFile(raw, "wb"))  # noqa: SIM115
    handle: IO[Any] = packed if binary else io.TextIOWrapper(packed, encoding="utf-8", newline="\n")
    try:
        yield handle
        handle.flush()
        _let_go(handle, packed, raw)
    except BaseException:
        with suppress(OSError, ValueError):
            _let_go(handle, packed, raw)
        raise


def _let_go(handle: IO[Any], packed: BinaryIO, raw: BinaryIO) -> None:
    if isinstance(handle, io.TextIOWrapper):
        handle.detach()
    if packed is not raw:
        packed.close()


@contextmanager
def _explained(name: str) -> Generator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in _DISK and error.filename is None:
            raise  # not about this file: it comes from what the caller does while writing
        raise DataError(
            f"{name}: cannot be written: {error.strerror}. Nothing was left there; free some space or choose another "
            "place."
        ) from None


def _sync_folder(folder: str) -> None:
    with suppress(OSError):  # some file systems cannot sync a folder; the rename has happened all the same
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_lines(path: str | os.PathLike[str], lines: Iterable[str]) -> None:
    """Write each text with a line end after it; what could not be read back is refused."""
    with atomic_write(path) as handle:
        for number, line in enumerate(lines, 1):
            if "\0" in line or "\r" in line:
                what = "NUL" if "\0" in line else "carriage return"
                raise FormatError(f"{os.fspath(path)}: item {number}: a {what} would not be read back. Remove it.")
            try:
                handle.write(line + "\n")
            except UnicodeEncodeError:
                raise FormatError(f"{os.fspath(path)}: item {number}: a lone surrogate is no character.") from None
