"""MLPAlign (thesis ch. 8): align the words of two languages without a dictionary or aligned training data."""

from groundling.systems.mlpalign.direct import METHODS, align

__all__ = ["METHODS", "align"]
