"""Struct-IoU and ParsEval: against the clock, the thesis' plain recursion, and PYEVALB."""

import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import Row, against, best_of
from groundling.metrics import ParsEval, StructIoU
from groundling.structures import Tree

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from oracles.struct_iou import total_by_recursion

LABELS = ("NP", "VP", "PP", "S", "ADJP")
MILLISECONDS = {20: 0.4, 40: 1.5, 80: 8.0}


def binary(words: int, rng: random.Random, labels: tuple[str, ...] = LABELS) -> str:
    if words == 1:
        return f"({rng.choice(('N', 'V', 'D'))} w{rng.randrange(1)})"
    cut = rng.randrange(1, words)
    return f"({rng.choice(labels)} {binary(cut, rng, labels)} {binary(words - cut, rng, labels)})"


def right(words: int) -> Tree:
    return Tree.from_brackets("(X (T w) " * (words - 1) + "(T w)" + ")" * (words - 1))


def one_pair(name: str, pairs: list[tuple[Tree, Tree]], limit: float) -> Row:
    metric = StructIoU()
    ours = best_of(lambda: [metric.score(a, b) for a, b in pairs]) / len(pairs) * 1000
    return against(f"Struct-IoU, one pair, {name}", ours, limit, unit="ms")


def pair_rows(rng: random.Random) -> list[Row]:
    StructIoU().score(right(3), right(3))  # load the compiled kernel
    rows = []
    for words, limit in MILLISECONDS.items():
        trees = [Tree.from_brackets(binary(words, rng, ("X",))) for _ in range(40)]
        rows.append(
            one_pair(f"{words} words, binary, one label", list(zip(trees[::2], trees[1::2], strict=True)), limit)
        )
    rows.append(one_pair("80 words, right-branching", [(right(80), right(80))] * 20, 3.0))
    rows.append(one_pair("400 words, binary", [(Tree.from_brackets(binary(400, rng)),) * 2] * 3, 500))
    return rows


def recursion_row(rng: random.Random) -> Row:
    golds, preds = ([Tree.from_brackets(binary(40, rng, ("X",))) for _ in range(4)] for _ in range(2))
    matrix = StructIoU().matrix(golds * 25, preds * 25)
    ours = best_of(lambda: StructIoU().matrix(golds * 25, preds * 25), 5) / 100
    start = time.process_time()
    totals = [total_by_recursion(a, b) for a, b in zip(golds, preds, strict=True)]
    peer = (time.process_time() - start) / 4
    assert all(abs(a - b) < 1e-9 for a, b in zip(totals, matrix[:4, 2], strict=True))
    return against(
        "Struct-IoU, 40 words, 100 pairs, against the thesis' recursion", ours * 1000, peer * 1000, 1000, "ms"
    )


def pyevalb_row(rng: random.Random) -> Row:
    from PYEVALB import parser, scorer

    golds, preds = ([binary(20, rng) for _ in range(1000)] for _ in range(2))
    golds, preds = ([f"(TOP {text})" for text in texts] for texts in (golds, preds))
    judge = scorer.Scorer()

    def peer() -> None:
        for gold, pred in zip(golds[:200], preds[:200], strict=True):
            judge.score_trees(parser.create_from_bracket_string(gold), parser.create_from_bracket_string(pred))

    metric = ParsEval()
    metric.corpus_lines(golds[:2], golds[:2])  # load the compiled kernel
    tags = [text.replace("(D ", "(N ").replace("(V ", "(N ") for text in preds]
    ours = best_of(lambda: metric.corpus_lines(golds, tags, bootstrap=0))
    return against("ParsEval, 1,000 pairs of 20 words from strings, against PYEVALB", ours, 5 * best_of(peer, 2), 10)


SCORE = """
import resource, sys, time
start = time.perf_counter()
from groundling.formats import brackets
from groundling.metrics import StructIoU
score = StructIoU().corpus(brackets.read(sys.argv[1]), brackets.read(sys.argv[2]))
print(time.perf_counter() - start, time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, score.n)
"""


def write_pairs(folder: Path, count: int, rng: random.Random) -> list[str]:
    paths = []
    for name in ("gold", "pred"):
        path = folder / f"{name}{count}.trees"
        path.write_text("".join(f"{binary(rng.randrange(7, 16), rng)}\n" for _ in range(count)))
        paths.append(str(path))
    return paths


def score_in_a_new_process(paths: list[str]) -> tuple[float, float]:
    """CPU seconds (process start and imports included) and peak memory in KiB."""
    done = subprocess.run([sys.executable, "-c", SCORE, *paths], capture_output=True, text=True, check=True)
    _, cpu, peak, _ = map(float, done.stdout.split())
    return cpu, peak


def file_rows(rng: random.Random) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        few, many = write_pairs(Path(folder), 5_000, rng), write_pairs(Path(folder), 20_000, rng)
        seconds, small = min(score_in_a_new_process(few) for _ in range(2))
        _, large = score_in_a_new_process(many)
    # What a pair leaves behind must be its statistics, not its trees (some 6 KiB each).
    growth = max((large - small) / 15_000, 1e-3)
    return [
        against("Struct-IoU, 5,000 caption pairs from two files, new process", seconds, 3.0),
        against("memory kept for each further pair of a stream", growth, 1.0, unit="KiB"),
    ]


def run() -> list[Row]:
    rng = random.Random(0)
    return [*pair_rows(rng), recursion_row(rng), pyevalb_row(rng), *file_rows(rng)]
