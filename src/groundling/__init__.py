"""groundling: learn language structures through grounding."""

__version__ = "0.1.0"
