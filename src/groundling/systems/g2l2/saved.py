"""A learned model: settings, lexicon, and what `run.json` says of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import torch

from groundling.systems.g2l2.config import Config
from groundling.systems.g2l2.domain import Domain
from groundling.systems.g2l2.domains import load_domain
from groundling.systems.g2l2.model import Lexicon
from groundling.systems.g2l2.parse import name_concepts
from groundling.systems.g2l2.predict import accuracy, answers, make_parser
from groundling.systems.g2l2.programs import show


class Model:
    """A lexicon that answers sentences of its domain."""

    def __init__(self, config: Config, lexicon: Lexicon, info: Mapping[str, Any]):
        self.config, self.lexicon, self.info = config, lexicon, dict(info)

    @property
    def domain(self) -> Domain:
        """The domain that the lexicon is for."""
        return self.lexicon.domain

    def save(self, folder: str | Path) -> None:
        """Write config.toml, model.safetensors and run.json."""
        from groundling.training.runs import save_model

        tensors = {name: tensor.detach().cpu() for name, tensor in self.lexicon.state_dict().items()}
        save_model(folder, self.config, tensors, {**self.info, "words": self.lexicon.words})

    @classmethod
    def load(cls, folder: str | Path, domain: Domain | None = None) -> Self:
        """Read what `save` wrote; a domain of your own must be where it was, or be given."""
        from groundling.training.runs import load_model

        config, tensors, info = load_model(folder, Config)
        lexicon = Lexicon(domain or load_domain(config.domain), info["words"], generator=torch.Generator())
        lexicon.load_state_dict(tensors)
        return cls(config, lexicon, info)

    def answer(self, examples: Sequence[Any]) -> list[str | None]:
        """Return the answer to each example, None where the sentence has no derivation."""
        return answers(self.lexicon, examples)

    def accuracy(self, examples: Sequence[Any]) -> float:
        """Return the share of right answers."""
        return accuracy(self.lexicon, examples)

    def table(self) -> list[dict[str, Any]]:
        """Return the learned lexicon: word, syntactic type, program, share of the word's successful use."""
        rows = []
        entries, shares = make_parser(self.lexicon).entries, self.lexicon.shares()
        for number, word in enumerate(self.lexicon.words):
            entry = entries[word]
            kind = " or ".join(map(str, entry.categories)) if entry else "<EMPTY>"
            program = show(name_concepts(entry.program, word)) if entry else "<EMPTY>"
            rows.append({"word": word, "type": kind, "program": program, "share": float(shares[number].max())})
        return rows
