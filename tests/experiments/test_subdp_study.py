import json
from pathlib import Path

import pytest

from groundling.experiments import demo_subdp
from groundling.experiments.subdp import (
    Bench,
    Material,
    Transfer,
    gold_alignment,
    several_sources,
    source_parser,
    stored,
)
from groundling.experiments.subdp_data import read_material
from groundling.experiments.subdp_rows import ROWS, run
from groundling.structures import Dependencies
from groundling.systems.subdp.config import Config
from systems.subdp.small import CONFIG, encoder, pairs


def named(trees: list[Dependencies]) -> list[Dependencies]:
    return [Dependencies(t.words, t.heads, t.labels, t.tags, (f"# sent_id = {k}",)) for k, t in enumerate(trees)]


@pytest.fixture(scope="module")
def bench() -> Bench:
    """The study on the built-in languages: `en` and `fr` are the first one, `de` the second."""
    drawn = pairs()
    gold, bitext, test = drawn[:100], drawn[150:230], drawn[300:]
    english, other = named([p.source for p in test]), named([p.target for p in test])
    trees = [p.source for p in gold]
    material = Material(
        {"en": trees, "de": trees[:10], "fr": trees[:20], "it": trees[:20], "en_dev": trees[-20:]},
        {
            code: [p.target.words if code == "de" else p.source.words for p in bitext]
            for code in ("en", "fr", "it", "de")
        },
        {"en_pud": english, "fr_pud": other, "de_pud": other, "de_gsd": other},
        ([str(k) for k in range(len(test))], [p.alignment for p in test]),
    )
    config = Config(**{**CONFIG.__dict__, "source_epochs": 3, "target_epochs": 2})
    return Bench(material, encoder(), config, None, "cpu")


def test_every_row_of_the_study_gives_a_parser(bench: Bench) -> None:
    parser = source_parser(bench, 0)
    transfer = Transfer(bench, parser, "de", 0)
    scores = {name: bench.scores(make(), "de", ["de_pud"])["de_pud"] for name, make in transfer.rows().items()}
    assert set(scores) == {*ROWS, "DT with SubDP init", "SubDP + gold", "SubDP + fill"}
    assert all(0 <= s["las"] <= s["uas"] <= 100 for s in scores.values())
    assert scores["SubDP"]["uas"] > scores["DT"]["uas"]
    assert bench.score(transfer.with_pairs(20), "de_pud")["uas"] >= 0
    several = several_sources(bench, parser, "de", 0)
    assert several["DT"] is parser and len(several) == 3
    rows = gold_alignment(bench, parser, 0, train=25)
    assert {"DT", "predicted", "gold, content words"} <= set(rows)


def test_rows_are_read_from_stored_cells_and_missing_ones_left_out(tmp_path: Path) -> None:
    for seed, uas in ((0, 80.0), (1, 82.0)):
        value = {"de_pud": {"uas": uas, "las": 70.0}, "de_gsd": {"uas": 1.0, "las": 2.0}}
        value["de_gsd_dev"] = {"uas": 3.0, "las": 4.0}
        assert stored(tmp_path / "lstm", f"de-SubDP-{seed}", lambda value=value: value) == value
    rows = {row.name: row for row in run(None, tmp_path)}
    assert rows["9.1 de_pud, SubDP, UAS"].ours == 81 and rows["9.1 de_pud, SubDP, UAS"].note == "2 seeds, sd 1.0"
    assert rows["9.1 de_gsd, SubDP, LAS"].thesis == 71.7
    assert (
        rows["9.2 de_gsd_dev, many-to-one, UAS"].thesis == 81.6 and rows["9.2 de_pud, many-to-one, UAS"].thesis is None
    )
    assert "9.1 fr_pud, SubDP, UAS" not in rows and "9.1 mean of PUD, SubDP, UAS" not in rows  # four languages lack
    assert json.loads((tmp_path / "lstm" / "de-SubDP-0.json").read_text())["de_pud"]["uas"] == 80


def test_means_are_of_all_languages_or_not_there(tmp_path: Path) -> None:
    for language, uas in zip(("de", "fr", "it", "hi", "tr"), (80.0, 82.0, 84.0, 50.0, 54.0), strict=True):
        stored(tmp_path / "lstm", f"{language}-DT-0", lambda c=language, u=uas: {f"{c}_pud": {"uas": u, "las": 10.0}})
    rows = {row.name: row.ours for row in run(None, tmp_path)}
    assert rows["9.1 mean of PUD, DT, UAS"] == 70 and rows["curve mean of de, fr, it, 0 pairs, UAS"] == 82
    assert rows["curve mean of hi, tr, 0 pairs, UAS"] == 52


def test_material_has_the_sets_beside_pud(data_dir: Path) -> None:
    material = read_material(data_dir, ("hi",))
    assert set(material.tests) == {"en_pud", "hi_pud", "en_ewt"} and set(material.treebanks) >= {"en", "de", "fr", "it"}
    assert len(material.bitext["en"]) == len(material.bitext["hi"]) > 1900


@pytest.mark.slow
def test_demo_shows_that_projection_helps() -> None:
    section = demo_subdp.run(lambda _: None, 0)[0]
    scores = {row[0]: row[2] for row in section.tables[0].rows}
    assert scores["SubDP"] > scores["DT"] + 10 and len(section.pictures) == 7
