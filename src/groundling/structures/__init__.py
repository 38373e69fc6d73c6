"""Frozen plain data: no torch, no files. `str(x)` is the standard text form, `_repr_svg_` draws it in a notebook."""

from groundling.structures.alignment import Alignment
from groundling.structures.dependencies import Dependencies, SoftDependencies
from groundling.structures.program import Program, Samples
from groundling.structures.segmentation import Segment, Segmentation
from groundling.structures.tree import Span, Tree

__all__ = [
    "Alignment",
    "Dependencies",
    "Program",
    "Samples",
    "Segment",
    "Segmentation",
    "SoftDependencies",
    "Span",
    "Tree",
]
