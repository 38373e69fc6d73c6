"""Symbolic parsing with the learned lexicon: each word has its best entry, a sentence becomes one program.

Derivations of one sentence with the same entries are equally probable, so the program with most derivations wins; of
equals the one that branches to the right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from groundling.errors import DataError
from groundling.systems.g2l2.categories import Category, Functor
from groundling.systems.g2l2.domain import Domain, Template, refuse_unknown
from groundling.systems.g2l2.programs import Call, Concept, Program, rebuild, show, substitute

EMPTY = None  # the entry of a word that means nothing
Key = tuple[Category, Program]


@dataclass
class Found:
    """How many derivations an item has, and the first of them: (split, left item, right item); words have none."""

    count: int
    split: int = 0
    left: Key | None = None
    right: Key | None = None


@dataclass
class Parser:
    """A lexicon with one entry a word."""

    domain: Domain
    entries: Mapping[str, Template | None]
    _memory: dict[tuple[str, ...], dict[Key, Found]] = field(default_factory=dict[tuple[str, ...], dict[Key, Found]])
    _values: dict[Program, Any] = field(default_factory=dict[Program, Any])

    def chart(self, words: tuple[str, ...]) -> dict[Key, Found]:
        """Return all items of a phrase (without empty words); phrases are remembered."""
        if words in self._memory:
            return self._memory[words]
        found: dict[Key, Found] = {}
        if len(words) == 1:
            entry = self.entries[words[0]]
            assert entry is not None
            program = name_concepts(entry.program, words[0])
            found = {(category, program): Found(1) for category in entry.categories}
        for split in range(1, len(words)):
            self._combine(found, split, self.chart(words[:split]), self.chart(words[split:]))
        self._memory[words] = found
        return found

    def _combine(self, found: dict[Key, Found], split: int, left: dict[Key, Found], right: dict[Key, Found]) -> None:
        for a, ways_a in left.items():
            for b, ways_b in right.items():
                for functor, argument, slash in ((a, b, "/"), (b, a, "\\")):
                    category = functor[0]
                    if isinstance(category, Functor) and category.slash == slash and category.argument == argument[0]:
                        key = (category.result, substitute(functor[1], argument[1]))
                        here = found.setdefault(key, Found(0, split, a, b))
                        here.count += ways_a.count * ways_b.count

    def readings(self, words: Sequence[str]) -> list[tuple[str, Program]]:
        """Return the (atom, program) pairs with most derivations: one where the sentence is clear, none if it fails."""
        kept = self.meaningful(words)
        items = self.chart(kept) if kept else {}
        whole = {key: ways.count for key, ways in items.items() if key[0] in self.domain.roots}
        most = max(whole.values(), default=0)
        return [(str(category), program) for (category, program), count in whole.items() if count == most]

    def meaning(self, words: Sequence[str]) -> tuple[str, Program] | None:
        """Return (atom, program) of a sentence, or None where it has no derivation."""
        return next(iter(self.readings(words)), None)

    def meaningful(self, words: Sequence[str]) -> tuple[str, ...]:
        """Return the words without those that mean nothing."""
        refuse_unknown(words, self.entries, " ".join(words)[:60])
        return tuple(word for word in words if self.entries[word] is not EMPTY)

    def run(self, program: Program) -> Any:
        """Execute a program symbolically; results are remembered."""
        if program not in self._values:
            assert isinstance(program, Call)
            operation = self.domain.operations[program.operation]
            assert operation.hard is not None
            self._values[program] = operation.hard(*(self.run(argument) for argument in program.arguments))
        return self._values[program]

    def derivation(self, words: Sequence[str]) -> dict[str, Any]:
        """Return the derivation as nested dicts: `words`, `category`, `program`, `children`."""
        meaning = self.meaning(words)
        if meaning is None:
            raise DataError(
                f"{' '.join(words)!r} has no derivation with the learned lexicon. "
                "See `groundling g2l2 lexicon` for the entry of each word."
            )
        return self._tree(self.meaningful(words), meaning)

    def _tree(self, words: tuple[str, ...], key: Key) -> dict[str, Any]:
        found = self.chart(words)[key]
        node: dict[str, Any] = {"words": list(words), "category": str(key[0]), "program": show(key[1]), "children": []}
        if found.left and found.right:
            node["children"] = [
                self._tree(words[: found.split], found.left),
                self._tree(words[found.split :], found.right),
            ]
        return node


def name_concepts(program: Program, word: str) -> Program:
    """Fill the `?` of a template with the word's own concept."""
    if isinstance(program, Concept):
        return Concept(program.type, word)
    return rebuild(program, lambda node: name_concepts(node, word))
