"""Read sentence pairs, cut them into words, leave out unfit ones, and warn of text unlike what will be parsed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from groundling.algorithms.bitext_filters import fault_of, mismatches
from groundling.errors import DataError
from groundling.formats import conllu
from groundling.formats.files import open_text
from groundling.systems.subdp.tokens import check_language, tokenise

File = str | os.PathLike[str]


class Bitext(NamedTuple):
    """The pairs that are kept, and how many were left out for which reason."""

    sources: list[list[str]]
    targets: list[list[str]]
    kept: list[int]  # line numbers from 0
    dropped: Counter[str]


def is_conllu(path: File) -> bool:
    """By the name: `.conllu`, packed or not."""
    return os.fspath(path).removesuffix(".gz").removesuffix(".xz").endswith((".conllu", ".conll"))


def read_lines(path: File, language: str = "", tokenised: bool = False) -> list[list[str]]:
    """One sentence a line, raw or already cut into words by spaces; or the words of a treebank (CoNLL-U)."""
    check_language(language)
    if is_conllu(path):
        return [list(tree.words) for tree in conllu.read(path)]
    with open_text(path) as lines:
        return [line.split() if tokenised else tokenise(line, language) for line in lines]


def read_bitext(source: File, target: File, languages: tuple[str, str] = ("", ""), tokenised: bool = False) -> Bitext:
    """Read two files of as many lines; copies, repetitions, empty sides and odd lengths are left out."""
    sources, targets = (read_lines(p, code, tokenised) for p, code in zip((source, target), languages, strict=True))
    if len(sources) != len(targets):
        raise DataError(
            f"{source} has {len(sources)} lines but {target} has {len(targets)}. Line i of one must translate "
            "line i of the other; keep empty lines."
        )
    return kept_pairs(sources, targets)


def kept_pairs(sources: Sequence[list[str]], targets: Sequence[list[str]]) -> Bitext:
    """Leave out what `fault_of` names."""
    faults = [fault_of(s, t) for s, t in zip(sources, targets, strict=True)]
    kept = [k for k, fault in enumerate(faults) if fault is None]
    if not kept:
        raise DataError(f"none of {len(faults)} sentence pairs is fit to learn from: {dict(Counter(faults))}.")
    dropped = Counter(fault for fault in faults if fault is not None)
    return Bitext([sources[k] for k in kept], [targets[k] for k in kept], kept, dropped)


def joined(parts: Sequence[Bitext]) -> Bitext:
    """Several bitexts as one, one after the other."""
    kept = [line for part in parts for line in part.kept]
    dropped = sum((part.dropped for part in parts), Counter[str]())
    sources = [words for part in parts for words in part.sources]
    return Bitext(sources, [words for part in parts for words in part.targets], kept, dropped)


def warnings_of(bitext: Bitext, text: Sequence[Sequence[str]] = ()) -> list[str]:
    """What the user should know before hours are spent."""
    found = [f"{count} sentence pairs left out: {reason}" for reason, count in sorted(bitext.dropped.items())]
    found += [
        f"the bitext does not look like the text to be parsed: {what}" for what in mismatches(bitext.targets, text)
    ]
    if len(bitext.kept) < 50:
        found.append(f"only {len(bitext.kept)} sentence pairs; the thesis sees gains from 50 on (fig. 9.4)")
    return found
