"""Runs of the sequence-to-sequence baselines for the SCAN table."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from groundling.experiments.scan import load_split
from groundling.systems.g2l2.baselines import train_baseline


def run_baseline(kind: str, split: str, seed: int, data: Path | None = None, steps: int = 10000) -> dict[str, Any]:
    """Train one baseline on one split and measure on the test commands."""
    begin, cpu = time.perf_counter(), time.process_time()
    training, test = load_split(split, seed, data)
    model = train_baseline(kind, training, seed=seed, steps=steps)
    right = 0
    for start in range(0, len(test), 256):
        part = test[start : start + 256]
        right += sum(a == item.actions for a, item in zip(model.answer(part), part, strict=True))
    return {
        "split": split,
        "seed": seed,
        "accuracy": right / len(test),
        "steps": steps,
        "train": len(training),
        "test": len(test),
        "seconds": round(time.perf_counter() - begin, 1),
        "cpu_seconds": round(time.process_time() - cpu, 1),
    }
