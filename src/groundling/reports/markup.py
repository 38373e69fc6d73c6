"""Markdown-lite to HTML: paragraphs, lists, code, bold. Everything else is text and stays text."""

from __future__ import annotations

import re

from groundling.drawing.svg import escape

_CODE = re.compile(r"`([^`\n]+)`")
_BOLD = re.compile(r"\*\*([^*\n]+)\*\*")


def inline(text: str) -> str:
    """Escape a line, then set `code` and **bold**.

    >>> inline("**A** <b> `x**y**`")
    '<strong>A</strong> &lt;b&gt; <code>x**y**</code>'
    """
    pieces = _CODE.split(text)  # text, code, text, code, ...
    return "".join(
        f"<code>{escape(piece)}</code>" if i % 2 else _BOLD.sub(r"<strong>\1</strong>", escape(piece))
        for i, piece in enumerate(pieces)
    )


def to_html(text: str) -> str:
    r"""Turn markdown-lite into HTML.

    >>> to_html("One\nline.\n\n- a\n- b")
    '<p>One\nline.</p><ul><li>a</li><li>b</li></ul>'
    >>> to_html("```\n<a>\n\nb\n```")
    '<pre><code>&lt;a&gt;\n\nb</code></pre>'
    """
    parts: list[str] = []
    for i, block in enumerate(re.split(r"^```[^\n]*\n?", text, flags=re.M)):
        if i % 2:
            parts.append(f"<pre><code>{escape(block.rstrip(chr(10)))}</code></pre>")
        else:
            parts += [_paragraph(lines) for lines in re.split(r"\n\s*\n", block.strip()) if lines.strip()]
    return "".join(parts)


def _paragraph(block: str) -> str:
    lines = block.strip().split("\n")
    if all(line.lstrip().startswith("- ") for line in lines):
        return "<ul>" + "".join(f"<li>{inline(line.lstrip()[2:])}</li>" for line in lines) + "</ul>"
    return f"<p>{inline(block.strip())}</p>"
