"""One self-contained HTML page from sections: no file beside it, nothing loaded from elsewhere."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from groundling import __version__
from groundling.drawing.svg import COLOURS, escape
from groundling.formats.files import atomic_write
from groundling.reports.markup import inline, to_html
from groundling.reports.sections import Picture, Section, Table

__all__ = ["Picture", "Section", "Table", "render_page", "write_page"]


def write_page(path: str | os.PathLike[str], title: str, sections: Sequence[Section], *, lead: str = "") -> None:
    """Write the page, whole or not at all; `-` is the standard output."""
    with atomic_write(path) as handle:
        handle.write(render_page(title, sections, lead=lead))


def render_page(title: str, sections: Sequence[Section], *, lead: str = "") -> str:
    """Return the page as text; the same sections give the same bytes.

    >>> page = render_page("Report", [Section("A <tree>", "Text.")])
    >>> "A &lt;tree&gt;" in page and "http" not in page.replace("http://www.w3.org/2000/svg", "")
    True
    """
    names = [f"part-{i}" for i in range(1, len(sections) + 1)]
    links = "".join(
        f'<li><a href="#{name}"{" class=failed" if one.failed else ""}>{escape(one.title)}</a></li>'
        for name, one in zip(names, sections, strict=True)
    )
    body = "".join(_section(name, one) for name, one in zip(names, sections, strict=True))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<link rel="icon" href="data:,">\n<style>\n{_colours()}{_asset("page.css")}</style>\n</head>\n<body>\n'
        f'<a class="skip" href="#main">Skip to the report</a>\n'
        f"<header><h1>{escape(title)}</h1>{to_html(lead)}</header>\n"
        f'<nav aria-label="Parts of this report"><ol>{links}</ol></nav>\n<main id="main">\n{body}</main>\n'
        f"<footer>Made by groundling {escape(__version__)}.</footer>\n<script>\n{_asset('page.js')}</script>\n"
        "</body>\n</html>\n"
    )


def _asset(name: str) -> str:
    return files("groundling.reports").joinpath(name).read_text(encoding="utf-8")


def _colours() -> str:
    """The colours of the pictures, for the page to use and a reader's own style sheet to change."""
    light, dark = (
        "".join(f"--gl-{name}:{pair[side]};" for name, pair in COLOURS.items() if name != "paper") for side in (0, 1)
    )
    return (
        f":root{{{light}--gl-paper:#fffdf8;--page:#f6f3ea}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}--gl-paper:#14181d;--page:#0c0f12}}}}\n"
    )


def _section(name: str, one: Section) -> str:
    state = '<span class="badge">failed</span>' if one.failed else ""
    took = f'<span class="took">{one.seconds:.1f} s</span>' if one.seconds is not None else ""
    parts = [
        f'<section id="{name}"{" class=failed" if one.failed else ""} aria-labelledby="{name}-title">\n'
        f'<h2 id="{name}-title">{escape(one.title)} {state}{took}</h2>\n',
        to_html(one.text),
        *(_table(table) for table in one.tables),
        *(_picture(item if isinstance(item, Picture) else Picture(item)) for item in one.pictures),
    ]
    if one.command:
        parts.append(
            f'<div class="command"><span class="label">Repeat it</span><code>{escape(one.command)}</code>'
            '<button type="button" data-copy>Copy</button></div>'
        )
    return "".join(parts) + "\n</section>\n"


def _table(table: Table) -> str:
    caption = f"<caption>{inline(table.caption)}</caption>" if table.caption else ""
    head = "".join(f'<th scope="col">{inline(cell)}</th>' for cell in table.header)
    rows = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in table.rows)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(table.caption or "Table")}">'
        f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>\n"
    )


def _cell(value: Any) -> str:
    if value is None:
        return '<td class="n">–</td>'
    if isinstance(value, bool):
        return f"<td>{'yes' if value else 'no'}</td>"
    if isinstance(value, int | float):
        return f'<td class="n">{value if isinstance(value, int) else f"{value:.4g}"}</td>'
    return f"<td>{inline(str(value))}</td>"


def _picture(picture: Picture) -> str:
    # The SVG comes from groundling.drawing, which escapes all text; it is the one thing put in as it is.
    caption = f"<span>{inline(picture.caption)}</span>" if picture.caption else "<span></span>"
    return (
        f'<figure><div class="scroll" tabindex="0" role="region" aria-label="Picture">{picture.svg}</div>'
        f'<figcaption>{caption}<button type="button" data-save>Save as SVG</button></figcaption></figure>\n'
    )
