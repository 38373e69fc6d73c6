from pathlib import Path

import numpy as np
import pytest
import torch

from groundling.backbones.speech import load_speech_encoder
from groundling.backbones.speech_activity import voiced_regions
from groundling.backbones.speech_grounded import GroundedEncoder
from groundling.errors import ConfigError, DataError, FormatError, MissingExtraError


def noise(seconds: float) -> np.ndarray:
    return np.random.default_rng(0).normal(0, 0.1, int(16000 * seconds)).astype(np.float32)


def test_whisper_tiny_equals_transformers_own_encoder() -> None:
    transformers = pytest.importorskip("transformers")
    from groundling.backbones.whisper_tiny import WhisperTiny, whisper_mel

    try:
        ours = WhisperTiny()
    except MissingExtraError as error:
        pytest.skip(str(error))
    config = transformers.WhisperConfig(
        d_model=384, encoder_layers=4, encoder_attention_heads=6, encoder_ffn_dim=1536, num_mel_bins=80
    )
    theirs = transformers.models.whisper.modeling_whisper.WhisperEncoder(config).eval()
    renamed = {_their_name(name): tensor for name, tensor in ours.weights.items()}
    theirs.load_state_dict(renamed)
    mel = np.pad(whisper_mel(noise(2.0)), ((0, 2800), (0, 0)))
    with torch.no_grad():
        states = theirs(torch.from_numpy(mel.T[None]), output_hidden_states=True).hidden_states
        found = ours.states(mel)
    for layer in (0, 2, 4):
        assert torch.allclose(found[layer], states[layer][0], atol=2e-3), layer
    assert ours.frames(noise(1.0), [0, 4]).shape == (2, 50, 384)
    assert not ours.textless


def _their_name(name: str) -> str:
    for ours, theirs in (
        ("blocks.", "layers."), ("attn.query", "self_attn.q_proj"), ("attn.key", "self_attn.k_proj"),
        ("attn.value", "self_attn.v_proj"), ("attn.out", "self_attn.out_proj"), ("attn_ln", "self_attn_layer_norm"),
        ("mlp.0", "fc1"), ("mlp.2", "fc2"), ("mlp_ln", "final_layer_norm"), ("ln_post", "layer_norm"),
        ("positional_embedding", "embed_positions.weight"),
    ):  # fmt: skip
        name = name.replace(ours, theirs)
    return name


def test_damaged_weights_name_the_file(tmp_path: Path) -> None:
    from groundling.backbones.whisper_tiny import WhisperTiny

    (tmp_path / "x.pt").write_bytes(b"not weights")
    with pytest.raises(FormatError, match=r"x\.pt: no weights of Whisper"):
        WhisperTiny(tmp_path / "x.pt")


def test_hubert_by_path_gives_layers_and_attention(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.HubertConfig(
        hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16, conv_dim=(8,) * 7,
        num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=2,
    )  # fmt: skip
    transformers.HubertModel(config).save_pretrained(tmp_path)
    encoder = load_speech_encoder(str(tmp_path))
    assert (encoder.layers, encoder.dim, encoder.rate) == (3, 16, 50.0)
    found = encoder.frames(noise(0.5), [0, 2])
    assert found.shape[0] == 2 and found.shape[2] == 16 and 23 <= found.shape[1] <= 25
    maps = encoder.attentions(noise(0.5))  # type: ignore[attr-defined]
    assert maps.shape[:2] == (2, 2) and torch.allclose(maps.sum(-1), torch.ones(()), atol=1e-4)
    assert encoder.frames(np.zeros(1, dtype=np.float32), [1]).shape[1] >= 1
    with pytest.raises(ConfigError, match="layers 0 to 2, not 3"):
        encoder.frames(noise(0.5), [3])


def test_no_model_there() -> None:
    with pytest.raises(DataError, match="no speech encoder at 'no/model'"):
        load_speech_encoder("no/model")


@pytest.mark.parametrize("method", ["energy", "rvad", "silero"])
def test_voice_activity_on_silence_and_short_sounds(method: str) -> None:
    if method != "energy":
        pytest.importorskip("rVADfast")
    assert voiced_regions(np.zeros(16000, dtype=np.float32), method) == []  # type: ignore[arg-type]
    assert voiced_regions(np.zeros(1, dtype=np.float32), method) == []  # type: ignore[arg-type]


def test_energy_hears_a_burst() -> None:
    sound = np.concatenate([np.zeros(8000), noise(0.5), np.zeros(8000)]).astype(np.float32)
    ((start, end),) = voiced_regions(sound)
    assert start == pytest.approx(0.5, abs=0.03) and end == pytest.approx(1.0, abs=0.03)


def test_grounded_encoder_ignores_padding_and_its_attention_sums_to_one() -> None:
    torch.manual_seed(0)
    encoder = GroundedEncoder(mels=8, dim=16, heads=2, layers=2, feature_dim=5).eval()
    mels = torch.randn(2, 40, 8)
    with torch.no_grad():
        both = encoder(mels, torch.tensor([20, 12]))
        alone = encoder(mels[1:, :24], torch.tensor([12]))
    assert both.layers.shape == (3, 2, 20, 16) and both.attention.shape == (2, 2, 2, 20)
    assert torch.all(both.attention[:, 1, :, 12:] == 0)
    assert torch.all(both.attention.sum(-1) < 1)  # the rest goes to [CLS] itself
    # The convolutions see across the end, so frames next to it may differ; those before may not.
    assert torch.allclose(both.layers[0, 1, :9], alone.layers[0, 0, :9], atol=1e-5)
    assert torch.allclose(both.utterance.norm(dim=1), torch.ones(2))


def test_retrieval_loss_falls_when_speech_and_image_agree() -> None:
    torch.manual_seed(0)
    encoder = GroundedEncoder(mels=4, dim=16, heads=2, layers=1, feature_dim=6)
    mels, features = torch.randn(8, 20, 4), torch.randn(8, 6)
    optimizer = torch.optim.Adam(encoder.parameters(), lr=3e-3)
    losses = []
    for _ in range(40):
        loss = encoder.loss(encoder(mels, torch.full((8,), 10)), features, torch.arange(8))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 3
