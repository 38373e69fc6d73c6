"""`groundling mbrexec`: sample programs, run them in a sandbox, choose, evaluate."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from groundling.cli.reporting import Report, command_line

if TYPE_CHECKING:
    from groundling.execution import Limits
    from groundling.systems.mbrexec import Executed

# These functions are long because a command is the list of its options; the work is in systems/mbrexec.
app = typer.Typer(rich_markup_mode=None)
Samples = Annotated[
    str, typer.Argument(metavar="SAMPLES", help="JSON lines with task_id and completion(s); - is stdin.")
]
Tests = Annotated[
    str | None, typer.Option("--tests", help="Tasks: `inputs`, MBPP's or HumanEval's file. Else from the prompts.")
]
Method = Annotated[str, typer.Option("--method", "-m", help="mbr-exec, mbr-exec-soft, mbr-exec-text, dual, ml, ...")]
Inputs = Annotated[int, typer.Option("--inputs", min=0, help="Use the first N inputs; 0 is all.")]
Seconds = Annotated[float, typer.Option("--seconds", help="Time limit of one program with all its inputs.")]
Cpu = Annotated[float | None, typer.Option("--cpu-seconds", help="CPU time limit; the wall clock may then be longer.")]
CachePath = Annotated[str | None, typer.Option("--cache", help="Keep results here; nothing runs twice.")]
Workers = Annotated[int, typer.Option("--workers", min=1, help="Sandboxes, or processes with --backend.")]
Backend = Annotated[str | None, typer.Option("--backend", help="Spread over loky, ray or dask.")]
Unsafe = Annotated[bool, typer.Option("--unsafe-local", help="Run even where no sandbox works. Trust every program!")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Output = Annotated[str, typer.Option("--output", "-o", help="Where to write; - is stdout.")]
Generated = Annotated[
    str | None, typer.Option("--generated-tests", help="JSON lines with task_id and completions after `assert`.")
]


@app.command("run")
def run_command(
    samples: Samples,
    cache: Annotated[str, typer.Option("--cache", help="Where results are kept.")],
    tests: Tests = None,
    seconds: Seconds = 3.0,
    cpu_seconds: Cpu = None,
    workers: Workers = 2,
    backend: Backend = None,
    unsafe_local: Unsafe = False,
    as_json: AsJson = False,
) -> None:
    """Run every program on its task's inputs and keep the results.

    Example: groundling mbrexec run samples.jsonl --tests mbpp.jsonl --cache results.jsonl
    """
    from groundling.execution import Limits

    limits = Limits(seconds=seconds, cpu_seconds=cpu_seconds)
    found, level = _executed(samples, tests, limits, cache, workers, backend, unsafe_local, grade=False)
    counts = Counter(run.status for item in found for run in item.runs)
    programs = sum(counts.values())
    if as_json:
        print(json.dumps({"tasks": len(found), "programs": programs, "statuses": counts, "sandbox": level}))
        return
    print(
        f"{programs} programs of {len(found)} tasks ({level}): "
        + ", ".join(f"{n} {s}" for s, n in counts.most_common())
    )


@app.command("select")
def select_command(
    samples: Samples,
    tests: Tests = None,
    method: Method = "mbr-exec",
    inputs: Inputs = 0,
    output: Output = "-",
    page: Annotated[
        str | None, typer.Option("--page", help="Write an HTML page: who agrees, on what, and why.")
    ] = None,
    generated_tests: Generated = None,
    seconds: Seconds = 3.0,
    cpu_seconds: Cpu = None,
    cache: CachePath = None,
    workers: Workers = 2,
    backend: Backend = None,
    unsafe_local: Unsafe = False,
    report: Report = None,
) -> None:
    """Choose one program a task by running them all. No expected answer is used.

    Example: groundling mbrexec select samples.jsonl --tests mbpp.jsonl --method mbr-exec -o chosen.jsonl
    """
    from groundling.execution import Limits
    from groundling.formats import samples as samples_format
    from groundling.structures import Samples as Pile
    from groundling.systems.mbrexec import select

    limits = Limits(seconds=seconds, cpu_seconds=cpu_seconds)
    found, level = _executed(samples, tests, limits, cache, workers, backend, unsafe_local, grade=False)
    pools = _pools(found, generated_tests, limits, cache, unsafe_local, inputs)
    chosen = [select(pool, method) for pool in pools]
    samples_format.write(
        output,
        [
            Pile(i.samples.task_id, (i.samples.programs[k],), i.samples.prompt, {**i.samples.extra, "index": k})
            for i, k in zip(found, chosen, strict=True)
        ],
    )
    for place in {str(one) for one in (page, report) if one}:
        from groundling.experiments.mbrexec_page import write_selection_page

        write_selection_page(place, found, pools, chosen, method, level, command_line(), [samples, tests])
    print(f"{len(chosen)} programs chosen by {method} (sandbox:{level}).", file=sys.stderr)


@app.command("evaluate")
def evaluate_command(
    samples: Samples,
    tests: Annotated[str, typer.Option("--tests", help="Tasks with answers: MBPP's or HumanEval's file, or `tests`.")],
    sizes: Annotated[str, typer.Option("--sizes", help="Sample sizes for curves, e.g. 5,25,100.")] = "",
    draws: Annotated[int, typer.Option("--draws", min=1, help="Draws a size.")] = 5,
    curves: Annotated[str | None, typer.Option("--curves", help="Draw the curves into this SVG file.")] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of draws and intervals.")] = 0,
    generated_tests: Generated = None,
    seconds: Seconds = 3.0,
    cpu_seconds: Cpu = None,
    cache: CachePath = None,
    workers: Workers = 2,
    backend: Backend = None,
    unsafe_local: Unsafe = False,
    as_json: AsJson = False,
    report: Report = None,
) -> None:
    """Grade every program, and print how often each method chooses a right one.

    Example: groundling mbrexec evaluate samples.jsonl --tests HumanEval.jsonl.gz --sizes 5,25 --cache results.jsonl
    """
    import numpy as np

    from groundling.execution import Limits
    from groundling.experiments import mbrexec as experiment
    from groundling.systems.mbrexec import Graded, table
    from groundling.systems.mbrexec import curves as curve_points

    limits = Limits(seconds=seconds, cpu_seconds=cpu_seconds)
    found, level = _executed(samples, tests, limits, cache, workers, backend, unsafe_local, grade=True)
    pools = _pools(found, generated_tests, limits, cache, unsafe_local, 0)
    graded = [Graded(pool, item.passed or ()) for pool, item in zip(pools, found, strict=True)]
    rows = table(graded, sandbox=level, seconds=seconds, seed=seed)
    wanted = [int(size) for size in sizes.split(",") if size.strip()]
    points = curve_points(graded, experiment.CURVES, wanted, np.random.default_rng(seed), draws) if wanted else []
    if curves:
        Path(curves).write_text(experiment.draw(points), encoding="utf-8")
    if report is not None:
        from groundling.experiments.mbrexec_page import write_evaluation_page

        drawn = [experiment.draw(points)] if points else []
        write_evaluation_page(report, rows, drawn, found, graded, command_line(), [samples, tests, generated_tests])
    if as_json:
        scores = [score.to_dict(name) for name, score in rows]
        print(json.dumps({"scores": scores, "curves": [vars(point) for point in points]}))
        return
    print(experiment.table_text(rows))
    if points:
        print("\n" + experiment.curves_text(points))


@app.command("tables")
def tables_command(
    corpus: Annotated[str | None, typer.Option("--corpus", help="mbpp, humaneval, mistral, spider or nl2bash.")] = None,
    data: Annotated[str | None, typer.Option("--data", help="The folder of corpora; else $GROUNDLING_DATA.")] = None,
    out: Annotated[
        str, typer.Option("--out", help="Where results are kept; a killed run goes on.")
    ] = "runs/reproduce/mbrexec",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of draws and intervals.")] = 0,
    workers: Workers = 2,
) -> None:
    """Run the real corpora and print every method's accuracy beside the reference.

    Example: groundling mbrexec tables --corpus mbpp
    """
    from groundling.errors import DataError
    from groundling.experiments import mbrexec as experiment
    from groundling.experiments.tables import print_rows
    from groundling.formats.corpora import data_dir

    folder = data_dir(data)
    if folder is None:
        raise DataError("no corpora are here: give --data or $GROUNDLING_DATA. See `groundling data list`.")
    for name in [corpus] if corpus else experiment.REFERENCE:
        print(f"{name}\n{print_rows(experiment.reproduce(name, folder, Path(out), seed=seed, workers=workers))}\n")


@app.command("sample")
def sample_command(
    tasks: Annotated[str, typer.Argument(metavar="TASKS", help="JSON lines with task_id, text and, if any, info.")],
    model: Annotated[str, typer.Option("--model", help="The model's name, or a folder of a local one with --local.")],
    examples: Annotated[str, typer.Option("--examples", help="JSON lines with text, code, info: 15 are used.")],
    output: Output = "-",
    endpoint: Annotated[
        str, typer.Option("--endpoint", help="An OpenAI-compatible server.")
    ] = "http://localhost:8000/v1",
    local: Annotated[bool, typer.Option("--local", help="Run the model here with transformers.")] = False,
    count: Annotated[int, typer.Option("--n", min=1, help="Samples a task, over all prompts.")] = 25,
    temperature: Annotated[float, typer.Option("--temperature", min=0.0, help="How freely it samples.")] = 0.3,
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=1, help="Of one program.")] = 1024,
    language: Annotated[str, typer.Option("--language", help="python, sql or bash.")] = "python",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Which examples go into which prompt.")] = 0,
) -> None:
    """Collect programs from a model with the thesis' mark-up prompts: groups of 3 of 15 examples. Resumes.

    The key is read from $OPENAI_API_KEY. Example: groundling mbrexec sample tasks.jsonl --examples train.jsonl
    --model qwen -o samples.jsonl
    """
    from groundling.systems.mbrexec import sampling

    source = sampling.LocalModel(model, seed=seed) if local else sampling.Endpoint(endpoint, model)
    settings = sampling.Settings(
        count=count, temperature=temperature, max_tokens=max_tokens, language=language, seed=seed
    )
    written = sampling.collect(tasks, examples, source, output, settings)
    print(f"{written} samples written to {output}.", file=sys.stderr)


def _executed(
    samples: str,
    tests: str | None,
    limits: Limits,
    cache_path: str | None,
    workers: int,
    backend: str | None,
    unsafe_local: bool,
    *,
    grade: bool,
) -> tuple[list[Executed], str]:
    from groundling.execution import Runner
    from groundling.formats import samples as samples_format
    from groundling.systems.mbrexec import Cache, execute, tasks
    from groundling.systems.mbrexec.spreading import execute_spread
    from groundling.training.progress import Progress

    with Runner(workers=workers, unsafe_local=unsafe_local) as runner, Cache(cache_path) as cache:
        piles = samples_format.merged(samples_format.read(samples))
        known = tasks.by_name(tasks.read(tests, runner)) if tests else None
        pairs = tasks.paired(piles, known)
        with Progress("running programs", sum(len(pile) for pile, _ in pairs)) as progress:
            if backend is not None:
                found = execute_spread(
                    pairs, limits=limits, grade=grade, unsafe_local=unsafe_local, n_jobs=workers, backend=backend,
                    cache_path=cache_path,
                )  # fmt: skip
            else:
                found = execute(pairs, runner, limits=limits, cache=cache, grade=grade)
            done: list[Executed] = []
            for item in found:
                done.append(item)
                progress.advance(len(item.runs))
        return done, runner.level


def _pools(
    found: list[Executed],
    generated: str | None,
    limits: Limits,
    cache_path: str | None,
    unsafe_local: bool,
    inputs: int,
) -> list[Any]:
    from groundling.execution import Runner
    from groundling.systems.mbrexec import Cache, Pool, dual

    pools = [Pool.of(item) for item in found]
    if generated:
        with Runner(unsafe_local=unsafe_local) as runner, Cache(cache_path) as cache:
            pools = dual.with_generated_tests(found, dual.read_generated(generated), runner, limits, cache)
    return [pool.first_inputs(inputs) if inputs else pool for pool in pools]
