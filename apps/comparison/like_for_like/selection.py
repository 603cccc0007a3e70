"""What an address of a question asks: the factor, its measure, filters, and facts that were moved.

    ?operation=write&metric=bandwidth&against=software&hold=controller&ignore=kernel&published=yes&host=bench

`operation` and `metric` are those that the factor asks first where they are left out. Any other name is a filter, as in
the free comparison: the same name twice means either value. A label whose name has other characters than a fact's stands
in quotes: `hold="JBOD no."`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self
from urllib.parse import parse_qs, quote, urlencode

from django.urls import reverse

from apps.comparison.labels import UNKNOWN
from apps.comparison.like_for_like.run_group import RunGroup
from apps.comparison.like_for_like.strata import MovedFacts
from apps.comparison.question import MOST_FILTERS, NAME, NOT_FILTERS, QuestionError, text
from apps.comparison.questions import BY_NAME
from apps.comparison.questions.factor import Factor
from apps.runs.metrics import METRICS, OPERATIONS

WORDS = ("operation", "metric", "against", "hold", "ignore", "published", "study")
YES = "yes"
PAGING = ("cursor", "limit")  # of lists; there is one page of questions
LONGEST_REFERENCE = 1000  # of a question to which something else refers
LONGEST_NAME = 200  # of a label
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_PARTS = re.compile(r'\s*"(?:[^"]|"")*"\s*|[^,]+')
_NOT_FILTERS = frozenset({*NOT_FILTERS, *WORDS, *PAGING})


@dataclass(frozen=True)
class FactorSelection:
    """`operation` and `metric` are empty where the address leaves them open; `published` adds the published reports."""

    operation: str = ""
    metric: str = ""
    against: str = ""
    moved: MovedFacts = field(default_factory=MovedFacts)
    published: bool = False
    study: str = ""
    filters: tuple[tuple[str, str], ...] = ()

    def pairs(self) -> list[tuple[str, str]]:
        """Return the canonical address as pairs."""
        words = [("operation", self.operation), ("metric", self.metric), ("against", self.against)]
        words += [("hold", _joined(self.moved.held)), ("ignore", _joined(self.moved.ignored))]
        words += [("published", YES if self.published else ""), ("study", self.study)]
        return [pair for pair in words if pair[1]] + sorted(set(self.filters))

    @property
    def address(self) -> str:
        """Return the query string."""
        return urlencode(self.pairs(), quote_via=quote)

    def with_(self, **changes: object) -> Self:
        """Return the selection with other values."""
        return replace(self, **changes)  # type: ignore[arg-type]

    def hold(self, name: str) -> Self:
        """Return the selection with a fact held equal."""
        moved = self.moved
        held = tuple(dict.fromkeys((*moved.held, name)))
        return self.with_(moved=MovedFacts(held, tuple(one for one in moved.ignored if one != name)))

    def ignore(self, name: str) -> Self:
        """Return the selection with a fact ignored."""
        moved = self.moved
        ignored = tuple(dict.fromkeys((*moved.ignored, name)))
        return self.with_(moved=MovedFacts(tuple(one for one in moved.held if one != name), ignored))

    def unmoved(self, name: str) -> Self:
        """Return the selection with a fact where the factor has it by itself."""
        moved = self.moved
        return self.with_(
            moved=MovedFacts(
                tuple(one for one in moved.held if one != name), tuple(one for one in moved.ignored if one != name)
            )
        )

    def chosen(self, groups: Sequence[RunGroup]) -> list[RunGroup]:
        """Return the groups that pass the filters."""
        wanted: dict[str, set[str]] = {}
        for name, value in self.filters:
            wanted.setdefault(name, set()).add(value)
        return [group for group in groups if all(_passes(group, name, some) for name, some in wanted.items())]


def _passes(group: RunGroup, name: str, values: set[str]) -> bool:
    stored = group.texts.get(name)
    known = {str(stored) if stored is not None else None, group.facts.get(name)} - {None, ""}
    return bool(known & values) if known else UNKNOWN in values


@dataclass(frozen=True)
class QuestionReference:
    """A question with what was selected, as something else refers to it: `software_raid?metric=iops&operation=randread`."""

    factor: Factor
    selection: FactorSelection = field(default_factory=FactorSelection)

    def __str__(self) -> str:
        text = f"{self.factor.name}?{self.selection.address}" if self.selection.address else self.factor.name
        return text if len(text) <= LONGEST_REFERENCE else self.factor.name

    @property
    def title(self) -> str:
        return str(self.factor.title)

    @property
    def address(self) -> str:
        """Return the address of the question's page."""
        path = reverse("question", args=[self.factor.name])
        return f"{path}?{self.selection.address}" if self.selection.address else path


