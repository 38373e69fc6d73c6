"""Scenes of simple objects, as in CLEVR."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from groundling.drawing import svg

Thing = Mapping[str, Any]  # shape, colour (or color), size, material, x, y
_PAINT = {
    "gray": "#7d828a", "grey": "#7d828a", "red": "#c0392b", "blue": "#2f62c9", "green": "#2f8f4e",
    "brown": "#85552d", "purple": "#7d3fb0", "cyan": "#2aa5b5", "yellow": "#d9b310", "orange": "#d9761a",
    "black": "#2b2b2b", "white": "#e9e9e4", "pink": "#d9699b",
}  # fmt: skip
_SIDE = {"small": 30.0, "large": 52.0, "tiny": 22.0, "big": 52.0, "medium": 40.0}


def _place(things: Sequence[Thing], key: str) -> list[float]:
    """Coordinates in 0-1: kept when they are already, else as a share of -3..3 (CLEVR) or of their own range."""
    values = [float(thing[key]) for thing in things]
    low, high = min(values, default=0.0), max(values, default=1.0)
    if low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    elif low >= -3 and high <= 3:
        low, high = -3.0, 3.0
    return [(value - low) / (high - low) if high > low else 0.5 for value in values]


def _cube(x: float, y: float, side: float, paint: str) -> str:
    n, half, lift = svg.num, side / 2, side * 0.28
    front = f"M{n(x - half)} {n(y)}v{n(-side)}h{n(side)}v{n(side)}Z"
    top = f"M{n(x - half)} {n(y - side)}l{n(lift)} {n(-lift)}h{n(side)}l{n(-lift)} {n(lift)}Z"
    flank = f"M{n(x + half)} {n(y)}l{n(lift)} {n(-lift)}v{n(-side)}l{n(-lift)} {n(lift)}Z"
    shades = ((top, "#fff", 0.28), (flank, "#000", 0.25))
    parts = [svg.element("path", d=front + top + flank, fill=paint)]
    return "".join([*parts, *(svg.element("path", d=d, fill=f, fill_opacity=o) for d, f, o in shades)])


def _cylinder(x: float, y: float, side: float, paint: str) -> str:
    n, half, flat = svg.num, side / 2, side * 0.18
    body = f"M{n(x - half)} {n(y - flat)}a{n(half)} {n(flat)} 0 0 0 {n(side)} 0v{n(-side * 0.9)}h{n(-side)}Z"
    lid: dict[str, object] = {"cx": x, "cy": y - flat - side * 0.9, "rx": half, "ry": flat}
    shadow = f"M{n(x + half * 0.35)} {n(y - flat * 0.1)}q{n(half * 0.6)} {n(-flat * 0.2)} {n(half * 0.65)} {n(-flat)}"
    shadow += f"v{n(-side * 0.9)}h{n(-half * 0.65)}Z"
    return (
        svg.element("path", d=body, fill=paint)
        + svg.element("path", d=shadow, fill="#000", fill_opacity="0.2")
        + svg.element("ellipse", fill=paint, **lid)
        + svg.element("ellipse", fill="#fff", fill_opacity="0.28", **lid)
    )


def _sphere(x: float, y: float, side: float, paint: str) -> str:
    r, n = side * 0.55, svg.num
    crescent = (
        f"M{n(x - r * 0.77)} {n(y - r * 0.36)}A{n(r)} {n(r)} 0 0 0 {n(x + r * 0.77)} {n(y - r * 1.64)}"
        f"A{n(r * 1.5)} {n(r * 1.5)} 0 0 1 {n(x - r * 0.77)} {n(y - r * 0.36)}Z"
    )
    return (
        svg.element("circle", cx=x, cy=y - r, r=r, fill=paint)
        + svg.element("path", d=crescent, fill="#000", fill_opacity="0.2")
        + svg.element("circle", cx=x - r * 0.3, cy=y - r * 1.35, r=r * 0.3, fill="#fff", fill_opacity="0.3")
    )


_SHAPES = {"cube": _cube, "cylinder": _cylinder, "sphere": _sphere}


def _sheen(x: float, y: float, side: float) -> str:
    """Metal shines, rubber does not."""
    n = svg.num
    spark = f"M{n(x - side * 0.3)} {n(y - side * 0.3)}l{n(side * 0.2)} {n(-side * 0.5)}"
    return svg.element(
        "path", d=spark, stroke="#fff", stroke_opacity="0.75", stroke_width=side * 0.09, stroke_linecap="round"
    )


def name_of(thing: Thing) -> str:
    """The object in words, as CLEVR says it."""
    colour = thing.get("colour") or thing.get("color") or ""
    return " ".join(str(word) for word in (thing.get("size"), colour, thing.get("material"), thing["shape"]) if word)


def draw_scene(things: Sequence[Thing], highlighted: Collection[int] = (), *, title: str = "") -> str:
    """Draw objects on a floor: x runs to the right, y to the front; highlighted ones are ringed, the rest fade.

    >>> scene = [{"shape": "cube", "colour": "red", "size": "small", "material": "metal", "x": 0.2, "y": 0.5}]
    >>> "small red metal cube" in draw_scene(scene)
    True
    """
    xs, ys = _place(things, "x"), _place(things, "y")
    parts = [svg.element("path", d="M90 44H390L468 270H12Z", class_="gl-rule", fill_opacity="0.45")]
    for k in sorted(range(len(things)), key=lambda k: (k in highlighted, ys[k], xs[k])):
        thing = things[k]
        near = 0.62 + 0.38 * ys[k]  # what is further back is smaller
        x, y = 240 + (xs[k] - 0.5) * 380 * near, 84 + ys[k] * 165
        side = _SIDE.get(str(thing.get("size", "medium")), 40.0) * near
        paint = _PAINT.get(str(thing.get("colour") or thing.get("color")), "#7d828a")
        lit = k in highlighted
        shape = svg.element("ellipse", cx=x + 3, cy=y, rx=side * 0.7, ry=side * 0.17, fill="#000", fill_opacity="0.18")
        shape += _SHAPES.get(str(thing["shape"]), _cube)(x, y, side, paint)
        shape += _sheen(x, y, side) if thing.get("material") in ("metal", "metallic", "shiny") else ""
        faded = svg.element("g", shape, opacity="0.35" if highlighted and not lit else None)
        if lit:
            ring: dict[str, object] = {"cx": x + side * 0.08, "cy": y - side * 0.55, "r": side * 0.95}
            faded += svg.element("circle", class_="gl-warm-s", stroke_width="3", **ring)
        mark = svg.label(x, y + 17, str(k), "gl-muted", font_size=11)
        tip = svg.element("title", svg.escape(f"{k}: {name_of(thing)}"))
        parts.append(svg.element("g", faded + mark + tip, data_object=k))
    text = "; ".join(f"{k}: {name_of(thing)}" for k, thing in enumerate(things))
    return svg.picture(480, 286, parts, title or f"Scene with {len(things)} objects", text)
