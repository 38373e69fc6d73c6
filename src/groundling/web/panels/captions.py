"""Captions: the tree of a caption by a learner that saw captions and pictures, never a tree (VG-NSL, thesis ch. 3)."""

from __future__ import annotations

from shlex import quote

from pydantic import BaseModel, Field

from groundling.drawing.trees import draw_tree
from groundling.structures import Tree
from groundling.web.answers import Answer, Picture, Table
from groundling.web.panels.words import read_words
from groundling.web.shop import Shop


class Request(BaseModel):
    """A caption, words separated by spaces."""

    sentence: str = Field(max_length=2_000, examples=["a small red ball ."])


def run(asked: Request, shop: Shop) -> Answer:
    """Parse and draw."""
    model = shop.model("vgnsl")
    words = read_words(asked.sentence, "sentence")
    [tree] = model.parse([words])
    learned: dict[str, float] = model.info.get("concreteness", {})
    concrete = {word: learned[key] for word in words for key in (word, word.lower()) if key in learned}
    known = set(model.vocabulary.words)
    unknown = [word for word in words if word not in known and word.lower() not in known]
    note = f" Unknown to the model: {', '.join(unknown)}." if unknown else ""
    return Answer(
        summary=f"{tree}{note}",
        command=f"echo {quote(' '.join(words))} | groundling vgnsl parse {quote(shop.folder('vgnsl'))}",
        pictures=[picture(tree, concrete, max(learned.values(), default=0.0))],
        tables=[
            Table(
                caption="How concrete the model finds the words",
                header=["word", "concreteness"],
                rows=[[word, f"{concrete[word]:.3f}"] for word in dict.fromkeys(words) if word in concrete],
            )
        ]
        if concrete
        else [],
        data={"tree": str(tree), "spans": [[s.start, s.end] for s in tree.spans()], "concreteness": concrete},
    )


def picture(tree: Tree, concrete: dict[str, float], most: float) -> Picture:
    """The tree; words are coloured by how concrete they are, against the most concrete word that the model knows."""
    top = most if most > 0 else 1.0
    shares = [max(0.0, concrete[word]) / top if word in concrete else None for word in tree.words]
    caption = "More colour: a more concrete word." if most else "This model does not keep how concrete words are."
    return Picture(name="tree", caption=caption, svg=draw_tree(tree.to_dict(), colours=shares))
