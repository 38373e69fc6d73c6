"""`groundling score`: trees, dependencies, alignments, segments and programs against the gold."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from groundling.metrics.pairing import Case
    from groundling.metrics.scoring import Options, Report
    from groundling.structures.bracket_text import Labelled

# These functions are long because a command is the list of its options; what they do stands in metrics/score_*.py.
app = typer.Typer(rich_markup_mode=None)
_LABELLED: dict[str, Labelled] = {"auto": "auto", "yes": True, "no": False}

Gold = Annotated[str, typer.Argument(metavar="GOLD", help="The gold file; - is the standard input.")]
Preds = Annotated[list[str], typer.Argument(metavar="PRED...", help="Predictions, one file a system.")]
Metrics = Annotated[list[str] | None, typer.Option("--metric", "-m", help="A metric by name; may be repeated.")]
Paired = Annotated[bool, typer.Option("--paired", help="Test each system against the first, item by item.")]
Test = Annotated[Literal["bootstrap", "randomisation"], typer.Option("--test", help="The paired test.")]
PerSentence = Annotated[bool, typer.Option("--per-sentence", help="Also print the score of every item.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object; values lie in 0-1.")]
Skip = Annotated[
    bool, typer.Option("--skip-mismatched", help="Leave out items that do not match the gold, and report them.")
]
Bootstrap = Annotated[int, typer.Option("--bootstrap", min=0, help="Resamples for the 95% interval; 0 for none.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the resampling.")]
Jobs = Annotated[int, typer.Option("--n-jobs", help="Processes; -1 is one a core.")]
Backend = Annotated[str | None, typer.Option("--backend", help="Where they run: loky, threading, ray, dask.")]


@app.command("trees")
def trees_command(
    gold: Gold,
    preds: Preds,
    metric: Metrics = None,
    labels: Annotated[
        bool | None, typer.Option("--labels/--no-labels", help="Score labels. Default: if all files have them.")
    ] = None,
    convention: Annotated[
        str | None, typer.Option("--convention", help="ParsEval's: evalb, plain, vgnsl, pcfg.")
    ] = None,
    prm: Annotated[str | None, typer.Option("--prm", help="EVALB's parameter file.")] = None,
    average: Annotated[
        Literal["sentence", "corpus"] | None, typer.Option("--average", help="Mean over sentences or whole corpus.")
    ] = None,
    terminals: Annotated[
        Literal["same", "any"] | None, typer.Option("--terminals", help="Struct-IoU: which pre-terminals may match.")
    ] = None,
    punctuation: Annotated[
        bool | None, typer.Option("--punctuation/--no-punctuation", help="ParsEval: keep words without a letter.")
    ] = None,
    unit: Annotated[
        Literal["words", "characters", "seconds"], typer.Option("--unit", help="What is measured.")
    ] = "words",
    labelled_input: Annotated[
        Literal["auto", "yes", "no"],
        typer.Option("--labelled-input", help="Whether (x ...) begins with a label in the predictions."),
    ] = "auto",
    labelled_gold: Annotated[
        Literal["auto", "yes", "no"], typer.Option("--labelled-gold", help="The same for the gold.")
    ] = "auto",
    segments_gold: Annotated[
        str | None, typer.Option("--segments-gold", help="For seconds: TextGrids or a CTM; i-th recording, i-th tree.")
    ] = None,
    segments_pred: Annotated[
        list[str] | None, typer.Option("--segments-pred", help="The same for the predictions. Default: the gold's.")
    ] = None,
    paired: Paired = False,
    test: Test = "bootstrap",
    per_sentence: PerSentence = False,
    as_json: AsJson = False,
    skip_mismatched: Skip = False,
    bootstrap: Bootstrap = 1000,
    seed: Seed = 0,
    n_jobs: Jobs = 1,
    backend: Backend = None,
) -> None:
    """Constituency trees in brackets: Struct-IoU and ParsEval.

    Example: groundling score trees gold.trees a.trees b.trees --paired
    """
    from groundling.metrics.score_trees import score_trees

    report = score_trees(
        gold,
        preds,
        metrics=metric,
        labels=labels,
        unit=unit,
        labelled_gold=_LABELLED[labelled_gold],
        labelled=_LABELLED[labelled_input],
        segments_gold=segments_gold,
        segments_preds=segments_pred or (),
        options=_options(bootstrap, seed, n_jobs, backend, skip_mismatched, paired, test),
        convention=convention,
        prm=prm,
        average=average,
        terminals=terminals,
        punctuation=punctuation,
    )
    _answer(report, as_json, per_sentence)


@app.command("dependencies")
def dependencies_command(
    gold: Gold,
    preds: Preds,
    metric: Metrics = None,
    punctuation: Annotated[
        bool | None, typer.Option("--punctuation/--no-punctuation", help="Count words tagged PUNCT. Default: yes.")
    ] = None,
    subtypes: Annotated[
        bool | None, typer.Option("--subtypes/--no-subtypes", help="Tell nsubj:pass from nsubj. Default: no.")
    ] = None,
    paired: Paired = False,
    test: Test = "bootstrap",
    per_sentence: PerSentence = False,
    as_json: AsJson = False,
    skip_mismatched: Skip = False,
    bootstrap: Bootstrap = 1000,
    seed: Seed = 0,
    n_jobs: Jobs = 1,
    backend: Backend = None,
) -> None:
    """Dependency trees in CoNLL-U: UAS and LAS.

    Example: groundling score dependencies gold.conllu parsed.conllu --no-punctuation
    """
    from groundling.metrics.score_files import score_dependencies

    options = _options(bootstrap, seed, n_jobs, backend, skip_mismatched, paired, test)
    names = metric or ["uas", "las"]
    report = score_dependencies(gold, preds, metrics=names, options=options, punctuation=punctuation, subtypes=subtypes)
    _answer(report, as_json, per_sentence)


@app.command("alignments")
def alignments_command(
    gold: Gold,
    preds: Preds,
    metric: Metrics = None,
    base: Annotated[int, typer.Option("--base", min=0, max=1, help="Where predicted positions count from.")] = 0,
    gold_base: Annotated[int, typer.Option("--gold-base", min=0, max=1, help="Where gold positions count from.")] = 0,
    paired: Paired = False,
    test: Test = "bootstrap",
    per_sentence: PerSentence = False,
    as_json: AsJson = False,
    skip_mismatched: Skip = False,
    bootstrap: Bootstrap = 1000,
    seed: Seed = 0,
    n_jobs: Jobs = 1,
    backend: Backend = None,
) -> None:
    """Word alignments (Pharaoh, .wa, or .tsv with words): AER, precision, recall, F1.

    Example: groundling score alignments gold.tsv.gz fast_align.talp awesome.talp
    """
    from groundling.metrics.score_files import score_alignments

    options = _options(bootstrap, seed, n_jobs, backend, skip_mismatched, paired, test)
    names = metric or ["aer"]
    report = score_alignments(gold, preds, metrics=names, base=base, gold_base=gold_base, options=options)
    _answer(report, as_json, per_sentence)


@app.command("segments")
def segments_command(
    gold: Gold,
    preds: Preds,
    metric: Metrics = None,
    tolerance: Annotated[float | None, typer.Option("--tolerance", help="Seconds; default 0.02.")] = None,
    edges: Annotated[
        bool | None, typer.Option("--edges/--no-edges", help="Count the first and last boundary. Default: no.")
    ] = None,
    over: Annotated[
        Literal["matched", "all"] | None, typer.Option("--over", help="Mean IoU over matched pairs, or all segments.")
    ] = None,
    tier: Annotated[
        str | None, typer.Option("--tier", help="Tier of the TextGrids. Default: words, else first.")
    ] = None,
    paired: Paired = False,
    test: Test = "bootstrap",
    per_sentence: PerSentence = False,
    as_json: AsJson = False,
    skip_mismatched: Skip = False,
    bootstrap: Bootstrap = 1000,
    seed: Seed = 0,
    n_jobs: Jobs = 1,
    backend: Backend = None,
) -> None:
    """Words in speech (TextGrid, a folder of them, or CTM): boundary F1, R-value, segment IoU.

    Example: groundling score segments gold/ predicted.ctm --tolerance 0.03
    """
    from groundling.metrics.score_segments import score_segments

    options = _options(bootstrap, seed, n_jobs, backend, skip_mismatched, paired, test)
    names = metric or ["boundaries", "segment-iou"]
    report = score_segments(
        gold, preds, metrics=names, tier=tier, options=options, tolerance=tolerance, edges=edges, over=over
    )
    _answer(report, as_json, per_sentence)


@app.command("programs")
def programs_command(
    gold: Gold,
    preds: Preds,
    metric: Metrics = None,
    k: Annotated[
        list[int] | None, typer.Option("--k", "-k", min=1, help="pass@k; may be repeated. Default: 1.")
    ] = None,
    paired: Paired = False,
    test: Test = "bootstrap",
    per_sentence: PerSentence = False,
    as_json: AsJson = False,
    skip_mismatched: Skip = False,
    bootstrap: Bootstrap = 1000,
    seed: Seed = 0,
    n_jobs: Jobs = 1,
    backend: Backend = None,
) -> None:
    """Results of programs (JSON lines with task_id and passed): pass@k.

    GOLD names the tasks, one task_id a line. Example: groundling score programs tasks.jsonl results.jsonl -k 1 -k 10
    """
    from groundling.metrics.score_files import score_programs

    options = _options(bootstrap, seed, n_jobs, backend, skip_mismatched, paired, test)
    report = score_programs(gold, preds, metrics=metric or ["pass-at-k"], k=k or [1], options=options)
    _answer(report, as_json, per_sentence)


def _options(
    bootstrap: int,
    seed: int,
    n_jobs: int,
    backend: str | None,
    skip: bool,
    paired: bool,
    test: Literal["bootstrap", "randomisation"],
) -> Options:
    from groundling.metrics.scoring import Options
    from groundling.training.progress import track

    def watch(cases: Iterable[Case]) -> Iterable[Case]:
        return track(cases, "scoring")

    return Options(bootstrap, seed, n_jobs, skip, paired, test, backend, watch)


def _answer(report: Report, as_json: bool, per_item: bool) -> None:
    from groundling.cli.score_text import lines

    for note in report.notes:
        print(f"groundling: {note}.", file=sys.stderr)
    for system in report.systems:
        if system.skipped.faults:
            print(f"groundling: left out: {system.skipped}.", file=sys.stderr)
    if as_json:
        print(json.dumps(report.to_dict(per_item), ensure_ascii=False))
        return
    for line in lines(report, per_item):
        print(line)
