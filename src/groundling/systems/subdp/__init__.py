"""SubDP (thesis ch. 9): carry a dependency parser over to a language that has no treebank."""

from groundling.systems.subdp.config import Config
from groundling.systems.subdp.job import Job
from groundling.systems.subdp.model import Model
from groundling.systems.subdp.transfer import Transfer, train_source_model

train = train_source_model

__all__ = ["Config", "Job", "Model", "Transfer", "train", "train_source_model"]
