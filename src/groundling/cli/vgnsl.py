"""`groundling vgnsl`: learn phrase structure from captions and images."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from groundling.cli.reporting import Report, command_line, report_training

app = typer.Typer(help="Learn phrase structure by reading captions and looking at images.", rich_markup_mode=None)

ModelDir = Annotated[Path, typer.Argument(metavar="MODEL", help="A folder that `train` wrote.")]
Captions = Annotated[str, typer.Option(help="Tokenised captions, one a line.")]
Features = Annotated[str, typer.Option(help="Image vectors: .npy, or .npz with an array `features`.")]
Rows = Annotated[str | None, typer.Option(help="The image of each caption, one number from 0 a line.")]
Seed = Annotated[int, typer.Option(help="Same seed, same result.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Raw = Annotated[bool, typer.Option(help="The text is not tokenised yet: cut off punctuation first.")]


@app.command("train")
def train_command(
    captions: Captions,
    features: Features,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="The run folder.")],
    rows: Rows = None,
    vectors: Annotated[str | None, typer.Option(help="Word vectors (.vec) beside the trained ones.")] = None,
    config: Annotated[Path | None, typer.Option(help="A TOML file of settings.")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a setting.")] = None,
    gold: Annotated[str | None, typer.Option(help="Trees to watch F1 on; training does not use them.")] = None,
    seed: Seed = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was cut off.")] = False,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    report: Report = None,
) -> None:
    """Train on captions and image vectors; prints the folder of the model.

    The captions of an image follow each other, equally many each, unless --rows says which image each describes.

    Example: groundling vgnsl train --captions c.txt --features f.npz --set epochs=10 -o runs/x
    """
    from groundling.systems.vgnsl.config import Config
    from groundling.systems.vgnsl.files import train_files
    from groundling.training.config import load_config

    settings = load_config(Config, config, set_ or [])
    train_files(
        settings,
        captions,
        features,
        out,
        rows=rows,
        vectors=vectors,
        gold=gold,
        seed=seed,
        resume=resume,
        device=device,
    )
    report_training(report, out, "VG-NSL: training", captions, features, rows, vectors, gold)
    print(out)


@app.command("parse")
def parse_command(
    model: ModelDir,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Sentences, one a line; - is the standard input.")] = "-",
    raw: Raw = False,
) -> None:
    """Print a tree for each sentence; an empty line stays an empty line. Unknown words are no problem.

    Example: echo "a dog runs on the grass ." | groundling vgnsl parse runs/x
    """
    from groundling.systems.vgnsl.files import parse_lines

    for line in parse_lines(model, text, raw):
        print(line)


@app.command("evaluate")
def evaluate_command(
    model: ModelDir,
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="Trees with labels or without; - is the standard input.")],
    convention: Annotated[str, typer.Option(help="How brackets are counted: see `groundling score trees`.")] = "vgnsl",
    punctuation: Annotated[bool, typer.Option(help="Keep punctuation as words, as the thesis does.")] = True,
    baselines: Annotated[bool, typer.Option(help="Also score random, left- and right-branching trees.")] = True,
    seed: Seed = 0,
    as_json: AsJson = False,
    report: Report = None,
) -> None:
    """Parse the words of gold trees and score the result beside trivial trees.

    Example: groundling vgnsl evaluate runs/x test.trees --no-punctuation
    """
    from groundling.systems.vgnsl.files import evaluate_file

    scores = evaluate_file(model, gold, convention, punctuation, baselines, seed)
    if report is not None:
        from groundling.reports.evaluations import report_trees

        report_trees(report, model, gold, scores, convention, punctuation, command_line())
    if as_json:
        print(json.dumps({"scores": [score.to_dict(name) for name, score in scores.items()]}))
        return
    for name, score in scores.items():
        typed = ", ".join(
            f"{key} {100 * value:.1f}" for key, value in score.details.items() if key.startswith("recall ")
        )
        print(f"{name}: {score}" + (f"; {typed}" if typed else ""))


@app.command("concreteness")
def concreteness_command(
    model: ModelDir,
    captions: Captions,
    features: Features,
    rows: Rows = None,
    norms: Annotated[str | None, typer.Option(help="Ratings of Brysbaert et al., to correlate with.")] = None,
    top: Annotated[int, typer.Option(help="So many of the most frequent words.")] = 100,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Print how concrete each frequent word is to the model, the most concrete first.

    Example: groundling vgnsl concreteness runs/x --captions c.txt --features f.npz --norms brysbaert.txt
    """
    from groundling.systems.vgnsl.files import concreteness_file

    found = concreteness_file(model, captions, features, rows, norms, top, seed)
    if as_json:
        print(json.dumps(found, ensure_ascii=False))
        return
    for word, value in found["words"].items():
        print(f"{word}\t{value:.4f}")
    if norms is not None:
        typer.echo(f"Pearson correlation with the norms: {found['correlation']:.3f} over {found['n']} words", err=True)


@app.command("vectors")
def vectors_command(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Sentences, one a line; - is the standard input.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Where the .vec file goes.")],
    dim: Annotated[int, typer.Option(help="Numbers a vector.")] = 300,
    min_count: Annotated[int, typer.Option(help="Words that are rarer get none.")] = 3,
    raw: Raw = False,
) -> None:
    """Make word vectors from text alone, for `train --vectors`: captions without images help too.

    Example: groundling vgnsl vectors all_captions.txt -o text.vec
    """
    from groundling.systems.vgnsl.files import read_sentences
    from groundling.systems.vgnsl.vectors import learn_vectors, write_vectors

    write_vectors(out, learn_vectors((words for words in read_sentences(text, raw) if words), dim, min_count))
    print(out)


@app.command("features")
def features_command(
    pictures: Annotated[list[Path], typer.Argument(metavar="PICTURE...", help="Pictures, or folders of them.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Where the .npz goes.")],
    model: Annotated[str, typer.Option(help="A vision model's folder, or efficientnet-lite0.")] = "efficientnet-lite0",
) -> None:
    """Turn pictures into vectors for `train --features`; folders are read in the order of their files' names.

    Example: groundling vgnsl features flickr/ -o features.npz
    """
    from groundling.backbones.images import extract_features, list_pictures, load_image_encoder, save_features

    paths = list_pictures(pictures)
    save_features(out, paths, extract_features(load_image_encoder(model), paths))
    print(out)
