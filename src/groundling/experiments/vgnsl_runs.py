"""Trainings of chapter 3, each kept with its checkpoints' trees, so that selection and scoring never train again."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundling.experiments import vgnsl_data as corpus
from groundling.formats.files import atomic_write
from groundling.metrics.parseval import ParsEval
from groundling.structures.tree import Tree
from groundling.systems.vgnsl import Captions, Config, Model, Vectors, learn_vectors, train
from groundling.systems.vgnsl.concreteness import word_concreteness
from groundling.systems.vgnsl.retrieval import retrieval
from groundling.systems.vgnsl.selection import agreements, select_checkpoints, span_keys, total_agreement

Words = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Variant:
    """What is trained, on what, how often."""

    name: str
    config: Config
    data: str = "multi30k"  # or "no punctuation", "en", "de", "fr"
    seeds: int = 5
    vectors: bool = False  # text vectors beside the trained ones
    share: float = 1.0  # of the images
    shuffled: bool = False  # captions under wrong images


# Settings and numbers of epochs were chosen on Multi30K's silver validation trees, never on MSCOCO's.
_AI = Config(epochs=10)
_PLAIN = Config(bias=0.0, negatives="aligned", scorer_learning_rate=5e-4, epochs=1)
_LONG = Config(bias=20.0, scorer_schedule="constant", epochs=16, drop_epoch=12)
_ONE = replace(_LONG, epochs=20, drop_epoch=20, min_count=2)
VARIANTS = {
    variant.name: variant
    for variant in (
        Variant("VG-NSL", _PLAIN, seeds=3),
        Variant("VG-NSL+AI", _AI),
        Variant("VG-NSL+AI+vectors", replace(_AI, bias=300.0, epochs=4), vectors=True),
        Variant("VG-NSL+AI, no punctuation", replace(_LONG, epochs=10), data="no punctuation"),
        Variant("VG-NSL+AI, shuffled images", replace(_LONG, epochs=5), seeds=2, shuffled=True),
        Variant("VG-NSL+AI, 100 % of images", _LONG),
        Variant("VG-NSL+AI, 50 % of images", replace(_LONG, epochs=14), seeds=3, share=0.5),
        Variant("VG-NSL+AI, 20 % of images", replace(_LONG, epochs=25, drop_epoch=25), seeds=3, share=0.2),
        Variant("VG-NSL+AI, 10 % of images", replace(_LONG, epochs=35, drop_epoch=35), seeds=3, share=0.1),
        *(Variant(f"VG-NSL+AI, one caption, {language}", _ONE, language) for language in corpus.LANGUAGES),
    )
}


@dataclass(frozen=True)
class Kept:
    """One training: for each checkpoint the epoch, R@1 (images to text), spans of development and test captions.

    `concreteness` of words is measured on images that were not seen, `familiar` on some of the training images;
    `silver` is F1 on Multi30K's silver validation trees, in percent.
    """

    epochs: NDArray[np.float64]
    r1: NDArray[np.float64]
    dev: NDArray[np.uint8]  # (checkpoints, spans, 2)
    test: NDArray[np.uint8]
    concreteness: list[dict[str, float]]
    seconds: float
    familiar: list[dict[str, float]] = field(default_factory=list)
    silver: list[float] = field(default_factory=list)

    @classmethod
    def load(cls, path: Path) -> Kept:
        """Read what `write` wrote."""
        with np.load(path, allow_pickle=False) as found:
            arrays = {name: found[name] for name in found}
        facts = json.loads(str(arrays.pop("facts")))
        return cls(**arrays, **facts)

    def write(self, path: Path) -> None:
        """Keep it as one .npz."""
        names = ("concreteness", "seconds", "familiar", "silver")
        facts = json.dumps({name: getattr(self, name) for name in names})
        with atomic_write(path, binary=True) as file:
            np.savez_compressed(file, epochs=self.epochs, r1=self.r1, dev=self.dev, test=self.test, facts=facts)


def keep_runs(
    variant: Variant, data: Path, folder: Path, say: Callable[[str], None], device: str = "auto"
) -> list[Kept]:
    """All trainings of a variant; those already in `folder` are read."""
    kept: list[Kept] = []
    for seed in range(variant.seeds):
        path = folder / f"{variant.name.replace(' ', '_').replace(',', '')}-{seed}.npz"
        if not path.exists():
            say(f"training {variant.name}, seed {seed}")
            folder.mkdir(parents=True, exist_ok=True)
            _train(variant, data, seed, device).write(path)
        kept.append(Kept.load(path))
    return kept


def _train(variant: Variant, data: Path, seed: int, device: str) -> Kept:
    captions, (dev, test) = training_set(variant, data, seed), texts(variant, data)
    records: list[dict[str, Any]] = []

    def watch(model: Model) -> dict[str, float]:
        records.append(
            {"dev": flat(model, dev), "test": flat(model, test), **_measured(model, variant, captions, data)}
        )
        return {"r1": records[-1]["r1"]}

    start = time.perf_counter()
    vectors = _vectors(data) if variant.vectors else None
    train(variant.config, captions, seed=seed, vectors=vectors, watch=watch, device=device, label=variant.name)
    seconds = time.perf_counter() - start
    column = {name: [record[name] for record in records] for name in records[0]}
    return Kept(
        np.arange(1.0, len(records) + 1),
        np.array(column["r1"]),
        np.stack(column["dev"]),
        np.stack(column["test"]),
        column["words"],
        seconds,
        column["familiar"],
        column["silver"],
    )


def _measured(model: Model, variant: Variant, captions: Captions, data: Path) -> dict[str, Any]:
    """What is measured of a checkpoint on Multi30K's English captions; nothing in other languages."""
    held = validation(variant, data)
    if held is None:
        return {"r1": 0.0, "silver": 0.0, "words": {}, "familiar": {}}
    trees = corpus.silver_validation(data)
    found = ParsEval("vgnsl").corpus(trees, list(model.parse(tree.words for tree in trees)), bootstrap=0)
    return {
        "r1": retrieval(model, held)["i2t R@1"],
        "silver": 100 * found.value,
        "words": word_concreteness(model, corpus.unseen(data, variant.data != "no punctuation")),
        "familiar": word_concreteness(model, sample(captions)),
    }


