"""A learned model: settings, lexicon, and what `run.json` says of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from groundling.errors import ConfigError, FormatError
from groundling.systems.g2l2.config import Config
from groundling.systems.g2l2.domain import Domain
from groundling.systems.g2l2.domains import load_domain
from groundling.systems.g2l2.model import Lexicon
from groundling.systems.g2l2.parse import name_concepts
from groundling.systems.g2l2.predict import accuracy, answers, make_parser
from groundling.systems.g2l2.programs import show
from groundling.training.models import fill_module


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
    def load(cls, folder: str | Path, domain: Domain | str | None = None) -> Self:
        """Read what `save` wrote. A domain of your own (or the path of its file) must be given.

        The settings only name that file. A stranger's could name any, so it is never run on their word alone.
        """
        from groundling.training.runs import load_model

        config, tensors, info = load_model(folder, Config)
        if domain is None and config.domain.endswith(".py"):
            raise ConfigError(
                f"{folder}: its domain is a Python file, {config.domain}, which would be run. "
                f"If you trust that file, name it: `--domain {config.domain}`."
            )
        made = domain if isinstance(domain, Domain) else load_domain(domain or config.domain)
        words = info.get("words")
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise FormatError(f"{folder}: run.json has no list of words. Copy it again, or train again.")
        lexicon = fill_module(lambda: Lexicon(made, words, generator=None), tensors, folder)
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
