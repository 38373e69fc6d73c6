"""The one way we compile a kernel: numba, no Python objects, kept on disk between processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])
_njit = cast(Callable[..., Any], getattr(numba, "njit"))  # noqa: B009  numba ships no types


def compiled(function: F) -> F:
    """Compile `function` with numba; its signature stays as written, so type checkers still see it.

    Bounds are not checked and a division by zero gives inf or nan, as in numpy.
    """
    return cast(F, _njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")(function))
