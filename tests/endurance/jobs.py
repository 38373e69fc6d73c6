"""The commands that must survive a kill, each on tiny built-in data: what to type, what to compare."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

Normal = Callable[[bytes], Any]


class Job(NamedTuple):
    """One command. `{in}` is the folder of inputs, `{out}` that of outputs; `resume` is added after a kill.

    Files are equal byte for byte, except those whose name is in `normal`: there the function says what is compared.
    """

    words: str
    resume: str = ""
    normal: dict[str, Normal] = {}  # noqa: RUF012  never changed


def without_seconds(data: bytes) -> bytes:
    """A stored table: all but how long it took."""
    return re.sub(rb'"seconds": [0-9.]+', b'"seconds": ?', data)


def results_kept(data: bytes) -> dict[str, Any]:
    """A cache of results: the same results whatever their order, without the time each took, torn lines left out."""
    kept = {}
    for line in data.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue  # cut off by a kill; the cache passes it over, too
        kept[entry["key"]] = {name: value for name, value in entry["value"].items() if name != "ms"}
    return kept


SUBDP = " ".join(
    f"--set {setting}"
    for setting in (
        "encoder={in}/words.vec", "lstm_dim=16", "arc_dim=16", "label_dim=8", "source_epochs=2", "target_epochs=2",
        "source_batch_words=150", "target_batch_words=150",
    )
)  # fmt: skip
BITEXT = "{in}/source.txt {in}/target.txt"
PROGRAMS = "{in}/samples.jsonl --tests {in}/tests.jsonl --unsafe-local"
SMALL_SPEECH = "encoder_epochs=2 epochs=2 encoder_dim=16 embedding_dim=16 hidden_dim=16 benepar_epochs=1"

JOBS: dict[str, Job] = {
    "vgnsl train": Job(
        "vgnsl train --captions {in}/captions.txt --features {in}/features.npz --gold {in}/gold.trees -o {out}/run "
        "--set embedding_dim=16 --set scorer_hidden_dim=8 --set epochs=4 --set min_count=1 --set batch_size=16",
        "--resume",
    ),
    "avnsl train": Job(
        "avnsl train {in}/world/manifest.jsonl --features {in}/world/features.npy -o {out}/run "
        + " ".join(f"--set {setting}" for setting in SMALL_SPEECH.split()),
        "--resume",
    ),
    "g2l2 train": Job(
        "g2l2 train --domain scan --train {in}/scan.txt -o {out}/run --set stages=[20,40] --set epochs_a_stage=1 "
        "--set steps=2 --set restarts=1",
        "--resume",
    ),
    "mlpalign train": Job(
        f"mlpalign train {BITEXT} --encoder {{in}}/words.vec -o {{out}}/run --set layers=[0] --set epochs=3 "
        "--set training_pairs=20",
        "--resume",
    ),
    "mlpalign align": Job(f"mlpalign align {BITEXT} --encoder {{in}}/words.vec --layer 0 -o {{out}}/links.txt"),
    "mlpalign mine": Job(f"mlpalign mine {BITEXT} --encoder {{in}}/words.vec --layer 0 -o {{out}}/mined.tsv"),
    "mbrexec run": Job(f"mbrexec run {PROGRAMS} --cache {{out}}/kept.jsonl", normal={"kept.jsonl": results_kept}),
    "mbrexec select": Job(
        f"mbrexec select {PROGRAMS} --cache {{out}}/kept.jsonl -o {{out}}/chosen.jsonl",
        normal={"kept.jsonl": results_kept},
    ),
    "subdp train-source": Job(f"subdp train-source {{in}}/treebank.conllu -o {{out}}/run {SUBDP}", "--resume"),
    "subdp project": Job(f"subdp project {BITEXT} --tokenised -m {{in}}/parser -o {{out}}/silver {SUBDP}"),
    "subdp transfer": Job(
        f"subdp transfer {BITEXT} --tokenised --treebank {{in}}/treebank.conllu -o {{out}}/run {SUBDP}", "--resume"
    ),
    "reproduce": Job("reproduce 5.1 -o {out}/results", normal={"5.1.json": without_seconds}),
    "convert": Job("convert {in}/gold.trees {out}/gold.trees.gz"),
}


def words_of(job: Job, inputs: Path, out: Path, again: bool = False) -> list[str]:
    """The words of a command line."""
    text = f"{job.words} {job.resume if again else ''}"
    return text.replace("{in}", str(inputs)).replace("{out}", str(out)).split()


def write_inputs(folder: Path) -> None:
    """All that the commands read; the same bytes each time."""
    _write_captions(folder)
    _write_programs(folder)
    _write_bitext(folder)
    from groundling.worlds import scan
    from groundling.worlds.spoken_captions import make_spoken_world
    from groundling.worlds.spoken_files import write_world

    scan.write(folder / "scan.txt", sorted(scan.split("around-right")[0], key=lambda one: len(one.words))[:60])
    write_world(make_spoken_world(6, 0), folder / "world")


def _write_captions(folder: Path) -> None:
    from groundling.worlds.captions import make_world

    world = make_world(24, np.random.default_rng(0))
    (folder / "captions.txt").write_text("".join(" ".join(words) + "\n" for words in world.sentences))
    (folder / "gold.trees").write_text("".join(f"{tree}\n" for tree in world.trees))
    np.savez(folder / "features.npz", features=world.features)


def _write_programs(folder: Path, tasks: int = 6, programs: int = 5) -> None:
    samples = [
        {"task_id": f"t{task}", "completion": f"def f(x):\n    return x * {task} + {number // 2}"}
        for task in range(tasks)
        for number in range(programs)
    ]
    tests = [{"task_id": f"t{task}", "tests": [f"assert f(2) == {2 * task}"]} for task in range(tasks)]
    (folder / "samples.jsonl").write_text("".join(json.dumps(line) + "\n" for line in samples))
    (folder / "tests.jsonl").write_text("".join(json.dumps(line) + "\n" for line in tests))


def _write_bitext(folder: Path, count: int = 40) -> None:
    from groundling.worlds import parallel_treebank

    pairs = list(parallel_treebank.generate(2 * count, np.random.default_rng(0)))
    vectors = parallel_treebank.vectors().items()
    texts = {
        "treebank.conllu": "".join(f"{pair.source}\n\n" for pair in pairs[:count]),
        "source.txt": "".join(" ".join(pair.source.words) + "\n" for pair in pairs[count:]),
        "target.txt": "".join(" ".join(pair.target.words) + "\n" for pair in pairs[count:]),
        "words.vec": "".join(f"{word} {' '.join(f'{x:.4f}' for x in vector)}\n" for word, vector in vectors),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
