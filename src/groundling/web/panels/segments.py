"""TextGrids pasted in place of trees: how well the words of one lie on those of the other (thesis 4.2.3, 4.3.3)."""

from __future__ import annotations

import io

from groundling.drawing.timeline import draw_segments
from groundling.errors import DataError
from groundling.formats import textgrid
from groundling.metrics.boundaries import Boundaries
from groundling.metrics.segment_iou import SegmentIoU
from groundling.structures import Segmentation
from groundling.web.answers import Answer, Picture, Table, field, given

MOST_SEGMENTS = 200


def is_textgrid(text: str) -> bool:
    """Whether a pasted text looks like a TextGrid, long or short."""
    return text.lstrip("\ufeff \t\r\n").startswith(("File type", '"ooTextFile'))


def compare(gold_text: str, pred_text: str) -> Answer:
    """Score and draw the first tier of each."""
    gold, pred = read_tier(gold_text, "gold"), read_tier(pred_text, "pred")
    scores = [metric.score(gold, pred) for metric in (Boundaries(), SegmentIoU())]
    return Answer(
        summary=f"Word boundaries {scores[0].number()} F1 within 20 ms; segment IoU {scores[1].number()}.",
        command=f"groundling score segments {given(gold_text)} {given(pred_text)}",
        pictures=[
            Picture(
                name="segments",
                caption="The predicted segments over the gold ones.",
                svg=draw_segments(pred.to_dict(), None, gold.to_dict()),
            )
        ],
        tables=[
            Table(caption="Scores", header=["signature", "score"], rows=[[s.signature, s.number()] for s in scores])
        ],
        data={"scores": [score.to_dict() for score in scores], "gold": gold.to_dict(), "pred": pred.to_dict()},
    )


def read_tier(text: str, where: str) -> Segmentation:
    """The first interval tier."""
    with field(where):
        if not is_textgrid(text):
            raise DataError("the other side is a TextGrid and this is not. Paste two trees, or two TextGrids.")
        tier = next(iter(textgrid.read(io.BytesIO(text.strip().encode()))), None)
        if tier is None or not tier.segments:
            raise DataError("the TextGrid has no tier with intervals. Give one whose first interval tier has words.")
        if len(tier.segments) > MOST_SEGMENTS:
            raise DataError(f"{len(tier.segments)} segments are too many to draw. Use `groundling score segments`.")
    return tier
