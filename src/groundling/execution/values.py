"""Canonical typed JSON -> plain Python data and comparison keys. What it reads was written by untrusted code.

`guest/encode.py` has the table of forms. Nothing here calls code of the value: every result is an exact builtin type,
or an `Opaque`, which equals nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from groundling.errors import FormatError

MAX_DEPTH = 80
_MAX_DIGITS = 17  # of an int written as a JSON number: larger ones come as {"int": hex}


@dataclass(frozen=True, eq=False)
class Opaque:
    """A value that is no plain data: only the name of its type is known, and it equals nothing but itself."""

    type_name: str


def parse(text: str | bytes) -> Any:
    """Parse JSON strictly: no NaN, no float, no long number, no duplicate key, bounded depth.

    >>> parse('{"tuple": [1, "a"]}')
    {'tuple': [1, 'a']}
    """
    try:
        return _DECODER.decode(text if isinstance(text, str) else text.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not canonical JSON: {error}") from error


def decode(data: Any) -> Any:
    """Turn a parsed canonical form into plain Python data.

    >>> decode({"dict": [["a", {"set": [1, 3]}], [2, {"float": "0x1.8p+0"}]]}) == {"a": {1, 3}, 2: 1.5}
    True
    """
    try:
        return _decode(data, 0)
    except (ValueError, TypeError, OverflowError) as error:
        raise FormatError(f"not a canonical value: {error}") from error


def agreement_key(data: Any) -> str | None:
    """A text that is equal for values that Python calls equal (1, 1.0, True); nan equals nan; None: equals nothing.

    >>> agreement_key(parse('[1, {"float": "0x1p+0"}]')) == agreement_key([True, 1])
    True
    >>> agreement_key({"tuple": []}) == agreement_key([])
    False
    >>> agreement_key([{"opaque": "generator"}]) is None
    True
    """
    try:
        return _key(_decode(data, 0))
    except (_EqualsNothingError, ValueError, TypeError, OverflowError):
        return None


class _EqualsNothingError(Exception):
    pass


def _short_int(text: str) -> int:
    if len(text) > _MAX_DIGITS:
        raise ValueError("a number with too many digits")
    return int(text)


def _no_number(text: str) -> Any:
    raise ValueError(f"{text[:20]} is no number of this form")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key comes twice")
    return dict(pairs)


_DECODER = json.JSONDecoder(  # made once: json.loads would make one for each line
    parse_int=_short_int, parse_float=_no_number, parse_constant=_no_number, object_pairs_hook=_no_duplicates
)


def _decode(data: Any, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise ValueError("nested too deep")
    if data is None or type(data) in (bool, int, str):
        return data
    if type(data) is list:
        return _many(data, depth)
    if type(data) is dict and len(cast(dict[str, Any], data)) == 1:
        ((tag, body),) = cast(dict[str, Any], data).items()
        if tag in _TAGS:
            return _TAGS[tag](body, depth + 1)
    raise ValueError(f"unknown form {str(cast(object, data))[:60]}")


def _many(body: Any, depth: int) -> list[Any]:
    return [_decode(item, depth + 1) for item in _typed(body, list)]


def _typed(body: Any, kind: type) -> Any:
    if type(body) is not kind:
        raise TypeError(f"{kind.__name__} expected, found {type(body).__name__}")
    return body


def _pairs(body: Any, depth: int) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for pair in _typed(body, list):
        key, value = _many(pair, depth)
        found[_hashable(key)] = value
    return found


def _hashable(value: Any) -> Any:
    if isinstance(value, Opaque):
        return value
    hash(value)
    return value


def _float(body: Any) -> float:
    return float.fromhex(_typed(body, str))


_TAGS: dict[str, Callable[[Any, int], Any]] = {
    "int": lambda body, depth: int(_typed(body, str), 16),
    "float": lambda body, depth: _float(body),
    "complex": lambda body, depth: complex(*[_float(part) for part in _typed(body, list)]),
    "tuple": lambda body, depth: tuple(_many(body, depth)),
    "set": lambda body, depth: {_hashable(item) for item in _many(body, depth)},
    "frozenset": lambda body, depth: frozenset(_hashable(item) for item in _many(body, depth)),
    "dict": _pairs,
    "bytes": lambda body, depth: bytes.fromhex(_typed(body, str)),
    "bytearray": lambda body, depth: bytearray.fromhex(_typed(body, str)),
    "range": lambda body, depth: range(*[int(part) for part in _many(body, depth)]),
    "array": lambda body, depth: ("array", _decode(body, depth)),
    "exception": lambda body, depth: Opaque(_typed(body, str)),
    "opaque": lambda body, depth: Opaque(_typed(body, str)),
}


def _key(value: Any) -> str:
    kind = cast(type[Any], type(value))
    if value is None or kind is range:
        return repr(value)
    if kind is str:
        return json.dumps(value)
    if kind in (bool, int, float, complex):
        return _number_key(value)
    if kind in (bytes, bytearray):
        return "b" + value.hex()
    if kind is dict:
        return "{" + ",".join(sorted(f"{_key(k)}:{_key(v)}" for k, v in value.items())) + "}"
    if kind in (list, tuple):
        return ("[" if kind is list else "(") + ",".join(_key(item) for item in value) + "]"
    if kind in (set, frozenset):
        return "s{" + ",".join(sorted(_key(item) for item in value)) + "}"
    raise _EqualsNothingError


def _number_key(value: Any) -> str:
    if isinstance(value, complex):
        if value.imag:
            return f"{value.real!r}+{value.imag!r}j"
        value = value.real
    if isinstance(value, float) and (not math.isfinite(value) or not value.is_integer()):
        return value.hex()
    return hex(int(value))
