"""The built-in domains by name; a file of your own is given by its path."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from groundling.errors import ConfigError, DataError
from groundling.names import lookup
from groundling.systems.g2l2.domain import Domain

DOMAINS = {
    "scan": "groundling.systems.g2l2.domains.navigation:navigation",
    "scan-strings": "groundling.systems.g2l2.domains.navigation:navigation_by_strings",
    "clevr": "groundling.systems.g2l2.domains.visual:visual",
}


def load_domain(name: str) -> Domain:
    """Return a built-in domain, or the one that a Python file makes with its function `domain()`.

    >>> load_domain("scan").name
    'scan'
    """
    if not name.endswith(".py"):
        return lookup(DOMAINS, name, "domain", group="groundling.domains")()
    path = Path(name)
    if not path.is_file():
        raise DataError(f"{path}: there is no such file. Give a built-in domain ({', '.join(DOMAINS)}) or a .py file.")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not callable(getattr(module, "domain", None)):
        raise ConfigError(f"{path}: has no function `domain()`. Define one that returns the Domain.")
    return module.domain()
