"""Two small languages that say the same things, with their trees, word alignments and word vectors.

The first puts verb before object, adjective before noun, and has articles and prepositions. The second puts the verb
last, the adjective after its noun, has postpositions and no article. Words of the same meaning have nearby vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.structures import Alignment, Dependencies

# part of speech -> how many meanings there are
MEANINGS = {"NOUN": 30, "VERB": 20, "ADJ": 12, "ADV": 6, "ADP": 5, "DET": 2}
# the order of a head and its dependents in each language; dependents that are not named are not said
ORDERS = (
    {"VERB": ("nsubj", "", "obj", "obl", "advmod", "punct"), "NOUN": ("case", "det", "amod", "", "nmod")},
    {"VERB": ("nsubj", "obl", "obj", "advmod", "", "punct"), "NOUN": ("nmod", "", "amod", "case")},
)
DIM = 48


class Pair(NamedTuple):
    """A sentence in both languages; links are between words of the same meaning."""

    source: Dependencies
    target: Dependencies
    alignment: Alignment


class _Node:
    def __init__(self, meaning: str, label: str) -> None:
        self.meaning, self.label = meaning, label
        self.children: list[_Node] = []

    @property
    def tag(self) -> str:
        return self.meaning.partition(" ")[0]


def generate(count: int, rng: np.random.Generator) -> list[Pair]:
    """Draw `count` sentence pairs.

    >>> pair = generate(1, np.random.default_rng(1))[0]
    >>> pair.source.faults(), pair.target.faults(), pair.target.labels[-1]
    ([], [], 'punct')
    """
    return [_pair(_sentence(rng)) for _ in range(count)]


def vectors(noise: float = 0.4, seed: int = 0) -> dict[str, NDArray[np.float32]]:
    """A vector for each word of both languages: its part of speech, its meaning, and a little of its own."""
    rng = np.random.default_rng(seed)
    table: dict[str, NDArray[np.float32]] = {}
    for tag, count in {**MEANINGS, "PUNCT": 1}.items():
        kind = rng.normal(size=DIM)
        for number in range(count):
            meaning = kind + 0.7 * rng.normal(size=DIM)
            for language in (0, 1):
                own = meaning + noise * rng.normal(size=DIM)
                table[_word(f"{tag} {number}", language)] = own.astype(np.float32)
    return table


def _sentence(rng: np.random.Generator) -> _Node:
    verb = _node(rng, "VERB", "root")
    verb.children.append(_noun(rng, "nsubj", 0))
    if rng.random() < 0.7:
        verb.children.append(_noun(rng, "obj", 0))
    for label, chance in (("obl", 0.45), ("advmod", 0.3)):
        if rng.random() < chance:
            verb.children.append(_noun(rng, label, 1) if label == "obl" else _node(rng, "ADV", label))
    verb.children.append(_Node("PUNCT 0", "punct"))
    return verb


def _noun(rng: np.random.Generator, label: str, depth: int) -> _Node:
    noun = _node(rng, "NOUN", label)
    if label in ("obl", "nmod"):
        noun.children.append(_node(rng, "ADP", "case"))
    if rng.random() < 0.7:
        noun.children.append(_node(rng, "DET", "det"))
    noun.children += [_node(rng, "ADJ", "amod") for _ in range(int(rng.random() < 0.4) + int(rng.random() < 0.15))]
    if depth == 0 and rng.random() < 0.25:
        noun.children.append(_noun(rng, "nmod", 1))
    return noun


def _node(rng: np.random.Generator, tag: str, label: str) -> _Node:
    return _Node(f"{tag} {rng.integers(MEANINGS[tag])}", label)


def _pair(tree: _Node) -> Pair:
    said = [list(_say(tree, order)) for order in ORDERS]
    places = {id(node): j for j, node in enumerate(said[1])}
    links = frozenset((i, places[id(node)]) for i, node in enumerate(said[0]) if id(node) in places)
    return Pair(_dependencies(said[0], 0), _dependencies(said[1], 1), Alignment(links))


def _say(node: _Node, order: dict[str, tuple[str, ...]]) -> Iterator[_Node]:
    for label in order.get(node.tag, ("",)):
        if not label:
            yield node
        for child in node.children:
            if child.label == label:
                yield from _say(child, order)


def _dependencies(nodes: list[_Node], language: int) -> Dependencies:
    place = {id(node): k for k, node in enumerate(nodes, 1)}
    heads = {id(child): place[id(node)] for node in nodes for child in node.children}
    return Dependencies(
        tuple(_word(node.meaning, language) for node in nodes),
        tuple(heads.get(id(node), 0) for node in nodes),
        tuple(node.label for node in nodes),
        tuple(node.tag for node in nodes),
    )


def _word(meaning: str, language: int) -> str:
    """A word of two or three syllables, fixed by its meaning and the language."""
    if meaning.startswith("PUNCT"):
        return ".|"[language]
    tag, _, number = meaning.partition(" ")
    rank = [*MEANINGS].index(tag) * 40 + int(number)
    onsets, vowels = (("bdfgklmnprst", "aeiou"), ("chjqvwxyzñ", "äöüıə"))[language]
    code, syllables = rank * 7 + 11, ""
    for _ in range(2 if tag in ("DET", "ADP", "ADV") else 3):
        code, onset = divmod(code * 3 + rank, len(onsets))
        code, vowel = divmod(code * 5 + rank + 1, len(vowels))
        syllables += onsets[onset] + vowels[vowel]
    return syllables
