"""Settings: one flat frozen dataclass a system, TOML in, resolved TOML out. No torch here.

A field is an int, float, bool, str, Literal, a tuple of these, or any of them `| None`. TOML has no null, so a field
that may be None spells it `"none"`.
"""

from __future__ import annotations

import dataclasses
import tomllib
import types
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import tomli_w

from groundling.errors import ConfigError
from groundling.names import did_you_mean

C = TypeVar("C")
NONE = "none"
LARGEST_FILE = 1 << 20  # A settings file is a page; a model folder from a stranger may hold anything.


def load_config(cls: type[C], path: str | Path | None = None, overrides: Iterable[str] = ()) -> C:
    """Build `cls` from its defaults, then the TOML file, then `key=value` overrides (the `--set` option).

    >>> @dataclasses.dataclass(frozen=True, kw_only=True)
    ... class Config:
    ...     margin: float = 0.2
    >>> load_config(Config, overrides=["margin=0.1"])
    Config(margin=0.1)
    >>> load_config(Config, overrides=["marjin=0.1"])
    Traceback (most recent call last):
    groundling.errors.ConfigError: --set marjin=0.1: Config has no key 'marjin'. Did you mean 'margin'? It has: margin.
    """
    text = "" if path is None else _read(Path(path))
    return parse_config(cls, text, overrides, where=str(path) if path is not None else cls.__name__)


def parse_config(cls: type[C], text: str, overrides: Iterable[str] = (), where: str = "config") -> C:
    """Build `cls` from TOML text; `where` names the text in errors."""
    kinds = _kinds(cls)
    values: dict[str, Any] = {}
    for key, value in _parse_toml(text, where).items():
        values[key] = _check(value, _kind(cls, kinds, key, where), f"{where}: key {key!r}")
    for override in overrides:
        key, kind, raw = _split(cls, kinds, override)
        values[key] = _check(_from_text(raw, kind), kind, f"--set {override}")
    _refuse_missing(cls, values, where)
    try:
        return cls(**values)
    except ConfigError as error:  # the class's own checks of ranges, in __post_init__
        raise error.at(where) from error


def dump_config(config: Any) -> str:
    """Return the resolved TOML: every key, in the order of the class. `load_config` reads it back to an equal object.

    >>> @dataclasses.dataclass(frozen=True)
    ... class Config:
    ...     sizes: tuple[int, ...] = (3, 4)
    ...     name: str | None = None
    >>> print(dump_config(Config()), end="")
    sizes = [
        3,
        4,
    ]
    name = "none"
    """
    cls, kinds = type(config), _kinds(type(config))
    plain: dict[str, Any] = {}
    for key, kind in kinds.items():
        value = _check(getattr(config, key), kind, f"{cls.__name__}.{key}")
        if value is None and getattr(config, key) == NONE:
            raise ConfigError(f"{cls.__name__}.{key}: the text {NONE!r} stands for no value. Choose another text.")
        plain[key] = _plain(value, f"{cls.__name__}.{key}")
    return tomli_w.dumps(plain)


def differences(old: Any, new: Any) -> list[str]:
    """List the keys on which two configs of one class differ, as `key (old, now new)`."""
    pairs = [(f.name, getattr(old, f.name), getattr(new, f.name)) for f in dataclasses.fields(old)]
    return [f"{key} ({a!r}, now {b!r})" for key, a, b in pairs if repr(a) != repr(b)]  # repr: nan is nan


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ConfigError(f"{path}: over 1 MB, which is no settings file. Give a TOML file of `key = value` lines.")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}). Give the path of a TOML file.") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 text (byte {error.start}). Give a TOML file.") from error


