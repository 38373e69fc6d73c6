"""A trained parser: load it, parse with it, save it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from groundling.backbones.text import TextEncoder
from groundling.errors import FormatError
from groundling.structures import Dependencies, SoftDependencies
from groundling.systems.subdp.config import Config
from groundling.systems.subdp.parser import Parser
from groundling.systems.subdp.predict import parse_vectors, soft_parses
from groundling.systems.subdp.silver import Inventory
from groundling.systems.subdp.vectors import vectors_of
from groundling.systems.subdp.word_encoder import load_encoder
from groundling.training.devices import pick_device
from groundling.training.models import fill_module
from groundling.training.runs import load_model, save_model

CHUNK = 512  # sentences parsed at a time: a stream of any length in constant memory
Words = Sequence[str]


class Model:
    """A biaffine parser with its encoder, which is loaded when it is first needed."""

    def __init__(
        self,
        config: Config,
        inventory: Inventory,
        parser: Parser,
        *,
        encoder: TextEncoder | None = None,
        info: Mapping[str, Any] | None = None,
        device: str = "auto",
    ) -> None:
        self.config, self.inventory, self.info = config, inventory, dict(info or {})
        self.device = device
        self.parser = parser.to(pick_device(device)).eval()
        if encoder is not None:
            self.encoder = encoder

    @cached_property
    def encoder(self) -> TextEncoder:
        """The frozen encoder named in the config."""
        return load_encoder(self.config.encoder, self.device)

    @property
    def layers(self) -> tuple[int, ...]:
        """The layers that are mixed."""
        return self.config.layers or tuple(range(self.encoder.layers))

    def parse(self, sentences: Iterable[Words], *, projective: bool = False) -> Iterator[Dependencies]:
        """The best tree of each sentence (a list of words), with one root; a stream in, a stream out."""
        stream = iter(sentences)
        while chunk := list(islice(stream, CHUNK)):
            vectors = vectors_of(self.encoder, chunk, self.layers)
            found = parse_vectors(self.parser, vectors, self.inventory, projective=projective)
            for words, parse in zip(chunk, found, strict=True):
                labels = tuple(self.inventory.labels[k] for k in parse.labels)
                tags = tuple(self.inventory.tags[k] for k in parse.tags)
                yield Dependencies(tuple(words), tuple(parse.heads.tolist()), labels, tags)

    def soft(self, sentences: Iterable[Words]) -> Iterator[SoftDependencies]:
        """Arc and label distributions of each sentence."""
        stream = iter(sentences)
        while chunk := list(islice(stream, CHUNK)):
            vectors = vectors_of(self.encoder, chunk, self.layers)
            found = dict(soft_parses(self.parser, vectors, range(len(chunk))))
            for k, words in enumerate(chunk):
                yield SoftDependencies(tuple(words), found[k].arcs, found[k].labels, self.inventory.labels)

    def save(self, directory: str | Path) -> None:
        """Write `config.toml`, `model.safetensors` and `run.json`; the encoder is named, not copied."""
        sizes = {"layers": len(self.layers), "dim": self.encoder.dim}
        facts = {**sizes, "labels": list(self.inventory.labels), "tags": list(self.inventory.tags)}
        save_model(directory, self.config, self.parser.state_dict(), {**self.info, **facts})

    @classmethod
    def load(cls, directory: str | Path, *, encoder: TextEncoder | None = None, device: str = "auto") -> Model:
        """Read what `save` wrote."""
        config, tensors, info = load_model(directory, Config)
        try:
            inventory = Inventory(tuple(info["labels"]), tuple(info["tags"]))
            layers, dim = int(info["layers"]), int(info["dim"])
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(f"{directory}: run.json does not describe a parser ({error}). Train again.") from error
        parser = fill_module(
            lambda: Parser(config, layers, dim, len(inventory.labels), len(inventory.tags)), tensors, directory
        )
        known = ("layers", "dim", "labels", "tags", "format", "config", "versions", "sha256")
        rest = {key: value for key, value in info.items() if key not in known}
        return cls(config, inventory, parser, encoder=encoder, info=rest, device=device)
