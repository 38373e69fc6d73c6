"""`groundling data`: which corpora are here, and where the others come from."""

from __future__ import annotations

import json
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
