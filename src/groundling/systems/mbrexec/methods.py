"""The names of the selection methods, and the pool of candidates that each scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from groundling.errors import ConfigError, DataError
from groundling.names import did_you_mean
from groundling.structures import Program
from groundling.systems.mbrexec import bleu, rules
from groundling.systems.mbrexec.executing import Executed, Run
from groundling.systems.mbrexec.rules import Ids, Scores

TEXT_SHARE = 0.5


@dataclass(frozen=True)
class Pool:
    """The candidates of one task: their texts, their results, and, where tests were generated, what passes them."""

    programs: tuple[Program, ...]
    runs: tuple[Run, ...]
    test_runs: tuple[Run, ...] | None = None  # on generated asserts
    task_id: str = ""
    whole: Pool | None = field(default=None, repr=False)  # the pool that this is a part of, and which part
    part: tuple[int, ...] = ()

    @staticmethod
    def of(executed: Executed) -> Pool:
        return Pool(executed.samples.programs, executed.runs, task_id=executed.task.task_id)

    @cached_property
    def ids(self) -> Ids:
        return rules.result_ids(self.runs)

    @property
    def likelihood(self) -> list[float | None]:
        return [program.logprob for program in self.programs]

    def among(self, chosen: list[int]) -> Pool:
        """The same task with these candidates only."""
        tests = tuple(self.test_runs[i] for i in chosen) if self.test_runs is not None else None
        programs, runs = tuple(self.programs[i] for i in chosen), tuple(self.runs[i] for i in chosen)
        return Pool(programs, runs, tests, self.task_id, self, tuple(chosen))

    def first_inputs(self, count: int) -> Pool:
        """The same task with its first inputs only (the thesis runs one unless it says otherwise)."""
        runs = tuple(replace(run, keys=run.keys[:count]) for run in self.runs)
        return replace(self, runs=runs, whole=self, part=tuple(range(len(runs))))

    def bleu(self, unit: str) -> Scores:
        """`bleu[i, j]` of the programs' texts by `char` or `token`; a part looks it up in the whole."""
        if self.whole is not None:
            return self.whole.bleu(unit)[np.ix_(self.part, self.part)]
        return self._char_bleu if unit == "char" else self._token_bleu

    @cached_property
    def _char_bleu(self) -> Scores:
        return bleu.pairwise_bleu([bleu.characters(p.code) for p in self.programs])

    @cached_property
    def _token_bleu(self) -> Scores:
        return bleu.pairwise_bleu([bleu.tokens(p.code, p.language) for p in self.programs])


def _likelihood(pool: Pool, mean: bool) -> Scores:
    values = [program.mean_logprob if mean else program.logprob for program in pool.programs]
    if any(value is None for value in values):
        what = "`logprobs` or `logprob` and `tokens`" if mean else "`logprob`"
        raise DataError(f"task {pool.task_id!r}: a program has no likelihood. Give {what} in the samples file.")
    return np.array(values, dtype=np.float64)


def _with_text(pool: Pool) -> Scores:
    """Soft agreement of results plus half the agreement of texts (charBLEU in 0-1) of those that run: our own rule.

    Programs that are right are alike in what they give and, less so, in how they are written. Any share of the text
    from 0.1 to 0.5 did about equally well (docs/mbrexec.md).
    """
    text = pool.bleu("char").sum(axis=1) / 100
    return rules.soft_agreement(pool.ids) + TEXT_SHARE * text * rules.executable(pool.ids)


def _dual(pool: Pool) -> Scores:
    if pool.test_runs is None:
        raise DataError("dual agreement needs generated tests. Give them with --generated-tests.")
    passes = [[key is not None for key in run.keys] for run in pool.test_runs]
    return rules.dual_agreement(np.array(passes, dtype=bool).reshape(len(pool.programs), -1))


METHODS: dict[str, Callable[[Pool], Scores]] = {
    "random": lambda pool: np.zeros(len(pool.programs)),
    "executable": lambda pool: rules.executable(pool.ids),
    "ml": lambda pool: _likelihood(pool, mean=False),
    "mall": lambda pool: _likelihood(pool, mean=True),
    "mbr-charbleu": lambda pool: pool.bleu("char").sum(axis=1),  # minus the risk under -BLEU
    "mbr-tokenbleu": lambda pool: pool.bleu("token").sum(axis=1),
    "mbr-exec": lambda pool: rules.hard_agreement(pool.ids),
    "mbr-exec-soft": lambda pool: rules.soft_agreement(pool.ids),
    "mbr-exec-text": lambda pool: _with_text(pool),
    "dual": _dual,
}
PREFIX = "executability-"  # `executability-ml`: ml among those that run, as the thesis writes it


def scores_of(method: str, pool: Pool) -> Scores:
    """Score every candidate of a pool by the named method; `executability-NAME` filters first."""
    name = method.removeprefix(PREFIX)
    if name not in METHODS:
        raise ConfigError(
            f"no method is called {method!r}.{did_you_mean(name, METHODS)} There are: {', '.join(METHODS)}, "
            f"each also as {PREFIX}NAME."
        )
    scores = METHODS[name](pool)
    return rules.only_among(rules.executable(pool.ids), scores) if name != method else scores


def select(pool: Pool, method: str = "mbr-exec") -> int:
    """Index of the chosen candidate: best score, then likelihood, then first (thesis 7.2.2)."""
    return rules.choose(scores_of(method, pool), pool.likelihood)


def expected(pool: Pool, passed: list[bool], method: str) -> float:
    """Chance that the chosen one is right, over ties."""
    return rules.expected_accuracy(scores_of(method, pool), passed, pool.likelihood)
