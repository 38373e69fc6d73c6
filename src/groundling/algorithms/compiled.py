"""The one way we compile a kernel: numba, no Python objects, kept on disk between processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])
_njit = cast(Callable[..., Any], getattr(numba, "njit"))  # noqa: B009  numba ships no types


def compiled(function: F) -> F:
    """Compile `function` with numba; its signature stays as written, so type checkers still see it.

    Bounds are not checked and a division by zero gives inf or nan, as in numpy. What is compiled is kept beside the
    module, or in the user's cache folder where the installation is read-only (`$NUMBA_CACHE_DIR` names another).
    Where neither can be written, each process compiles anew.
    """
    options = {"nogil": True, "boundscheck": False, "error_model": "numpy"}
    try:
        return cast(F, _njit(cache=True, **options)(function))
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        return cast(F, _njit(**options)(function))
