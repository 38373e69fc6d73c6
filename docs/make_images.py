"""Make the pictures of the documentation with the program itself: `python docs/make_images.py`.

The same code gives the same bytes, so a test can tell when a picture is out of date.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from groundling.algorithms.tree_mapping import best_mapping
from groundling.drawing.alignments import draw_grid, draw_links
from groundling.drawing.arcs import draw_arcs, draw_soft_arcs
from groundling.drawing.parse_chart import draw_derivation
from groundling.drawing.programs import draw_agreement
from groundling.drawing.timeline import draw_timed_tree
from groundling.drawing.trees import draw_tree, draw_tree_pair
from groundling.experiments.demo_structures import GERMAN, GOLD, GUESS, HEADS, LINKS, PHRASES, RELATIONS, TIMES, babble
from groundling.structures import Alignment, Dependencies, Segment, Segmentation, SoftDependencies, Tree

FOLDER = Path(__file__).parent / "images"
CAPTION = "(((a (red ball)) (lies (on (the (small table))))) .)"
CONCRETE = (0.05, 0.8, 1.0, 0.25, 0.1, 0.03, 0.55, 0.9, 0.0)  # how concrete each word of it is
DERIVATION = {
    "words": ["jump", "around", "right", "twice"],
    "nodes": [
        {"start": start, "end": end, "parent": parent, "type": kind, "program": program}
        for start, end, parent, kind, program in (
            (0, 4, -1, "V", "repeat(repeat(concat(RIGHT, JUMP), 4), 2)"),
            (0, 3, 0, "V", "repeat(concat(RIGHT, JUMP), 4)"),
            (0, 1, 1, "V", "JUMP"),
            (1, 3, 1, "V\\V", "λx.repeat(concat(RIGHT, x), 4)"),
            (1, 2, 3, "V\\V/(V\\V)", "λf.λx.repeat(f(x), 4)"),
            (2, 3, 3, "V\\V", "λx.concat(RIGHT, x)"),
            (3, 4, 0, "V\\V", "λx.repeat(x, 2)"),
        )
    ],
}
AGREEMENT = [
    {"result": "4, 1, 7, -2", "programs": [0, 2, 4], "failed": False},
    {"result": "4, 2, 7, -2", "programs": [1, 6], "failed": False},
    {"result": "NameError", "programs": [3], "failed": True},
    {"result": "too slow", "programs": [5, 7], "failed": True},
]


def pictures() -> dict[str, str]:
    """Every picture by the name of its file."""
    gold = Tree.from_brackets(GOLD)
    phrases, guess = Tree.from_brackets(PHRASES), Tree.from_brackets(GUESS)
    matches = best_mapping(phrases, guess).matches
    spoken = Segmentation(
        tuple(Segment(*item) for item in zip(TIMES, TIMES[1:], gold.words, strict=False)), duration=3.1
    )
    pairs = Alignment.from_pharaoh(LINKS).to_dict(gold.words, GERMAN)
    return {
        "tree-pair.svg": draw_tree_pair(phrases.to_dict(), guess.to_dict(), matches),
        "timed-tree.svg": draw_timed_tree(
            Tree.from_segments(gold, spoken).to_dict(), babble(spoken), duration=spoken.duration
        ),
        "dependencies.svg": draw_arcs(Dependencies(gold.words, HEADS, RELATIONS).to_dict()),
        "soft-dependencies.svg": draw_soft_arcs(_soft(gold.words[:6], (3, 3, 4, 0, 6, 4)).to_dict()),
        "alignment-links.svg": draw_links(pairs),
        "alignment-grid.svg": draw_grid(pairs),
        "concrete-tree.svg": draw_tree(Tree.from_brackets(CAPTION, labelled=False).to_dict(), colours=CONCRETE),
        "derivation.svg": draw_derivation(DERIVATION),
        "agreement.svg": draw_agreement(AGREEMENT, chosen=0),
    }


def _soft(words: tuple[str, ...], heads: tuple[int, ...]) -> SoftDependencies:
    """Most of the mass on one tree, some of it spread by distance: what a projected parser looks like."""
    size = len(words) + 1
    arcs = np.zeros((size, size))
    for word, head in enumerate(heads, 1):
        spread = np.exp(-0.8 * np.abs(np.arange(size) - word))
        spread[word] = 0
        arcs[word] = 0.35 * spread / spread.sum()
        arcs[word, head] += 0.65
    return SoftDependencies(words, arcs)


def main() -> None:
    """Write the pictures."""
    FOLDER.mkdir(exist_ok=True)
    for name, picture in pictures().items():
        (FOLDER / name).write_text(picture + "\n", encoding="utf-8")
        print(FOLDER / name)


if __name__ == "__main__":
    main()
