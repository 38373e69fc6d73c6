"""`groundling avnsl`: cut speech into words and parse it, learned from spoken captions and images."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from groundling.cli.reporting import Report, report_training

app = typer.Typer(rich_markup_mode=None)

Seed = Annotated[int, typer.Option("--seed", min=0, help="Same seed, same result.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
ModelDir = Annotated[Path | None, typer.Option("--model", metavar="DIR", help="A folder that `avnsl train` wrote.")]
VadName = Annotated[Literal["energy", "rvad", "silero"], typer.Option("--vad", help="Which voice activity detector.")]


@app.command("world")
def world_command(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where the files go.")],
    scenes: Annotated[int, typer.Option(min=1, help="Pictures, one spoken caption each.")] = 100,
    voice: Annotated[Literal["built-in", "espeak"], typer.Option(help="Who speaks.")] = "built-in",
    seed: Seed = 0,
) -> None:
    """Write the built-in spoken world: sound, word times, trees, image features, manifest.

    Example: groundling avnsl world -o world --scenes 500
    """
    from groundling.worlds.spoken_captions import make_spoken_world, voice_called
    from groundling.worlds.spoken_files import write_world

    typer.echo(write_world(make_spoken_world(scenes, seed, voice=voice_called(voice)), out))


@app.command("train")
def train_command(
    manifest: Annotated[Path, typer.Argument(help='JSON lines: {"audio": "a.wav", "image": 0}.')],
    features: Annotated[Path, typer.Option(metavar="FILE.npy", help="Image features (images, dim).")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="The model folder.")],
    config: Annotated[Path | None, typer.Option(metavar="FILE.toml", help="Settings.")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="One setting.")] = None,
    vectors: Annotated[
        str,
        typer.Option(metavar="NAME", help="Segment vectors: encoder, log-mel, whisper-tiny, or a folder of HuBERT."),
    ] = "",
    cache: Annotated[Path | None, typer.Option(metavar="DIR", help="Keep the sound's features here.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a training that was stopped.")] = False,
    seed: Seed = 0,
    report: Report = None,
) -> None:
    """Learn to cut and parse speech from recordings and pictures; no text is read.

    Example: groundling avnsl train world/manifest.jsonl --features world/features.npy -o runs/avnsl
    """
    from groundling.systems.avnsl import Config, train
    from groundling.systems.avnsl.corpus import read_utterances
    from groundling.training.config import load_config

    named = [f"vectors={vectors}"] if vectors else []
    chosen = load_config(Config, config, named + (settings or []))
    data, faults = read_utterances(manifest, features, chosen, cache)
    _complain(faults)
    model = train(chosen, data, seed=seed, say=_say, folder=out, resume=resume)
    model.save(out)
    report_training(report, out, "AV-NSL: training", manifest, features)
    typer.echo(out)


@app.command("segment")
def segment_command(
    source: Annotated[Path, typer.Argument(help="A folder of sound, one file, or a manifest.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where the TextGrids go.")],
    model: ModelDir = None,
    vad: VadName = "energy",
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Cut recordings into word-like segments, one TextGrid each.

    With a model by its [CLS] attention; without one by DPDP, with units learned from the recordings themselves.
    A file that cannot be read is named and the others go on; the exit code is then 1.

    Example: groundling avnsl segment audio/ -o segments/ --model runs/avnsl
    """
    import numpy as np

    from groundling.backbones.speech_audio import find_audio
    from groundling.systems.avnsl import Model
    from groundling.systems.avnsl.folder import attention_cut, dpdp_cut, segment_folder
    from groundling.training.progress import track

    entries = find_audio(source)
    cut = attention_cut(Model.load(model)) if model else dpdp_cut(entries, vad, np.random.default_rng(seed))
    outcomes = list(track(segment_folder(source, entries, out, cut), "segmenting", len(entries)))
    _complain([outcome.error for outcome in outcomes if outcome.error])
    if as_json:
        rows = [
            {"audio": str(o.audio), "result": o.result and str(o.result), "segments": o.segments, "error": o.error}
            for o in outcomes
        ]
        typer.echo(json.dumps({"files": rows}))
    else:
        for outcome in outcomes:
            if outcome.result:
                typer.echo(outcome.result)
    if any(outcome.error for outcome in outcomes):
        raise typer.Exit(1)


@app.command("parse")
def parse_command(
    clips: Annotated[list[Path], typer.Argument(metavar="CLIP...", help="Sound files.")],
    model: Annotated[Path, typer.Option("--model", metavar="DIR", help="A folder that `avnsl train` wrote.")],
    svg: Annotated[Path | None, typer.Option(metavar="DIR", help="Draw each tree under its waveform here.")] = None,
    as_json: AsJson = False,
) -> None:
    """Parse recordings into trees over time: brackets over numbered segments, and the seconds of each.

    Example: groundling avnsl parse clip.wav --model runs/avnsl --svg pictures/
    """
    from groundling.errors import GroundlingError
    from groundling.systems.avnsl import Model
    from groundling.systems.avnsl.folder import parse_file

    loaded = Model.load(model)
    faults: list[str] = []
    found: list[dict[str, object]] = []
    for clip in clips:
        try:
            tree = parse_file(clip, loaded)
        except GroundlingError as error:
            faults.append(str(error))
            continue
        found.append({"audio": str(clip), "tree": str(tree), "times": tree.times})
        if svg is not None:
            _draw(clip, tree.to_dict(), svg)
        if not as_json:
            times = " ".join(f"{a:.2f}-{b:.2f}" for a, b in tree.times or ())
            typer.echo(f"{clip}\t{tree}\t{times}")
    if as_json:
        typer.echo(json.dumps({"trees": found}))
    _complain(faults)
    if faults:
        raise typer.Exit(1)


def _draw(clip: Path, tree: dict[str, object], folder: Path) -> None:
    from groundling.backbones.speech_audio import read_audio
    from groundling.drawing.timeline import draw_timed_tree
    from groundling.formats.files import write_lines

    samples = read_audio(clip)
    folder.mkdir(parents=True, exist_ok=True)
    picture = draw_timed_tree(tree, samples.tolist(), duration=len(samples) / 16_000, title=clip.name)
    write_lines(folder / f"{clip.stem}.svg", [picture])


def _say(what: str) -> None:
    typer.echo(f"groundling: {what}", err=True)


def _complain(faults: list[str]) -> None:
    for fault in faults:
        typer.echo(f"groundling: {fault}", err=True)
