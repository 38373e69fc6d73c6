"""`groundling subdp`: a dependency parser for a language that has no treebank."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from groundling.cli.reporting import Report, command_line, report_training

app = typer.Typer(rich_markup_mode=None)

Out = Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder of the parser.")]
Set = Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a setting; may be repeated.")]
Settings = Annotated[Path | None, typer.Option("--config", metavar="FILE", help="Settings in TOML.")]
Seed = Annotated[int, typer.Option(help="Same seed, same parser.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on where a killed run was.")]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:1.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
ModelDir = Annotated[Path, typer.Option("--model", "-m", metavar="DIR", help="Folder of a trained parser.")]
Languages = Annotated[
    str, typer.Option(metavar="SRC-TGT", help="Codes of both languages, such as en-fr: how words are cut.")
]
Codes = Annotated[
    str, typer.Option(metavar="SRC-TGT", help="Languages as the translation model names them, such as en_XX-de_DE.")
]
Tokenised = Annotated[bool, typer.Option("--tokenised", help="The bitext is already cut into words by spaces.")]


@app.command("train-source")
def train_source_command(
    treebank: Annotated[str, typer.Argument(metavar="TREEBANK", help="Gold trees in CoNLL-U.")],
    out: Out,
    dev: Annotated[str, typer.Option(metavar="FILE", help="Gold trees for early stopping; else a tenth.")] = "",
    config: Settings = None,
    settings: Set = None,
    seed: Seed = 0,
    resume: Resume = False,
    device: Device = "auto",
    as_json: AsJson = False,
    report: Report = None,
) -> None:
    """Train a biaffine parser on a treebank.

    Example: groundling subdp train-source en_ewt-ud-train.conllu --dev en_ewt-ud-dev.conllu -o runs/en
    """
    from groundling.systems.subdp import Config, train_source_model
    from groundling.systems.subdp.job import read_treebank
    from groundling.systems.subdp.word_encoder import load_encoder
    from groundling.training.config import load_config
    from groundling.training.store import hash_data

    chosen = load_config(Config, config, settings or [])
    gold, held_out = read_treebank(treebank), read_treebank(dev) if dev else []
    model = train_source_model(
        chosen, gold, held_out, out, encoder=load_encoder(chosen.encoder, device), seed=seed, resume=resume,
        device=device, info={"data": hash_data(*(p for p in (treebank, dev) if p))},
    )  # fmt: skip
    report_training(report, out, "SubDP: a parser from a treebank", treebank, dev)
    _done(out, {"dev_las": model.info["dev_las"]}, as_json)


@app.command("project")
def project_command(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="Sentences, one a line, or parsed CoNLL-U.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="Their translations, one a line.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="OUT", help="Folder for .npz shards, or FILE.conllu.")],
    model: Annotated[Path | None, typer.Option("--model", "-m", metavar="DIR", help="The source parser.")] = None,
    alignments: Annotated[str, typer.Option(metavar="FILE", help="Pharaoh links; else aligned with the encoder.")] = "",
    languages: Languages = "",
    tokenised: Tokenised = False,
    config: Settings = None,
    settings: Set = None,
    device: Device = "auto",
    n_jobs: Annotated[int, typer.Option("--n-jobs", help="Processes; -1 for one a core.")] = 1,
    backend: Annotated[str | None, typer.Option("--backend", help="Where: loky, threading, ray, dask.")] = None,
) -> None:
    """Carry trees over to the translations: soft ones as shards, or hard ones (into .conllu, words without head -1).

    Example: groundling subdp project en.txt de.txt -m runs/en --languages en-de -o runs/silver-de
    """
    from groundling.systems.subdp import Config
    from groundling.systems.subdp.projecting import project_files
    from groundling.training.config import load_config

    chosen = load_config(Config, config, settings or [])
    count = project_files(
        source, target, out, model, chosen, alignments, _pair(languages), tokenised, device, _say,
        n_jobs=n_jobs, backend=backend,
    )  # fmt: skip
    print(f"{count} silver trees in {out}", file=sys.stderr)


@app.command("transfer")
def transfer_command(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="Sentences of the source language, one a line.")],
    out: Out,
    target: Annotated[str, typer.Argument(metavar="TARGET", help="Their translations, one a line.")] = "",
    treebank: Annotated[str, typer.Option(metavar="FILE", help="Gold trees of the source language, CoNLL-U.")] = "",
    dev: Annotated[str, typer.Option(metavar="FILE", help="Gold trees for early stopping; else a tenth.")] = "",
    model: Annotated[str, typer.Option("--model", "-m", metavar="DIR", help="A trained source parser instead.")] = "",
    more: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LANG=TREEBANK,TEXT[,TRANSLATIONS]",
            help="One more source language; may be repeated. Without TRANSLATIONS its text is parallel to TARGET.",
        ),
    ] = None,
    translator: Annotated[
        str, typer.Option(metavar="DIR", help="A transformers translation model makes TARGET from SOURCE.")
    ] = "",
    codes: Codes = "",
    method: Annotated[str, typer.Option(help="subdp, hard, st, randi, dt or dt-init.")] = "subdp",
    alignments: Annotated[str, typer.Option(metavar="FILE", help="Pharaoh links; else aligned with the encoder.")] = "",
    text: Annotated[str, typer.Option(metavar="FILE", help="A sample of what will be parsed: warn if unlike.")] = "",
    languages: Languages = "",
    tokenised: Tokenised = False,
    config: Settings = None,
    settings: Set = None,
    seed: Seed = 0,
    resume: Resume = False,
    device: Device = "auto",
    as_json: AsJson = False,
    report: Report = None,
) -> None:
    """From a treebank and two text files to a parser of the other language; killed, it goes on with --resume.

    Example: groundling subdp transfer en.txt de.txt --treebank en_ewt-ud-train.conllu --languages en-de -o runs/de;
    with one more source: --more fr=fr_partut-ud-train.conllu,fr.txt; without translations: --translator DIR
    """
    from groundling.systems.subdp import Config, Job, Transfer
    from groundling.systems.subdp.job import read_source
    from groundling.training.config import load_config

    job = Job(
        treebank=treebank, dev=dev, model=model, source=source, target=target, languages=_pair(languages),
        tokenised=tokenised, alignments=alignments, text=text, method=method, translator=translator,
        translate_codes=_pair(codes, "--codes"), more=tuple(read_source(one, target) for one in more or []),
    )  # fmt: skip
    chosen = load_config(Config, config, settings or [])
    made = Transfer(out, job, chosen, seed=seed, resume=resume, device=device, say=_say).run()
    if report is not None:
        from groundling.reports.evaluations import report_transfer

        report_transfer(report, out, (source, target, treebank, dev, alignments), command_line())
    _done(out, {"method": method, **{k: made.info[k] for k in ("silver",) if k in made.info}}, as_json)


@app.command("translate")
def translate_command(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="Sentences, one a line, or a treebank (.conllu).")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Where the translations go.")],
    translator: Annotated[str, typer.Option(metavar="DIR", help="Folder of a transformers translation model.")],
    codes: Codes = "",
    device: Device = "auto",
) -> None:
    """Make bitext with a translation model, line by line; killed, the same command goes on.

    Example: groundling subdp translate en.txt --translator models/criss --codes en_XX-hi_IN -o hi.txt
    """
    from groundling.backbones.translation import Translator
    from groundling.systems.subdp.translate import translate_file
    from groundling.training.devices import pick_device

    model = Translator(translator, *_pair(codes, "--codes"), pick_device(device))
    empty = translate_file(source, out, model.translate)
    if empty:
        _say(f"warning: {empty} lines have no translation (empty, or into another language)")
    print(out)


@app.command("parse")
def parse_command(
    text: Annotated[str, typer.Argument(metavar="FILE", help="Raw text, words or CoNLL-U; - is the standard input.")],
    model: ModelDir,
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="Where the trees go.")] = "-",
    form: Annotated[
        str | None, typer.Option("--format", help="raw, tokens or conllu, if the name does not tell.")
    ] = None,
    language: Annotated[str, typer.Option(help="Code of the language, for cutting raw text into words.")] = "",
    projective: Annotated[bool, typer.Option("--projective", help="Trees without crossing arcs (Eisner).")] = False,
    device: Device = "auto",
) -> None:
    """Parse text into CoNLL-U: one sentence a line in, valid trees with one root out.

    Example: echo "Das ist gut." | groundling subdp parse - -m runs/de --language de
    """
    from groundling.errors import ConfigError
    from groundling.formats import conllu
    from groundling.systems.subdp import Model
    from groundling.systems.subdp.output import parse_file

    if form not in (None, "raw", "tokens", "conllu"):
        raise ConfigError(f"--format is raw, tokens or conllu, not {form!r}.")
    loaded = Model.load(model, device=device)
    conllu.write(out, parse_file(loaded, text, form, language, projective))  # type: ignore[arg-type]


@app.command("evaluate")
def evaluate_command(
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="Gold trees in CoNLL-U.")],
    model: ModelDir,
    punctuation: Annotated[bool, typer.Option("--punctuation", help="Count punctuation, too.")] = False,
    device: Device = "auto",
    as_json: AsJson = False,
    report: Report = None,
) -> None:
    """Parse the words of gold trees and score the result: UAS and LAS, without punctuation as in the thesis.

    Example: groundling subdp evaluate de_pud-ud-test.conllu -m runs/de
    """
    from groundling.systems.subdp import Model
    from groundling.systems.subdp.evaluate import scores
    from groundling.systems.subdp.job import read_treebank
    from groundling.systems.subdp.output import parse_trees

    trees = read_treebank(gold, least=0)
    found = list(parse_trees(Model.load(model, device=device), trees))
    results = scores(trees, found, punctuation)
    if report is not None:
        from groundling.reports.evaluations import report_dependencies

        report_dependencies(report, model, gold, results, trees, found, command_line())
    if as_json:
        rows = [{"name": s.name, "system": str(model), "value": s.value, "low": s.low, "high": s.high, "n": s.n,
                 "signature": s.signature} for s in results]  # fmt: skip
        print(json.dumps({"scores": rows}))
    for score in results if not as_json else ():
        print(score)


def _pair(languages: str, option: str = "--languages") -> tuple[str, str]:
    from groundling.errors import ConfigError

    first, dash, second = languages.partition("-")
    if languages and not (dash and first and second):
        raise ConfigError(f"{option} is two codes such as en-fr, not {languages!r}.")
    return first, second


def _say(what: str) -> None:
    print(f"groundling: {what}", file=sys.stderr, flush=True)


def _done(out: Path, facts: dict[str, object], as_json: bool) -> None:
    print(json.dumps({"model": str(out), **facts}) if as_json else out)
