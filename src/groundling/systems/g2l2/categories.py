r"""Syntactic types of combinatory categorial grammar (thesis 6.2.1): an atom, or X/Y and X\Y over types.

`X/Y` waits for a Y on its right, `X\Y` for one on its left; without brackets the slashes lean left, so `V\V/V` is
`(V\V)/V`: it takes the right argument first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from groundling.errors import ConfigError

_TOKEN = re.compile(r"\s*([A-Za-z_][A-Za-z_0-9]*|[()/\\])")


@dataclass(frozen=True)
class Functor:
    r"""X/Y or X\Y: takes `argument` from the side of the slash and becomes `result`."""

    result: Category
    slash: str
    argument: Category

    def __str__(self) -> str:
        argument = f"({self.argument})" if isinstance(self.argument, Functor) else self.argument
        return f"{self.result}{self.slash}{argument}"


Category = str | Functor


@lru_cache(maxsize=4096)
def parse_category(text: str) -> Category:
    r"""Read a syntactic type.

    >>> str(parse_category("(V\\V)/(V\\V)"))
    'V\\V/(V\\V)'
    >>> parse_category("V/")
    Traceback (most recent call last):
    groundling.errors.ConfigError: 'V/' is no syntactic type. Write atoms joined by / and \, e.g. V\V/(V\V).
    """
    tokens = _TOKEN.findall(text)
    try:
        if "".join(tokens) != text.replace(" ", ""):
            raise IndexError
        category = _read(tokens)
        if tokens:
            raise IndexError
    except IndexError:
        raise ConfigError(f"{text!r} is no syntactic type. Write atoms joined by / and \\, e.g. V\\V/(V\\V).") from None
    return category


def _read(tokens: list[str]) -> Category:
    category = _read_simple(tokens)
    while tokens and tokens[0] in "/\\":
        slash = tokens.pop(0)
        category = Functor(category, slash, _read_simple(tokens))
    return category


def _read_simple(tokens: list[str]) -> Category:
    token = tokens.pop(0)
    if token == "(":
        category = _read(tokens)
        if tokens.pop(0) != ")":
            raise IndexError
        return category
    if token in ")/\\":
        raise IndexError
    return token


def arguments(category: Category) -> list[Category]:
    r"""Return the types of the arguments, in the order in which they are taken.

    >>> [str(argument) for argument in arguments(parse_category("V\\V/(V\\V)"))]
    ['V\\V', 'V']
    """
    found: list[Category] = []
    while isinstance(category, Functor):
        found.append(category.argument)
        category = category.result
    return found
