"""Score files of dependency trees, word alignments and program results; nothing is printed here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, tee
from typing import Any

from groundling.errors import ConfigError, DataError
from groundling.formats import format_of, load_format
from groundling.metrics.choosing import make_metrics, system_names
from groundling.metrics.pairing import Case, Entry, by_key, in_order
from groundling.metrics.program_results import read_results, read_tasks
from groundling.metrics.scoring import Options, Report, score_cases
from groundling.structures import Alignment, Dependencies


def score_dependencies(
    gold: str,
    preds: Sequence[str],
    *,
    metrics: Sequence[str] = ("uas", "las"),
    options: Options | None = None,
    **settings: Any,
) -> Report:
    """Score CoNLL-U files. Sentences are paired by `sent_id` where every file has ids, else in order."""
    golds, *systems = (load_format("conllu").read(path) for path in (gold, *preds))
    chosen = make_metrics(metrics, settings)
    return score_cases(_paired_sentences(golds, systems), chosen, system_names(preds), options)


def _paired_sentences(golds: Iterator[Dependencies], systems: list[Iterator[Dependencies]]) -> Iterator[Case]:
    firsts: list[Dependencies | None] = []
    streams: list[Iterator[Dependencies]] = []
    for sentences in (golds, *systems):
        first = next(sentences, None)
        firsts.append(first)
        streams.append(sentences if first is None else chain([first], sentences))
    named = all(first is None or first.id for first in firsts)
    entries = [_sentences(stream, named) for stream in streams]
    return (by_key if named else in_order)(entries[0], entries[1:], _same_words)


def _sentences(trees: Iterator[Dependencies], named: bool) -> Iterator[Entry]:
    for number, tree in enumerate(trees, 1):
        if named and not tree.id:
            raise DataError(f"sentence {number} has no sent_id, but the first has one. Name all sentences or none.")
        yield Entry(f"sentence {tree.id!r}" if named else f"sentence {number}", tree)


def _same_words(gold: Dependencies, pred: Dependencies) -> str:
    if len(gold.words) != len(pred.words):
        return f"{_start(gold.words)} in the gold, {_start(pred.words)} in the prediction"
    return next((f"word {i} is {a!r} in the gold, {b!r} in the prediction" for i, a, b in _unlike(gold, pred)), "")


def _unlike(gold: Dependencies, pred: Dependencies) -> Iterator[tuple[int, str, str]]:
    if gold.words != pred.words:
        pairs = zip(gold.words, pred.words, strict=True)
        yield from ((i, a, b) for i, (a, b) in enumerate(pairs, 1) if a != b)


def _start(words: Sequence[str]) -> str:
    text = " ".join(words[:4]) + (" ..." if len(words) > 4 else "")
    return f"{len(words)} words ({text[:60]!r})"


def score_alignments(
    gold: str,
    preds: Sequence[str],
    *,
    metrics: Sequence[str] = ("aer",),
    base: int = 0,
    gold_base: int = 0,
    options: Options | None = None,
    **settings: Any,
) -> Report:
    """Score word alignments, line by line: Pharaoh, WPT (`.wa`) or tab-separated pairs (`.tsv`).

    Where the gold has words, a link outside them is a mismatch. `base=1` where predicted positions count from 1.
    """
    golds = _alignments(gold, gold_base)
    systems = [_alignments(path, base) for path in preds]
    cases = in_order(golds, systems, _inside)
    unwrapped = (case._replace(gold=_links(case.gold), pred=_links(case.pred)) for case in cases)
    return score_cases(unwrapped, make_metrics(metrics, settings), system_names(preds), options)


def _alignments(path: str, base: int) -> Iterator[Entry]:
    try:
        name = format_of(path)
    except ConfigError:
        name = "pharaoh"
    items = load_format(name).read(path, base) if name == "pharaoh" else load_format(name).read(path)
    return (Entry(f"pair {number}", item) for number, item in enumerate(items, 1))


def _links(item: Any) -> Alignment:
    return getattr(item, "alignment", item)


def _inside(gold: Any, pred: Any) -> str:
    if not hasattr(gold, "source"):
        return ""
    source, target = len(gold.source), len(gold.target)
    for i, j in sorted(_links(pred).possible):
        if i >= source or j >= target:
            return f"the link {i}-{j} (from 0) lies outside {source} and {target} words"
    return ""


def score_programs(
    gold: str,
    preds: Sequence[str],
    *,
    metrics: Sequence[str] = ("pass-at-k",),
    k: Sequence[int] = (1,),
    options: Options | None = None,
    **settings: Any,
) -> Report:
    """Score program results: JSON lines with `task_id` and `passed` (or `output`, compared with the gold's).

    `gold` names the tasks, one line each. With one sample a task, pass@1 is the execution accuracy.
    """
    tasks, again = tee(read_tasks(gold))
    outputs = {entry.key: entry.item for entry in tasks}
    systems = [read_results(path, outputs) for path in preds]
    wanted = [(name, each) for name in metrics for each in (k if name == "pass-at-k" else (None,))]
    chosen = [make_metrics([name], settings | {"k": each})[0] for name, each in wanted]
    single = "execution-accuracy" in metrics
    cases = by_key((Entry(entry.key, [True]) for entry in again), systems, _one_sample if single else _any_number)
    return score_cases(cases, chosen, system_names(preds), options)


def _any_number(gold: list[bool], pred: list[bool]) -> str:
    return ""


def _one_sample(gold: list[bool], pred: list[bool]) -> str:
    return "" if len(pred) == 1 else f"execution accuracy takes one result a task, here are {len(pred)}"
