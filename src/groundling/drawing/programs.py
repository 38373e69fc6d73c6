"""Which programs agree: candidates grouped by what they return (MBR-Exec, thesis ch. 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from groundling.drawing import svg
from groundling.drawing.text import shorten, width

DOT, TALL, WIDE = 22.0, 46.0, 640.0
_RESULT = 28  # characters of a result that are shown


def draw_agreement(groups: Sequence[Mapping[str, Any]], *, chosen: int | None = None, title: str = "") -> str:
    """Draw groups of programs, each with its `result`, its `programs` (their indices) and whether it `failed`.

    The largest group stands first; the chosen program is filled, and its group framed.

    >>> draw_agreement([{"result": "[3, 4]", "programs": [0, 2]}], chosen=2).count("data-program")
    2
    """
    order = sorted(groups, key=lambda group: (bool(group.get("failed")), -len(group["programs"])))
    side = max((_code_width(str(group["result"])) for group in order), default=0) + 28
    per_row = max(1, int((WIDE - side - 110) / DOT))
    parts: list[str] = []
    y = 14.0
    for group in order:
        rows = max(1, -(-len(group["programs"]) // per_row))
        tall = max(TALL, rows * DOT + 20)
        parts.append(_draw_group(group, y, tall, side, per_row, chosen))
        y += tall + 6
    count = sum(len(group["programs"]) for group in order)
    text = "; ".join(f"{len(group['programs'])} programs: {group['result']}" for group in order)
    return svg.picture(WIDE, y + 8, parts, title or f"{count} programs give {len(order)} results", text)


def _code_width(text: str) -> float:
    """Fixed-width letters take the same room each, wide ones two."""
    short = shorten(text, _RESULT)
    return max(13 * 0.63 * len(short), width(short, 13))


def _draw_group(group: Mapping[str, Any], y: float, tall: float, side: float, per_row: int, chosen: int | None) -> str:
    programs: list[int] = [int(program) for program in group["programs"]]
    hue = "rose" if group.get("failed") else "accent"
    won = chosen in programs
    parts = [svg.box(12, y, WIDE - 24, tall, f"gl-{hue}", 6, fill_opacity="0.10")]
    if won:
        parts.append(svg.box(12, y, WIDE - 24, tall, "gl-warm-s", 6, stroke_width="2"))
    parts.append(
        svg.label(
            24, y + tall / 2 + 5, str(group["result"]), "gl-ink gl-code", anchor="start", limit=_RESULT, font_size=13
        )
    )
    for i, program in enumerate(programs):
        x, cy = (
            side + 12 + DOT * (i % per_row + 0.5),
            y + 10 + DOT * (i // per_row + 0.5) + max(0.0, (tall - 20 - DOT * (-(-len(programs) // per_row))) / 2),
        )
        picked = program == chosen
        look: dict[str, object] = {
            "class_": f"gl-{'warm' if picked else hue}",
            "fill_opacity": None if picked else "0.3",
        }
        dot = svg.element("circle", cx=x, cy=cy, r=9.0, **look)
        number = svg.label(x, cy + 4, str(program), "gl-paper gl-b" if picked else "gl-ink", font_size=10)
        tip = svg.element("title", f"program {program}{', chosen' if picked else ''}")
        parts.append(svg.element("g", dot + number + tip, data_program=program))
    note = "fail" if group.get("failed") else "agree" if len(programs) > 1 else "alone"
    parts.append(
        svg.label(WIDE - 24, y + tall / 2 + 5, f"{len(programs)} {note}", "gl-muted", anchor="end", font_size=12)
    )
    return svg.element("g", "".join(parts))
