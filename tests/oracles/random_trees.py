"""Hypothesis strategies for small trees: any arity, unary chains, bare words, words or uneven times."""

from dataclasses import replace

from hypothesis import strategies as st

from groundling.structures import Tree


@st.composite
def small_trees(
    draw: st.DrawFn, max_words: int = 4, max_nodes: int = 6, labels: str = "AB", timed: bool = False
) -> Tree:
    count = draw(st.integers(1, max_words))
    nodes: list[tuple[int, int, str]] = [(0, count, draw(st.sampled_from(labels)))]
    for _ in range(draw(st.integers(0, max_nodes - 1))):
        start = draw(st.integers(0, count - 1))
        end = draw(st.integers(start + 1, count))
        if all(end <= s or e <= start or (s <= start and end <= e) or (start <= s and e <= end) for s, e, _ in nodes):
            nodes.append((start, end, draw(st.sampled_from(labels))))
    tree = Tree.from_spans([f"w{i}" for i in range(count)], nodes)
    if not timed:
        return tree
    steps = draw(st.lists(st.integers(0, 3), min_size=2 * count, max_size=2 * count))
    times, now = [], 0.0
    for i in range(count):
        begin = now + steps[2 * i] * 0.25  # a gap, perhaps
        now = begin + 0.25 + steps[2 * i + 1] * 0.5
        times.append((begin, now))
    return replace(tree, times=tuple(times), unit="seconds")
