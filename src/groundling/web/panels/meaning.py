"""Meaning: a sentence in; chart, derivation, program and result out, with a learned lexicon (G2L2, thesis ch. 6)."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote
from typing import Any

import numpy as np
from pydantic import BaseModel, Field

from groundling.drawing.parse_chart import draw_chart, draw_derivation
from groundling.drawing.scenes import draw_scene
from groundling.errors import DataError
from groundling.web.answers import Answer, Picture, Table, field
from groundling.web.shop import Shop

MOST_WORDS = 12


class Request(BaseModel):
    """A sentence of the model's domain."""

    sentence: str = Field(max_length=500, examples=["jump twice"])
    scene: int = Field(default=0, ge=0, lt=10_000, description="For CLEVR: which of the made scenes is asked about.")


def run(asked: Request, shop: Shop) -> Answer:
    """Parse with the best entry of each word, and run the program."""
    from groundling.systems.g2l2.predict import make_parser, trace
    from groundling.systems.g2l2.views import derivation_nodes, show_value

    model = shop.model("g2l2")
    with field("sentence"):
        words = read_sentence(asked.sentence)
        parser = make_parser(model.lexicon)
        tree = parser.derivation(words)
        example = ask(model, words, asked.scene)
        steps = trace(model.lexicon, example, parser.readings(words)[0][1])
        answer = str(model.answer([example])[0])
    table = [row for row in model.table() if row["word"] in words]
    return Answer(
        summary=f"It means: {answer}",
        code=tree["program"],
        command=f"groundling g2l2 answer {quote(shop.folder('g2l2'))} {quote(' '.join(words))}"
        + (f" --scenes scenes.json --scene {asked.scene}" if hasattr(example, "scene") else ""),
        pictures=[
            *scene_pictures(example, steps),
            Picture(name="derivation", caption="Types and programs.", svg=draw_derivation(derivation_nodes(tree))),
            Picture(name="chart", caption="All that the parser found.", svg=draw_chart(chart(parser, words))),
        ],
        tables=[
            Table(
                caption="The words' entries, and their share of each word's use",
                header=["word", "type", "program", "share"],
                rows=[[row["word"], row["type"], row["program"], f"{row['share']:.2f}"] for row in table],
            ),
            Table(
                caption="The program, step by step",
                header=["program", "type", "value"],
                rows=[[program, kind, show_value(value)] for program, kind, value in steps],
            ),
        ],
        data={"answer": answer, "derivation": tree, "lexicon": table},
    )


def ask(model: Any, words: tuple[str, ...], number: int) -> Any:
    """The sentence as the domain asks it; a question about things in a scene gets a made one."""
    if not hasattr(model.domain, "scenes"):
        return model.domain.ask(words, 0)
    from groundling.worlds.clevr_questions import Question
    from groundling.worlds.clevr_scenes import make_scene

    return Question(words, make_scene(number, np.random.default_rng(number)), "")


def scene_pictures(example: Any, steps: Sequence[tuple[str, str, Any]]) -> list[Picture]:
    """The scene, if there is one; framed are the things that the last set of the program holds."""
    if not hasattr(example, "scene"):
        return []
    objects = example.scene.objects
    things = [{**vars(thing), "x": thing.place[0], "y": thing.place[1]} for thing in objects]
    sets = [value for _, kind, value in steps if kind == "ObjectSet" and len(value) == len(objects)]
    framed = [k for k, share in enumerate(sets[-1]) if share > 0.5] if sets else []
    caption = "The scene; framed are the things that the program ends with."
    return [Picture(name="scene", caption=caption, svg=draw_scene(things, framed))]


def read_sentence(text: str) -> tuple[str, ...]:
    """Some words in small letters."""
    words = tuple(text.lower().replace("?", " ").split())
    if not words:
        raise DataError("there are no words. Write a command, e.g. `jump twice`.")
    if len(words) > MOST_WORDS:
        raise DataError(f"{len(words)} words are too many to draw the chart. Give at most {MOST_WORDS}.")
    return words


def chart(parser: Any, words: Sequence[str]) -> dict[str, Any]:
    """Every stretch of words that means something."""
    kept = parser.meaningful(words)
    cells: list[dict[str, Any]] = []
    for start in range(len(kept)):
        for end in range(start + 1, len(kept) + 1):
            found = parser.chart(kept[start:end])
            if found:
                entries = [{"text": str(category), "weight": None} for category, _ in found]
                cells.append({"start": start, "end": end, "entries": entries})
    return {"words": list(kept), "cells": cells}
