"""Reading and writing files: gzip, xz and `-` transparently, in a stream, with file and line in every error."""

from __future__ import annotations

import codecs
import gzip
import io
import lzma
import os
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO, TypeVar, cast

from groundling.errors import DataError, FormatError, GroundlingError
from groundling.formats.writing import atomic_write, write_lines

__all__ = ["Source", "TextLines", "atomic_write", "name_of", "open_binary", "open_text", "raise_faults", "write_lines"]

Source = str | os.PathLike[str] | BinaryIO
Item = TypeVar("Item")

MAX_LINE = 16 * 2**20  # characters; a longer line is no text of ours, and would fill the memory
_UNDECODED = re.compile("[\udc80-\udcff]")
_BROKEN = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)


class TextLines:
    r"""The lines of a text, without their line ends, one at a time; `where` names the last one read.

    UTF-8 (a byte-order mark is dropped) or UTF-16 with its mark. `\n`, `\r\n` and `\r` end a line. A line that is
    not text raises `FormatError`; with `faults` given, the error is put there and reading goes on.
    """

    def __init__(self, stream: BinaryIO, name: str, faults: list[GroundlingError] | None = None) -> None:
        self.name = name
        self.number = 0
        self._faults = faults
        self._done = False
        self._text = io.TextIOWrapper(stream, encoding=_encoding(stream), errors="surrogateescape", newline=None)

    @property
    def where(self) -> str:
        """`file:line` of the last line read."""
        return f"{self.name}:{self.number}"

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if self._done:
            raise StopIteration
        self.number += 1
        line = self._readline()
        if not line:
            self.number -= 1
            self.close()
            raise StopIteration
        if "\0" in line or not (line.isascii() or _UNDECODED.search(line) is None):
            line = self._report(line)
        return line[:-1] if line[-1] == "\n" else line

    def _readline(self) -> str:
        try:
            line = self._text.readline(MAX_LINE + 1)
        except _BROKEN as error:
            raise FormatError(f"{self.where}: the compressed file is damaged or cut off ({error}).") from None
        except UnicodeError:
            raise FormatError(f"{self.where}: not UTF-16 text. Save the file as UTF-8.") from None
        except OSError as error:
            raise DataError(f"{self.where}: cannot be read: {error.strerror or error}.") from None
        if len(line) > MAX_LINE:
            raise FormatError(f"{self.where}: a line of over {MAX_LINE:,} characters. Is this a text file?")
        return line

    def _report(self, line: str) -> str:
        what = "a NUL byte" if "\0" in line else "not UTF-8"
        error = FormatError(f"{self.where}: {what}. Save the file as UTF-8 text, e.g. `iconv -f latin1 -t utf-8`.")
        if self._faults is None:
            raise error
        self._faults.append(error)
        return _UNDECODED.sub("\ufffd", line.replace("\0", "\ufffd"))

    def __enter__(self) -> TextLines:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, as reading it to its end does; the standard input stays open."""
        if not self._done:
            self._done = True
            if self.name == "<stdin>":
                self._text.detach()
            else:
                self._text.close()


def open_text(source: Source, faults: list[GroundlingError] | None = None) -> TextLines:
    r"""Open a text for reading line by line; gzip and xz are known by their first bytes, `-` is the standard input.

    >>> list(open_text(io.BytesIO(gzip.compress(b"one\r\ntwo"))))
    ['one', 'two']
    """
    return TextLines(open_binary(source), name_of(source), faults)


def name_of(source: Source) -> str:
    """What to call a source in messages."""
    if isinstance(source, str | os.PathLike):
        return "<stdin>" if os.fspath(source) == "-" else os.fspath(source)
    return str(getattr(source, "name", "<memory>"))


def open_binary(source: Source) -> BinaryIO:
    """Open bytes for reading, uncompressed on the fly."""
    stream = _open_raw(source)
    try:
        head = stream.peek(6)[:6]
    except OSError as error:
        raise DataError(f"{name_of(source)}: cannot be read: {error.strerror or error}.") from None
    if head.startswith(b"\x1f\x8b"):
        return cast(BinaryIO, _Unpacked(gzip.GzipFile(fileobj=stream, mode="rb"), stream))
    if head.startswith(b"\xfd7zXZ\0"):
        return cast(BinaryIO, _Unpacked(lzma.LZMAFile(stream), stream))
    return cast(BinaryIO, stream)


class _Unpacked(io.BufferedReader):
    """A compressed stream that closes the file below it, but not the standard input."""

    def __init__(self, unpacked: object, below: io.BufferedReader) -> None:
        super().__init__(cast(io.RawIOBase, unpacked))
        self._below = below

    def close(self) -> None:
        super().close()
        if self._below is not sys.stdin.buffer:
            self._below.close()


def _open_raw(source: Source) -> io.BufferedReader:
    if not isinstance(source, str | os.PathLike):
        ready = hasattr(source, "peek")
        return cast(io.BufferedReader, source) if ready else io.BufferedReader(cast(io.RawIOBase, source))
    path = os.fspath(source)
    if path == "-":
        return _open_raw(sys.stdin.buffer)
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file. Check the path.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise DataError(f"{path[:200]!r}: cannot be opened: {reason}.") from None


def _encoding(stream: BinaryIO) -> str:
    try:
        head = cast(io.BufferedReader, stream).peek(2)[:2]
    except (*_BROKEN, OSError):
        return "utf-8-sig"  # the first line read will say what is wrong, with its place
    return "utf-16" if head in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"


def raise_faults(items: Iterable[Item | GroundlingError]) -> Iterator[Item]:
    """Pass items on; raise the first that is an error."""
    for item in items:
        if isinstance(item, GroundlingError):
            raise item
        yield item
