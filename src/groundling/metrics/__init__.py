"""Scores: statistics per item, then aggregate, then a signed score. One metric a file, each loaded when it is named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from groundling.names import load, lookup

if TYPE_CHECKING:
    from groundling.metrics.aer import AER
    from groundling.metrics.attachment import LAS, UAS
    from groundling.metrics.base import Metric, Score
    from groundling.metrics.boundaries import Boundaries
    from groundling.metrics.duration_matching import DurationMatching
    from groundling.metrics.execution_accuracy import ExecutionAccuracy
    from groundling.metrics.parseval import ParsEval
    from groundling.metrics.passing import PassAtK, pass_at_k
    from groundling.metrics.pearson import Pearson
    from groundling.metrics.segment_iou import SegmentIoU
    from groundling.metrics.self_f1 import SelfF1
    from groundling.metrics.struct_iou import StructIoU

# The names of `--metric`; third parties add theirs through the entry-point group `groundling.metrics`.
METRICS: dict[str, str] = {
    "aer": "groundling.metrics.aer:AER",
    "boundaries": "groundling.metrics.boundaries:Boundaries",
    "duration-matching": "groundling.metrics.duration_matching:DurationMatching",
    "execution-accuracy": "groundling.metrics.execution_accuracy:ExecutionAccuracy",
    "las": "groundling.metrics.attachment:LAS",
    "parseval": "groundling.metrics.parseval:ParsEval",
    "pass-at-k": "groundling.metrics.passing:PassAtK",
    "pearson": "groundling.metrics.pearson:Pearson",
    "segment-iou": "groundling.metrics.segment_iou:SegmentIoU",
    "self-f1": "groundling.metrics.self_f1:SelfF1",
    "struct-iou": "groundling.metrics.struct_iou:StructIoU",
    "uas": "groundling.metrics.attachment:UAS",
}
_MORE = {
    "Metric": "groundling.metrics.base:Metric",
    "Score": "groundling.metrics.base:Score",
    "pass_at_k": "groundling.metrics.passing:pass_at_k",
}
_EXPORTS = {target.partition(":")[2]: target for target in METRICS.values()} | _MORE

__all__ = [
    "AER",
    "LAS",
    "METRICS",
    "UAS",
    "Boundaries",
    "DurationMatching",
    "ExecutionAccuracy",
    "Metric",
    "ParsEval",
    "PassAtK",
    "Pearson",
    "Score",
    "SegmentIoU",
    "SelfF1",
    "StructIoU",
    "load_metric",
    "pass_at_k",
]


def load_metric(name: str) -> Any:
    """The metric class called `name`, e.g. "struct-iou"; a wrong name answers with the nearest right one."""
    return lookup(METRICS, name, "metric", group="groundling.metrics")


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return load(_EXPORTS[name])
