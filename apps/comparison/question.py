"""The question a comparison answers. Its state lives in the address; `parse` reads it, `address` writes the canonical
form.

    ?metric=bandwidth&operation=write&x=file_size&series=label&baseline=…&study=crs4-sata-scsi&raid_level=5&raid_level=0&scale=log&base=1024&chart=box&axis=log

Every name that is not one of these words is a filter: `study`, `host`, `target`, `configuration`, `tool`, `run`, a
point's dimension, or any fact or label.
The same filter twice means either value. `series` takes several facts, with commas or repeated.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self
from urllib.parse import quote, urlencode

from apps.comparison.readings import LABEL
from apps.lib import units
from apps.runs.metrics import METRICS, OPERATIONS

OWN_WORDS = ("metric", "operation", "x", "series", "baseline", "scale", "base", "chart", "axis")
PICTURE_WORDS = ("width", "height", "theme")
NOT_FILTERS = frozenset({*OWN_WORDS, *PICTURE_WORDS, "format", "lang"})
SCALES = ("linear", "log")
CHARTS = ("line", "bar", "paired", "box", "heat", "matrix")
AXES = ("even", "linear", "log")
NO_BASELINE = "none"
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,59}")
MOST_FILTERS = 100


class QuestionError(ValueError):
    """An address that asks nothing: which field, what was found, what was expected."""

    def __init__(self, field: str, found: object, expected: str) -> None:
        super().__init__(f"{field}: found {found!r}, expected {expected}")
        self.field, self.found, self.expected = field, found, expected


@dataclass(frozen=True)
class Question:
    metric: str = "bandwidth"
    operation: str = "write"
    x: str = "file_size"
    series: tuple[str, ...] = (LABEL,)
    baseline: str = ""  # a series' name; empty is the first one, `none` is no baseline
    filters: tuple[tuple[str, str], ...] = ()
    scale: str = "linear"
    base: int = 1000
    chart: str = ""  # how it is drawn; empty: lines along numbers and days, else bars
    axis: str = "even"  # x in equal steps, or true

    def pairs(self) -> list[tuple[str, str]]:
        """The canonical address, as pairs: always the same order, defaults of looks left out."""
        pairs = [("metric", self.metric), ("operation", self.operation), ("x", self.x)]
        pairs.append(("series", ",".join(self.series)))
        if self.baseline:
            pairs.append(("baseline", self.baseline))
        if self.scale != "linear":
            pairs.append(("scale", self.scale))
        if self.base != 1000:
            pairs.append(("base", str(self.base)))
        if self.chart:
            pairs.append(("chart", self.chart))
        if self.axis != "even":
            pairs.append(("axis", self.axis))
        return pairs + sorted(set(self.filters))

    @property
    def address(self) -> str:
        """The query that asks this, in the units of whoever follows it where those are the usual ones."""
        return urlencode(self.pairs(), quote_via=quote)

    @property
    def permalink(self) -> str:
        """The query that also says the usual units: it shows every reader the same digits."""
        return self.address if self.base != units.BASES[0] else f"{self.address}&base={self.base}"

    def with_(self, **changes: object) -> Self:
        return replace(self, **changes)  # type: ignore[arg-type]

    def without(self, name: str, value: str) -> Self:
        return replace(self, filters=tuple(pair for pair in self.filters if pair != (name, value)))


def parse(query: Mapping[str, Sequence[str]]) -> Question:
    """The question in an address; raises `QuestionError`. `query` maps names to all their values
    (`dict(request.GET.lists())`).
    """
    one = _single(query)
    return Question(
        metric=_word("metric", one.get("metric", "bandwidth"), tuple(METRICS)),
        operation=_word("operation", one.get("operation", "write"), tuple(OPERATIONS)),
        x=_name("x", one.get("x", "file_size")),
        series=_series(query.get("series", ())),
        baseline=one.get("baseline", ""),
        filters=_filters(query),
        scale=_word("scale", one.get("scale", "linear"), SCALES),
        base=int(_word("base", one.get("base", "1000"), tuple(map(str, units.BASES)))),
        chart=_word("chart", one["chart"], CHARTS) if "chart" in one else "",
        axis=_word("axis", one.get("axis", "even"), AXES),
    )


def _single(query: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The words that stand once; an empty field of a form is one left out."""
    found = {}
    for word in OWN_WORDS:
        values = [value for value in query.get(word, ()) if value != ""]
        if len(values) > 1 and word != "series":
            raise QuestionError(word, ", ".join(values), "one value")
        if values:
            found[word] = values[0]
    return found


def _word(field: str, found: str, words: tuple[str, ...]) -> str:
    if found not in words:
        raise QuestionError(field, found, f"one of: {', '.join(words)}")
    return found


def _name(field: str, found: str) -> str:
    if not NAME.fullmatch(found):
        raise QuestionError(field, found, "the name of a fact: letters, digits, _ . and -, beginning with a letter")
    return found


def text(field: str, found: str) -> str:
    """No database keeps a NUL, so nothing can have it as its value."""
    if "\0" in found:
        raise QuestionError(field, found, "text without NUL")
    return found


def _series(values: Sequence[str]) -> tuple[str, ...]:
    names = [part.strip() for value in values for part in value.split(",") if part.strip()]
    return tuple(dict.fromkeys(_name("series", name) for name in names)) or (LABEL,)


def _filters(query: Mapping[str, Sequence[str]]) -> tuple[tuple[str, str], ...]:
    found = [
        (_name("filter", name), text(name, value))
        for name, values in query.items()
        if name not in NOT_FILTERS
        for value in values
        if value != ""
    ]
    if len(found) > MOST_FILTERS:
        raise QuestionError("filters", len(found), f"at most {MOST_FILTERS}")
    return tuple(sorted(set(found)))