def _parse_toml(text: str, where: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError also covers integers of thousands of digits
        raise ConfigError(f"{where}: not TOML: {error}. Write lines such as `epochs = 30` or `name = 'x'`.") from error


def _kinds(cls: type) -> dict[str, Any]:
    hints = get_type_hints(cls)
    return {field.name: hints[field.name] for field in dataclasses.fields(cls)}


def _kind(cls: type, kinds: Mapping[str, Any], key: str, where: str) -> Any:
    if key not in kinds:
        hint = did_you_mean(key, kinds)
        raise ConfigError(f"{where}: {cls.__name__} has no key {key!r}.{hint} It has: {', '.join(kinds)}.")
    return kinds[key]


def _split(cls: type, kinds: Mapping[str, Any], override: str) -> tuple[str, Any, str]:
    key, equals, raw = (part.strip() for part in override.partition("="))
    if not equals or not key:
        raise ConfigError(f"--set {override}: no `key=value`. Write for example `--set {next(iter(kinds))}=...`.")
    return key, _kind(cls, kinds, key, f"--set {override}"), raw


def _from_text(raw: str, kind: Any) -> Any:
    """Read an override as TOML where that fits the field, else as the text it is: `name=abc` needs no quotes."""
    try:
        value = tomllib.loads(f"x = {raw}")
    except (ValueError, RecursionError):
        return raw
    if len(value) != 1 or (_takes_text(kind) and not isinstance(value["x"], str)):
        return raw  # a field of text given 5 or true means "5" or "true"
    return value["x"]


def _takes_text(kind: Any) -> bool:
    options = get_args(kind) if _is_union(kind) else (kind,)
    return str in options and not ({int, float, bool} & set(options))


def _is_union(kind: Any) -> bool:
    return get_origin(kind) in (Union, types.UnionType)


def _check(value: Any, kind: Any, where: str) -> Any:
    """Return the value as the field's type, or raise; the one widening is int to float."""
    fits, result = _fit(value, kind)
    if not fits:
        shown = repr(value) if len(repr(value)) < 80 else f"{repr(value)[:76]} ..."
        raise ConfigError(f"{where}: {shown} is not {describe(kind)}.")
    return result


def _fit(value: Any, kind: Any) -> tuple[bool, Any]:
    if _is_union(kind):
        options = get_args(kind)
        if type(None) in options and (value is None or value == NONE):
            return True, None
        tries = [_fit(value, option) for option in options if option is not type(None)]
        return next((found for found in tries if found[0]), (False, None))
    if get_origin(kind) is Literal:
        found = [option for option in get_args(kind) if type(option) is type(value) and option == value]
        return bool(found), value
    if get_origin(kind) is tuple:
        return _fit_tuple(value, get_args(kind))
    if kind is float and type(value) is int and abs(value) < 2**1000:
        return True, float(value)
    if kind is int and type(value) is int:
        return -(2**63) <= value < 2**63, value
    return kind in (int, float, bool, str) and type(value) is kind, value


def _fit_tuple(value: Any, kinds: tuple[Any, ...]) -> tuple[bool, Any]:
    if not isinstance(value, list | tuple):
        return False, None
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        kinds = (kinds[0],) * len(value)
    if len(kinds) != len(value):
        return False, None
    parts = [_fit(item, kind) for item, kind in zip(value, kinds, strict=True)]
    return all(fits for fits, _ in parts), tuple(item for _, item in parts)


def describe(kind: Any) -> str:
    """Say a field's type in words.

    >>> describe(tuple[int, ...]), describe(Literal["a", "b"]), describe(float | None)
    ('a list, each an integer', "one of 'a', 'b'", 'a number or "none"')
    """
    words = {int: "an integer", float: "a number", bool: "true or false", str: "text", type(None): f'"{NONE}"'}
    if kind in words:
        return words[kind]
    if _is_union(kind):
        return " or ".join(describe(option) for option in get_args(kind))
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(repr(option) for option in get_args(kind))
    inner = get_args(kind)
    if len(inner) == 2 and inner[1] is Ellipsis:
        return f"a list, each {describe(inner[0])}"
    return "a list of " + ", ".join(describe(option) for option in inner)


def _refuse_missing(cls: type, values: Mapping[str, Any], where: str) -> None:
    for field in dataclasses.fields(cls):
        if field.default is field.default_factory is dataclasses.MISSING and field.name not in values:
            raise ConfigError(f"{where}: {cls.__name__} needs key {field.name!r}. Set it: `--set {field.name}=...`.")


def _plain(value: Any, where: str) -> Any:
    if value is None:
        return NONE
    if isinstance(value, tuple):
        return [_plain(item, where) for item in value]
    if isinstance(value, str) and not value.isprintable():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise ConfigError(f"{where}: {value!r} is not Unicode text, so TOML cannot hold it.") from error
    return value
