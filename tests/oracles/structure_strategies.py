"""Hypothesis strategies for structures that a file can hold."""

import re
from itertools import pairwise

from hypothesis import strategies as st

from groundling.formats.aligned import AlignedPair
from groundling.structures import Alignment, Dependencies, Program, Samples, Segment, Segmentation, Tree

CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\n\t")
TOKENS = st.text(CHARACTERS, min_size=1, max_size=6).map(lambda text: re.sub(r"[\s()]", "x", text))
BRACKET_WORDS = st.one_of(TOKENS, st.sampled_from(["(", ")", "#", "%%", "*T*-1", "0"])).filter(
    lambda word: word not in ("-LRB-", "-RRB-")  # these are read as the brackets they stand for
)
# Upper-case labels, or none: a file of lower-case ones may be taken for words.
LABELS = st.sampled_from(["", "S", "NP", "NP-SBJ", "-NONE-", "N", "#", "``", "É"])


@st.composite
def trees(draw: st.DrawFn, labels: st.SearchStrategy[str] = LABELS, max_words: int = 8) -> Tree:
    words = draw(st.lists(BRACKET_WORDS, min_size=1, max_size=max_words))
    spans: list[tuple[int, int, str]] = []
    stack = [(0, len(words), True)]
    while stack:
        start, end, root = stack.pop()
        chain = draw(st.lists(labels, min_size=int(root), max_size=2))
        spans.extend((start, end, label) for label in chain)
        cuts = sorted(draw(st.sets(st.integers(start + 1, end - 1), max_size=3))) if end - start > 1 else []
        if cuts:
            edges = [start, *cuts, end]
            stack.extend((a, b, False) for a, b in pairwise(edges))
        elif end - start == 1 and not root and draw(st.booleans()):
            spans.append((start, end, draw(labels)))
    return Tree.from_spans(words, spans)


@st.composite
def head_lists(draw: st.DrawFn, max_words: int = 6) -> list[int]:
    count = draw(st.integers(1, max_words))
    return [draw(st.integers(0, count).filter(lambda head, i=i: head != i)) for i in range(1, count + 1)]


COLUMNS = st.text(CHARACTERS, min_size=1, max_size=5)


@st.composite
def dependencies(draw: st.DrawFn) -> Dependencies:
    """Sentences with all columns, ranges, empty nodes and comments, as a file holds them."""
    heads = draw(head_lists())
    words, labels, tags, rows = [], [], [], []
    for i, head in enumerate(heads, 1):
        if draw(st.integers(0, 4)) == 0:
            rows.append(
                (f"{i}-{len(heads)}" if not any("-" in row[0] for row in rows) else f"{i}-{i}", "x", *"________")
            )
        columns = [draw(COLUMNS) for _ in range(8)]
        word, lemma, tag, xpos, feats, label, deps, misc = columns
        rows.append((str(i), word, lemma, tag, xpos, feats, str(head), label, deps, misc))
        if draw(st.integers(0, 4)) == 0:
            rows.append((f"{i}.1", draw(COLUMNS), *"________"))
        words.append(word), labels.append(label), tags.append(tag)
    if any("-" in row[0] for row in rows):  # at most one range, so that ranges never overlap
        first = next(k for k, row in enumerate(rows) if "-" in row[0])
        rows = [row for k, row in enumerate(rows) if "-" not in row[0] or k == first]
    comments = tuple("#" + text for text in draw(st.lists(st.text(CHARACTERS, max_size=8), max_size=2)))
    known = tuple(tags) if any(tag != "_" for tag in tags) else ()
    return Dependencies(tuple(words), tuple(heads), tuple(labels), known, comments, tuple(rows))


LINKS = st.tuples(st.integers(0, 99), st.integers(0, 99))
ALIGNMENTS = st.builds(Alignment, st.frozensets(LINKS, max_size=6), st.frozensets(LINKS, max_size=4), st.just({}))


@st.composite
def aligned_pairs(draw: st.DrawFn) -> AlignedPair:
    words = st.lists(TOKENS.map(lambda word: word.replace(" ", "x")), max_size=5).map(tuple)
    source, target = draw(words), draw(words)
    cells = [(i, j) for i in range(len(source)) for j in range(len(target))]
    links = st.frozensets(st.sampled_from(cells), max_size=5) if cells else st.just(frozenset())
    return AlignedPair(source, target, Alignment(draw(links), draw(links)))


@st.composite
def segmentations(draw: st.DrawFn, times: st.SearchStrategy[float], min_segments: int = 0) -> Segmentation:
    edges = sorted(draw(st.sets(times, min_size=2 * min_segments, max_size=10)))
    pairs = list(zip(edges[::2], edges[1::2], strict=False))
    return Segmentation(tuple(Segment(a, b, draw(TOKENS)) for a, b in pairs), id=draw(TOKENS))


MICROSECONDS = st.integers(0, 10**9).map(lambda n: n / 10**6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
PROGRAMS = st.builds(
    Program,
    st.text(max_size=20),
    st.sampled_from(["python", "sql", "bash"]),
    st.none() | st.floats(-1e9, 0),
    st.none() | st.integers(0, 10**6),
    st.text(max_size=4),
)
EXTRA = st.dictionaries(st.text(max_size=4).map(lambda key: f"x{key}"), JSON, max_size=2)
SAMPLES = st.builds(
    Samples, st.text(min_size=1, max_size=6), st.lists(PROGRAMS, max_size=3).map(tuple), st.text(max_size=6), EXTRA
)