def parse_reference(text: str) -> QuestionReference:
    """Parse what `QuestionReference` is as text.

    Raises:
        QuestionError: There is no such question, or what is selected is not known.
    """
    name, _, query = text.partition("?")
    if name not in BY_NAME:
        raise QuestionError("question", name[:80], f"one of: {', '.join(BY_NAME)}")
    try:
        selected = parse_qs(query, max_num_fields=200)
    except ValueError:
        raise QuestionError("question", len(query), "at most 200 values") from None
    return QuestionReference(BY_NAME[name], parse_selection(selected))


def parse_selection(query: Mapping[str, Sequence[str]]) -> FactorSelection:
    """Parse the query of an address; `query` maps names to all their values.

    Raises:
        QuestionError: A name or value is not known.
    """
    words = {
        name: _single(name, query.get(name, ())) for name in ("operation", "metric", "against", "published", "study")
    }
    for name, allowed in (("operation", OPERATIONS), ("metric", METRICS), ("published", ("yes", "no"))):
        if words[name] and words[name] not in allowed:
            raise QuestionError(name, words[name], f"one of: {', '.join(allowed)}")
    if bool(words["operation"]) != bool(words["metric"]):
        raise QuestionError("metric", words["metric"], "both of operation and metric, or none of them")
    moved = MovedFacts(_names("hold", query), _names("ignore", query))
    if both := {*moved.held} & {*moved.ignored}:
        raise QuestionError("ignore", ", ".join(sorted(both)), "facts that are not held as well")
    filters = tuple(
        sorted(
            {
                (_name("filter", name), text(name, value))
                for name, values in query.items()
                if name not in _NOT_FILTERS
                for value in values
                if value != ""
            }
        )
    )
    if len(filters) > MOST_FILTERS:
        raise QuestionError("filters", len(filters), f"at most {MOST_FILTERS}")
    return FactorSelection(
        words["operation"], words["metric"], words["against"], moved, words["published"] == YES, words["study"], filters
    )


def _single(name: str, values: Sequence[str]) -> str:
    given = [value for value in values if value != ""]
    if len(given) > 1:
        raise QuestionError(name, ", ".join(given), "one value")
    return text(name, given[0]) if given else ""


def _names(word: str, query: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    parts = (part.strip() for value in query.get(word, ()) for part in _PARTS.findall(value))
    return tuple(dict.fromkeys(_moved_name(word, part) for part in parts if part))


def _joined(names: Sequence[str]) -> str:
    """Return names in one value, with commas; labels of people's own have any characters and stand in quotes."""
    return ",".join(name if NAME.fullmatch(name) else '"{}"'.format(name.replace('"', '""')) for name in names)


def _moved_name(field: str, part: str) -> str:
    if not _QUOTED.fullmatch(part):
        return _name(field, part)
    name = part[1:-1].replace('""', '"')
    if not name.isprintable() or not 0 < len(name) <= LONGEST_NAME:
        raise QuestionError(field, name[:80], f"the name of a label, of 1 to {LONGEST_NAME} characters")
    return name


def _name(field: str, name: str) -> str:
    if not NAME.fullmatch(name):
        raise QuestionError(field, name, "the name of a fact: letters, digits, _ . and -, beginning with a letter")
    return name
