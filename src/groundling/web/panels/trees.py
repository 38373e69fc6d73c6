"""Trees: two trees in, Struct-IoU and ParsEval out, with the alignment drawn (thesis ch. 5)."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from groundling.errors import DataError
from groundling.metrics.base import Score
from groundling.metrics.parseval import ParsEval
from groundling.metrics.struct_iou import StructIoU, with_leaves
from groundling.structures import Tree
from groundling.web.answers import Answer, Picture, Table, field, given
from groundling.web.panels import segments
from groundling.web.shop import Shop

MOST_WORDS = 200


class Request(BaseModel):
    """Two trees in brackets, or two TextGrids."""

    gold: str = Field(max_length=20_000, examples=["(S (NP (N dogs)) (VP (V bark)))"])
    pred: str = Field(max_length=20_000, examples=["(S (N dogs) (V bark))"])
    labels: bool = Field(True, description="Struct-IoU matches equal labels only.")
    convention: Literal["evalb", "plain", "vgnsl", "pcfg"] = Field("plain", description="What ParsEval counts.")


def run(asked: Request, shop: Shop) -> Answer:
    """Score and draw."""
    if segments.is_textgrid(asked.gold) or segments.is_textgrid(asked.pred):
        return segments.compare(asked.gold, asked.pred)
    gold, pred = read_tree(asked.gold, "gold"), read_tree(asked.pred, "pred")
    metric, parseval = StructIoU(labels=asked.labels), ParsEval(asked.convention)
    scores = [metric.score(gold, pred)]
    if gold.words == pred.words:
        scores.append(parseval.score(gold, pred))
        other = ""
    else:
        other = " ParsEval needs equal words in both trees, so it is left out."
    matches = metric.alignment(gold, pred).matches
    nodes = [gold, pred] if asked.labels else [with_leaves(gold), with_leaves(pred)]
    count = f"{len(matches)} of {len(nodes[0].labels)} gold and {len(nodes[1].labels)} predicted nodes are matched"
    return Answer(
        summary=f"Struct-IoU {scores[0].number()}: {count}.{other}",
        command=command(asked, len(scores) == 2),
        pictures=[
            Picture(
                name="struct-iou",
                caption="The alignment that Struct-IoU scores. Point at a node to see its partner.",
                svg=metric.draw(gold, pred),
            )
        ],
        tables=[
            Table(caption="Scores", header=["signature", "score"], rows=[[s.signature, s.number()] for s in scores]),
            Table(
                caption="Matched nodes",
                header=["gold", "predicted", "IoU"],
                rows=[[name(nodes[0], a), name(nodes[1], b), f"{iou:.3f}"] for a, b, iou in matches],
            ),
        ],
        data={"scores": [score_data(score) for score in scores], "matches": [list(match) for match in matches]},
    )


def read_tree(text: str, where: str) -> Tree:
    """One tree of a size that can be drawn."""
    with field(where):
        tree = Tree.from_brackets(text.strip())
        if len(tree.words) > MOST_WORDS or len(tree.labels) > 5 * MOST_WORDS:
            raise DataError(
                f"the tree has {len(tree.words)} words and {len(tree.labels)} nodes; the page draws up to {MOST_WORDS} "
                "words. Score larger ones with `groundling score trees`."
            )
        return tree


def name(tree: Tree, node: int) -> str:
    """A node by its label and words."""
    words = " ".join(tree.words[tree.starts[node] : tree.ends[node]])
    return f"{tree.labels[node] or '·'}: {words if len(words) <= 60 else words[:59] + '…'}"


def score_data(score: Score) -> dict[str, object]:
    """As `groundling score --json` writes it."""
    return score.to_dict()


def command(asked: Request, with_parseval: bool) -> str:
    """The same with files; --no-labels would change ParsEval too, which the panel does not."""
    labels = "" if asked.labels else " --no-labels"
    more = f" --metric parseval --convention {asked.convention}" if with_parseval and asked.labels else ""
    texts = [" ".join(text.split()) for text in (asked.gold, asked.pred)]
    gold, pred = map(given, texts)
    return f"groundling score trees {gold} {pred} --metric struct-iou{labels}{more}"
