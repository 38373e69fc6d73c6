"""Execution accuracy: does the chosen program give the expected result? (thesis ch. 6 and 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from groundling.metrics.base import Metric, Statistics, ratio


@dataclass(frozen=True)
class ExecutionAccuracy(Metric[Any]):
    """Share of items whose result equals the expected one: answers, action strings, rows, `True` for passed tests.

    >>> print(ExecutionAccuracy().corpus([True, 3, "red"], [1, 3, "red"], bootstrap=0))
    ExecutionAccuracy|v:0.1.0 = 66.67 (n=3)
    """

    name: ClassVar[str] = "ExecutionAccuracy"

    def statistics(self, gold: Any, pred: Any) -> Statistics:
        """(right, 1)."""
        return np.array([float(same_result(gold, pred)), 1.0])

    def value(self, total: Statistics) -> float:
        """Right / all."""
        return ratio(total[0], total[1])


def same_result(gold: Any, pred: Any) -> bool:
    """Equal, and no boolean passes for a number (in Python `True == 1`); lists and tuples are alike.

    >>> same_result([1, 2], (1, 2.0)), same_result(True, 1)
    (True, False)
    """
    if isinstance(gold, bool) or isinstance(pred, bool):
        return isinstance(gold, bool) and isinstance(pred, bool) and gold is pred
    if isinstance(gold, list | tuple) and isinstance(pred, list | tuple):
        wanted, found = cast(Sequence[Any], gold), cast(Sequence[Any], pred)
        return len(wanted) == len(found) and all(map(same_result, wanted, found))
    if isinstance(gold, Mapping) and isinstance(pred, Mapping):
        left, right = cast(Mapping[Any, Any], gold), cast(Mapping[Any, Any], pred)
        return left.keys() == right.keys() and all(same_result(left[key], right[key]) for key in left)
    return bool(gold == pred)
