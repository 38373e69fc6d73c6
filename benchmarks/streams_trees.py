"""Caption trees as a stream: memory must not grow with their number, and time must grow in proportion.

The largest stream has 16,000 pairs, or $GROUNDLING_STREAM_TREES of them (a million is the promise); the others an
eighth, a quarter and a half of it. Each size is scored in a new process, whose peak memory and CPU time are taken.
"""

import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks import Row, against
from benchmarks.trees import binary

KINDS = {
    "Struct-IoU": "StructIoU().corpus(brackets.read(sys.argv[1]), brackets.read(sys.argv[2]), bootstrap=0)",
    "ParsEval": "ParsEval().corpus(brackets.read(sys.argv[1]), brackets.read(sys.argv[2]), bootstrap=0)",
}
SCORE = """
import resource, sys, time
from groundling.formats import brackets
from groundling.metrics import ParsEval, StructIoU
from groundling.structures import Tree
one = Tree.from_brackets("(S (N a) (N b))")
ParsEval().score(one, one), StructIoU().score(one, one)  # load what is compiled
start = time.process_time()
score = {what}
print(time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, score.n)
"""


def write_pairs(folder: Path, count: int, distinct: int = 5_000) -> list[str]:
    """Two files of caption trees of 7 to 15 words, the words the same in both."""
    rng, paths = random.Random(0), []
    sizes = [rng.randrange(7, 16) for _ in range(distinct)]
    for name in ("gold", "pred"):
        lines = [binary(size, rng).replace("(V ", "(N ").replace("(D ", "(N ") + "\n" for size in sizes]
        path = folder / f"{name}{count}.trees"
        with path.open("w") as file:
            for first in range(0, count, distinct):
                file.writelines(lines[: count - first])
        paths.append(str(path))
    return paths


def measure(what: str, paths: list[str]) -> tuple[float, float]:
    """CPU seconds and peak megabytes."""
    done = subprocess.run([sys.executable, "-c", SCORE.format(what=what), *paths], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    seconds, peak, _ = map(float, done.stdout.split())
    return seconds, peak


def run() -> list[Row]:
    largest = int(os.environ.get("GROUNDLING_STREAM_TREES", "16000"))
    rows: list[Row] = []
    for name in os.environ.get("GROUNDLING_STREAM_KINDS", "Struct-IoU,ParsEval").split(","):
        sizes, found = [largest // part for part in (8, 4, 2, 1)], []
        for size in sizes:
            with tempfile.TemporaryDirectory() as folder:
                found.append(measure(KINDS[name], write_pairs(Path(folder), size)))
            seconds, peak = found[-1]
            each = 1e6 * seconds / size
            print(
                f"  {name}: {size:,} pairs: {seconds:.2f} s, {each:.0f} us a pair, peak {peak:.0f} MB", file=sys.stderr
            )
        exponent = float(np.polyfit(np.log(sizes), np.log([seconds for seconds, _ in found]), 1)[0])
        growth = max(found[-1][1] - found[0][1], 0.1)
        rows += [
            against(f"{name}, {largest:,} caption trees in a stream: exponent of time", exponent, 1.1, 1.0, ""),
            against(f"{name}, {largest:,} caption trees in a stream: growth of peak memory", growth, 16.0, 1.0, "MB"),
        ]
    return rows
