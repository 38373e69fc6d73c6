"""Arrays of numbers in numpy's .npy and .npz files, read as if a stranger had written them: no pickle, no surprises."""

from __future__ import annotations

import io
import math
import struct
import tokenize
import zipfile
import zlib
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from groundling.errors import FormatError
from groundling.formats.files import Source, name_of, open_binary

Arrays = dict[str, NDArray[Any]]
_WRONG = (
    OSError,
    ValueError,
    KeyError,
    EOFError,
    TypeError,
    NotImplementedError,
    RuntimeError,
    MemoryError,
    SyntaxError,
    SystemError,
    OverflowError,
    AttributeError,
    IndexError,
    struct.error,
    zlib.error,
    zipfile.BadZipFile,
    tokenize.TokenError,
)  # fmt: skip  all that numpy and zipfile were seen to raise on damaged files


def read_arrays(source: Source) -> Arrays:
    """The arrays of an .npz file by name; an .npy file gives one, called "".

    No more memory is taken than the file has bytes for, whatever its headers promise.

    >>> import io
    >>> handle = io.BytesIO(); np.savez(handle, a=np.arange(3)); _ = handle.seek(0)
    >>> read_arrays(handle)
    {'a': array([0, 1, 2])}
    """
    with open_binary(source) as handle:
        try:
            data = handle.read()
            if data.startswith(b"PK"):
                return _members(data)
            return {"": _array(data)}
        except _WRONG as error:
            raise FormatError(
                f"{name_of(source)}: not arrays of numpy (.npy, .npz) that can be read safely ({error!r:.100}). "
                "Write it again with numpy.savez."
            ) from None


def _members(data: bytes) -> Arrays:
    found: Arrays = {}
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        for name in packed.namelist():
            with packed.open(name) as member:
                found[name.removesuffix(".npy")] = _array(member.read())
    return found


def _array(data: bytes) -> NDArray[Any]:
    handle = cast(BinaryIO, io.BytesIO(data))
    version = npy.read_magic(handle)
    read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, by_columns, kind = read_header(handle)
    if kind.hasobject:
        raise ValueError("Python objects are not numbers")
    start, count = handle.tell(), math.prod(shape)
    if count * kind.itemsize > len(data) - start or min(shape, default=0) < 0:
        raise ValueError(f"{count} numbers are promised, {len(data) - start} bytes are there")
    flat = np.frombuffer(data, kind, count, start).copy()  # a copy may be written to
    return flat.reshape(shape, order="F" if by_columns else "C")
