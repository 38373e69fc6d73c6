"""The demo of VG-NSL: it learns to parse captions of drawn scenes by looking at the drawings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundling.algorithms.branching import left_branching, random_binary, right_branching
from groundling.drawing import svg
from groundling.drawing.charts import draw_curves
from groundling.drawing.trees import draw_tree
from groundling.metrics.parseval import ParsEval
from groundling.reports.sections import Picture, Section, Table
from groundling.structures.tree import Tree
from groundling.systems.vgnsl import Captions, Config, Model, train
from groundling.systems.vgnsl.concreteness import word_concreteness
from groundling.worlds.canvas import SIDE, draw
from groundling.worlds.captions import CaptionWorld, make_world

# A world of thirty words needs no 512 numbers a word; so few batches need larger steps.
SETTINGS = Config(
    embedding_dim=64,
    scorer_hidden_dim=32,
    negatives="aligned",
    learning_rate=2e-3,
    scorer_learning_rate=5e-4,
    scorer_schedule="constant",
    batch_size=64,
    epochs=6,
    drop_epoch=5,
    min_count=1,
)


def captions_of(world: CaptionWorld) -> Captions:
    """The world as the learner sees it: words and image vectors, no trees."""
    return Captions(world.sentences, world.images, world.features)


def f1(gold: Sequence[Tree], guesses: Sequence[Tree]) -> float:
    """Percent, in the thesis' convention."""
    return 100 * ParsEval("vgnsl").corpus(gold, guesses, bootstrap=0).value


def learn(world: CaptionWorld, test: CaptionWorld, seed: int, config: Config = SETTINGS) -> tuple[Model, list[float]]:
    """Train, and follow F1 on captions of scenes never seen."""
    curve: list[float] = []

    def watch(model: Model) -> dict[str, float]:
        curve.append(f1(test.trees, list(model.parse(test.sentences))))
        return {"f1": curve[-1]}

    return train(config, captions_of(world), seed=seed, watch=watch, device="cpu", label="reading captions"), curve


def run(say: Callable[[str], None], seed: int) -> list[Section]:
    """Draw a world, learn it with the bias, without it and with the pictures mixed up, and show what came out."""
    rng = np.random.default_rng(seed)
    say("drawing scenes")
    world, test = make_world(900, rng).split(800)
    say("learning with the abstract-initial bias")
    model, curve = learn(world, test, seed)
    say("learning from the wrong pictures")
    wrong = world._replace(images=rng.permutation(world.images))
    _, blind = learn(wrong, test, seed)
    trivial = _trivial(test, rng)
    learned = word_concreteness(model, captions_of(test))
    rows = [("VG-NSL with the bias", curve[-1]), ("the same, pictures mixed up", blind[-1]), *trivial.items()]
    curves = [_series("VG-NSL", curve), _series("pictures mixed up", blind)]
    return [
        Section(
            "VG-NSL: trees from captions and pictures",
            f"{len(world.trees)} captions of {len(world.scenes)} drawn scenes, no tree shown; tested on new scenes.",
            tables=[Table(("system", "F1"), rows, "unlabelled F1, whole sentence included, final stop kept")],
            pictures=[
                Picture(_pixels(draw(test.scenes[0], rng)), " ".join(test.trees[0].words)),
                Picture(draw_curves(curves, x_label="epoch", y_label="F1"), "From right and from wrong pictures."),
                *(_picture(tree, learned) for tree in model.parse(test.sentences[:3])),
            ],
        )
    ]


def _trivial(test: CaptionWorld, rng: np.random.Generator) -> dict[str, float]:
    words = [tree.words for tree in test.trees]
    return {
        "random": f1(test.trees, [random_binary(w, rng) for w in words]),
        "left-branching": f1(test.trees, [left_branching(w) for w in words]),
        "right-branching": f1(test.trees, [right_branching(w) for w in words]),
    }


def _series(name: str, curve: Sequence[float]) -> dict[str, Any]:
    return {"name": name, "x": list(range(1, len(curve) + 1)), "y": list(curve)}


def _pixels(picture: NDArray[np.float32], side: int = 6) -> str:
    """The drawing as the filters see it, a square a pixel; the dark ground is one square."""
    parts = [svg.element("rect", width=SIDE * side, height=SIDE * side, fill="#0d0d0d")]
    for y, x in np.argwhere(picture.max(2) > 0.3).tolist():
        red, green, blue = (np.clip(picture[y, x], 0, 1) * 255).astype(int).tolist()
        paint = f"#{red:02x}{green:02x}{blue:02x}"
        parts.append(svg.element("rect", x=x * side, y=y * side, width=side, height=side, fill=paint))
    return svg.picture(SIDE * side, SIDE * side, parts, "a drawn scene")


def _picture(tree: Tree, learned: dict[str, float]) -> Picture:
    """A learned tree; the darker a word, the more concrete it is to the model."""
    top = max(learned.values(), default=1.0) or 1.0
    shares = [learned[word] / top if word in learned else None for word in tree.words]
    return Picture(draw_tree(tree.to_dict(), colours=shares), "A learned tree; more colour: a more concrete word.")
