"""A report is one file that needs no other, and text in it stays text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from groundling.drawing.trees import draw_tree
from groundling.reports.page import Picture, Section, Table, render_page, write_page
from groundling.structures import Tree

EVIL = '<script>alert("x")</script>'


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "br", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture
def page() -> str:
    tree = draw_tree(Tree.from_brackets("(NP (D a) (N cat))").to_dict())
    sections = [
        Section("First", f"Text **bold** `code` {EVIL}\n\n- one\n- two", pictures=[tree, Picture(tree, EVIL)]),
        Section(EVIL, tables=[Table(["a", EVIL], [[1, EVIL], [0.123456, None], [True, "x"]], EVIL)], command=EVIL),
        Section("Broken", f"```\n{EVIL}\n```", failed=True, seconds=1.25),
    ]
    return render_page(EVIL, sections, lead=EVIL)


def test_page_is_well_nested_and_loads_nothing(page: str) -> None:
    tags = Tags(page)
    assert tags.open == []
    for tag, attributes in tags.found:
        assert tag not in ("img", "iframe", "object", "embed", "base")
        assert not attributes.get("src")
        assert re.match(r"#|data:|$", attributes.get("href") or "")
    rest = page.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|@import|url\(", rest)


def test_page_keeps_text_as_text(page: str) -> None:
    tags = Tags(page)
    assert [tag for tag, _ in tags.found].count("script") == 1  # ours
    assert page.count("&lt;script&gt;alert") >= 8
    assert EVIL not in page


def test_page_shows_what_it_was_given(page: str) -> None:
    assert "<strong>bold</strong> <code>code</code>" in page
    assert "<ul><li>one</li><li>two</li></ul>" in page
    assert '<td class="n">0.1235</td><td class="n">–</td>' in page and "<td>yes</td>" in page
    assert page.count("<figure>") == 2 and page.count("data-save>") == 2
    assert "1.2 s" in page and page.count('<span class="badge">failed</span>') == 1


def test_page_has_unique_ids_and_every_link_a_target(page: str) -> None:
    tags = Tags(page).found
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = [str(attributes["href"])[1:] for tag, attributes in tags if tag == "a"]
    assert len(targets) == 4 and set(targets) <= set(ids)


def test_write_page_is_atomic_and_deterministic(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    write_page(target, "Report", [Section("A", "b")])
    first = target.read_bytes()
    write_page(target, "Report", [Section("A", "b")])
    assert target.read_bytes() == first
    with pytest.raises(AttributeError):
        write_page(target, "Report", ["not a section"])  # type: ignore[list-item]
    assert target.read_bytes() == first and list(tmp_path.iterdir()) == [target]
