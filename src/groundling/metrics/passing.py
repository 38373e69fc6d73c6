"""pass@k: the chance that one of k samples is right (Chen et al. 2021; thesis ch. 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from groundling.errors import ConfigError, DataError
from groundling.metrics.base import Metric, Statistics, ratio


def pass_at_k(n: int, c: int, k: int) -> float:
    """Chance that k of n samples, drawn without putting back, hold one of the c right ones.

    Computes 1 - C(n-c, k) / C(n, k) as a product of k or c factors in 0-1, so that it neither overflows nor loses
    digits. It is the unbiased estimate of pass@k from n samples.

    >>> pass_at_k(5, 2, 1), pass_at_k(5, 2, 2)
    (0.4, 0.7)
    """
    if not 0 <= c <= n:
        raise DataError(f"{c} of {n} samples cannot be right. The right ones are 0 to n.")
    if not 1 <= k <= n:
        raise ConfigError(f"pass@{k} needs {max(k, 1)} samples a task and a k of at least 1, but one task has {n}.")
    if n - c < k:
        return 1.0
    # All k wrong: prod over i of (n-c-i)/(n-i). The product over the right ones is the same number.
    few, many = min(k, c), max(k, c)
    places = np.arange(few, dtype=np.float64)
    return float(1 - np.prod((n - many - places) / (n - places)))


@dataclass(frozen=True)
class PassAtK(Metric[Any]):
    """Mean pass@k over tasks. The gold is only the task's name; the prediction says which samples passed.

    >>> print(PassAtK(k=1).corpus(["a", "b"], [[True, False], [False, False]], bootstrap=0))
    PassAtK|k:1|v:0.1.0 = 25.00 (n=2)
    """

    name: ClassVar[str] = "PassAtK"
    k: int = 1

    def statistics(self, gold: Any, pred: Sequence[bool]) -> Statistics:
        """(pass@k, 1)."""
        return np.array([pass_at_k(len(pred), sum(map(bool, pred)), self.k), 1.0])

    def value(self, total: Statistics) -> float:
        """The mean over tasks."""
        return ratio(total[0], total[1])
