"""The corpora of the SubDP study, read and cut into words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from groundling.experiments.subdp import LANGUAGES, TESTS, Material
from groundling.formats import conllu
from groundling.formats.corpora import find
from groundling.formats.files import open_text
from groundling.structures import Alignment, Dependencies
from groundling.systems.subdp.tokens import tokenise

# to train on; of GSD's German only the dev and test parts are given, so it is the dev part that is learned from
TREEBANKS = {
    "en": "en_ewt/en_ewt-ud-train",
    "de": "de_gsd/de_gsd-ud-dev",
    "fr": "fr_partut/fr_partut-ud-train",
    "it": "it_partut/it_partut-ud-train",
}


def read_material(data: str | Path | None = None, languages: Sequence[str] = LANGUAGES) -> Material:
    """EWT and the ParTUT treebanks, NTREX in English and the targets, PUD and the other test sets."""
    ud = find("ud", data)
    treebanks = {code: _trees(ud, name) for code, name in TREEBANKS.items()}
    treebanks |= {f"en_{part}": _trees(ud, f"en_ewt/en_ewt-ud-{part}") for part in ("dev", "test")}
    tests = {f"{code}_pud": _trees(ud, f"pud/{code}_pud-ud-test") for code in ("en", *languages)}
    tests |= {name: _trees(ud, _place(name)) for code in languages for name in TESTS[code]}
    tests["en_ewt"] = treebanks["en_test"]
    bitext = read_ntrex(find("bitext", data) / "ntrex128_15langs.tsv.xz", ("en", *languages))
    return Material(treebanks, bitext, tests, _gold(find("align-gold", data)))


def read_ntrex(path: Path, languages: Sequence[str]) -> dict[str, list[list[str]]]:
    """NTREX: the first line names the languages; a line with an empty sentence is left out of all."""
    with open_text(path) as lines:
        header = next(lines).split("\t")
        columns = [header.index(code) for code in languages]
        rows = [[fields[k] for k in columns] for fields in (line.split("\t") for line in lines)]
    cut = [[tokenise(text, code) for text, code in zip(row, languages, strict=True)] for row in rows]
    full = [row for row in cut if all(row)]
    return {code: [row[k] for row in full] for k, code in enumerate(languages)}


def _place(name: str) -> str:
    folder = name.removesuffix("_dev")
    return f"{folder}/{folder}-ud-{'test' if folder == name else 'dev'}"


def _trees(ud: Path, name: str) -> list[Dependencies]:
    return [tree for tree in conllu.read(ud / f"{name}.conllu.gz") if not tree.faults()]


def _gold(folder: Path) -> tuple[list[str], list[Alignment]]:
    with open_text(folder / "en-fr_pud_content.ids") as lines:
        ids = [line.strip() for line in lines]
    with open_text(folder / "en-fr_pud_content.tsv.gz") as lines:
        links = [Alignment.from_pharaoh(line.split("\t")[2]) for line in lines]
    return ids, links
