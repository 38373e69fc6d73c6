"""ParsEval: precision, recall and F1 of brackets (thesis 2.1.1), under the conventions the field's numbers use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.errors import ConfigError, DataError, GroundlingError
from groundling.metrics.base import Metric, Score, Statistics, f1, ratio
from groundling.metrics.bracket_kernels import COLUMNS
from groundling.metrics.bracket_lines import chunks, compare_pairs
from groundling.metrics.bracket_reader import FIRST_TOKEN, NO_LABELS, TOUCHING, Rules
from groundling.metrics.bracketing import Bracket, bracketing_of_tree, crossing, evalb_pair, strip_function
from groundling.metrics.evalb_prm import EvalbParameters, read_prm
from groundling.names import did_you_mean
from groundling.structures.bracket_text import Labelled
from groundling.structures.tree import Tree

Average = Literal["corpus", "sentence"]


class Convention(NamedTuple):
    """What a named convention counts."""

    labels: bool
    average: Average
    multiset: bool  # equal brackets count as often as they occur
    whole: bool  # the bracket over the whole sentence counts
    words: bool  # brackets over one word count


CONVENTIONS = {
    "evalb": Convention(labels=True, average="corpus", multiset=True, whole=True, words=True),
    "plain": Convention(labels=True, average="corpus", multiset=True, whole=True, words=True),
    "vgnsl": Convention(labels=False, average="corpus", multiset=False, whole=True, words=False),
    "pcfg": Convention(labels=False, average="sentence", multiset=False, whole=False, words=False),
}
_COUNTS = ("matched", "gold", "pred", "f1", "precision", "recall", "items")
_EVALB = ("complete", "crossing", "no crossing", "2 or less crossing", "tags", "words")


@dataclass(frozen=True)
class ParsEval(Metric[Tree]):
    """F1 of brackets; pre-terminals are never brackets.

    - `evalb`: as the program EVALB with COLLINS.prm or the `prm` given: punctuation and TOP deleted, functions cut off
      labels, labelled, equal brackets count as often as they occur.
    - `plain`: every non-terminal as it stands (thesis figure 2.2).
    - `vgnsl`: unlabelled sets of spans, whole sentence counted, single words not (thesis ch. 3).
    - `pcfg`: the same without the whole sentence, F1 averaged over sentences (the compound PCFG's).

    `labels` and `average` change what the convention says; `punctuation=False` first drops words without any letter
    or digit. `types` are the labels whose recall stands in the details.

    >>> gold, pred = Tree.from_brackets("(S (NP (D a) (N cat)) (V runs))"), Tree.from_brackets("( a ( cat runs ) )")
    >>> print(ParsEval("vgnsl").score(gold, pred))
    ParsEval|convention:vgnsl|labels:no|average:corpus|punctuation:yes|v:0.1.0 = 50.00 (n=1)
    """

    name: ClassVar[str] = "ParsEval"
    convention: str = "evalb"
    labels: bool | None = None
    average: Average | None = None
    prm: str | None = None
    punctuation: bool = True
    types: tuple[str, ...] = ("NP", "VP", "PP", "ADJP")

    def __post_init__(self) -> None:
        if self.convention not in CONVENTIONS:
            hint = did_you_mean(self.convention, CONVENTIONS)
            raise ConfigError(
                f"no convention is called {self.convention!r}.{hint} There are: {', '.join(CONVENTIONS)}."
            )
        if self.average not in (None, "corpus", "sentence"):
            raise ConfigError(f"average is {self.average!r}. Use 'corpus' or 'sentence'.")
        if self.prm is not None and self.convention != "evalb":
            raise ConfigError(f"a .prm file belongs to the convention 'evalb', not to {self.convention!r}. Drop one.")

    @property
    def rules(self) -> Convention:
        """The convention with this metric's changes."""
        rules = CONVENTIONS[self.convention]
        labels = rules.labels if self.convention != "evalb" else read_prm(self.prm).labelled
        labels = labels if self.labels is None else self.labels
        return rules._replace(labels=labels, average=self.average or rules.average)

    def choices(self) -> dict[str, object]:
        """Resolved choices; the types only add details and are not listed."""
        listed: dict[str, object] = {"convention": self.convention, "labels": self.rules.labels}
        listed |= {"average": self.rules.average, "punctuation": self.punctuation}
        return listed | {"prm": read_prm(self.prm).name} if self.convention == "evalb" else listed

    def statistics(self, gold: Tree, pred: Tree) -> Statistics:
        """Counts of one pair: see `_COUNTS`, then (matched, gold) of each type, then EVALB's other columns."""
        if not self.punctuation:
            gold, pred = without_punctuation(gold), without_punctuation(pred)
        extra: list[float] = []
        if self.convention == "evalb":
            sides = evalb_pair(bracketing_of_tree(gold), bracketing_of_tree(pred), read_prm(self.prm))
            golds, preds = sides[0].brackets, sides[1].brackets
            extra = [float(sum(map(read_prm(self.prm).same_label, sides[0].tags, sides[1].tags))), len(sides[0].words)]
        else:
            _check_lengths(gold, pred)
            golds, preds = self._spans(gold), self._spans(pred)
        counts = bracket_counts(golds, preds, self.rules, self.types)
        if self.convention == "evalb":
            crossed = crossing(golds, preds)
            complete = counts[0] == counts[1] == counts[2]
            extra = [float(complete), crossed, float(crossed == 0), float(crossed <= 2), *extra]
        return np.array([*counts, *extra], dtype=np.float64)

    def _spans(self, tree: Tree) -> list[Bracket]:
        """Brackets as the rules count them."""
        rules, n = self.rules, len(tree.words)
        nodes = zip(tree.starts, tree.ends, tree.labels, tree.preterminals, strict=True)
        return [
            Bracket(start, end, label)
            for start, end, label, is_tag in nodes
            if not is_tag and (rules.words or end - start > 1) and (rules.whole or end - start < n)
        ]

    def corpus_lines(
        self,
        golds: Iterable[str],
        preds: Iterable[str],
        labelled: Labelled = "auto",
        *,
        bootstrap: int = 1000,
        seed: int = 0,
    ) -> Score:
        """Score bracketed lines without building trees: the same score as `corpus`, many times faster."""
        return self.aggregate(self.matrix_lines(golds, preds, labelled), bootstrap=bootstrap, seed=seed)

    def matrix_lines(self, golds: Iterable[str], preds: Iterable[str], labelled: Labelled = "auto") -> Statistics:
        """The statistics of each pair of lines; what the fast reader does not know goes through trees."""
        mode = {"auto": TOUCHING, True: FIRST_TOKEN, False: NO_LABELS}[labelled]
        rules = self.rules
        flags = Rules(self.convention == "evalb", rules.labels, rules.multiset, rules.whole, rules.words, mode)
        prm = read_prm(self.prm) if flags.evalb else EvalbParameters(frozenset(), frozenset(), label_class={})
        parts: list[Statistics] = []
        number = 0
        for pairs in chunks(golds, preds):
            counts = compare_pairs(pairs, flags, prm, self.types)
            matrix = self._from_counts(counts)
            for i in np.flatnonzero(counts[:, 1] if self.punctuation else np.ones(len(pairs))).tolist():
                matrix[i] = self._slow_statistics(number + i + 1, *pairs[i], labelled)
            parts.append(matrix)
            number += len(pairs)
        if not parts:
            raise DataError("there is nothing to score: no gold line and no prediction.")
        return np.concatenate(parts)

    def _slow_statistics(self, number: int, gold: str, pred: str, labelled: Labelled) -> Statistics:
        try:
            return self.statistics(Tree.from_brackets(gold, labelled), Tree.from_brackets(pred, labelled))
        except GroundlingError as error:
            raise error.at(f"item {number}") from None

    def _from_counts(self, counts: NDArray[np.int64]) -> Statistics:
        rows = counts.astype(np.float64)
        matched, gold, pred, crossed = rows[:, 2], rows[:, 3], rows[:, 4], rows[:, 5]
        precision = np.where(pred > 0, matched / np.maximum(pred, 1), gold == 0)
        recall = np.where(gold > 0, matched / np.maximum(gold, 1), 1.0)
        both = precision + recall
        score = np.where(both > 0, 2 * precision * recall / np.where(both > 0, both, 1), 0.0)
        columns = [matched, gold, pred, score, precision, recall, np.ones(len(rows)), *rows[:, COLUMNS:].T]
        if self.convention == "evalb":
            complete = (matched == gold) & (gold == pred)
            columns += [complete, crossed, crossed == 0, crossed <= 2, rows[:, 7], rows[:, 6]]
        return np.stack(columns, axis=1).astype(np.float64)

    def value(self, total: Statistics) -> float:
        """F1 over all brackets, or the mean of the sentences' F1."""
        if self.rules.average == "sentence":
            return ratio(total[3], total[6])
        return f1(*_precision_recall(*total[:3].tolist()))

    def details(self, total: Statistics) -> dict[str, float]:
        """Precision, recall, recall of each type, and for EVALB its other columns."""
        numbers = total.tolist()
        if self.rules.average == "sentence":
            precision, recall = ratio(numbers[4], numbers[6]), ratio(numbers[5], numbers[6])
        else:
            precision, recall = _precision_recall(*numbers[:3])
        found = {"precision": precision, "recall": recall}
        place = len(_COUNTS)
        for label in self.types:
            if numbers[place + 1]:
                found[f"recall {label}"] = numbers[place] / numbers[place + 1]
            place += 2
        if self.convention == "evalb":
            complete, crossed, none, two, tags, words = numbers[place:]
            found |= {key: ratio(x, numbers[6]) for key, x in zip(_EVALB, (complete, crossed, none, two), strict=False)}
            found["tagging"] = ratio(tags, words)
        return found


def bracket_counts(
    golds: list[Bracket], preds: list[Bracket], rules: Convention, types: tuple[str, ...]
) -> list[float]:
    """Match brackets; an empty side is right where the other is empty too (as the compound PCFG's scorer has it)."""
    gold_keys, pred_keys = _keys(golds, rules), _keys(preds, rules)
    common = gold_keys & pred_keys
    matched, gold, pred = common.total(), gold_keys.total(), pred_keys.total()
    precision, recall = _precision_recall(matched, gold, pred)
    counts = [matched, gold, pred, f1(precision, recall), precision, recall, 1.0]
    for label in types:
        counts += _typed(golds, pred_keys, rules, label)
    return counts


def _keys(brackets: list[Bracket], rules: Convention) -> Counter[Any]:
    keys: Counter[Any] = Counter(brackets if rules.labels else [bracket[:2] for bracket in brackets])
    return keys if rules.multiset else Counter(set(keys))


def _typed(golds: list[Bracket], pred_keys: Counter[Any], rules: Convention, label: str) -> tuple[float, float]:
    """(found, all) of the gold brackets of one type."""
    mine = [bracket for bracket in golds if strip_function(bracket.label) == label]
    if rules.labels and rules.multiset:
        wanted = Counter(mine)
        return (wanted & pred_keys).total(), len(mine)
    found = [bracket for bracket in mine if (bracket if rules.labels else bracket[:2]) in pred_keys]
    return (len(found), len(mine)) if rules.multiset else (len(set(found)), len(set(mine)))


def _precision_recall(matched: float, gold: float, pred: float) -> tuple[float, float]:
    return ratio(matched, pred, empty=float(not gold)), ratio(matched, gold)


def without_punctuation(tree: Tree) -> Tree:
    """Drop words without any letter or digit; a tree of nothing else stays as it is.

    >>> str(without_punctuation(Tree.from_brackets("(S (N dogs) (V bark) (. .))")))
    '(S (N dogs) (V bark))'
    """
    drop = [i for i, word in enumerate(tree.words) if not any(c.isalnum() for c in word)]
    return (tree.without(drop) or tree) if drop else tree


def _check_lengths(gold: Tree, pred: Tree) -> None:
    if len(gold.words) != len(pred.words):
        raise DataError(
            f"the gold tree has {len(gold.words)} words, the predicted one {len(pred.words)}. ParsEval compares trees "
            "over the same words; Struct-IoU also compares others."
        )
