"""Words: two sentences in, their word alignment out (thesis ch. 8), by the similarity of contextual vectors."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from groundling.drawing.alignments import draw_grid, draw_links
from groundling.errors import DataError
from groundling.structures import Alignment
from groundling.web.answers import Answer, Picture, Table, field, given
from groundling.web.shop import Shop

MOST_WORDS = 60
Method = Literal["argmax", "itermax", "match", "softmax"]


class Request(BaseModel):
    """Two sentences, words separated by spaces."""

    source: str = Field(max_length=2_000, examples=["the dog sleeps"])
    target: str = Field(max_length=2_000, examples=["der Hund schläft"])
    method: Method = "argmax"


def run(asked: Request, shop: Shop) -> Answer:
    """Align and draw."""
    source, target = read_words(asked.source, "source"), read_words(asked.target, "target")
    found = align_pair(source, target, asked.method, shop)
    plain = found.to_dict(source, target)
    rows = [[source[i], target[j], f"{p:.3f}"] for (i, j), p in sorted(found.probabilities.items())]
    return Answer(
        summary=f"{len(found.sure)} links: {found}",
        command=command(source, target, asked.method),
        pictures=[
            Picture(
                name="links", caption="Linked words; the stronger the line, the more alike.", svg=draw_links(plain)
            ),
            Picture(name="grid", caption="The same links as a grid.", svg=draw_grid(plain)),
        ],
        tables=[Table(caption="Links", header=["source", "target", "similarity"], rows=rows)],
        data={"method": asked.method, "pharaoh": str(found), "alignment": plain},
    )


def align_pair(source: list[str], target: list[str], method: str, shop: Shop) -> Alignment:
    """The alignment of one pair."""
    from groundling.systems.mlpalign import align

    return next(iter(align([source], [target], encoder=shop.encoder(), method=method)))


def read_words(text: str, where: str) -> list[str]:
    """The words of one sentence, not too many to draw."""
    words = text.split()
    with field(where):
        if not words:
            raise DataError("there are no words. Write a sentence, words separated by spaces.")
        if len(words) > MOST_WORDS:
            raise DataError(f"{len(words)} words are too many to draw. Give at most {MOST_WORDS}.")
    return words


def command(source: list[str], target: list[str], method: str) -> str:
    """The same with files."""
    first, second = given(" ".join(source)), given(" ".join(target))
    return f"groundling mlpalign align {first} {second} --method {method}"
