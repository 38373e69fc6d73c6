"""`groundling g2l2`: learn a grounded lexicon, look at it, parse and answer with it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from groundling.cli.reporting import Report, command_line

if TYPE_CHECKING:
    from groundling.systems.g2l2 import Domain, Model

app = typer.Typer(rich_markup_mode=None)

Folder = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a trained model.")]
Sentence = Annotated[str, typer.Argument(metavar="SENTENCE", help="Words parted by spaces; - reads standard input.")]
Scenes = Annotated[Path | None, typer.Option("--scenes", help="CLEVR's scenes file, for questions about scenes.")]
DomainFile = Annotated[
    str | None, typer.Option("--domain", help="The Python file of the model's own domain. It is run, so trust it.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@app.command("train")
def train_command(
    training: Annotated[list[Path], typer.Option("--train", help="Training file; may be repeated.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The run folder.")],
    domain: Annotated[str | None, typer.Option("--domain", help="scan, clevr, or a Python file of your own.")] = None,
    scenes: Scenes = None,
    config: Annotated[Path | None, typer.Option("--config", help="Settings as TOML.")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="One setting, key=value.")] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the training.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was stopped.")] = False,
    report: Report = None,
) -> None:
    """Learn a lexicon from sentences and what they do.

    Example: groundling g2l2 train --domain scan --train tasks_train_length.txt -o runs/length
    """
    from groundling.systems.g2l2 import PRESETS, Config, train
    from groundling.training.config import load_config
    from groundling.training.runs import hash_data

    preset = PRESETS.get(domain or "", ()) if config is None else ()
    overrides = [*preset, *([f"domain={domain}"] if domain else []), *(settings or [])]
    chosen = load_config(Config, config, overrides)
    made = _domain(chosen.domain, scenes)
    examples = [example for path in training for example in made.read(path)]
    model = train(chosen, examples, seed=seed, folder=out, resume=resume, domain=made)
    model.info["data"] = hash_data(*training, *([scenes] if scenes else []))
    model.save(out)
    if report is not None:
        from groundling.reports.evaluations import report_lexicon

        report_lexicon(report, out, model, [*training, scenes], command_line())
    accuracy, attempt = model.info["training_accuracy"], model.info["attempt"]
    print(f"training accuracy {accuracy:.4f} after {attempt} restarts; saved in {out}")


@app.command("evaluate")
def evaluate_command(
    run: Folder,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Test files.")],
    scenes: Scenes = None,
    domain: DomainFile = None,
    as_json: AsJson = False,
    report: Report = None,
) -> None:
    """Measure the accuracy of a model.

    Example: groundling g2l2 evaluate runs/length tasks_test_length.txt --json
    """
    model = _load(run, scenes, domain)
    scores: list[dict[str, Any]] = []
    for path in files:
        examples = list(model.domain.read(path))
        value = model.accuracy(examples)
        signature = f"accuracy|domain:{model.domain.name}|answers:exact"
        scores.append(
            {"name": "accuracy", "system": str(run), "file": str(path), "value": value, "n": len(examples)}
            | {"low": None, "high": None, "signature": signature}
        )
    if report is not None:
        from groundling.reports.evaluations import report_answers

        report_answers(report, run, model, files, command_line())
    if as_json:
        print(json.dumps({"scores": scores}))
        return
    for score in scores:
        print(f"{score['file']}: {score['signature']} = {score['value']:.4f} (n={score['n']})")


@app.command("lexicon")
def lexicon_command(run: Folder, domain: DomainFile = None, as_json: AsJson = False) -> None:
    """Print the learned lexicon: word, syntactic type, program, and the entry's share of the word's use.

    Example: groundling g2l2 lexicon runs/length
    """
    table = _load(run, domain=domain).table()
    if as_json:
        print(json.dumps({"lexicon": table}, ensure_ascii=False))
        return
    wide = [max(len(str(row[key])) for row in table) for key in ("word", "type", "program")]
    for row in table:
        word, kind, program = row["word"].ljust(wide[0]), row["type"].ljust(wide[1]), row["program"].ljust(wide[2])
        print(f"{word}  {kind}  {program}  {row['share']:.2f}")


@app.command("parse")
def parse_command(
    run: Folder,
    sentence: Sentence,
    svg: Annotated[Path | None, typer.Option("--svg", help="Also draw the derivation into this file.")] = None,
    domain: DomainFile = None,
    as_json: AsJson = False,
) -> None:
    """Print the derivation of a sentence, one constituent a line, and draw it.

    Example: groundling g2l2 parse runs/length "walk around left twice" --svg derivation.svg
    """
    from groundling.drawing.parse_chart import draw_derivation
    from groundling.formats.files import atomic_write
    from groundling.systems.g2l2.predict import make_parser
    from groundling.systems.g2l2.views import derivation_lines, derivation_nodes

    tree = make_parser(_load(run, domain=domain).lexicon).derivation(_words(sentence))
    if svg is not None:
        with atomic_write(svg) as file:
            file.write(draw_derivation(derivation_nodes(tree)))
        print(f"drawn into {svg}", file=sys.stderr)
    print(json.dumps(tree, ensure_ascii=False) if as_json else "\n".join(derivation_lines(tree)))


@app.command("answer")
def answer_command(
    run: Folder,
    sentence: Sentence,
    scenes: Scenes = None,
    scene: Annotated[int, typer.Option("--scene", min=0, help="Which scene of the file, from 0.")] = 0,
    domain: DomainFile = None,
    as_json: AsJson = False,
) -> None:
    """Answer a command or question and show each step of the program.

    Example: groundling g2l2 answer runs/clevr "how many red cubes are there" --scenes scenes.json --scene 3
    """
    from groundling.systems.g2l2.views import answer_with_trace, show_value

    model = _load(run, scenes, domain)
    answer, steps = answer_with_trace(model, _words(sentence), scene)
    if as_json:
        keys = ("program", "type", "value")
        print(json.dumps({"answer": answer, "trace": [dict(zip(keys, step, strict=True)) for step in steps]}))
        return
    for program, kind, value in steps:
        print(f"{program} : {kind} = {show_value(value)}", file=sys.stderr)
    print(answer)


def _words(sentence: str) -> tuple[str, ...]:
    text = sys.stdin.readline() if sentence == "-" else sentence
    return tuple(text.lower().replace("?", " ").split())


def _domain(name: str, scenes: Path | None) -> Domain:
    from groundling.systems.g2l2 import load_domain

    domain = load_domain(name)
    if scenes is not None:
        from groundling.worlds import clevr_scenes

        domain.scenes = list(clevr_scenes.read(scenes))  # type: ignore[attr-defined]
    return domain


def _load(run: Path, scenes: Path | None = None, domain: str | None = None) -> Model:
    from groundling.systems.g2l2 import Model

    model = Model.load(run, domain)
    if scenes is not None:
        from groundling.worlds import clevr_scenes

        model.domain.scenes = list(clevr_scenes.read(scenes))  # type: ignore[attr-defined]
    return model
