"""A page that shows each choice: which programs agree, on what, and why one was chosen."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from groundling.drawing.programs import draw_agreement
from groundling.metrics.base import Score
from groundling.reports.job import write_report
from groundling.reports.sections import Picture, Section, Table
from groundling.systems.mbrexec import Executed, Graded, Pool, scores_of, select
from groundling.systems.mbrexec.evaluate import accuracies

_MOST = 200  # tasks on one page
_MISSED = 10  # wrong choices on the page of an evaluation
_CODE = 2_000


def write_selection_page(
    path: str | os.PathLike[str],
    found: Sequence[Executed],
    pools: Sequence[Pool],
    chosen: Sequence[int],
    method: str,
    level: str,
    command: str = "",
    data: Iterable[str | None] = (),
) -> None:
    """Write one section a task."""
    sections = [
        task_section(item, pool, index, method)
        for item, pool, index in list(zip(found, pools, chosen, strict=True))[:_MOST]
    ]
    lead = f"{len(found)} tasks, chosen by `{method}`, run in `sandbox:{level}`. No expected answer was used."
    if len(found) > _MOST:
        lead += f" The first {_MOST} are shown."
    write_report(path, "Chosen programs", more=sections, lead=lead, command=command, data=data)


def write_evaluation_page(
    path: str | os.PathLike[str],
    rows: Sequence[tuple[str, Score]],
    curves: Sequence[str],
    found: Sequence[Executed],
    graded: Sequence[Graded],
    command: str = "",
    data: Iterable[str | None] = (),
) -> None:
    """Accuracy of each method with its interval, curves, and the tasks whose choice is wrong though one was right."""
    method = "mbr-exec-soft"
    shares = accuracies(graded, method)
    missed = [k for k, one in enumerate(graded) if any(one.passed) and shares[k] < 0.5][:_MISSED]
    sections = [Section("By sample size", pictures=list(curves))] if curves else []
    sections += [task_section(found[k], graded[k].pool, select(graded[k].pool, method), method) for k in missed]
    lead = f"{len(found)} tasks. Shown are up to {_MISSED} where `{method}` chose a wrong program though one was right."
    write_report(path, "Choosing programs", scores=rows, more=sections, lead=lead, command=command, data=data)


def task_section(item: Executed, pool: Pool, chosen: int, method: str) -> Section:
    """One task: the groups of programs that agree on all inputs, the results, the chosen text and the reason."""
    groups = agreement_groups(pool)
    scores = scores_of(method, pool)
    size = next((len(group["programs"]) for group in groups if chosen in group["programs"]), 1)
    ties = int((scores == scores[chosen]).sum())
    why = (
        f"Program **{chosen}** was chosen: score {scores[chosen]:.2f} by `{method}`, the highest of {len(scores)}"
        + (f", shared by {ties}, of which the likeliest and then the first is taken" if ties > 1 else "")
        + f"; {_standing(size, groups)}."
    )
    code = pool.programs[chosen].code[:_CODE].strip("\n")
    return Section(
        item.task.task_id,
        f"{why}\n\n```\n{code}\n```",
        tables=[_results(item, pool, groups)],
        pictures=[
            Picture(draw_agreement(groups, chosen=chosen), "Programs by their results; the chosen one is filled.")
        ],
    )


def _standing(size: int, groups: Sequence[dict[str, Any]]) -> str:
    if all(group["failed"] for group in groups):
        return "no program ran on every input, so that none agrees with another"
    return f"{size} programs give its results" if size > 1 else "no other program gives its results"


def agreement_groups(pool: Pool) -> list[dict[str, Any]]:
    """Programs by their results on all inputs, largest first; those that fail come one group an error."""
    groups: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for index, run in enumerate(pool.runs):
        failed = not run.keys or any(key is None for key in run.keys)
        error = next((text for key, text in zip(run.keys, run.shown, strict=False) if key is None), run.status)
        groups[(failed, error.partition(":")[0]) if failed else (failed, *run.keys)].append(index)
    found: list[dict[str, Any]] = []
    for key, members in sorted(groups.items(), key=lambda pair: (pair[0][0], -len(pair[1]))):
        shown = key[1] if key[0] else ", ".join(pool.runs[members[0]].shown)
        found.append({"result": shown or "nothing", "programs": members, "failed": key[0]})
    return found


def _results(item: Executed, pool: Pool, groups: Sequence[dict[str, Any]]) -> Table:
    """A row an input: what the largest groups say."""
    largest = [group for group in groups if not group["failed"]][:4] or list(groups[:4])  # else how they failed
    header = ["input", *[_count(len(group["programs"])) for group in largest]]
    count = len(pool.runs[0].keys)
    rows = [
        [text[:80], *[_said(pool, group, place) for group in largest]]
        for place, text in enumerate(item.task.inputs[:count][:12])
    ]
    return Table(header, rows, "What the largest groups answer")


def _said(pool: Pool, group: dict[str, Any], place: int) -> str:
    shown = pool.runs[group["programs"][0]].shown
    return shown[place] if place < len(shown) else group["result"]


def _count(programs: int) -> str:
    return f"{programs} program{'s' if programs > 1 else ''}"
