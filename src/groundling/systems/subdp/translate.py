"""Bitext by translation: one file of sentences in, line-by-line translations out, resumable (thesis 9.3.1)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from groundling.formats import conllu
from groundling.formats.files import open_text
from groundling.systems.subdp.bitext import is_conllu
from groundling.training.progress import Progress
from groundling.training.store import writing

CHUNK = 32  # lines translated, and written, at a time

Translate = Callable[[Sequence[str]], list[str]]


def translate_file(source: str, out: str | Path, translate: Translate) -> int:
    """Translate each line of a text, or each sentence of a treebank; returns how many came back empty.

    Finished chunks are kept in `OUT.part`: a killed translation goes on after the last whole one, to the same file.
    """
    lines, out = _read(source), Path(out)
    part = out.with_name(out.name + ".part")
    done = _keep_whole_chunks(part)
    with writing(part), part.open("a", encoding="utf-8") as file, Progress("translating", len(lines), done) as progress:
        for start in range(done, len(lines), CHUNK):
            found = translate(lines[start : start + CHUNK])
            file.write("".join(f"{line}\n" for line in found))
            file.flush()
            os.fsync(file.fileno())
            progress.advance(len(found))
    text = part.read_text(encoding="utf-8")
    part.replace(out)
    return sum(not line for line in text.splitlines())


def _read(source: str) -> list[str]:
    if is_conllu(source):
        return [_text_of(tree.comments) or " ".join(tree.words) for tree in conllu.read(source)]
    with open_text(source) as lines:
        return [line.strip() for line in lines]


def _text_of(comments: Sequence[str]) -> str:
    """The sentence as it was written: the comment `# text = ...`."""
    return next((line.partition("=")[2].strip() for line in comments if line.startswith("# text =")), "")


def _keep_whole_chunks(part: Path) -> int:
    """Cut what a killed run wrote to whole chunks, so that batches are the same as without the kill."""
    if not part.exists():
        return 0
    lines = part.read_bytes().splitlines(keepends=True)
    whole = [line for line in lines if line.endswith(b"\n")]
    kept = whole[: len(whole) // CHUNK * CHUNK]
    os.truncate(part, sum(map(len, kept)))
    return len(kept)
