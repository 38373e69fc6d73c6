"""`groundling reproduce`: the thesis' tables and figures, beside ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from groundling.cli.reporting import Report
from groundling.errors import ConfigError

if TYPE_CHECKING:
    from groundling.experiments.catalogue import Entry
    from groundling.experiments.tables import ResultRow


def reproduce_command(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="3.1, figure-5.5 ...")] = None,
    show_list: Annotated[bool, typer.Option("--list", help="Name every table and figure, and leave.")] = False,
    write_docs: Annotated[bool, typer.Option("--write-docs", help="Write the page of stored results.")] = False,
    docs: Annotated[Path, typer.Option("--docs", metavar="FILE", help="That page.")] = Path("docs/results.md"),
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where results are kept.")] = Path(
        "runs/reproduce"
    ),
    data: Annotated[str | None, typer.Option("--data", help="Folder of corpora (default: $GROUNDLING_DATA).")] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Same seed, same numbers.")] = 0,
    only_stored: Annotated[
        bool, typer.Option("--stored", help="Print what is stored and run nothing: some tables take hours.")
    ] = False,
    figure: Annotated[
        Path | None, typer.Option("--figure", metavar="FILE", help="Draw a figure: .svg, .png or .pdf (matplotlib).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    report: Report = None,
) -> None:
    """Run a table or figure of the thesis and print thesis | ours | difference.

    Rows are stored one by one: a killed run goes on where it stopped, and what is stored is not run again.

    Example: groundling reproduce --list; groundling reproduce 5.1; groundling reproduce figure-5.5 --figure curves.pdf
    """
    from groundling.experiments.catalogue import find_entries, listing
    from groundling.formats.corpora import data_dir

    entries = [entry for name in names or [] for entry in find_entries(name)]
    if not (entries or show_list or write_docs):
        raise ConfigError(
            "nothing to do. Name a table (`groundling reproduce --list` shows all), or give --write-docs."
        )
    root = data_dir(data)
    if show_list:
        found = listing(root, out)
        print(json.dumps({"entries": found}, ensure_ascii=False) if as_json else list_text(found))
    if figure is not None and len(entries) != 1:
        raise ConfigError("--figure draws one figure: name it, e.g. `groundling reproduce figure-5.5 --figure f.svg`.")
    done = _run_all(entries, root, out, seed, as_json, only_stored)
    if report is not None or figure is not None:
        from groundling.experiments.figures import write_figure, write_results

        if figure is not None:
            write_figure(figure, *done[0])
        if report is not None:
            write_results(report, done, seed)
    if write_docs:
        from groundling.experiments.results_page import results_page
        from groundling.formats.files import atomic_write

        with atomic_write(docs) as file:
            file.write(results_page(out))
        typer.echo(f"written: {docs}", err=True)


def _run_all(
    entries: list[Entry], root: Path | None, out: Path, seed: int, as_json: bool, only_stored: bool
) -> list[tuple[Entry, list[ResultRow]]]:
    from groundling.experiments.catalogue import run_entry, stored_rows
    from groundling.experiments.results_page import as_text

    done: list[tuple[Entry, list[ResultRow]]] = []
    for entry in entries:
        if only_stored:
            rows = stored_rows(entry, out)
        else:
            rows = run_entry(entry, root, out, seed, lambda what: typer.echo(f"{what} ...", err=True))
        done.append((entry, rows))
        if as_json:
            print(json.dumps({"name": entry.name, "seed": seed, "rows": [row._asdict() for row in rows]}))
        else:
            print(f"{entry.name}  {entry.title}")
            print(as_text(rows))
            if entry.differs:
                print(f"What differs: {entry.differs}.")
    return done


def list_text(found: list[dict[str, Any]]) -> str:
    """One line an entry: name, state, time, what, and the corpora that are missing."""
    lines = [f"{'name':<12} {'state':<8} {'about':<10}  what it shows, what runs it, what it needs"]
    for one in found:
        if one["stored"]:
            state = "stored"
        elif one["runnable"]:
            state = "ready"
        else:
            state = "no data" if one["missing"] else "not here"
        needs = ", ".join(f"{name}{' (missing)' * (name in one['missing'])}" for name in one["data"])
        lines.append(f"{one['name']:<12} {state:<8} {one['takes']:<10}  {one['title']}")
        module = (one["module"] or "no module").removeprefix("groundling.")
        lines.append(f"{'':<12} {module}; data: {needs or 'built in'}")
    return "\n".join(lines)
