"""What a transfer is asked to do: files, languages, the row of the thesis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from groundling.errors import ConfigError, DataError
from groundling.formats import conllu
from groundling.names import did_you_mean
from groundling.structures import Dependencies

ROWS = ("dt", "st", "hard", "randi", "subdp", "dt-init")  # the rows of the thesis that `transfer` can make


class Source(NamedTuple):
    """One source language: its treebank and its side of the bitext, with the other side."""

    language: str
    treebank: str  # may be empty where a trained parser is given
    text: str
    translations: str  # sentences of the target language


@dataclass(frozen=True, kw_only=True)
class Job:
    """What to transfer from and to. Paths are files; `treebank` may be empty where a trained `model` is given."""

    treebank: str = ""
    dev: str = ""  # gold trees for early stopping; empty: a tenth of the treebank
    model: str = ""  # folder of a trained source parser
    source: str = ""  # bitext, one sentence a line
    target: str = ""  # empty: the source is translated by `translator`
    languages: tuple[str, str] = ("", "")  # codes of both, for cutting words
    more: tuple[Source, ...] = ()  # further source languages (thesis 9.3.4)
    tokenised: bool = False
    translator: str = ""  # folder of a translation model
    translate_codes: tuple[str, str] = ("", "")  # the languages as that model names them
    alignments: str = ""  # Pharaoh file; empty: aligned with the encoder
    text: str = ""  # a sample of the text to be parsed, to compare the bitext with
    method: str = "subdp"

    def check(self) -> None:
        """Raise where parts of the job do not go together."""
        if self.method not in ROWS:
            hint = did_you_mean(self.method, ROWS)
            raise ConfigError(f"no method is called {self.method!r}.{hint} There are: {', '.join(ROWS)}.")
        if bool(self.treebank) == bool(self.model) or (self.method == "dt-init" and not self.treebank):
            raise ConfigError("give --treebank, or --model with a trained source parser (dt-init needs the treebank).")
        if bool(self.target) == bool(self.translator):
            raise ConfigError("give the translations as TARGET, or a translation model with --translator.")
        if self.more and self.alignments:
            raise ConfigError("--alignments belongs to one pair of files; leave it out with --more.")
        if self.more and self.translator:
            raise ConfigError("--more needs TARGET: translate each source with `groundling subdp translate` first.")
        for one in self.more:
            if bool(one.treebank) == bool(self.model):
                raise ConfigError(
                    f"--more {one.language}: a treebank is needed with --treebank, and none with --model: "
                    "one parser is trained on all treebanks."
                )

    @property
    def treebanks(self) -> list[str]:
        """The treebanks of all sources."""
        return [path for path in (self.treebank, *(one.treebank for one in self.more)) if path]

    def files(self) -> list[str]:
        """Every file whose content decides the result."""
        others = (path for one in self.more for path in (one.text, one.translations))
        return [p for p in (*self.treebanks, self.dev, self.source, self.target, *others, self.alignments) if p]


def read_source(text: str, target: str = "") -> Source:
    """Read `LANGUAGE=TREEBANK,TEXT[,TRANSLATIONS]`; without translations the text is parallel to `target`.

    >>> read_source("fr=fr.conllu,fr.txt", "de.txt")
    Source(language='fr', treebank='fr.conllu', text='fr.txt', translations='de.txt')
    """
    language, equals, files = text.partition("=")
    parts = files.split(",")
    if not (equals and language and len(parts) in (2, 3) and parts[1]):
        raise ConfigError(
            f"--more is LANGUAGE=TREEBANK,TEXT or LANGUAGE=TREEBANK,TEXT,TRANSLATIONS (TREEBANK empty with --model), "
            f"not {text!r}. Example: --more fr=fr_partut.conllu,fr.txt"
        )
    return Source(language, parts[0], parts[1], parts[2] if len(parts) == 3 else target)


def read_treebank(path: str, least: int = 2) -> list[Dependencies]:
    """The sentences of a CoNLL-U file; at least two, and each a tree with one root."""
    trees = list(conllu.read(path))
    for number, tree in enumerate(trees, 1):
        if faults := tree.faults():
            name = repr(tree.id) if tree.id else str(number)
            raise DataError(
                f"{path}: sentence {name}: {faults[0]} Run `groundling check` on it and correct or drop it."
            )
    if len(trees) < least:
        raise DataError(f"{path}: {len(trees)} sentences. A parser needs a treebank to learn from.")
    return trees


def read_treebanks(job: Job) -> list[Dependencies]:
    """The trees of all sources, shuffled into each other so that every tenth of them is of all languages."""
    return list(_mixed([read_treebank(path) for path in job.treebanks]))


def _mixed(treebanks: list[list[Dependencies]]) -> Iterator[Dependencies]:
    """One treebank as it is; several by their place: the k-th of n sentences stands at (k + 0.5) / n."""
    placed = [((k + 0.5) / len(trees), n, tree) for n, trees in enumerate(treebanks) for k, tree in enumerate(trees)]
    return (tree for _, _, tree in sorted(placed, key=lambda row: row[:2]))
