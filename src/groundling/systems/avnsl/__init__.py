"""AV-NSL: phrase structure learned from spoken captions and images, without text (thesis ch. 4).

>>> Config().gap
0.15
"""

from groundling.systems.avnsl.config import Config
from groundling.systems.avnsl.data import Sound, Utterances, hear
from groundling.systems.avnsl.model import Model
from groundling.systems.avnsl.train import train

__all__ = ["Config", "Model", "Sound", "Utterances", "hear", "train"]
