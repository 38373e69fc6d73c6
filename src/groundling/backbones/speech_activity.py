"""Voice activity: our energy threshold, rVAD (the thesis', unsupervised) or Silero (trained on labelled speech)."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from groundling.algorithms.attention_segments import runs
from groundling.algorithms.voice_activity import voiced_by_energy
from groundling.backbones.log_mel import RATE, frame_energies
from groundling.errors import MissingExtraError
from groundling.names import require

Vad = Literal["energy", "rvad", "silero"]
_SILERO_CHUNK = 512
_SHORTEST = 1600  # samples under which rVAD's filters have nothing to work on


def voiced_regions(samples: NDArray[np.float32], method: Vad = "energy") -> list[tuple[float, float]]:
    """Where there is voice, in seconds, inside the sound."""
    end = len(samples) / RATE
    rules = {"energy": _energy, "rvad": _rvad, "silero": _silero}
    return [(a, min(b, end)) for a, b in rules[method](samples) if min(b, end) - a > 0.01]


def _energy(samples: NDArray[np.float32]) -> list[tuple[float, float]]:
    return voiced_by_energy(frame_energies(samples), 100)


def _rvad(samples: NDArray[np.float32]) -> list[tuple[float, float]]:
    if len(samples) < _SHORTEST or not np.abs(samples).max() > 1e-4:
        return []
    detect = require("rVADfast", "speech", "rVAD").rVADfast()
    labels, times = detect(samples.astype(np.float64), RATE)
    step = float(times[1] - times[0]) if len(times) > 1 else 0.01
    return [(a * step, b * step) for a, b in runs(np.asarray(labels) > 0.5)]


def _silero(samples: NDArray[np.float32]) -> list[tuple[float, float]]:
    model = _silero_model()
    chunks = torch.from_numpy(np.pad(samples, (0, -len(samples) % _SILERO_CHUNK))).view(-1, _SILERO_CHUNK)
    with torch.no_grad():
        probabilities = np.array([float(model(chunk, RATE)) for chunk in chunks])
    step = _SILERO_CHUNK / RATE
    return [(a * step, b * step) for a, b in runs(probabilities > 0.5)]


def _silero_model() -> Any:
    """The package's own import wants torchaudio, so its TorchScript file is loaded; its state is fresh each time."""
    spec = find_spec("silero_vad")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError("Silero needs 'silero_vad'. Install it with `pip install 'groundling[speech]'`.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of TorchScript, which the package still ships
        return torch.jit.load(str(Path(spec.submodule_search_locations[0]) / "data" / "silero_vad.jit"))
