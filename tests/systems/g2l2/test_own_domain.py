"""A third domain, declared in one file of the documentation, is learned with nothing made for it."""

from pathlib import Path

import pytest

from groundling.errors import ConfigError, DataError, FormatError
from groundling.systems.g2l2 import Config, Model, load_domain, train

FILE = Path(__file__).parents[3] / "docs" / "examples" / "calendar_domain.py"


@pytest.fixture(scope="module")
def calendar_model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    domain = load_domain(str(FILE))
    shallow = phrases(1)
    config = Config(domain=str(FILE), stages=(7, len(shallow)), each_word=0, steps=20, restarts=2, parse_weight=1.0)
    folder = tmp_path_factory.mktemp("days")
    train(config, shallow, seed=0, folder=folder, domain=domain)
    return Model.load(folder, domain)


def phrases(depth: int) -> list:
    from groundling.systems.g2l2.domains import load_file

    return load_file(FILE).phrases(depth)


def test_the_file_is_short() -> None:
    assert len(FILE.read_text().splitlines()) < 120


def test_words_get_their_meanings_and_deeper_phrases_are_right(calendar_model: Model) -> None:
    assert calendar_model.info["training_accuracy"] == 1
    assert calendar_model.accuracy(phrases(2)) == 1  # trained on one move only
    table = {row["word"]: (row["type"], row["program"]) for row in calendar_model.table()}
    assert table["after"] == ("D/D", "λx.next(x)")
    assert table["two"] == ("D/D/(D/D)", "λf.λx.f(f(x))")
    assert table["days"] == ("<EMPTY>", "<EMPTY>")


def test_a_killed_run_resumes_to_the_same_lexicon(calendar_model: Model, tmp_path: Path) -> None:
    """Stop after the first stage, as a kill would; the resumed run ends with the same bytes as the unbroken one."""
    shallow, config = phrases(1), calendar_model.config
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    domain = load_domain(str(FILE))
    train(config, shallow, seed=3, folder=whole, domain=domain)

    class KillError(Exception):
        pass

    def kill(values: dict) -> None:
        raise KillError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("groundling.training.runs.RunFolder.metrics_size", kill)
        with pytest.raises(KillError):
            train(config, shallow, seed=3, folder=broken, domain=domain)
    train(config, shallow, seed=3, folder=broken, domain=domain, resume=True)
    assert (broken / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()


def test_a_file_without_domain_is_named(tmp_path: Path) -> None:
    empty = tmp_path / "empty.py"
    empty.write_text("x = 1\n")
    with pytest.raises(ConfigError, match=r"has no function `domain\(\)`"):
        load_domain(str(empty))
    with pytest.raises(DataError, match="there is no such file"):
        load_domain(str(tmp_path / "nowhere.py"))
    with pytest.raises(ConfigError, match="Did you mean 'scan'"):
        load_domain("scam")


def test_its_reader_names_a_bad_line(tmp_path: Path) -> None:
    path = tmp_path / "days.tsv"
    path.write_text("monday\tmonday\nthe day after monday\ttewsday\n")
    with pytest.raises(FormatError, match=r"days.tsv:2: 'tewsday' is no day"):
        list(load_domain(str(FILE)).read(path))
