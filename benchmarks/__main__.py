"""`python -m benchmarks [PART ...] [--write-docs]`: run parts, print one table, fail where a ratio is under its floor.

Each part's rows are kept in `runs/bench/PART.json`; `--write-docs` writes `docs/benchmarks.md` from all that are kept.
"""

import argparse
import importlib
import json
import math
import pkgutil
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path

import benchmarks
from benchmarks import Row

KEPT, PAGE = Path("runs/bench"), Path("docs/benchmarks.md")
HEAD = """# Benchmarks

Every claim of speed or size in these pages, as a ratio to its peer (or to the limit we set ourselves), both measured in
the same run on the same machine. A ratio over 1 is in our favour; `make bench` fails when one falls under its floor.
Times are CPU seconds unless a row says otherwise. "not here" is a peer that was not installed; the head of each file in
`benchmarks/` says how to bring it.

This page is written by `python -m benchmarks --write-docs`.
"""


def parts() -> list[str]:
    return sorted(m.name for m in pkgutil.iter_modules(benchmarks.__path__) if not m.name.startswith("_"))


def cells(row: Row) -> tuple[str, str, str, str]:
    """Ours, the peer's, the ratio and the floor, as text."""
    if math.isnan(row.ratio):
        return "-", "not here", "-", f"{row.floor:g}x"
    ours, peer = (f"{x:.4g} {row.unit}".strip() for x in (row.ours, row.peer))
    return ours, peer, f"{row.ratio:,.1f}x", f"{row.floor:g}x"


def table(rows: list[Row]) -> str:
    lines = [f"{'what':<70} {'ours':>12} {'peer/limit':>12} {'ratio':>10} {'floor':>7}"]
    for row in rows:
        ours, peer, ratio, floor = cells(row)
        mark = "" if row.holds else "  UNDER ITS FLOOR"
        lines.append(f"{row.name:<70} {ours:>12} {peer:>12} {ratio:>10} {floor:>7}{mark}")
    return "\n".join(lines)


def keep(name: str, rows: list[Row]) -> None:
    KEPT.mkdir(parents=True, exist_ok=True)
    facts = {"part": name, "day": time.strftime("%Y-%m-%d", time.gmtime()), "machine": machine(), "rows": rows}
    (KEPT / f"{name}.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def machine() -> str:
    info = Path("/proc/cpuinfo")
    names = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
    return f"{len(names)} cores of {names[0]}" if names else platform.machine()


def page() -> str:
    """The documentation page, from all parts that are kept."""
    text = [HEAD]
    for path in sorted(KEPT.glob("*.json")):
        facts = json.loads(path.read_text(encoding="utf-8"))
        rows = [Row(*row) for row in facts["rows"]]
        if not rows:
            continue
        text.append(f"\n## {facts['part'].replace('_', ' ')}\n\n{facts['day']}, {facts['machine']}\n\n")
        text.append("| what | ours | peer or limit | ratio | floor |\n|---|---:|---:|---:|---:|\n")
        for row in rows:
            ours, peer, ratio, floor = cells(row)
            text.append(f"| {row.name} | {ours} | {peer} | {ratio if row.holds else f'**{ratio}**'} | {floor} |\n")
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", "torch"))
    return "".join(text) + f"\nPython {platform.python_version()}, {versions}.\n"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("parts", nargs="*", metavar="PART", help=f"of: {', '.join(parts())}")
    options.add_argument("--write-docs", action="store_true")
    options.add_argument("--page-only", action="store_true", help="write the page from what is kept; run nothing")
    asked = options.parse_args()
    rows: list[Row] = []
    for name in [] if asked.page_only else asked.parts or parts():
        module = importlib.import_module(f"benchmarks.{name}")
        if hasattr(module, "run"):
            print(f"benchmarks: {name} ...", file=sys.stderr, flush=True)
            found = module.run()
            keep(name, found)
            rows += found
    print(table(rows))
    if asked.write_docs or asked.page_only:
        PAGE.write_text(page(), encoding="utf-8")
    return int(not all(row.holds for row in rows))


if __name__ == "__main__":
    sys.exit(main())
