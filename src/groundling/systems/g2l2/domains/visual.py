"""Visual reasoning (CLEVR, thesis 6.3.1): six types, eight operations, product logic, ten entry templates.

A set of objects is a vector of probabilities. Noun phrases have two syntactic types, N (plain) and P (already placed by
`left of ...`), both sets of objects, as SCAN has V and S: else `the cube left of the ball behind the block` has two
readings that the thesis' single type cannot tell apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from groundling.errors import ConfigError, DataError
from groundling.systems.g2l2.domain import ConceptType, Domain, Operation, Root, World, operations, template
from groundling.worlds import clevr_questions, clevr_scenes
from groundling.worlds.clevr_questions import Question
from groundling.worlds.clevr_scenes import ATTRIBUTES, FEATURES

ATOMS = {"N": "ObjectSet", "P": "ObjectSet", "B": "Bool", "I": "Integer", "W": "ObjConcept"}
TINY = 1e-6
NUMBERS = 11  # 0 .. 10
STEEP = 4.0  # how much steeper relations are than object concepts: what is just left of a thing is left of it
SHARPNESS = 2.0  # of P(n | count) ~ exp(-SHARPNESS (count - n)^2)


def _object_concept(world: World, concepts: Tensor) -> Tensor:
    """Return sigma(<o_i, e_c> + b_c), [batch, word, object]; the bias is the last number of a concept."""
    scores = torch.einsum("bnd,wd->bwn", world["features"], concepts[:, :-1]) + concepts[:, -1, None]
    return torch.sigmoid(scores) * world["mask"][:, None]


def _relational_concept(world: World, concepts: Tensor) -> Tensor:
    """Return sigma(STEEP (<o_i - o_j, e_c> + b_c)), [batch, word, i, j]; nothing is related to itself."""
    along = torch.einsum("bnd,wd->bwn", world["features"], concepts[:, :-1])
    scores = along[..., :, None] - along[..., None, :] + concepts[:, -1, None, None]
    inside = world["mask"][:, None, :, None] * world["mask"][:, None, None, :]
    return torch.sigmoid(STEEP * scores) * inside * (1 - torch.eye(scores.shape[-1], device=scores.device))


def _attribute(world: World, concepts: Tensor) -> Tensor:
    """Return which concepts belong to the attribute, [batch, word, concept]."""
    return torch.softmax(concepts, 1).expand(world.size, -1, -1)


def _relate(_: World, a: Tensor, relation: Tensor) -> Tensor:
    """Objects related to the one object in `a`; a larger set is scaled to one (the thesis chooses implicitly)."""
    one = a / a.sum(-1, keepdim=True).clamp(min=1)
    return (relation * one[..., None, :]).sum(-1)


def _query(world: World, a: Tensor, attribute: Tensor) -> Tensor:
    """P(concept) ~ attribute_c * sum_i a_i sigma(<o_i, e_c>)."""
    if "scores" not in world.tensors:  # compare all objects with all concepts once a batch
        world.tensors["scores"] = _object_concept(world, world["all ObjConcept"][0]).transpose(1, 2)
    found = attribute * (a[..., None, :] @ world.lift("scores", a.dim() - 1))[..., 0, :]
    return found / (found.sum(-1, keepdim=True) + TINY)


def _exist(_: World, a: Tensor) -> Tensor:
    return 1 - (1 - a.clamp(max=1)).prod(-1, keepdim=True)


OPERATIONS = operations(
    Operation("scene", (), "ObjectSet", lambda world: world["mask"]),
    Operation("filter", ("ObjectSet", "ObjConcept"), "ObjectSet", lambda _, a, c: a * c),
    Operation("relate", ("ObjectSet", "RelConcept"), "ObjectSet", _relate),
    Operation("intersection", ("ObjectSet", "ObjectSet"), "ObjectSet", lambda _, a, b: a * b),
    Operation("union", ("ObjectSet", "ObjectSet"), "ObjectSet", lambda _, a, b: 1 - (1 - a) * (1 - b)),
    Operation("query", ("ObjectSet", "Attribute"), "ObjConcept", _query),
    Operation("exist", ("ObjectSet",), "Bool", _exist),
    Operation("count", ("ObjectSet",), "Integer", lambda _, a: a.sum(-1, keepdim=True)),
)
CONCEPTS = {
    "ObjConcept": ConceptType(FEATURES + 1, _object_concept),
    "RelConcept": ConceptType(FEATURES + 1, _relational_concept),
    "Attribute": ConceptType(None, _attribute),
}
# The ten templates of the thesis, in its order; relate(a, b, c) there is intersection(a, relate(b, c)) here.
_PLACED = " or ".join(f"(P\\N)/{x}" for x in "NP")
_JOINED = " or ".join(f"((P\\N)\\{x})/{y}" for x in "NP" for y in "NP")
TEMPLATES = [
    template(category, program, CONCEPTS)
    for category, program in (
        ("N", "scene()"),
        ("N", "filter(scene(), ObjConcept)"),
        ("N/N", "lambda x: filter(x, ObjConcept)"),
        (_PLACED, "lambda x, y: intersection(x, relate(y, RelConcept))"),
        (_PLACED, "lambda x, y: intersection(y, relate(x, RelConcept))"),
        ("B/N or B/P", "lambda x: exist(x)"),
        ("I/N or I/P", "lambda x: count(x)"),
        ("W/N or W/P", "lambda x: query(x, Attribute)"),
        ("((P\\N)\\(P\\N))/(P\\N) or ((N/N)\\(N/N))/(N/N)", "lambda g, f, x: intersection(f(x), g(x))"),
        (_JOINED, "lambda y, x, z: intersection(z, union(x, y))"),
    )
]


class Visual(Domain):
    """CLEVR: the answer is yes or no, a number, or a word for a concept."""

    scenes: Sequence[clevr_scenes.Scene] | None = None

    def world(self, examples: Sequence[Question], words: Sequence[str]) -> World:
        """Return object features and mask, padded to the largest scene, and the right answers."""
        most = max(len(example.scene.objects) for example in examples)
        features = np.zeros((len(examples), most, FEATURES), dtype=np.float32)
        mask = np.zeros((len(examples), most), dtype=np.float32)
        for row, example in enumerate(examples):
            features[row, : len(example.scene.objects)] = example.scene.features
            mask[row, : len(example.scene.objects)] = 1
        number = {word: index for index, word in enumerate(words)}
        codes = [_code(example.answer, number) for example in examples]
        return World(
            len(examples), features=torch.tensor(features), mask=torch.tensor(mask), answer=torch.tensor(codes)
        )

    def log_likelihood(self, world: World, roots: Mapping[str, Root]) -> Tensor:
        """Mix the readings of the three answer types by their weights."""
        shares = torch.softmax(torch.stack([root.log_weight for root in roots.values()]), 0)
        kind, code = world["answer"].unbind(1)
        total = torch.zeros_like(shares[0])
        for share, (atom, root) in zip(shares, roots.items(), strict=True):
            options = _distribution(atom, root.value)
            right = options.gather(1, code.clamp(0, options.shape[1] - 1)[:, None])[:, 0]
            total = total + share * right * (kind == "BIW".index(atom))
        return total.clamp(min=TINY).log()

    def answer(self, value: Any, atom: str, words: Sequence[str]) -> str:
        """Return the most probable answer."""
        best = int(_distribution(atom, torch.as_tensor(value)[None]).argmax())
        return ("no", "yes")[best] if atom == "B" else str(best) if atom == "I" else words[best]

    def gold(self, example: Question) -> str:
        """Return the right answer."""
        return example.answer

    def read(self, path: str | Path) -> Iterator[Question]:
        """Read CLEVR's questions about `scenes`."""
        if self.scenes is None:
            raise ConfigError("CLEVR's questions need their scenes. Give the scenes file with `--scenes FILE`.")
        return clevr_questions.read(path, self.scenes)

    def ask(self, words: tuple[str, ...], place: int) -> Question:
        """Return a question about one of `scenes`."""
        if self.scenes is None or place >= len(self.scenes):
            count = len(self.scenes or ())
            raise DataError(f"scene {place} is asked about, but there are {count} scenes. Give `--scenes FILE`.")
        return Question(words, self.scenes[place], "")

    def answer_words(self) -> Iterable[str]:
        """Return the values of the attributes: they are answers."""
        return [value for values in ATTRIBUTES.values() for value in values]


def _code(answer: str, words: Mapping[str, int]) -> tuple[int, int]:
    """Return which type an answer has (0 bool, 1 integer, 2 word) and which of its values it is."""
    if answer in ("no", "yes"):
        return 0, int(answer == "yes")
    return (1, min(int(answer), NUMBERS - 1)) if answer.isdigit() else (2, words.get(answer, 0))


def _distribution(atom: str, value: Tensor) -> Tensor:
    """Return P(answer), [batch, answers of the type]."""
    if atom == "B":
        return torch.cat([1 - value, value], 1)
    if atom == "I":
        return torch.softmax(-SHARPNESS * (value - torch.arange(NUMBERS, device=value.device)) ** 2, 1)
    return value


def visual(scenes: Sequence[clevr_scenes.Scene] | None = None) -> Visual:
    """Return the domain; `scenes` are those that question files are about.

    >>> len(visual().templates), visual().allow_empty
    (10, True)
    """
    domain = Visual("clevr", ATOMS, ("B", "I", "W"), OPERATIONS, TEMPLATES, CONCEPTS, allow_empty=True)
    domain.scenes = scenes
    return domain
