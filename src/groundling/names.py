"""Tables from names to the things they mean, loaded on demand; a wrong name answers with the nearest right one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from groundling.errors import ConfigError, MissingExtraError


def load(target: str) -> Any:
    """Import `package.module:attribute`.

    >>> load("groundling.errors:ConfigError").__name__
    'ConfigError'
    """
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute) if attribute else import_module(module)


def lookup(table: Mapping[str, str], name: str, kind: str, group: str | None = None) -> Any:
    """Load the entry called `name`; third parties add entries through the entry-point group `group`.

    >>> lookup({"las": "x:y"}, "lsa", "metric")
    Traceback (most recent call last):
    groundling.errors.ConfigError: no metric is called 'lsa'. Did you mean 'las'? There are: las.
    """
    if name in table:
        return load(table[name])
    for entry in _entry_points(group) if group else ():
        if entry.name == name:
            return entry.load()
    raise ConfigError(
        f"no {kind} is called {name!r}.{did_you_mean(name, table)} There are: {', '.join(sorted(table))}."
    )


def _entry_points(group: str) -> Iterable[Any]:
    from importlib.metadata import entry_points  # 30 ms that most commands need not pay

    return entry_points(group=group)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint naming the nearest known name, or nothing.

    >>> did_you_mean("marjin", ["margin", "epochs"])
    " Did you mean 'margin'?"
    """
    near = get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f" Did you mean {near[0]!r}?" if near else ""


def require(module: str, extra: str, purpose: str) -> Any:
    """Import an optional dependency, or say which extra brings it.

    >>> require("nowhere", "align", "mining")
    Traceback (most recent call last):
    groundling.errors.MissingExtraError: mining needs 'nowhere'. Install it with `pip install 'groundling[align]'`.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"{purpose} needs {module!r}. Install it with `pip install 'groundling[{extra}]'`."
        ) from error
