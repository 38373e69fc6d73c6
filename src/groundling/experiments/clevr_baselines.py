"""Runs of the end-to-end attention model for the CLEVR table."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from groundling.experiments.clevr import by_form, load_questions, make_split
from groundling.systems.g2l2.visual_baseline import train_classifier


def run_attention(split: str, seed: int, data: Path | None = None, steps: int = 4000) -> dict[str, Any]:
    """Train the attention model on one split and test it, as `clevr.run_one` does with G2L2."""
    begin, cpu = time.perf_counter(), time.process_time()
    training, test = make_split(split, load_questions("train", data), load_questions("val", data), seed)
    model = train_classifier(training, seed=seed, steps=steps)
    given = model.answer(test)
    return {
        "split": split,
        "seed": seed,
        "system": "attention",
        "steps": steps,
        "accuracy": sum(answer == item.answer for answer, item in zip(given, test, strict=True)) / len(test),
        "by_form": by_form(test, given),
        "train": len(training),
        "test": len(test),
        "seconds": round(time.perf_counter() - begin, 1),
        "cpu_seconds": round(time.process_time() - cpu, 1),
    }
