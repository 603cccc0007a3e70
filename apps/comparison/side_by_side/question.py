"""What is asked for; its state lives in the address.

?target=3&target=8&last=10&baseline=8&metric=bandwidth&operation=read&base=1024
?study=crs4-sata-scsi&last=10
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self
from urllib.parse import urlencode

from apps.comparison.question import QuestionError
from apps.core import units
from apps.runs.metrics import METRICS, OPERATIONS

LAST = 10
MOST_RUNS = 200  # of a column
MOST_COLUMNS = 100
MOST_DIGITS = 18
NAMES = ("target", "study", "last", "baseline", "metric", "operation", "base")


@dataclass(frozen=True)
class SideBySideQuestion:
    """Targets by id, or the configurations of one study; `baseline` is a column's id, 0 for the first one."""

    targets: tuple[int, ...] = ()
    study: str = ""
    last: int = LAST
    baseline: int = 0
    metrics: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    base: int = 1000

    @property
    def is_empty(self) -> bool:
        return not self.targets and not self.study

    @property
    def address(self) -> str:
        """Return the query string of the permalink, always in the same order, without defaults."""
        pairs: list[tuple[str, object]] = [("target", pk) for pk in self.targets]
        pairs += [("study", self.study)] if self.study else []
        pairs += [("last", self.last)] if self.last != LAST else []
        pairs += [("baseline", self.baseline)] if self.baseline else []
        pairs += [("operation", name) for name in self.operations] + [("metric", name) for name in self.metrics]
        return urlencode(pairs + ([("base", self.base)] if self.base != 1000 else []))

    def with_(self, **changes: object) -> Self:
        return replace(self, **changes)  # type: ignore[arg-type]


def parse(query: Mapping[str, Sequence[str]]) -> SideBySideQuestion:
    """Parse the question of an address; `query` maps names to all their values.

    Raises:
        QuestionError: A field does not fit; the error has what was found and what was expected.
    """
    if unknown := sorted(set(query) - {*NAMES, "format"}):
        raise QuestionError("address", unknown[0], f"one of: {', '.join(NAMES)}")
    targets = tuple(dict.fromkeys(_number("target", value) for value in query.get("target", ()) if value))
    study = _one(query, "study", "")
    if targets and study:
        raise QuestionError("study", study, "targets or a study, not both")
    if len(targets) > MOST_COLUMNS:
        raise QuestionError("target", f"{len(targets)} targets", f"at most {MOST_COLUMNS}")
    return SideBySideQuestion(
        targets=targets,
        study=study,
        last=_number("last", _one(query, "last", str(LAST)), 1, MOST_RUNS),
        baseline=_number("baseline", _one(query, "baseline", "0"), 0),
        metrics=_words("metric", query, tuple(METRICS)),
        operations=_words("operation", query, OPERATIONS),
        base=int(_word("base", _one(query, "base", "1000"), tuple(map(str, units.BASES)))),
    )


def _one(query: Mapping[str, Sequence[str]], name: str, default: str) -> str:
    values = [value for value in query.get(name, ()) if value]
    if len(values) > 1:
        raise QuestionError(name, ", ".join(values), "one value")
    if values and "\0" in values[0]:
        raise QuestionError(name, values[0], "text without NUL")
    return values[0] if values else default


def _number(name: str, text: str, least: int = 1, most: int = 10**MOST_DIGITS) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS and least <= int(text) <= most):
        limits = f"a whole number from {least} to {most}" if most <= MOST_RUNS else "the number of a column"
        raise QuestionError(name, text, limits)
    return int(text)


def _words(name: str, query: Mapping[str, Sequence[str]], words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_word(name, value, words) for value in query.get(name, ()) if value))


def _word(name: str, text: str, words: tuple[str, ...]) -> str:
    if text not in words:
        raise QuestionError(name, text, f"one of: {', '.join(words)}")
    return text
