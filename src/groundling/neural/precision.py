"""Where half precision would be wrong: sums of many log-probabilities, hinges, sorting, scaled products."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import torch
from torch import Tensor

F = TypeVar("F", bound=Callable[..., Any])


def in_float32(function: F) -> F:
    """Run a function without autocast, its half-precision tensors made float32; outside autocast it is itself.

    Linear maps before it still run in bfloat16 under AMP.

    >>> @in_float32
    ... def kind(x): return (x @ x).dtype
    >>> with torch.autocast("cpu", torch.bfloat16): kind(torch.ones(2, 2, dtype=torch.bfloat16))
    torch.float32
    """

    @wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        kind = _autocast_kind()
        if kind is None:
            return function(*args, **kwargs)
        with torch.autocast(kind, enabled=False):
            return function(*map(_full, args), **{name: _full(value) for name, value in kwargs.items()})

    return cast(F, wrapped)


def _autocast_kind() -> str | None:
    return next((kind for kind in ("cuda", "cpu") if torch.is_autocast_enabled(kind)), None)


def _full(value: Any) -> Any:
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_full, value))
    if isinstance(value, Tensor) and value.dtype in (torch.bfloat16, torch.float16):
        return value.float()
    return value