def sample(captions: Captions) -> Captions:
    """Every ninth caption: some of each image's, as all captions of one kind follow each other."""
    return captions.take(np.arange(0, len(captions.sentences), 9))


def training_set(variant: Variant, data: Path, seed: int) -> Captions:
    """The captions a variant learns from."""
    if variant.data in corpus.LANGUAGES:
        captions = corpus.one_caption(data, variant.data)
    else:
        captions = corpus.multi30k(data, punctuation=variant.data != "no punctuation")
    if variant.share < 1:
        captions = captions.take(np.flatnonzero(captions.images < variant.share * len(captions.features)))
    return captions.shuffled(np.random.default_rng(seed)) if variant.shuffled else captions


def texts(variant: Variant, data: Path) -> tuple[Words, Words]:
    """The captions to compare runs on, and those to be tested on."""
    if variant.data in corpus.LANGUAGES:
        dev = corpus.captions_to_parse(data, variant.data, "val")[: corpus.AGREE]
        gold = [corpus.with_stop(tree).words for tree in corpus.silver_trees(data)]
        return dev, gold if variant.data == "en" else corpus.captions_to_parse(data, variant.data)
    punctuation = variant.data != "no punctuation"
    return corpus.mscoco_dev(data, punctuation), [tree.words for tree in corpus.mscoco_trees(data, punctuation)]


def validation(variant: Variant, data: Path) -> Captions | None:
    """Held-out captions with images, for R@1 and concreteness; none in the other languages."""
    return None if variant.data in corpus.LANGUAGES else corpus.multi30k(data, "val", variant.data != "no punctuation")


def _vectors(data: Path) -> Vectors:
    return learn_vectors(corpus.all_text(data), 300)


def flat(model: Model, sentences: Words) -> NDArray[np.uint8]:
    """The spans of all sentences in one array; no caption has 256 words."""
    return np.concatenate(model.spans(sentences)).astype(np.uint8)


def unflat(spans: NDArray[np.uint8], sentences: Words) -> list[NDArray[np.uint8]]:
    """Turn `flat` back: the spans of each sentence."""
    return np.split(spans, np.cumsum([len(words) - 1 for words in sentences])[:-1])


def trees_of(spans: NDArray[np.uint8], sentences: Words) -> list[Tree]:
    """The trees that `flat` was made from."""
    return [
        Tree.from_spans(words, own.tolist()) for words, own in zip(sentences, unflat(spans, sentences), strict=True)
    ]


def choose(runs: Sequence[Kept], dev: Words) -> tuple[list[int], float]:
    """One checkpoint a run by self-agreement on the development captions, and that agreement."""
    keys = [[span_keys(unflat(spans, dev)) for spans in run.dev] for run in runs]
    table = agreements(keys)
    chosen = select_checkpoints(table, [len(run.epochs) for run in runs])
    return chosen, total_agreement(table, chosen)
