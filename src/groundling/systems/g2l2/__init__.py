"""G2L2: grammar-based grounded lexicon learning (thesis ch. 6)."""

from groundling.systems.g2l2.config import PRESETS, Config
from groundling.systems.g2l2.domain import Domain
from groundling.systems.g2l2.domains import load_domain
from groundling.systems.g2l2.saved import Model
from groundling.systems.g2l2.train import train

__all__ = ["PRESETS", "Config", "Domain", "Model", "load_domain", "train"]
