"""Python values as canonical typed JSON: equal plain data give equal text, and everything else is marked opaque.

| value | form |
|---|---|
| None, bool, str, int up to 2**53, list | themselves |
| larger int, float | `{"int": "0x..."}`, `{"float": "0x1.8p+0"}` (`float.hex`; also nan, inf, -inf) |
| tuple, set, frozenset | `{"tuple": [...]}`, `{"set": [sorted]}`, `{"frozenset": [sorted]}` |
| dict, range | `{"dict": [[key, value], ...sorted]}`, `{"range": [start, stop, step]}` |
| bytes, bytearray, complex | `{"bytes": hex}`, `{"bytearray": hex}`, `{"complex": [hex, hex]}` |
| exception, anything else | `{"exception": name}`, `{"opaque": type name}` |
"""

from __future__ import annotations

import json.encoder
import sys
from collections.abc import Callable, Iterable
from typing import Any, cast

MAX_DEPTH = 64
MAX_NODES = 200_000
_SMALL = 2**53
quoted = json.encoder.encode_basestring_ascii  # as json.dumps, without making an encoder each time


class TooLargeError(Exception):
    """The value is too deep or has too many parts to be sent."""


def encode(value: Any) -> str:
    """Return the canonical text of a value.

    >>> encode({2: (1.5, None), "a": {3, 1}})
    '{"dict":[["a",{"set":[1,3]}],[2,{"tuple":[{"float":"0x1.8000000000000p+0"},null]}]]}'
    """
    return "null" if value is None else _Encoder().text(value, 0)


class _Encoder:
    """Dispatch on the exact type; a subclass is read through its base's own methods, never its overridden ones."""

    def __init__(self) -> None:
        self.nodes = 0

    def text(self, value: Any, depth: int) -> str:
        self.nodes += 1
        if depth > MAX_DEPTH or self.nodes > MAX_NODES:
            raise TooLargeError(f"value has over {MAX_DEPTH} levels or {MAX_NODES} parts")
        if value is None:
            return "null"
        if value is True or value is False:
            return "true" if value else "false"
        kind = cast(type[Any], type(value))
        for base in (kind, *kind.__mro__[1:]):
            if base in _FORMS:
                return _FORMS[base](self, value, depth + 1)
        return self.other(value, depth)

    def other(self, value: Any, depth: int) -> str:
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(value, numpy.generic):
            return self.text(value.item(), depth + 1)
        if numpy is not None and type(value) is numpy.ndarray:
            return _tagged("array", self.text(value.tolist(), depth + 1))
        if isinstance(value, BaseException):
            return _tagged("exception", quoted(type(value).__name__))
        return _tagged("opaque", quoted(str(type(value).__name__)[:100]))

    def many(self, values: Iterable[Any], depth: int) -> list[str]:
        return [self.text(value, depth) for value in values]


def _tagged(tag: str, body: str) -> str:
    return f'{{"{tag}":{body}}}'


def _joined(parts: Iterable[str]) -> str:
    return f"[{','.join(parts)}]"


def _items(kind: Any, value: Any) -> Iterable[Any]:
    return kind.__iter__(value)  # the base's own way to walk it, whatever a subclass says


def _int(_: _Encoder, value: int, depth: int) -> str:
    plain = int.__index__(value) + 0
    return int.__repr__(plain) if -_SMALL <= plain <= _SMALL else _tagged("int", f'"{plain:#x}"')


def _float(_: _Encoder, value: float, depth: int) -> str:
    return _tagged("float", f'"{float.hex(value)}"')


def _complex(_: _Encoder, value: complex, depth: int) -> str:
    return _tagged("complex", f'["{value.real.hex()}","{value.imag.hex()}"]')


def _str(_: _Encoder, value: str, depth: int) -> str:
    return quoted(str.__getitem__(value, slice(None)))


def _list(encoder: _Encoder, value: list[Any], depth: int) -> str:
    return _joined(encoder.many(_items(list, value), depth))


def _tuple(encoder: _Encoder, value: tuple[Any, ...], depth: int) -> str:
    return _tagged("tuple", _joined(encoder.many(_items(tuple, value), depth)))


def _set(encoder: _Encoder, value: set[Any], depth: int) -> str:
    return _tagged("set", _joined(sorted(encoder.many(_items(set, value), depth))))


def _frozenset(encoder: _Encoder, value: frozenset[Any], depth: int) -> str:
    return _tagged("frozenset", _joined(sorted(encoder.many(_items(frozenset, value), depth))))


def _dict(encoder: _Encoder, value: dict[Any, Any], depth: int) -> str:
    items: Iterable[tuple[Any, Any]] = dict[Any, Any].items(value)
    pairs = [_joined(encoder.many(pair, depth)) for pair in items]
    return _tagged("dict", _joined(sorted(pairs)))


def _bytes(_: _Encoder, value: bytes, depth: int) -> str:
    return _tagged("bytes", f'"{bytes.hex(value)}"')


def _bytearray(_: _Encoder, value: bytearray, depth: int) -> str:
    return _tagged("bytearray", f'"{bytearray.hex(value)}"')


def _range(encoder: _Encoder, value: range, depth: int) -> str:
    return _tagged("range", _joined(encoder.many((value.start, value.stop, value.step), depth)))


_FORMS: dict[type, Callable[[_Encoder, Any, int], str]] = {
    int: _int,
    float: _float,
    complex: _complex,
    str: _str,
    list: _list,
    tuple: _tuple,
    set: _set,
    frozenset: _frozenset,
    dict: _dict,
    bytes: _bytes,
    bytearray: _bytearray,
    range: _range,
}
