"""Random structures as plain dicts, with hostile text."""

from __future__ import annotations

from hypothesis import strategies as st

from groundling.structures import Alignment, Dependencies, Segmentation, Tree

HOSTILE = [
    "<script>alert(1)</script>",
    "</text></svg><img src=x onerror=alert(1)>",
    "\"'&",
    "\x00\x1b",
    "\ud800",
    "लड़का",
    "الولد",
    "音乐",
    "e\u0301\u0301",
    "x" * 200,
    "",
]
words = st.one_of(st.sampled_from(HOSTILE), st.text(min_size=1, max_size=12), st.sampled_from(["a", "cat", "sleeps"]))


@st.composite
def trees(draw: st.DrawFn, max_words: int = 9) -> Tree:
    """Any nesting: unary chains, flat nodes, missing labels."""
    leaves = draw(st.lists(words, min_size=1, max_size=max_words))
    spans = [(0, len(leaves), draw(words))]
    open_spans = [(0, len(leaves))]
    for _ in range(draw(st.integers(0, 12))):
        low, high = draw(st.sampled_from(open_spans))
        start = draw(st.integers(low, high - 1))
        end = draw(st.integers(start + 1, high))
        if all(end <= a or b <= start or (a <= start and end <= b) or (start <= a and b <= end) for a, b, _ in spans):
            spans.append((start, end, draw(words)))
            open_spans.append((start, end))
    return Tree.from_spans(leaves, spans)


@st.composite
def dependencies(draw: st.DrawFn) -> Dependencies:
    """Any heads at all: crossing arcs, loops and several roots must be drawn too."""
    tokens = draw(st.lists(words, min_size=1, max_size=9))
    heads = [draw(st.integers(0, len(tokens)).filter(lambda head, i=i: head != i)) for i in range(1, len(tokens) + 1)]
    return Dependencies(tuple(tokens), tuple(heads), tuple(draw(words) for _ in tokens))


@st.composite
def alignments(draw: st.DrawFn) -> dict:
    source, target = draw(st.lists(words, max_size=6)), draw(st.lists(words, max_size=6))
    links = st.tuples(st.integers(0, 7), st.integers(0, 7))
    sure, possible = draw(st.frozensets(links, max_size=8)), draw(st.frozensets(links, max_size=8))
    probabilities = {link: draw(st.floats(0, 1)) for link in sure}
    return Alignment(sure, possible, probabilities).to_dict(source, target)


@st.composite
def segmentations(draw: st.DrawFn) -> Segmentation:
    steps = draw(st.lists(st.floats(0.001, 3), min_size=2, max_size=8))
    edges = [sum(steps[: i + 1]) for i in range(len(steps))]
    return Segmentation.from_boundaries(edges, [draw(words) for _ in edges[1:]])
