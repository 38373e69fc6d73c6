"""`groundling demo`: see all of it work."""

from __future__ import annotations

import json
import os
from pathlib import Path

import typer


def demo_command(
    only: str | None = typer.Option(None, metavar="NAME", help="Run this part only."),
    seed: int = typer.Option(0, help="Same seed, same pictures and numbers."),
    out: Path = typer.Option(Path("runs/demo"), "--out", "-o", metavar="DIR", help="Where report.html goes."),
    show_parts: bool = typer.Option(False, "--list", help="Name the parts and leave."),
    as_json: bool = typer.Option(False, "--json", help="Print the outcome of each part as JSON."),
) -> None:
    """Run every part on built-in data and write one report: pictures, curves, tables, and the commands behind them.

    Needs no network and no data. Prints the path of the report; exits 1 when a part failed (the report shows which).

    Example: groundling demo --only structures -o runs/demo
    """
    # Before torch is loaded: the demo's steps are small, and a second thread waits more than it works.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    from groundling.experiments.demo import PARTS, run_demo

    if show_parts:
        for name, (_, title) in PARTS.items():
            typer.echo(f"{name}\t{title}")
        return
    demo = run_demo(only, seed, out)
    for outcome in demo.outcomes:
        if outcome.error:
            typer.echo(f"groundling: the part {outcome.name!r} failed: {outcome.error}", err=True)
    if as_json:
        typer.echo(json.dumps({"report": str(demo.report), "parts": [part._asdict() for part in demo.outcomes]}))
    else:
        typer.echo(demo.report)
    if demo.failed:
        raise typer.Exit(1)
