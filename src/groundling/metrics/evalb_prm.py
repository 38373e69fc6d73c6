"""EVALB's parameter files: which labels to delete, which to take as equal."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from groundling.errors import DataError, FormatError

_NUMBERS = {"DEBUG", "MAX_ERROR", "CUTOFF_LEN", "LABELED"}
_LABELS = {"DELETE_LABEL", "DELETE_LABEL_FOR_LENGTH", "QUOTE_LABEL"}
_GROUPS = {"EQ_LABEL", "EQ_WORD"}

_WHOLE = re.compile("-?[0-9]{1,9}")  # ASCII: int() takes other digits, but not all that isdigit() knows


@dataclass(frozen=True)
class EvalbParameters:
    """One .prm file; the defaults are those of COLLINS.prm.

    >>> EvalbParameters().same_label("ADVP", "PRT")
    True
    """

    delete: frozenset[str] = frozenset({"TOP", "-NONE-", ",", ":", "``", "''", "."})
    delete_for_length: frozenset[str] = frozenset({"-NONE-"})
    quotes: frozenset[str] = frozenset()  # tags a quotation mark may carry in one tree and not in the other
    label_class: Mapping[str, str] = field(default_factory=lambda: {"ADVP": "ADVP", "PRT": "ADVP"})
    word_class: Mapping[str, str] = field(default_factory=dict[str, str])
    labelled: bool = True
    cutoff: int = 40
    name: str = "COLLINS"

    def same_label(self, a: str, b: str) -> bool:
        """Whether two labels count as equal."""
        return self.label_class.get(a, a) == self.label_class.get(b, b)

    def same_word(self, a: str, b: str) -> bool:
        """Whether two words count as equal."""
        return a == b or self.word_class.get(a, a) == self.word_class.get(b, b)


@lru_cache(maxsize=32)
def read_prm(path: str | None) -> EvalbParameters:
    """Read a .prm file; None gives COLLINS.prm. The name carries a checksum, so that a signature tells files apart."""
    if path is None:
        return EvalbParameters()
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}. Give the path of an EVALB .prm file.") from None
    return parse_prm(text, path)


def parse_prm(text: str, path: str = "prm") -> EvalbParameters:
    """Parse the text of a .prm file.

    >>> parse_prm("DELETE_LABEL TOP").delete
    frozenset({'TOP'})
    """
    numbers: dict[str, int] = {}
    labels: dict[str, set[str]] = {key: set() for key in _LABELS}
    groups: dict[str, dict[str, str]] = {key: {} for key in _GROUPS}
    for number, line in enumerate(text.splitlines(), 1):
        parts = line.split()
        if not parts or parts[0].startswith("#"):
            continue
        key, values = parts[0], parts[1:]
        if key in _NUMBERS and len(values) == 1 and _WHOLE.fullmatch(values[0]):
            numbers[key] = int(values[0])
        elif key in _LABELS and values:
            labels[key].add(values[0])
        elif key in _GROUPS and len(values) > 1:
            _merge(groups[key], values)
        else:
            known = ", ".join(sorted(_NUMBERS | _LABELS | _GROUPS))
            raise FormatError(
                f"{path}:{number}: not a line of an EVALB .prm file: {line.strip()[:60]!r}. Known: {known}."
            )
    return EvalbParameters(
        delete=frozenset(labels["DELETE_LABEL"]),
        delete_for_length=frozenset(labels["DELETE_LABEL_FOR_LENGTH"]),
        quotes=frozenset(labels["QUOTE_LABEL"]),
        label_class=groups["EQ_LABEL"],
        word_class=groups["EQ_WORD"],
        labelled=bool(numbers.get("LABELED", 1)),
        cutoff=numbers.get("CUTOFF_LEN", 40),
        name=f"{Path(path).stem}-{zlib.crc32(text.encode()):08x}",
    )


def _merge(classes: dict[str, str], members: list[str]) -> None:
    """Make all members equal, with all that were equal to one of them."""
    joined = {classes[member] for member in members if member in classes}
    for name, representative in classes.items():
        if representative in joined:
            classes[name] = members[0]
    classes.update((member, members[0]) for member in members)
