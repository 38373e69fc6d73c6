"""Parser transfer: a tree and a sentence of another language in, the projected tree out (SubDP, thesis 9.2)."""

from __future__ import annotations

import io
from typing import Literal

import numpy as np
from pydantic import BaseModel, Field

from groundling.algorithms.arborescence import maximum_arborescence
from groundling.algorithms.projection import project
from groundling.drawing.alignments import draw_links
from groundling.drawing.arcs import draw_arcs, draw_soft_arcs
from groundling.errors import DataError, FormatError
from groundling.formats import conllu
from groundling.structures import Dependencies, SoftDependencies
from groundling.web.answers import Answer, Picture, Table, field
from groundling.web.panels.words import MOST_WORDS, align_pair, read_words
from groundling.web.shop import Shop

NULL = 1e-6  # what an arc without any projected mass is worth: a tree must still be found


class Request(BaseModel):
    """A source tree (CoNLL-U, or a word a line with head and label) and a target sentence."""

    tree: str = Field(max_length=20_000, examples=["dogs 2 nsubj\nbark 0 root"])
    target: str = Field(max_length=2_000, examples=["Hunde bellen"])
    method: Literal["argmax", "itermax", "match"] = "argmax"


def run(asked: Request, shop: Shop) -> Answer:
    """Align, project, decode."""
    source, target = read_dependencies(asked.tree), read_words(asked.target, "target")
    links = align_pair(list(source.words), target, asked.method, shop)
    soft = project(one_hot(source), links, tuple(target))
    found = decode(soft)
    mass = soft.arcs[1:].sum(axis=1)
    rows = [
        [word, found.words[head - 1] if head else "root", label, f"{soft.arcs[i + 1, head]:.2f}"]
        for i, (word, head, label) in enumerate(zip(found.words, found.heads, found.labels, strict=True))
    ]
    return Answer(
        summary=f"{len(links.sure)} links carry {mass.sum() / len(target):.0%} of the arcs over to {len(target)} words"
        + ("." if mass.min() > 0.999 else "; the tree fills the gaps."),
        command="groundling subdp transfer en.txt de.txt --treebank en.conllu --languages en-de -o runs/de",
        pictures=[
            Picture(name="source", caption="The source tree.", svg=draw_arcs(source.to_dict())),
            Picture(
                name="links", caption="Its words, aligned.", svg=draw_links(links.to_dict(source.words, tuple(target)))
            ),
            Picture(
                name="projected", caption="The arcs as they arrive, with their probability.",
                svg=draw_soft_arcs(soft.to_dict(), least=0.05),
            ),
            Picture(name="tree", caption="The best tree with one root.", svg=draw_arcs(found.to_dict())),
            *trained(target, shop),
        ],
        tables=[Table(caption="The tree", header=["word", "head", "label", "probability of the arc"], rows=rows)],
        data={"alignment": str(links), "arcs": soft.arcs.tolist(), "tree": found.to_dict(), "conllu": str(found)},
    )  # fmt: skip


def trained(target: list[str], shop: Shop) -> list[Picture]:
    """What a parser that was carried over says of the sentence, where there is one."""
    if not shop.has("subdp"):
        return []
    [tree] = shop.model("subdp").parse([target])
    return [Picture(name="parser", caption="The same sentence by your subdp model.", svg=draw_arcs(tree.to_dict()))]


def read_dependencies(text: str) -> Dependencies:
    """One tree with one root."""
    with field("tree"):
        tree = _conllu(text) if "\t" in text else _short(text)
        if tree.faults():
            raise FormatError(f"this is no tree: {' '.join(tree.faults())} Correct the heads; 0 is the root.")
        if len(tree.words) > MOST_WORDS:
            raise DataError(f"{len(tree.words)} words are too many to draw. Give at most {MOST_WORDS}.")
    return tree


def _conllu(text: str) -> Dependencies:
    trees = list(conllu.read(io.BytesIO(text.strip("\r\n").encode() + b"\n\n")))
    if len(trees) != 1:
        raise FormatError(f"there are {len(trees)} sentences. Give one.")
    return trees[0]


def _short(text: str) -> Dependencies:
    rows = [line.split() for line in text.splitlines() if line.strip()]
    for number, row in enumerate(rows, 1):
        if len(row) != 3 or not row[1].isdigit() or len(row[1]) > 6:
            raise FormatError(f"line {number} is not `word head label`. Write e.g. `dogs 2 nsubj`; 0 is the root.")
    if not rows:
        raise FormatError("there is no tree. Write a word a line, with its head and label: `dogs 2 nsubj`.")
    words, heads, labels = zip(*rows, strict=True)
    return Dependencies(words, tuple(map(int, heads)), labels)


def one_hot(tree: Dependencies) -> SoftDependencies:
    """A tree as distributions that are sure of themselves."""
    names, side = tuple(sorted(set(tree.labels))), len(tree.words) + 1
    arcs, labels = np.zeros((side, side)), np.full((side, side, len(names)), 1 / len(names))
    for word, (head, label) in enumerate(zip(tree.heads, tree.labels, strict=True), 1):
        arcs[word, head] = 1
        labels[word] = 0  # the label of a word is known whatever its head
        labels[word, :, names.index(label)] = 1
    return SoftDependencies(tree.words, arcs, labels, names)


def decode(soft: SoftDependencies) -> Dependencies:
    """The best tree, and the likeliest label of each of its arcs."""
    heads = maximum_arborescence(np.log(np.maximum(soft.arcs, NULL)))[1:]
    assert soft.label_probabilities is not None
    best = soft.label_probabilities[np.arange(1, len(heads) + 1), heads].argmax(axis=1)
    labels = ["root" if head == 0 else soft.label_names[k] for head, k in zip(heads, best, strict=True)]
    return Dependencies(soft.words, tuple(heads.tolist()), tuple(labels))
