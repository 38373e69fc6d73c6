"""Times in files: plain decimal numbers, kept exact."""

from __future__ import annotations

import re
from decimal import Context, Decimal

from groundling.errors import FormatError

# A number that is longer than this is damage, and would cost time and memory to read.
_NUMBER = re.compile(r"-?(?:\d{1,12}(?:\.\d{0,60})?|\.\d{1,60})(?:[eE][+-]?\d{1,2})?\Z", re.ASCII)
_EXACT = Context(prec=200)
_SHORTEST, _LONGEST = Decimal("1e-30"), Decimal("1e12")  # beyond these, what is written out could not be read again


def is_number(text: str) -> bool:
    """Whether a text is a number of sensible length."""
    return _NUMBER.match(text) is not None


def seconds(text: str) -> Decimal:
    """A time of at least 0.

    >>> seconds("0.25")
    Decimal('0.25')
    """
    time = Decimal(text) if is_number(text) and not text.startswith("-") else None
    if time is None or (time and not _SHORTEST < time < _LONGEST):
        raise FormatError(f"{text[:40]!r} is not a time. Write seconds such as 1.25.")
    return time


def plus(a: Decimal, b: Decimal) -> float:
    """The sum as a float, rounded once."""
    return float(_EXACT.add(a, b))


def minus(a: float, b: float) -> str:
    """The exact difference of two numbers as they print; adding it again with `plus` gives back the first.

    >>> minus(0.3, 0.1)
    '0.2'
    """
    return f"{_EXACT.subtract(Decimal(repr(float(a))), Decimal(repr(float(b)))):f}"
