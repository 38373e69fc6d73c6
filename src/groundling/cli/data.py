"""`groundling data`: which corpora are here, and where the others come from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(rich_markup_mode=None)


@app.callback()
def _group() -> None:
    """Corpora: what is found in --data DIR or $GROUNDLING_DATA."""


@app.command("list")
def list_command(
    data: Annotated[str | None, typer.Option("--data", help="Folder of corpora (default: $GROUNDLING_DATA).")] = None,
    checksum: Annotated[bool, typer.Option("--checksum", help="Hash all contents, not only names and sizes.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List every corpus: whether it is here, its official source, its licence and its checksum.

    Example: groundling data list --data ~/corpora --json
    """
    from groundling.formats.corpora import data_dir

    root = data_dir(data)
    rows = list_corpora(root, checksum)
    if as_json:
        print(json.dumps({"data": str(root) if root else None, "corpora": rows}, ensure_ascii=False))
        return
    print(f"corpora in {root}" if root else "no folder of corpora: set $GROUNDLING_DATA or give --data DIR")
    for row in rows:
        print(_text(row))


@app.command("world")
def world_command(
    name: Annotated[str, typer.Argument(help="captions, scan or treebank; speech: `groundling avnsl world`.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where the files go.")],
    size: Annotated[int | None, typer.Option(min=8, help="Scenes, or sentences; SCAN is always whole.")] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Same seed, same files.")] = 0,
) -> None:
    """Write a built-in world as files, to try the commands on: nothing is downloaded.

    captions: train and test .txt, .npz, .trees. scan: three splits. treebank: two made-up languages, bitext, vectors.

    Example: groundling data world captions -o world
    """
    from groundling.worlds.world_files import write_named

    print(write_named(name, out, size, seed))


def list_corpora(root: Any, contents: bool = False) -> list[dict[str, Any]]:
    """One row a corpus; `checksum` is None where the corpus is not below `root`."""
    from groundling.formats.corpora import CORPORA, checksum, files_of

    rows: list[dict[str, Any]] = []
    for corpus in CORPORA.values():
        folder = root / corpus.path if root is not None else None
        found = folder is not None and folder.is_dir()
        files = list(files_of(folder)) if found and folder is not None else []
        rows.append(
            {
                **vars(corpus),
                "found": found,
                "files": len(files),
                "bytes": sum(path.stat().st_size for path in files),
                "checksum": checksum(folder, contents) if found and folder is not None else None,
            }
        )
    return rows


def _text(row: dict[str, Any]) -> str:
    size = (
        f"{row['files']} files, {row['bytes'] / 1e6:.1f} MB, sha256 {row['checksum'][:16]}"
        if row["found"]
        else "not here"
    )
    return (
        f"\n{row['name']} ({size})\n  {row['what']}\n  {row['path']}\n  from {row['source']}, {row['homepage']}\n"
        f"  licence: {row['licence']}"
    )
