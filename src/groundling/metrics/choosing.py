"""From names and settings to metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from groundling.errors import ConfigError
from groundling.metrics import load_metric
from groundling.metrics.base import Metric


def make_metrics(names: Sequence[str], settings: Mapping[str, Any]) -> list[Metric[Any]]:
    """Make the metrics called `names`; each takes the settings it has, None means its default.

    >>> [metric.signature for metric in make_metrics(["uas", "las"], {"subtypes": True, "punctuation": None})]
    ['UAS|punctuation:yes|v:0.1.0', 'LAS|punctuation:yes|subtypes:yes|v:0.1.0']
    >>> make_metrics(["uas"], {"tolerance": 0.05})
    Traceback (most recent call last):
    groundling.errors.ConfigError: none of the metrics uas has a setting 'tolerance'. Leave it out or add a metric.
    """
    given = {key: value for key, value in settings.items() if value is not None}
    classes = [load_metric(name) for name in names]
    known = [{field.name for field in fields(cls)} for cls in classes]
    for key in given:
        if not any(key in names_of for names_of in known):
            listed = ", ".join(names)
            raise ConfigError(f"none of the metrics {listed} has a setting {key!r}. Leave it out or add a metric.")
    pairs = zip(classes, known, strict=True)
    return [cls(**{key: given[key] for key in given if key in names_of}) for cls, names_of in pairs]


def system_names(paths: Sequence[str]) -> list[str]:
    """What to call the systems: the file names without suffixes, or the whole paths where those are not distinct.

    >>> system_names(["out/a.trees.gz", "out/b.trees"]), system_names(["x/p.trees", "y/p.trees"])
    (['a', 'b'], ['x/p.trees', 'y/p.trees'])
    """
    stems = [path.rstrip("/").rsplit("/", 1)[-1].removesuffix(".gz").removesuffix(".xz") for path in paths]
    stems = [stem.rsplit(".", 1)[0] or stem for stem in stems]
    return stems if len(set(stems)) == len(stems) else list(paths)
