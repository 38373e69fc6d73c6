"""CLEVR questions of the subset that G2L2 learns: read from CLEVR's JSON, or made from scenes.

The subset (thesis 6.3.1): no coreference and one meaning a word. Of CLEVR's forms we keep zero, one and two hops,
`and` and `or` up to 20 words, where what is asked stands before what it is asked of; left out are `;` (it, its),
`made of` and `how big` (`big` is an adjective elsewhere) and `The ... is what color`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from groundling.errors import DataError
from groundling.worlds.clevr_scenes import ATTRIBUTES, RELATIONS, Scene, Thing, read_json

LONGEST = 20  # words
WORDS = {  # value -> how it is said
    "sphere": ("sphere", "ball"),
    "cube": ("cube", "block"),
    "large": ("large", "big"),
    "small": ("small", "tiny"),
    "metal": ("metallic", "metal", "shiny"),
    "rubber": ("rubber", "matte"),
    "thing": ("thing", "object"),
    "left": ("left of", "to the left of", "on the left side of"),
    "right": ("right of", "to the right of", "on the right side of"),
    "front": ("in front of",),
    "behind": ("behind",),
}
FAMILIES = {"zero_hop": 0, "one_hop": 1, "two_hop": 2, "single_and": 2, "single_or": 0}
_LEFT_OUT = re.compile(r";|made of|how big|^the ", re.IGNORECASE)


@dataclass(frozen=True)
class Question:
    """A question about a scene. `form` is zero_hop, one_hop, two_hop, single_and or single_or."""

    words: tuple[str, ...]
    scene: Scene
    answer: str
    form: str = ""

    @property
    def text(self) -> str:
        """The question as one line."""
        return " ".join(self.words)

    @property
    def counts(self) -> bool:
        """Whether the answer is a number."""
        return self.answer.isdigit()


def tokens(text: str) -> tuple[str, ...]:
    """Return the words of a question in lower case.

    >>> tokens("Are there any cubes?")
    ('are', 'there', 'any', 'cubes')
    """
    return tuple(re.findall(r"[a-z0-9]+", text.lower()))


def say(answer: Any) -> str:
    """Return an answer as a word: yes, no, a number, a color ..."""
    return {True: "yes", False: "no"}[answer] if isinstance(answer, bool) else str(answer)


def read(path: str | Path, scenes: Iterable[Scene], *, subset: bool = True) -> Iterator[Question]:
    """Read CLEVR's questions about the given scenes; with `subset`, only those that G2L2 learns."""
    by_number = {scene.number: scene for scene in scenes}
    for record in read_json(path, "questions"):
        form = str(record.get("template_filename", "")).removesuffix(".json")
        words = tokens(record["question"])
        if subset and (form not in FAMILIES or len(words) > LONGEST or _LEFT_OUT.search(record["question"])):
            continue
        if record["image_index"] not in by_number:
            raise DataError(f"{path}: a question is about scene {record['image_index']}, which the scenes file lacks.")
        yield Question(words, by_number[record["image_index"]], say(record.get("answer", "")), form)


