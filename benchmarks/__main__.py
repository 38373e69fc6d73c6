"""`python -m benchmarks [PART ...]`: run every part, print one table, fail where a ratio is under its floor."""

import importlib
import pkgutil
import sys

import benchmarks
from benchmarks import Row


def parts() -> list[str]:
    return sorted(m.name for m in pkgutil.iter_modules(benchmarks.__path__) if not m.name.startswith("_"))


def table(rows: list[Row]) -> str:
    lines = [f"{'what':<62} {'ours':>12} {'peer/limit':>12} {'ratio':>9} {'floor':>7}"]
    for row in rows:
        mark = "" if row.ratio >= row.floor else "  UNDER ITS FLOOR"
        ours, peer = (f"{x:.4g} {row.unit}" for x in (row.ours, row.peer))
        lines.append(f"{row.name:<62} {ours:>12} {peer:>12} {row.ratio:>8.1f}x {row.floor:>6g}x{mark}")
    return "\n".join(lines)


def main(wanted: list[str]) -> int:
    rows: list[Row] = []
    for name in wanted or parts():
        module = importlib.import_module(f"benchmarks.{name}")
        if hasattr(module, "run"):
            print(f"benchmarks: {name} ...", file=sys.stderr, flush=True)
            rows += module.run()
    print(table(rows))
    return int(any(row.ratio < row.floor for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
