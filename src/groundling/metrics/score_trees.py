"""Score files of constituency trees, over words, characters or seconds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any

from groundling.errors import ConfigError, DataError, GroundlingError
from groundling.formats import brackets
from groundling.metrics.boundaries import speech
from groundling.metrics.choosing import make_metrics, system_names
from groundling.metrics.pairing import Entry, in_order
from groundling.metrics.score_segments import read_segments
from groundling.metrics.scoring import Options, Report, score_cases
from groundling.structures import Tree
from groundling.structures.bracket_text import Labelled
from groundling.structures.tree import Unit

_TRACE = "-NONE-"
_LOOKED_AT = 50  # trees that decide whether a file has labels


def score_trees(
    gold: str,
    preds: Sequence[str],
    *,
    metrics: Sequence[str] | None = None,
    labels: bool | None = None,
    unit: Unit = "words",
    labelled_gold: Labelled = "auto",
    labelled: Labelled = "auto",
    segments_gold: str | None = None,
    segments_preds: Sequence[str] = (),
    options: Options | None = None,
    **settings: Any,
) -> Report:
    """Score bracketed trees, first with first, second with second.

    Over words, Struct-IoU and ParsEval; over characters or seconds, where words may differ, Struct-IoU only.
    `labels=None` scores labels unless a file has none. Empty elements (-NONE-) are removed. For seconds, the i-th
    recording of `segments_gold` and `segments_preds` (see `read_segments`) times the words of the i-th tree.
    """
    names = list(metrics or (("struct-iou", "parseval") if unit == "words" else ("struct-iou",)))
    timings = _timings(unit, len(preds), segments_gold, segments_preds)
    look = _Look()
    reading: list[tuple[str, Labelled]] = [(gold, labelled_gold), *((path, labelled) for path in preds)]
    bare = [look.first(path, brackets.read(path, has_labels)) for path, has_labels in reading]
    if labels is None and look.unlabelled:
        labels = False
        look.notes.append(f"{', '.join(look.unlabelled)}: no labels there, so labels are not scored")
    if labels is False and "parseval" in names and settings.get("convention") is None:
        settings["convention"] = "vgnsl"  # its usual convention for trees without labels
    chosen = make_metrics(names, settings | {"labels": labels, "unit": unit if "struct-iou" in names else None})
    golds, *systems = (_entries(trees, unit, timing, look) for trees, timing in zip(bare, timings, strict=True))
    look.lengths = unit == "words" and names != ["parseval"]  # ParsEval compares lengths after its deletions
    report = score_cases(in_order(golds, systems, look.check), chosen, system_names(preds), options)
    return replace(report, notes=(*look.notes, *look.counts()))


@dataclass
class _Look:
    """What is noticed on the way."""

    lengths: bool = True
    unlabelled: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])
    traces: int = 0
    other_words: list[str] = field(default_factory=list[str])

    def first(self, path: str, trees: Iterator[Tree]) -> Iterator[Tree]:
        """Look at the first trees, and give all of them."""
        head = list(islice(trees, _LOOKED_AT))
        if head and not any(label for tree in head for label in tree.labels):
            self.unlabelled.append(path)
        return chain(head, trees)

    def check(self, gold: Any, pred: Any) -> str:
        """Trees that a metric cannot compare; other words at equal length are only noted."""
        for item in (gold, pred):
            if isinstance(item, GroundlingError):
                return str(item)
        if gold.unit == "words" and self.lengths and len(gold.words) != len(pred.words):
            return f"{_start(gold)} in the gold, {_start(pred)} in the prediction"
        if gold.unit == "characters" and _length(gold) != _length(pred):
            return f"{_length(gold)} characters in the gold, {_length(pred)} in the prediction"
        if gold.unit == "words" and gold.words != pred.words:
            self.other_words.append(f"{_start(gold)} against {_start(pred)}")
        return ""

    def counts(self) -> Iterator[str]:
        """Notes on the whole."""
        if self.traces:
            yield f"{self.traces} trees had empty elements ({_TRACE}), which were removed"
        if self.other_words:
            yield f"{len(self.other_words)} sentences have other words than the gold, e.g. {self.other_words[0]}"


def _entries(trees: Iterable[Tree], unit: Unit, timing: str | None, look: _Look) -> Iterator[Entry]:
    times = read_segments(timing) if timing else None
    for number, tree in enumerate(trees, 1):
        key = f"sentence {number}"
        if _TRACE in tree.labels:
            look.traces += 1
            tree = tree.without(i for i, tag in enumerate(tree.tags) if tag == _TRACE) or tree
        yield Entry(key, tree.in_characters() if unit == "characters" else _timed(tree, times) if times else tree)


def _timed(tree: Tree, recordings: Iterator[Entry]) -> Tree | GroundlingError:
    entry = next(recordings, None)
    if entry is None:
        return DataError("there is no recording for this tree.")
    try:
        return Tree.from_segments(tree, speech(entry.item))
    except GroundlingError as error:
        return error.at(entry.key)


def _timings(unit: Unit, systems: int, gold: str | None, preds: Sequence[str]) -> list[str | None]:
    if unit != "seconds":
        if gold or preds:
            raise ConfigError(f"segments time the words, but the unit is {unit}. Add `--unit seconds`.")
        return [None] * (systems + 1)
    if not gold or len(preds) not in (0, 1, systems):
        raise ConfigError(
            "seconds need times: give `--segments-gold`, and `--segments-pred` once, once a system, or not at all "
            "where the systems parse the gold segments."
        )
    return [gold, *(preds if len(preds) == systems else [preds[0] if preds else gold] * systems)]


def _start(tree: Tree) -> str:
    text = " ".join(tree.words[:4]) + (" ..." if len(tree.words) > 4 else "")
    return f"{len(tree.words)} words ({text[:60]!r})"


def _length(tree: Tree) -> int:
    return sum(map(len, tree.words))
