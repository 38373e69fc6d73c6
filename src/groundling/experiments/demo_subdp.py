"""The demo of SubDP: two artificial languages, a treebank for one, a parser for the other, in half a minute."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch

from groundling.drawing.alignments import draw_links
from groundling.drawing.arcs import draw_arcs, draw_soft_arcs
from groundling.drawing.charts import draw_bars
from groundling.reports.sections import Picture, Section, Table
from groundling.structures import Alignment, Dependencies, SoftDependencies
from groundling.systems.subdp.config import Config
from groundling.systems.subdp.evaluate import attachment, with_parse
from groundling.systems.subdp.parser import Parser
from groundling.systems.subdp.predict import parse_vectors
from groundling.systems.subdp.project import silver_hard, silver_self, silver_soft
from groundling.systems.subdp.silver import Inventory, Silver, treebank
from groundling.systems.subdp.train import Trees, train_source, train_target
from groundling.systems.subdp.transfer import align_bitext
from groundling.systems.subdp.vectors import Vectors, vectors_of
from groundling.systems.subdp.word_encoder import WordVectors
from groundling.worlds import parallel_treebank
from groundling.worlds.parallel_treebank import Pair

CONFIG = Config(
    lstm_dim=32,
    arc_dim=32,
    label_dim=24,
    dropout=0.15,
    source_epochs=7,
    target_epochs=6,
    source_batch_words=200,
    target_batch_words=200,
    source_learning_rate=5e-3,
    target_learning_rate=3e-3,
)
TEXT = (
    "Two languages that this program made up. The first has a treebank; it puts the verb before the object and the "
    "adjective before the noun. The second has none; its verb comes last, its adjectives follow, it has no article. "
    "Words are aligned by their vectors, arc probabilities are **projected** through the links (thesis 9.2), and a "
    "parser of the second language is trained on them."
)


def run(say: Callable[[str], None], seed: int) -> list[Section]:
    """Train a source parser, project, train the target parsers, and draw what happened."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # the matrices are tiny: on a busy machine a second thread only waits
    try:
        return _run(say, seed)
    finally:
        torch.set_num_threads(threads)


def _run(say: Callable[[str], None], seed: int) -> list[Section]:
    pairs = parallel_treebank.generate(560, np.random.default_rng(seed))
    encoder = WordVectors(parallel_treebank.vectors(seed=seed))

    def vectors(sentences: Sequence[Sequence[str]]) -> Vectors:
        return vectors_of(encoder, sentences, [0])

    gold, bitext, test = [p.source for p in pairs[:220]], pairs[220:440], [p.target for p in pairs[440:]]
    inventory = Inventory.of(gold)
    say("training the source parser")
    trees = Trees(vectors([t.words for t in gold]), treebank(gold, inventory))
    source, _ = train_source(
        CONFIG, trees.select(range(200)), trees.select(range(200, 220)), inventory, seed=seed, device="cpu"
    )
    source.eval()
    say("aligning words")
    words = [p.target.words for p in bitext]
    links = align_bitext(encoder, [p.source.words for p in bitext], words, CONFIG)
    first, second = vectors([p.source.words for p in bitext]), vectors(words)
    silver = {
        "ST": silver_self(source, second, words, inventory),
        "Hard": silver_hard(source, first, words, links, inventory),
        "SubDP": silver_soft(source, first, words, links, CONFIG),
    }
    held_out = vectors([t.words for t in test])
    scores = {"DT": attachment(source, held_out, test, inventory)}
    parsers: dict[str, Parser] = {}
    for name, made in silver.items():
        say(f"training {name}")
        parsers[name], _ = train_target(CONFIG, Trees(second, made), source, seed=seed, device="cpu")
        scores[name] = attachment(parsers[name], held_out, test, inventory)
    chosen = max(range(30), key=lambda k: len(bitext[k].source.words))
    pictures = [
        *_projection(bitext[chosen], links[chosen], silver["SubDP"][chosen]),
        *_trees(source, parsers["SubDP"], held_out, test, inventory),
    ]
    return [_section(scores, pictures)]


def _section(scores: dict[str, dict[str, float]], pictures: list[Picture]) -> Section:
    notes = {
        "DT": "the source parser as it is",
        "ST": "trained on its own guesses",
        "Hard": "trees projected through one-to-one links",
        "SubDP": "distributions projected through all links",
    }
    rows = [(name, notes[name], round(s["uas"], 1), round(s["las"], 1)) for name, s in scores.items()]
    bars = draw_bars([{"name": name, "value": s["uas"]} for name, s in scores.items()])
    return Section(
        "SubDP: a parser for a language without a treebank",
        TEXT,
        tables=[Table(("row", "how", "UAS", "LAS"), rows, "120 sentences of the second language, without punctuation")],
        pictures=[Picture(bars, "UAS of each row of the thesis."), *pictures],
    )


def _projection(pair: Pair, links: Alignment, silver: Silver) -> list[Picture]:
    side = len(silver.words) + 1
    arcs = np.zeros((side, side))
    arcs[silver.arcs.dependent, silver.arcs.head] = silver.arcs.weight
    soft = SoftDependencies(silver.words, arcs)
    return [
        Picture(draw_arcs(pair.source.to_dict()), "A sentence of the first language, with its tree."),
        Picture(draw_links(links.to_dict(pair.source.words, pair.target.words)), "Links found by word vectors alone."),
        Picture(draw_soft_arcs(soft.to_dict(), least=0.05), "What was projected: thickness is probability."),
    ]


def _trees(
    source: Parser, target: Parser, vectors: Vectors, test: Sequence[Dependencies], inventory: Inventory
) -> list[Picture]:
    found = [
        with_parse(test[0], parse_vectors(p.eval(), vectors.select([0]), inventory)[0], inventory)
        for p in (source, target)
    ]
    return [
        Picture(draw_arcs(found[0].to_dict()), "A new sentence, parsed by the source parser (DT)."),
        Picture(draw_arcs(found[1].to_dict()), "The same by SubDP."),
        Picture(draw_arcs(test[0].to_dict()), "The gold tree."),
    ]
