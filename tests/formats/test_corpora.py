"""Real corpora, where they are: byte for byte, tree for tree."""

import gzip
import os
import time
import zipfile
from pathlib import Path

import pytest

from groundling.errors import DataError
from groundling.formats import aligned, brackets, conllu, corpora, pharaoh, samples


@pytest.fixture(autouse=True)
def no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


def test_every_treebank_survives_byte_for_byte(data_dir: Path, tmp_path: Path) -> None:
    paths = sorted((data_dir / "crosslingual/ud").rglob("*.conllu.gz"))
    assert len(paths) >= 30
    for path in paths:
        conllu.write(tmp_path / "again.conllu", conllu.read(path))
        assert (tmp_path / "again.conllu").read_bytes() == gzip.decompress(path.read_bytes()), path.name


def test_induced_trees_are_read_as_unlabelled(data_dir: Path) -> None:
    paths = sorted((data_dir / "vision/mscoco_vgnsl/system_outputs").glob("*.txt.gz"))
    assert len(paths) == 12
    for path in paths:
        trees = list(brackets.read(path))
        assert len(trees) == 4968
        assert trees[0].words == ("a", "young", "man", "skate", "boarding", "at", "night"), path.name
        assert not any(any(tree.labels) for tree in trees)


def test_gold_trees_are_read_as_labelled_and_fast(data_dir: Path) -> None:
    folder = data_dir / "vision/mscoco_vgnsl"
    began = time.process_time()
    trees = list(brackets.read(folder / "test_trees.txt"))
    spent = time.process_time() - began
    bare = list(brackets.read(folder / "test_ground-truth.txt"))
    assert [tree.words for tree in trees[:2]] == [tree.words for tree in bare[:2]]
    assert trees[0].labels[:3] == ("NP", "NP", "NP") and not any(bare[0].labels)
    assert len(trees) == len(bare) == 5000
    assert spent < 1.0  # about 0.2 s; the margin is for a busy machine


def test_the_penn_treebank_sample_has_its_3914_trees(data_dir: Path) -> None:
    count = 0
    with zipfile.ZipFile(data_dir / "vision/treebanks/nltk_treebank.zip") as archive:
        for name in archive.namelist():
            if name.endswith(".mrg"):
                with archive.open(name) as handle:
                    trees = list(brackets.read(handle))
                assert all(tree.labels[0] == "" and tree.tags.count("") == 0 for tree in trees), name
                count += len(trees)
    assert count == 3914


@pytest.mark.parametrize("name", ["cess_esp", "floresta", "sinica_treebank"])
def test_lower_case_labels_of_treebanks_are_not_taken_for_words(data_dir: Path, name: str) -> None:
    with zipfile.ZipFile(data_dir / f"vision/treebanks/nltk_{name}.zip") as archive:
        member = next(n for n in sorted(archive.namelist()) if n.endswith((".tbf", ".ptb", "parsed")))
        text = archive.read(member).decode("utf-8", "replace")
    trees = [line for line in text.split("\n") if line.startswith("(") and line.count("(") == line.count(")")]
    assert not brackets.looks_unlabelled(trees[:50])


def test_gold_alignments_and_published_outputs(data_dir: Path) -> None:
    folder = data_dir / "crosslingual/align_gold"
    counts = {path.name: sum(1 for _ in aligned.read(path)) for path in folder.glob("*.tsv.gz")}
    assert counts["en-fr_hansards_wpt03.tsv.gz"] == 447
    assert counts["ja-en_kftt.tsv.gz"] == 582
    assert all(counts.values())
    for path in (folder / "reference_outputs").glob("*enfr*.gz"):
        assert sum(1 for _ in pharaoh.read(path)) == 447


def test_released_samples(data_dir: Path) -> None:
    items = list(samples.read(data_dir / "programs/samples/humaneval_codegen16b_n100.jsonl.gz"))
    assert len(items) == 164 and {len(item) for item in items} == {100}
    assert items[0].prompt.startswith("from typing") and items[0].programs[0].source == "CodeGen-Mono-16B"


def test_the_folder_of_corpora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GROUNDLING_DATA", raising=False)
    assert corpora.data_dir() is None
    monkeypatch.setenv("GROUNDLING_DATA", str(tmp_path))
    assert corpora.data_dir() == tmp_path
    with pytest.raises(DataError, match="there is no such folder of corpora"):
        corpora.data_dir(tmp_path / "none")
    with pytest.raises(DataError, match=r"no corpus is called 'scam'\. Did you mean 'scan'"):
        corpora.find("scam")
    with pytest.raises(
        DataError, match=r"the corpus 'scan' is not here\. Get it from https://github.com/brendenlake/SCAN"
    ):
        corpora.find("scan")
    (tmp_path / "programs/scan").mkdir(parents=True)
    assert corpora.find("scan") == tmp_path / "programs/scan"


def test_every_folder_of_the_data_is_described(data_dir: Path) -> None:
    folders = {f"{part.name}/{x.name}" for part in data_dir.iterdir() if part.is_dir() for x in part.iterdir()}
    assert folders == {corpus.path for corpus in corpora.CORPORA.values()}


def test_checksums_see_names_sizes_and_contents(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    quick, full = corpora.checksum(tmp_path), corpora.checksum(tmp_path, contents=True)
    (tmp_path / "a").write_text("y")
    assert corpora.checksum(tmp_path) == quick and corpora.checksum(tmp_path, contents=True) != full
    (tmp_path / "b").write_text("")
    assert corpora.checksum(tmp_path) != quick
