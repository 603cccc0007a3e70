"""Every format there is, and which of them a text holds.

    readings = recognise(SourceText(data, name))

A format is a module of this package with `NAME`, `TITLE`, `looks_like` and `parse` (see `shape.py`); it is found by
itself. Detection is by content: every format says how sure it is, those that are sure enough read, and where two of
them claim the same lines both readings are given.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import apps.parsers
from apps.parsers.shape import Broken, ParsedFile, ParseError
from apps.parsers.source_text import SourceText

LEAST = 0.15  # below this, nobody thinks of the format
RECOGNISED = 0.5
_KINDS = {"inventory": "inventory", "tables": "table"}  # by package; the rest holds results


@dataclass(frozen=True, slots=True)
class Format:
    name: str
    title: str
    kind: str  # results, inventory or table
    looks_like: Callable[[SourceText], float]
    parse: Callable[[SourceText], ParsedFile]


@dataclass(frozen=True, slots=True)
class Reading:
    """What one format makes of a text: `parsed`, or why not."""

    format: Format
    confidence: float
    parsed: ParsedFile | None
    error: Broken | None = None

    @property
    def has_found(self) -> bool:
        found = self.parsed
        return bool(found and (found.runs or found.workloads or found.inventory))


@cache
def formats() -> tuple[Format, ...]:
    """In the order of their names."""
    found = [_format(module) for module in _modules() if hasattr(module, "NAME") and hasattr(module, "parse")]
    return tuple(sorted(found, key=lambda one: one.name))


def format_named(name: str) -> Format:
    """The format of this name; ValueError lists what there is."""
    for one in formats():
        if one.name == name:
            return one
    raise ValueError(f"Unknown format {name!r}, expected one of: {', '.join(one.name for one in formats())}")


def recognise(text: SourceText, only: Iterable[Format] | None = None) -> list[Reading]:
    """What each format that sees something of its own makes of the text, the surest first."""
    sure = [(one.looks_like(text), one) for one in (formats() if only is None else only)]
    candidates = sorted(((score, one) for score, one in sure if score >= LEAST), key=lambda pair: -pair[0])
    return [read(one, text, score) for score, one in candidates]


def read(one: Format, text: SourceText, confidence: float = 1.0) -> Reading:
    try:
        return Reading(one, confidence, one.parse(text))
    except ParseError as error:
        return Reading(one, confidence, None, error.broken)


def _modules() -> Iterable[Any]:
    for found in pkgutil.walk_packages(apps.parsers.__path__, "apps.parsers."):
        yield importlib.import_module(found.name)


def _format(module: Any) -> Format:
    package = module.__name__.removeprefix("apps.parsers.").split(".")[0]
    return Format(module.NAME, module.TITLE, _KINDS.get(package, "results"), module.looks_like, module.parse)
