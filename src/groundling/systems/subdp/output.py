"""Text in, CoNLL-U out: what `groundling subdp parse` reads and writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal

from groundling.formats import conllu
from groundling.formats.files import open_text
from groundling.structures import Dependencies
from groundling.structures.dependencies import ID, UPOS, Row
from groundling.systems.subdp.bitext import is_conllu
from groundling.systems.subdp.model import Model
from groundling.systems.subdp.tokens import Token, cut

Form = Literal["raw", "tokens", "conllu"]


def form_of(path: str) -> Form:
    """Guess from the name; anything that is not CoNLL-U is raw text."""
    return "conllu" if is_conllu(path) else "raw"


def parse_file(
    model: Model, path: str, form: Form | None = None, language: str = "", projective: bool = False
) -> Iterator[Dependencies]:
    """Parse a file sentence by sentence; `-` is the standard input. Empty lines are skipped."""
    if (form or form_of(path)) == "conllu":
        yield from parse_trees(model, conllu.read(path), projective)
        return
    with open_text(path) as lines:
        cuts = (_spaced(line) if form == "tokens" else cut(line, language) for line in lines)
        yield from parse_tokens(model, (tokens for tokens in cuts if tokens), projective)


def parse_trees(model: Model, trees: Iterable[Dependencies], projective: bool = False) -> Iterator[Dependencies]:
    """New heads and labels for sentences in CoNLL-U; other columns stay, an empty UPOS is filled."""
    kept: list[Dependencies] = []

    def words() -> Iterator[tuple[str, ...]]:
        for tree in trees:
            kept.append(tree)
            yield tree.words

    for found in model.parse(words(), projective=projective):
        yield _tagged(kept.pop(0).with_arcs(found.heads, found.labels), found.tags)


def parse_tokens(model: Model, sentences: Iterable[list[Token]], projective: bool = False) -> Iterator[Dependencies]:
    """Trees with `sent_id`, `text`, `SpaceAfter=No` and ranges for contractions, as UD's validator wants them."""
    kept: list[list[Token]] = []

    def words() -> Iterator[list[str]]:
        for tokens in sentences:
            kept.append(tokens)
            yield [word for token in tokens for word in token.words]

    for number, found in enumerate(model.parse(words(), projective=projective), 1):
        tokens = kept.pop(0)
        text = "".join(t.surface + (" " if t.space_after else "") for t in tokens).strip()
        comments = (f"# sent_id = {number}", f"# text = {text}")
        yield replace(found, comments=comments, rows=tuple(_rows(tokens, found)))


def _rows(tokens: list[Token], tree: Dependencies) -> Iterator[Row]:
    word = 0
    for k, token in enumerate(tokens):
        misc = "_" if token.space_after or k == len(tokens) - 1 else "SpaceAfter=No"
        if len(token.words) > 1:
            yield (f"{word + 1}-{word + len(token.words)}", token.surface, *"_______", misc)
            misc = "_"
        for form in token.words:
            tag = tree.tags[word] if tree.tags else "_"
            yield (str(word + 1), form, "_", tag, "_", "_", str(tree.heads[word]), tree.labels[word], "_", misc)
            word += 1


def _spaced(line: str) -> list[Token]:
    return [Token(word, [word], True) for word in line.split()]


def _tagged(tree: Dependencies, tags: tuple[str, ...]) -> Dependencies:
    if not tags or (tree.tags and "_" not in tree.tags):
        return tree
    new = iter(tags)
    rows = tuple(_with_tag(row, next(new)) if row[ID].isdigit() else row for row in tree.rows)
    merged = tuple(tag if old == "_" else old for old, tag in zip(tree.tags or ("_",) * len(tags), tags, strict=True))
    return replace(tree, tags=merged, rows=rows)


def _with_tag(row: Row, tag: str) -> Row:
    return (*row[:UPOS], tag, *row[UPOS + 1 :]) if row[UPOS] == "_" else row
