"""The question a comparison answers.

Its state lives in the address; `parse` reads it, `address` writes the canonical form.

    ?metric=bandwidth&operation=write&x=file_size&series=label&baseline=…&study=crs4-sata-scsi&raid_level=5&raid_level=0&scale=log&base=1024&chart=box&axis=log&order=…&order=…&draw=…

Every name that is not one of these words is a filter: `study`, `host`, `target`, `configuration`, `tool`, `run`, a
point's dimension, or any fact or label.
The same filter twice means either value. `series` takes several facts, with commas or repeated. `order` and `draw` name
series, one each time: those that stand first, in this order, and those that a chart draws.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self
from urllib.parse import quote, urlencode

from django.urls import reverse

from apps.comparison.charts.chart import OF_COMPARISONS
from apps.comparison.readings import LABEL
from apps.core import units
from apps.runs.metrics import METRICS, OPERATIONS

OWN_WORDS = ("metric", "operation", "x", "series", "baseline", "scale", "base", "chart", "axis", "order", "draw")
OF_SERIES = ("order", "draw")  # words that name series, as often as there are some
PICTURE_WORDS = ("width", "height", "theme")
NOT_FILTERS = frozenset({*OWN_WORDS, *PICTURE_WORDS, "format", "lang"})
SCALES = ("linear", "log")
CHARTS = tuple(kind.value for kind in OF_COMPARISONS)
AXES = ("even", "linear", "log")
NO_BASELINE = "none"
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,59}")
MOST_FILTERS = 100
MOST_IN_ORDER = 200  # series that an address puts in order
MOST_DRAWN = 8  # series in a chart: as many as have a colour and a mark of their own


class QuestionError(ValueError):
    """An address that asks nothing: which field, what was found, what was expected."""

    def __init__(self, field: str, value: object, expected: str) -> None:
        super().__init__(f"{field}: found {value!r}, expected {expected}")
        self.field, self.found, self.expected = field, value, expected


@dataclass(frozen=True)
class Identity:
    """One value of a series' name: a thing by its ids (`kind` is study, configuration, host or target), or, without a kind, a text."""

    kind: str
    ids: tuple[int, ...] = ()
    text: str = ""


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
    axis: str = ""  # x in equal steps, or true; empty: true along sizes, else equal steps
    order: tuple[str, ...] = ()  # names of the series that stand first; others follow in their usual order
    draw: tuple[str, ...] = ()  # names of the series that a chart draws; empty: the first `MOST_DRAWN`
    baseline_of: tuple[Identity, ...] = ()  # of a saved question: the baseline by identity, whatever it is called now

    def pairs(self) -> list[tuple[str, str]]:
        """Return the canonical address as pairs, always in the same order, without defaults of presentation."""
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
        if self.axis:
            pairs.append(("axis", self.axis))
        pairs += [("order", name) for name in self.order]
        pairs += [("draw", name) for name in self.draw]
        return pairs + sorted(set(self.filters))

    @property
    def address(self) -> str:
        """Return the query string of the question, in the reader's units where those are the usual ones."""
        return urlencode(self.pairs(), quote_via=quote)

    @property
    def permalink(self) -> str:
        """Return the query string that fixes the units too, so that every reader sees the same digits."""
        return self.address if self.base != units.BASES[0] else f"{self.address}&base={self.base}"

    def with_(self, **changes: object) -> Self:
        return replace(self, **changes)  # type: ignore[arg-type]

    def without(self, name: str, value: str) -> Self:
        return replace(self, filters=tuple(pair for pair in self.filters if pair != (name, value)))


def parse(query: Mapping[str, Sequence[str]]) -> Question:
    """Parse the question in an address; `query` maps names to all their values (`dict(request.GET.lists())`).

    Raises:
        QuestionError: A name or value is not known.
    """
    words = _single(query)
    return Question(
        metric=_word("metric", words.get("metric", "bandwidth"), tuple(METRICS)),
        operation=_word("operation", words.get("operation", "write"), tuple(OPERATIONS)),
        x=_name("x", words.get("x", "file_size")),
        series=_series(query.get("series", ())),
        baseline=words.get("baseline", ""),
        filters=_filters(query),
        scale=_word("scale", words.get("scale", "linear"), SCALES),
        base=int(_word("base", words.get("base", "1000"), tuple(map(str, units.BASES)))),
        chart=_word("chart", words["chart"], CHARTS) if "chart" in words else "",
        axis=_word("axis", words["axis"], AXES) if "axis" in words else "",
        order=_series_names("order", query.get("order", ())),
        draw=_series_names("draw", query.get("draw", ())),
    )


def _single(query: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the parameters that occur once; an empty field of a form counts as absent."""
    pairs_found = {}
    for word in OWN_WORDS:
        values = [value for value in query.get(word, ()) if value != ""]
        if len(values) > 1 and word not in ("series", *OF_SERIES):
            raise QuestionError(word, ", ".join(values), "one value")
        if values:
            pairs_found[word] = values[0]
    return pairs_found


def _word(field: str, text: str, words: tuple[str, ...]) -> str:
    if text not in words:
        raise QuestionError(field, text, f"one of: {', '.join(words)}")
    return text


def _name(field: str, text: str) -> str:
    if not NAME.fullmatch(text):
        raise QuestionError(field, text, "the name of a fact: letters, digits, _ . and -, beginning with a letter")
    return text


def text(field: str, text: str) -> str:
    """Check that a text has no NUL, which no database stores.

    Raises:
        QuestionError: It has one.
    """
    if "\0" in text:
        raise QuestionError(field, text, "text without NUL")
    return text


def _series(values: Sequence[str]) -> tuple[str, ...]:
    names = [part.strip() for value in values for part in value.split(",") if part.strip()]
    return tuple(dict.fromkeys(_name("series", name) for name in names)) or (LABEL,)


def _series_names(word: str, values: Sequence[str]) -> tuple[str, ...]:
    """Return the names of series that a word of the address has, each once."""
    names = tuple(dict.fromkeys(text(word, value) for value in values if value != ""))
    if len(names) > MOST_IN_ORDER:
        raise QuestionError(word, len(names), f"at most {MOST_IN_ORDER} series")
    return names


def _filters(query: Mapping[str, Sequence[str]]) -> tuple[tuple[str, str], ...]:
    parts = [
        (_name("filter", name), text(name, value))
        for name, values in query.items()
        if name not in NOT_FILTERS
        for value in values
        if value != ""
    ]
    if len(parts) > MOST_FILTERS:
        raise QuestionError("filters", len(parts), f"at most {MOST_FILTERS}")
    return tuple(sorted(set(parts)))


class TooManySamplesError(QuestionError):
    """A silent part of the data would be a wrong answer. The samples themselves are streamed, however many there are."""

    def __init__(self, question: Question, most: int) -> None:
        pairs = [("operation", question.operation), ("metric", question.metric), *question.filters]
        self.address = f"{reverse('api-samples-as', args=['csv'])}?{urlencode(pairs, quote_via=quote)}"
        expected = f"at most {most}; add a filter, or take the samples themselves, as many as they are: {self.address}"
        super().__init__("filters", f"more than {most} samples", expected)
