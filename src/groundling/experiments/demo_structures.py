"""The demo of the ground floor: read, check, convert and draw each structure, from built-in text."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, sin

from groundling.algorithms.tree_mapping import best_mapping
from groundling.drawing.alignments import draw_grid, draw_links
from groundling.drawing.arcs import draw_arcs
from groundling.drawing.timeline import draw_segments, draw_timed_tree
from groundling.drawing.trees import draw_tree, draw_tree_pair
from groundling.errors import GroundlingError
from groundling.metrics.struct_iou import StructIoU
from groundling.reports.sections import Picture, Section, Table
from groundling.structures import Alignment, Dependencies, Segment, Segmentation, Tree

GOLD = (
    "(S (NP (DT the) (JJ small) (NN groundling)) "
    "(VP (VBZ watches) (NP (NP (DT a) (NN player)) (PP (IN on) (NP (DT the) (NN stage))))))"
)
PHRASES = "(S (NP the small groundling) (VP watches (NP (NP a player) (PP on (NP the stage)))))"
GUESS = "(S (NP the small) (VP groundling (VP watches (NP a player)) (PP on (NP the stage))))"
TIMES = (0.08, 0.2, 0.55, 1.12, 1.6, 1.68, 2.15, 2.32, 2.44, 2.98)
HEADS = (3, 3, 4, 0, 6, 4, 9, 9, 4)
RELATIONS = ("det", "amod", "nsubj", "root", "det", "obj", "case", "det", "obl")
GERMAN = ("der", "kleine", "Zuschauer", "sieht", "auf", "der", "Bühne", "einen", "Schauspieler", "an")
LINKS = "0-0 1-1 2-2 3-3 3p9 4-7 5-8 6-4 7-5 8-6"
BROKEN = ("(S (NP (N dogs)) (VP (V bark))", "(S (NP) (VP (V bark)))", "(S (N dogs)) (V bark)")


def run(say: Callable[[str], None], seed: int) -> list[Section]:
    """Return the sections; the seed is not used, for nothing here is random."""
    say("trees")
    tree = Tree.from_brackets(GOLD)
    trees = _tree_section(tree)
    say("words over time")
    timed = _speech_section(tree)
    say("dependencies and alignments")
    return [trees, timed, _dependency_section(tree), _alignment_section(tree)]


def _tree_section(tree: Tree) -> Section:
    gold, guess = Tree.from_brackets(PHRASES), Tree.from_brackets(GUESS)
    rows = [(f"`{text}`", _fault(text)) for text in BROKEN]
    pair = draw_tree_pair(gold.to_dict(), guess.to_dict(), best_mapping(gold, guess).matches)
    return Section(
        "Trees",
        f"A tree is read from brackets, and written back as the same text:\n\n```\n{tree}\n```\n\n"
        "Errors say what is wrong, where, and what to do next.",
        tables=[Table(("text", "what the reader says"), rows, "Three broken trees")],
        pictures=[
            Picture(draw_tree(tree.to_dict()), "The tree, drawn."),
            Picture(draw_tree(tree.unlabelled().to_dict()), "Without labels and unary nodes: the bare bracketing."),
            Picture(
                pair,
                "Two analyses of one sentence and the best alignment of their nodes; point at one to see its partner. "
                f"`{StructIoU().score(gold, guess)}`",
            ),
        ],
    )


def _fault(text: str) -> str:
    try:
        Tree.from_brackets(text)
    except GroundlingError as error:
        return str(error)
    raise AssertionError(f"{text!r} is broken, and was read all the same")


def _speech_section(tree: Tree) -> Section:
    segments = tuple(Segment(start, end, word) for start, end, word in zip(TIMES, TIMES[1:], tree.words, strict=False))
    spoken = Segmentation(segments, duration=3.1)
    found = Segmentation.from_boundaries([0.08, 0.24, 0.55, 0.9, 1.1, 1.62, 2.13, 2.45, 2.98])
    wave, timed = babble(spoken), Tree.from_segments(tree, spoken)
    return Section(
        "Trees over time",
        "With a time for each word, the same tree lies on the time axis, and trees over different words, "
        "or over no words at all, can be compared.",
        pictures=[
            Picture(draw_timed_tree(timed.to_dict(), wave, duration=spoken.duration), "The tree under the sound."),
            Picture(draw_segments(found.to_dict(), wave, spoken.to_dict()), "Stretches found, and the words spoken."),
        ],
    )


def babble(spoken: Segmentation, rate: int = 800) -> list[float]:
    """A sound with one swell a word: enough to draw."""
    samples = [0.0] * int((spoken.duration or 0) * rate)
    for number, segment in enumerate(spoken.segments):
        length = segment.end - segment.start
        for i in range(int(segment.start * rate), int(segment.end * rate)):
            place = (i / rate - segment.start) / length
            swell = exp(-(((place - 0.4) / 0.28) ** 2)) * (0.5 + 0.5 * min(1, 2.5 * length))
            samples[i] = swell * sin(i * (0.9 + 0.1 * (number % 3))) * (0.8 + 0.2 * sin(i * 0.13))
    return samples


def _dependency_section(tree: Tree) -> Section:
    dependencies = Dependencies(tree.words, HEADS, RELATIONS)
    loop = Dependencies(("dogs", "bark"), (2, 1), ("nsubj", "root"))
    return Section(
        "Dependencies",
        f"The same words as CoNLL-U:\n\n```\n{dependencies}\n```\n\n"
        f"A tree is checked before it is used. Two words that head each other: {' '.join(loop.faults())}",
        pictures=[Picture(draw_arcs(dependencies.to_dict()), "Each arc runs from a head to its dependent.")],
    )


def _alignment_section(tree: Tree) -> Section:
    alignment = Alignment.from_pharaoh(LINKS)
    pairs = alignment.to_dict(tree.words, GERMAN)
    return Section(
        "Word alignments",
        f"Links in Pharaoh's format, `{alignment}`; a `p` marks a link that is possible, not sure. "
        f"Turned round: `{alignment.inverted()}`.",
        pictures=[
            Picture(draw_links(pairs), "Dashed: possible."),
            Picture(draw_grid(pairs), "The same links as a grid; possible links are hollow."),
        ],
    )
