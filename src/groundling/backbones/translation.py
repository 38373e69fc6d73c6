"""Any transformers translation model (Marian, mBART, CRISS, M2M-100, NLLB ...) from a folder. Never downloads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from groundling.errors import ConfigError, DataError
from groundling.names import did_you_mean, require


class Translator:
    """Translates lines by beam search.

    `source` and `target` are the languages as the model names them (`en_XX`, `de_DE`; `eng_Latn`; `en`); a model of
    one pair needs neither.
    """

    def __init__(self, path: str, source: str = "", target: str = "", device: str | torch.device = "cpu") -> None:
        transformers = require("transformers", "learn", "a translation model")
        try:
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(path, local_files_only=True)
            model = transformers.AutoModelForSeq2SeqLM.from_pretrained(path, local_files_only=True)
        except (OSError, ValueError) as error:
            raise DataError(
                f"no translation model at {path!r}. Give the folder of a transformers encoder-decoder "
                "(config.json, weights and tokenizer)."
            ) from error
        self.device = torch.device(device)
        self._model = model.to(self.device).eval()
        self._start = self._language(target) if target else None
        if source:
            self._language(source)
            self._tokenizer.src_lang = source
        self._others = self._other_languages()

    @torch.no_grad()
    def translate(self, lines: Sequence[str], beams: int = 4) -> list[str]:
        """Translate a batch; an empty line stays empty.

        A translation that names another language than the target is likely no translation into it: it comes back empty
        (thesis 9.3.1).
        """
        full = [k for k, line in enumerate(lines) if line.strip()]
        answers = [""] * len(lines)
        if not full:
            return answers
        batch = self._tokenizer([lines[k] for k in full], return_tensors="pt", padding=True, truncation=True)
        batch = {name: batch[name].to(self.device) for name in ("input_ids", "attention_mask")}
        longest = 2 * batch["input_ids"].shape[1] + 10  # a translation without end is none
        start = {} if self._start is None else {"forced_bos_token_id": self._start}
        found = self._model.generate(**batch, num_beams=beams, do_sample=False, max_new_tokens=longest, **start)
        for k, ids in zip(full, found.tolist(), strict=True):
            if self._others.isdisjoint(ids):
                text = self._tokenizer.decode(ids, skip_special_tokens=True)
                answers[k] = " ".join(text.split())
        return answers

    def _language(self, code: str) -> int:
        """The number of a language's token."""
        vocabulary: dict[str, int] = self._tokenizer.get_vocab()
        for name in (code, f"__{code}__"):
            if name in vocabulary:
                return vocabulary[name]
        known = [name.strip("_") for name in self._tokenizer.all_special_tokens]
        raise ConfigError(
            f"the translation model knows no language {code!r}.{did_you_mean(code, known)} Give the code as its "
            "tokenizer writes it, such as de_DE, deu_Latn or de."
        )

    def _other_languages(self) -> set[int]:
        """Special tokens that are languages, the target's not among them."""
        if self._start is None:
            return set()
        tokenizer: Any = self._tokenizer
        names = ("bos", "eos", "pad", "unk", "sep", "cls", "mask")
        plain = {getattr(tokenizer, f"{name}_token_id", None) for name in names}
        return set(tokenizer.all_special_ids) - plain - {self._start}
