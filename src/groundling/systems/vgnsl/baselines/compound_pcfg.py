"""The compound PCFG on captions; the grammar itself is in `groundling.neural.compound_pcfg`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from groundling.neural.compound_pcfg import CompoundConfig, CompoundPCFG, train_compound_pcfg
from groundling.systems.vgnsl.baselines.shape import Options, Parser, Spans
from groundling.systems.vgnsl.data import Captions
from groundling.systems.vgnsl.words import Vocabulary


@dataclass(frozen=True)
class CompoundParser(Parser):
    """A grammar over word numbers."""

    vocabulary: Vocabulary
    grammar: CompoundPCFG

    def spans(self, sentences: Sequence[Sequence[str]]) -> list[Spans]:
        """Trees of the largest summed span marginals."""
        return self.grammar.spans([self.vocabulary.encode(words) for words in sentences])


def learn(captions: Captions, seed: int, options: Options, config: CompoundConfig | None = None) -> CompoundParser:
    """Learn from the text alone."""
    config = config or (CompoundConfig() if options.epochs is None else CompoundConfig(epochs=options.epochs))
    vocabulary = Vocabulary.of(captions.sentences, min_count=3)
    numbers = [vocabulary.encode(words) for words in captions.sentences]
    watch = options.watch
    grammar = train_compound_pcfg(
        numbers,
        len(vocabulary),
        config,
        seed=seed,
        device=options.device,
        watch=None if watch is None else lambda model: watch(CompoundParser(vocabulary, model)),
        every=options.every,
    )
    return CompoundParser(vocabulary, grammar)
