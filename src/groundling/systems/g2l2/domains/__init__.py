"""The built-in domains by name; a file of your own is given by its path."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

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
    module = load_file(Path(name))
    if not callable(getattr(module, "domain", None)):
        raise ConfigError(f"{name}: has no function `domain()`. Define one that returns the Domain.")
    return module.domain()


def load_file(path: Path) -> Any:
    """Import a Python file by its path."""
    if not path.is_file():
        raise DataError(f"{path}: there is no such file. Give a built-in domain ({', '.join(DOMAINS)}) or a .py file.")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
