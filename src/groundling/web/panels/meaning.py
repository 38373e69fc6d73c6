"""Meaning: a sentence in; chart, derivation, program and result out, with a learned lexicon (G2L2, thesis ch. 6)."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote
from typing import Any

from pydantic import BaseModel, Field

from groundling.drawing.parse_chart import draw_chart, draw_derivation
from groundling.errors import DataError
from groundling.web.answers import Answer, Picture, Table, field
from groundling.web.shop import Shop

MOST_WORDS = 12


class Request(BaseModel):
    """A sentence of the model's domain."""

    sentence: str = Field(max_length=500, examples=["jump twice"])


def run(asked: Request, shop: Shop) -> Answer:
    """Parse with the best entry of each word, and run the program."""
    from groundling.systems.g2l2.predict import make_parser
    from groundling.systems.g2l2.views import answer_with_trace, derivation_nodes, show_value

    model = shop.model("g2l2")
    with field("sentence"):
        words = read_sentence(asked.sentence)
        parser = make_parser(model.lexicon)
        tree = parser.derivation(words)
        answer, steps = answer_with_trace(model, words)
    table = [row for row in model.table() if row["word"] in words]
    return Answer(
        summary=f"It means: {answer}",
        code=tree["program"],
        command=f"groundling g2l2 answer {quote(shop.folder('g2l2'))} {quote(' '.join(words))}",
        pictures=[
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
