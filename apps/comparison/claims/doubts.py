"""Which doubtful reading would turn a verdict over.

Doubtful is a sample

- that has other possible readings (`alternatives`, such as another decimal place in a scanned table): each is tried;
- that is known only between two bounds: both are tried;
- that was rounded, called approximate or read from a sentence: half a unit of its last digit is tried either way, where
  the last digit of 270 is the 7 and that of 1.20 the 0.

One sample at a time is replaced, all others stay as they are. Of very many only some are tried, and that is said: other readings and
ranges first, roundings last.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from apps.comparison.claims.form import Definition
from apps.comparison.claims.judging import judge, used
from apps.comparison.readings import Reading
from apps.comparison.words import operation_of, text_of

MOST_TRIED = 400
MOST_WORK = 60_000  # samples judged anew in all, about a second: a page waits for it
FEWEST_TRIED = 5
_VAGUE = {"approximate": "called approximate", "read_from_text": "read from the text", "rounded": "rounded"}
_DIGITS = re.compile(r"\d[\d.,]*", re.ASCII)


@dataclass(frozen=True)
class Doubt:
    """A reading that would turn the verdict: `value` in base units instead of `instead_of` (None where it was missing)."""

    sample: int
    run: int
    why: str
    printed: str
    place: str
    instead_of: float | None
    value: float
    verdict: str


@dataclass(frozen=True)
class Sensitivity:
    """`doubtful` samples of the claim, other readings `tried`, and those that turn its verdict."""

    doubtful: int
    tried: int
    is_cut: bool
    doubts: Sequence[Doubt]

    def shown(self) -> dict[str, Any]:
        return {
            "doubtful_samples": self.doubtful,
            "readings_tried": self.tried,
            "is_cut": self.is_cut,
            "overturned_by": [{name: getattr(one, name) for name in Doubt.__dataclass_fields__} for one in self.doubts],
        }


def sensitivity(definition: Definition, readings: Iterable[Reading], verdict: str) -> Sensitivity:
    meant = used(definition, readings)
    others = [(place, why, value) for place, one in enumerate(meant) for why, value in other_readings(one)]
    others.sort(key=lambda other: other[1] in _VAGUE.values())  # digits that were misread first, roundings last
    most = min(MOST_TRIED, max(FEWEST_TRIED, MOST_WORK // max(1, len(meant))))
    doubts = [
        Doubt(meant[place].id, meant[place].run, why, meant[place].printed, _place(meant[place]), meant[place].value, value, then)
        for place, why, value in others[:most]
        if (then := _with(definition, meant, place, value)) != verdict
    ]  # fmt: skip
    return Sensitivity(len({place for place, _, _ in others}), len(others[:most]), len(others) > most, doubts)


def _with(definition: Definition, meant: Sequence[Reading], place: int, value: float) -> str:
    changed = [*meant[:place], replace(meant[place], value=value, low=None, high=None), *meant[place + 1 :]]
    return judge(definition, changed).verdict


def other_readings(one: Reading) -> Iterator[tuple[str, float]]:
    """(why it is doubtful, another value in base units)."""
    for value in one.alternatives:
        yield "another reading of what is printed", value
    if one.value is None:
        yield from (("an end of its range", end) for end in (one.low, one.high) if end is not None)
    elif one.quality in _VAGUE and not one.alternatives:
        half = _half_a_step(one)
        if half:
            yield _VAGUE[one.quality], one.value - half
            yield _VAGUE[one.quality], one.value + half


def _half_a_step(one: Reading) -> float:
    """In base units; 0 where the printed text has no number."""
    found = _DIGITS.search(one.printed)
    digits = found[0].replace(",", "") if found else ""
    if not digits or digits.count(".") > 1 or not float(digits) or one.value is None:
        return 0.0
    whole, _, decimals = digits.partition(".")
    step = 10.0 ** -len(decimals) if decimals else 10.0 ** (len(whole) - len(whole.rstrip("0")))
    return abs(one.value) / float(digits) * step / 2


def _place(one: Reading) -> str:
    """`write 2000 MiB of sata-single`: where the sample stands."""
    size = text_of("file_size", one.file_size) if one.file_size else ""
    whose = f"of {one.facts['configuration']}" if one.facts.get("configuration") else ""
    return " ".join(filter(None, [operation_of(one.operation), size, whose]))
