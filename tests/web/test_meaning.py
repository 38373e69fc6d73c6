"""Meaning and captions with models small enough to be made by hand."""

from __future__ import annotations

from pathlib import Path

import torch
from fastapi.testclient import TestClient

from groundling.systems.g2l2 import Config, Model, load_domain
from groundling.systems.g2l2.model import Lexicon
from groundling.systems.g2l2.programs import show
from groundling.web.app import create_app


def save_model(folder: Path, domain: str, entries: dict[str, str]) -> dict[str, Path]:
    """A lexicon in which each word surely has the entry of this type and program."""
    made = load_domain(domain)
    lexicon = Lexicon(made, list(entries), generator=torch.Generator())
    known = [f"{one.categories[0]} : {show(one.program)}" for one in made.templates]
    with torch.no_grad():
        for number, program in enumerate(entries.values()):
            lexicon.weights[number, known.index(program)] = 20.0
    Model(Config(domain=domain), lexicon, {"seed": 0}).save(folder)
    return {"g2l2": folder}


def test_a_command_becomes_a_program_and_its_result(tmp_path: Path) -> None:
    models = save_model(tmp_path / "scan", "scan", {"jump": "V : I_JUMP", "twice": r"V\V : λx.repeat(x, times2)"})
    with TestClient(create_app(models), base_url="http://localhost") as client:
        found = client.post("/api/meaning", json={"sentence": "Jump twice"}).json()
        assert found["summary"] == "It means: I_JUMP I_JUMP" and found["code"] == "repeat(I_JUMP, times2)"
        assert [one["name"] for one in found["pictures"]] == ["derivation", "chart"]
        for sentence, why in {"twice": "no derivation", "fly": "fly", "": "no words", "jump " * 13: "too many"}.items():
            reply = client.post("/api/meaning", json={"sentence": sentence})
            assert reply.status_code == 422 and reply.json()["error"]["where"] == "sentence"
            assert why in reply.json()["error"]["what"], sentence


def test_a_question_is_asked_about_a_made_scene(tmp_path: Path) -> None:
    entries = {"any": "B/N : λx.exist(x)", "thing": "N : scene"}
    models = save_model(tmp_path / "clevr", "clevr", entries)
    with TestClient(create_app(models), base_url="http://localhost") as client:
        found = client.post("/api/meaning", json={"sentence": "any thing?", "scene": 3}).json()
        assert found["summary"] == "It means: yes" and found["pictures"][0]["name"] == "scene"
        assert client.post("/api/meaning", json={"sentence": "any thing", "scene": -1}).status_code == 422


def test_a_caption_is_parsed_and_coloured(tmp_path: Path) -> None:
    import numpy as np

    from groundling.experiments import demo_vgnsl
    from groundling.systems.vgnsl import Config as Settings
    from groundling.systems.vgnsl import train
    from groundling.worlds.captions import make_world

    world = make_world(20, np.random.default_rng(0))
    small = Settings(embedding_dim=8, scorer_hidden_dim=4, epochs=1, min_count=1)
    model = train(small, demo_vgnsl.captions_of(world), seed=0, device="cpu")
    model.info["concreteness"] = {"red": 0.5, "a": 0.1}
    model.save(tmp_path / "vgnsl")
    with TestClient(create_app({"vgnsl": tmp_path / "vgnsl"}), base_url="http://localhost") as client:
        found = client.post("/api/captions", json={"sentence": "a red dragon"}).json()
        assert "Unknown to the model: dragon" in found["summary"] and len(found["data"]["spans"]) == 2
        assert found["tables"][0]["rows"] == [["a", "0.100"], ["red", "0.500"]]
        assert client.post("/api/captions", json={"sentence": ""}).json()["error"]["where"] == "sentence"
