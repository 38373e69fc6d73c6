"""VG-NSL: phrase structure learned by reading captions and looking at images (thesis ch. 3).

>>> Config().embedding_dim
512
"""

from groundling.systems.vgnsl.config import Config
from groundling.systems.vgnsl.data import Captions, read_captions
from groundling.systems.vgnsl.model import Model
from groundling.systems.vgnsl.train import train
from groundling.systems.vgnsl.vectors import Vectors, learn_vectors, read_vectors

__all__ = ["Captions", "Config", "Model", "Vectors", "learn_vectors", "read_captions", "read_vectors", "train"]
