"""Speech frames: one protocol; log-Mel, Whisper tiny, or any transformers speech model by path."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from groundling.backbones.log_mel import log_mel, normalised
from groundling.errors import ConfigError, DataError
from groundling.names import require


class SpeechEncoder(Protocol):
    """What a speech backbone must offer: frame vectors, layer by layer, of one sound at 16 kHz."""

    name: str
    layers: int
    dim: int
    rate: float  # frames a second
    textless: bool  # False where its training saw transcripts

    def frames(self, samples: NDArray[np.float32], layers: list[int]) -> Tensor:
        """(layers, frames, dim) on the CPU, at least one frame."""
        ...


class LogMel:
    """Two log-Mel frames side by side, 50 a second, as thesis 4.4.3's third ablation.

    >>> LogMel().frames(np.zeros(16000, dtype=np.float32), [0]).shape
    torch.Size([1, 50, 80])
    """

    name, layers, dim, rate, textless = "log-mel", 1, 80, 50.0, True

    def frames(self, samples: NDArray[np.float32], layers: list[int]) -> Tensor:
        """One layer, 0."""
        check_layers(self, layers)
        return torch.from_numpy(stacked(samples))[None].expand(len(layers), -1, -1)


def stacked(samples: NDArray[np.float32], mels: int = 40) -> NDArray[np.float32]:
    """Normalised log-Mel at 50 Hz (frames, 2 mels)."""
    found = normalised(log_mel(samples, mels))
    found = found if len(found) > 1 else np.repeat(found, 2, axis=0)
    return found[: len(found) // 2 * 2].reshape(-1, 2 * mels)


class TransformersSpeech:
    """HuBERT, wav2vec 2.0, WavLM ... from a folder. Never downloads. `attentions` gives every map."""

    textless = True  # as HuBERT; a model tuned on transcripts is the caller's affair

    def __init__(self, path: str | Path, device: str | torch.device = "cpu") -> None:
        transformers = require("transformers", "learn", "a transformers speech encoder")
        try:
            model = transformers.AutoModel.from_pretrained(
                str(path), local_files_only=True, attn_implementation="eager"
            )
        except (OSError, ValueError) as error:
            raise DataError(
                f"no speech encoder at {str(path)!r}. Give 'log-mel', 'whisper-tiny' or the folder of a transformers "
                "speech model (HuBERT, wav2vec 2.0, WavLM)."
            ) from error
        strides = getattr(model.config, "conv_stride", None)
        if strides is None:
            raise DataError(
                f"{path}: a {model.config.model_type} model does not read waveforms. Give HuBERT or its like."
            )
        self.name, self.device = str(path), torch.device(device)
        self._model = model.to(self.device).eval()
        self.layers, self.dim = model.config.num_hidden_layers + 1, model.config.hidden_size
        self.rate = 16_000 / float(np.prod(strides))

    def frames(self, samples: NDArray[np.float32], layers: list[int]) -> Tensor:
        """Hidden states of these layers; 0 is what enters the first layer."""
        check_layers(self, layers)
        states = self._run(samples, output_hidden_states=True).hidden_states
        return torch.stack([states[layer][0] for layer in layers]).cpu()

    def attentions(self, samples: NDArray[np.float32]) -> Tensor:
        """Self-attention (layers, heads, frames, frames)."""
        return torch.stack([a[0] for a in self._run(samples, output_attentions=True).attentions]).cpu()

    @torch.no_grad()
    def _run(self, samples: NDArray[np.float32], **wanted: bool) -> Any:
        padded = np.pad(samples, (0, max(800 - len(samples), 0)))  # the convolutions need one window
        scaled = (padded - padded.mean()) / np.sqrt(padded.var() + 1e-7)
        return self._model(torch.from_numpy(scaled.astype(np.float32))[None].to(self.device), **wanted)


def check_layers(encoder: SpeechEncoder, layers: list[int]) -> None:
    """Refuse layers that are not there."""
    for layer in layers:
        if not 0 <= layer < encoder.layers:
            raise ConfigError(f"{encoder.name} has layers 0 to {encoder.layers - 1}, not {layer}.")


def load_speech_encoder(name: str = "whisper-tiny", device: str | torch.device = "cpu") -> SpeechEncoder:
    """`log-mel`, `whisper-tiny`, or the folder of a transformers model; never downloads.

    >>> load_speech_encoder("log-mel").dim
    80
    """
    if name == "log-mel":
        return LogMel()
    if name == "whisper-tiny":
        from groundling.backbones.whisper_tiny import WhisperTiny

        return WhisperTiny(device=device)
    return TransformersSpeech(name, device)
