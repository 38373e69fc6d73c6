"""MLPAlign (thesis ch. 8): align the words of two languages without a dictionary or aligned training data."""

from groundling.systems.mlpalign.config import Config, preset
from groundling.systems.mlpalign.counts import Counts
from groundling.systems.mlpalign.direct import METHODS, align
from groundling.systems.mlpalign.model import Model
from groundling.systems.mlpalign.train import count_bitext, train

__all__ = ["METHODS", "Config", "Counts", "Model", "align", "count_bitext", "preset", "train"]
