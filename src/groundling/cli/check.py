"""`groundling check`: every fault of a file."""

from __future__ import annotations

import json
from typing import Annotated

import typer


def check_command(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Files to check; - is the standard input.")],
    format: Annotated[
        str | None, typer.Option("--format", "-f", help="The format, where the name does not tell.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Name every fault of trees, treebanks, alignments, word times or samples: file, line, what and what to do.

    Exits 1 when there are faults. Example: groundling check dev.conllu gold.trees.gz
    """
    from groundling.formats.checking import check_file

    reports = [check_file(file, format) for file in files]
    if as_json:
        print(json.dumps({"files": [report.to_dict() for report in reports]}, ensure_ascii=False))
    for report in reports if not as_json else ():
        for fault in report.faults:
            print(fault)
        print(f"{report.file}: {report.format}, {report.items} items in order, {len(report.faults)} faults")
    if any(report.faults for report in reports):
        raise typer.Exit(1)
