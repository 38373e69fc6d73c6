"""The Captions panel colours words by what the model found concrete in training."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from groundling.structures import Tree
from groundling.web.panels import captions
from groundling.web.shop import Shop


class Model:
    """What the panel needs of a model."""

    def __init__(self, concreteness: dict[str, float]) -> None:
        self.info = {"concreteness": concreteness} if concreteness else {}
        self.vocabulary = SimpleNamespace(words=["a", "ball", "cat"])

    def parse(self, sentences: Iterable[Sequence[str]]) -> Iterator[Tree]:
        for words in sentences:
            yield Tree.from_spans(words, [(0, len(words), "")])


def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, concreteness: dict[str, float]) -> Any:
    shop = Shop({}, tmp_path)
    monkeypatch.setattr(shop, "model", lambda name: Model(concreteness))
    return captions.run(captions.Request(sentence="a Ball rolls"), shop)


def test_words_are_coloured_against_the_most_concrete_word_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = ask(tmp_path, monkeypatch, {"a": 0.1, "ball": 0.2, "cat": 0.8})
    assert found.tables[0].rows == [["a", "0.100"], ["Ball", "0.200"]]
    assert found.data["concreteness"] == {"a": 0.1, "Ball": 0.2}  # not the whole vocabulary
    assert found.pictures[0].svg.count("gl-warm") >= 2 and found.pictures[0].caption.startswith("More colour")
    assert found.summary.endswith("Unknown to the model: rolls.")


def test_a_model_without_concreteness_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = ask(tmp_path, monkeypatch, {})
    assert found.tables == [] and "does not keep" in found.pictures[0].caption


def test_the_command_names_the_folder_of_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask(tmp_path, monkeypatch, {}).command == f"echo 'a Ball rolls' | groundling vgnsl parse {tmp_path}/vgnsl"
