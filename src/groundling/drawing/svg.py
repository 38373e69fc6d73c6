"""The pieces every picture is made of: escaped text, shapes, and the frame with its light and dark colours.

Colours are classes: `gl-NAME` fills and `gl-NAME-s` strokes. A page may set the CSS variables `--gl-NAME`; a viewer
without variables (Inkscape, rsvg) falls back to the light ones, and each picture paints its own paper, so that it is
readable wherever it is pasted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape as html_escape

from groundling.drawing.text import shorten

# name -> (light, dark)
COLOURS = {
    "ink": ("#1c2430", "#e8e4da"),
    "muted": ("#5a6472", "#a3aab3"),
    "rule": ("#d8d4ca", "#3b424b"),
    "paper": ("#fffdf8", "#14181d"),
    "accent": ("#0f6b75", "#5cc3c9"),
    "warm": ("#b3541e", "#f0a35e"),
    "violet": ("#6b4ba3", "#b79cf0"),
    "green": ("#4d7c0f", "#a3c95c"),
    "rose": ("#a6294f", "#f08aa5"),
    "blue": ("#2b5fad", "#86b3f5"),
}
SERIES = ("accent", "warm", "violet", "green", "rose", "blue", "muted")
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _style() -> str:
    light = "".join(
        f".gl-{name}{{fill:{day};fill:var(--gl-{name},{day})}}"
        f".gl-{name}-s{{fill:none;stroke:{day};stroke:var(--gl-{name},{day})}}"
        for name, (day, _) in COLOURS.items()
    )
    dark = "".join(
        f".gl-{name}{{fill:var(--gl-{name},{night})}}.gl-{name}-s{{stroke:var(--gl-{name},{night})}}"
        for name, (_, night) in COLOURS.items()
    )
    rest = (
        "svg.gl{font-family:system-ui,'Noto Sans','DejaVu Sans',sans-serif;font-size:14px}"
        "svg.gl text{unicode-bidi:plaintext}"
        ".gl-b{font-weight:600}.gl-code{font-family:ui-monospace,'DejaVu Sans Mono',monospace}"
        ".gl-lit rect,.gl-lit circle{stroke-width:3;stroke:currentColor}"
    )
    return f"<style>{rest}{light}@media (prefers-color-scheme:dark){{{dark}}}</style>"


_STYLE = _style()


def escape(text: object) -> str:
    r"""Make text safe in XML: markup escaped, characters that XML forbids replaced.

    >>> escape("<b> & \x00")
    '&lt;b&gt; &amp; �'
    """
    return html_escape(_ILLEGAL.sub("\ufffd", str(text)), quote=True)


def num(value: float) -> str:
    """A coordinate with at most one decimal.

    >>> num(3.0), num(2.25), num(-0.01)
    ('3', '2.2', '0')
    """
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def attributes(pairs: dict[str, object]) -> str:
    """Write attributes: `fill_opacity=0.5` becomes ` fill-opacity="0.5"`; None is left out, `class_` is class."""
    shown = ((k.rstrip("_").replace("_", "-"), v) for k, v in pairs.items() if v is not None)
    return "".join(f' {key}="{num(v) if isinstance(v, float) else escape(v)}"' for key, v in shown)


def element(name: str, content: str = "", /, **pairs: object) -> str:
    """One element; `content` is markup already."""
    return f"<{name}{attributes(pairs)}>{content}</{name}>" if content else f"<{name}{attributes(pairs)}/>"


def label(
    x: float, y: float, text: str, class_: str = "gl-ink", *, anchor: str = "middle", limit: int = 24, **more: object
) -> str:
    """Text at a point, cut to `limit` characters; the whole of it stands in the tooltip.

    >>> label(1, 2, "a<b")
    '<text x="1" y="2" text-anchor="middle" class="gl-ink">a&lt;b</text>'
    """
    short = shorten(text, limit)
    content = escape(short) + (element("title", escape(text)) if short != text else "")
    return element("text", content, x=float(x), y=float(y), text_anchor=anchor, class_=class_, **more)


def line(x1: float, y1: float, x2: float, y2: float, class_: str = "gl-muted-s", **more: object) -> str:
    """A straight line."""
    return element("path", d=f"M{num(x1)} {num(y1)}L{num(x2)} {num(y2)}", class_=class_, **more)


def box(x: float, y: float, width: float, height: float, class_: str, rx: float = 4, **more: object) -> str:
    """A rectangle with round corners."""
    return element(
        "rect", x=float(x), y=float(y), width=float(width), height=float(height), rx=float(rx), class_=class_, **more
    )


def opacity(share: float, low: float = 0.08, high: float = 0.5) -> str:
    """An opacity for a number in 0-1; text over it stays readable."""
    return f"{low + (high - low) * min(max(share, 0.0), 1.0):.2f}"


def picture(width: float, height: float, parts: Iterable[str], title: str, description: str = "") -> str:
    """Frame the parts as one SVG that shrinks to its page, at most to 0.7 of its size, and then scrolls."""
    size = f'width="{num(width)}" height="{num(height)}" viewBox="0 0 {num(width)} {num(height)}"'
    style = f"max-width:max(100%,{num(min(width, max(0.7 * width, 320)))}px);height:auto"
    heading = element("title", escape(title)) + (element("desc", escape(description)) if description else "")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="gl" role="img" {size} style="{style}">{heading}{_STYLE}'
        f"{box(0, 0, width, height, 'gl-paper', 6)}{''.join(parts)}</svg>"
    )