@dataclass
class _Maker:
    """Makes one question about one scene; gives None where a try fails."""

    scene: Scene
    rng: np.random.Generator

    def pick(self, items: Iterable[str]) -> str:
        options = list(items)
        return options[int(self.rng.integers(len(options)))]

    def describe(self, thing: Thing, plural: bool, without: str = "") -> tuple[list[str], Mapping[str, str]]:
        """Return words for an object and the attributes they name."""
        named = {name: getattr(thing, name) for name in ATTRIBUTES if name != without and self.rng.random() < 0.45}
        said = [self.pick(WORDS.get(named[k], (named[k],))) for k in ("size", "color", "material") if k in named]
        noun = self.pick(WORDS.get(named.get("shape", "thing"), (named.get("shape", ""),)))
        return [*said, noun + "s" * plural], named

    def matching(self, named: Mapping[str, str], among: Iterable[int]) -> list[int]:
        things = self.scene.objects
        return [i for i in among if all(getattr(things[i], name) == value for name, value in named.items())]

    def reference(self, among: list[int], without: str = "") -> tuple[list[str], int] | None:
        """Describe one object so that no other of `among` fits."""
        if not among:
            return None
        for _ in range(8):
            target = among[int(self.rng.integers(len(among)))]
            said, named = self.describe(self.scene.objects[target], False, without)
            if self.matching(named, among) == [target]:
                return said, target
        return None

    def chain(self, hops: int) -> tuple[list[str], list[int]] | None:
        """Return `REL the X [that is] REL the Y ...` and the objects that stand there."""
        found = self.reference(list(range(len(self.scene.objects))))
        if found is None:
            return None
        said, target = found
        for _ in range(hops - 1):
            relation = self.pick(RELATIONS)
            nearer = self.reference(self.scene.relations[relation][target])
            if nearer is None:
                return None
            link = self.pick(["", "that is"]).split()
            said = [*nearer[0], *link, *self.pick(WORDS[relation]).split(), "the", *said]
            target = nearer[1]
        relation = self.pick(RELATIONS)
        return [*self.pick(WORDS[relation]).split(), "the", *said], self.scene.relations[relation][target]

    def place(self, form: str) -> tuple[list[str], list[int]] | None:
        """Return the words after the noun and the objects they leave."""
        if form == "zero_hop":
            return [], list(range(len(self.scene.objects)))
        if form == "single_and":
            first, second = self.chain(1), self.chain(1)
            if first is None or second is None:
                return None
            both = sorted(set(first[1]) & set(second[1]))
            return [*self.pick(["", "both"]).split(), *first[0], "and", *second[0]], both
        return self.chain(2 if form == "two_hop" else 1)

    def make(self, form: str, kind: str) -> Question | None:
        if form == "single_or":
            return self.either()
        place = self.place(form)
        if place is None:
            return None
        said, among = place
        if kind == "query":
            return self.query(form, said, among)
        example = self.example()
        one = kind == "exist" and self.rng.random() < 0.5
        noun, named = self.describe(example, not one)
        number = len(self.matching(named, among))
        link = ["that", "is" if one else "are"] if said and (form == "single_and" or self.rng.random() < 0.5) else []
        if kind == "exist":
            start = ["is", "there", "a"] if one else ["are", "there", "any"]
            return Question((*start, *noun, *link, *said), self.scene, say(number > 0), form)
        start = self.pick(["how many", "what number of"]).split()
        return Question((*start, *noun, "are", *(said or ["there"])), self.scene, str(number), form)

    def example(self) -> Thing:
        """Return an object to describe: one of the scene, or as often any, so that `no` and 0 are answers too."""
        things = self.scene.objects
        if self.rng.random() < 0.5:
            return things[int(self.rng.integers(len(things)))]
        return Thing(**{name: self.pick(values) for name, values in ATTRIBUTES.items()}, place=(0.0, 0.0))

    def query(self, form: str, said: list[str], among: list[int]) -> Question | None:
        attribute = self.pick(ATTRIBUTES)
        found = self.reference(among, without=attribute)
        if found is None:
            return None
        noun, target = found
        start = self.pick([f"what {attribute} is the", f"what is the {attribute} of the"]).split()
        link = ["that", "is"] if said and (form == "single_and" or self.rng.random() < 0.5) else []
        answer = getattr(self.scene.objects[target], attribute)
        return Question((*start, *noun, *link, *said), self.scene, answer, form)

    def either(self) -> Question:
        things = self.scene.objects
        parts = [self.describe(self.example(), True) for _ in range(2)]
        fits = {i for _, named in parts for i in self.matching(named, range(len(things)))}
        start = [*self.pick(["how many", "what number of"]).split(), self.pick(["things", "objects"]), "are"]
        words = (*start, *self.pick(["", "either"]).split(), *parts[0][0], "or", *parts[1][0])
        return Question(words, self.scene, str(len(fits)), "single_or")


def make_questions(
    scene: Scene, count: int, rng: np.random.Generator, forms: Iterable[str] = FAMILIES
) -> list[Question]:
    """Make questions about a scene, forms and kinds (count, exist, query) equally often.

    >>> from groundling.worlds.clevr_scenes import make_scene
    >>> rng = np.random.default_rng(1)
    >>> len(make_questions(make_scene(0, rng), 5, rng))
    5
    """
    maker, made, options = _Maker(scene, rng), [], list(forms)
    while len(made) < count:
        question = maker.make(maker.pick(options), maker.pick(["count", "exist", "query"]))
        if question is not None and len(question.words) <= LONGEST:
            made.append(question)
    return made
