"""Doubtful readings that would change a verdict.

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

from apps.comparison.claims.checks.definition import ClaimDefinition
from apps.comparison.claims.checks.verdicts import judge, used
from apps.comparison.labels import operation_of, text_of
from apps.comparison.readings import Reading

MOST_TRIED = 400
MOST_WORK = 60_000  # samples judged anew in all, about a second: a page waits for it
FEWEST_TRIED = 5
_VAGUE = {"approximate": "called approximate", "read_from_text": "read from the text", "rounded": "rounded"}
_DIGITS = re.compile(r"\d[\d.,]*", re.ASCII)


@dataclass(frozen=True)
class ClaimDoubt:
    """A reading that would change the verdict: `value` in base units instead of `instead_of` (None where it was missing)."""

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
    doubts: Sequence[ClaimDoubt]

    def shown(self) -> dict[str, Any]:
        return {
            "doubtful_samples": self.doubtful,
            "readings_tried": self.tried,
            "is_cut": self.is_cut,
            "overturned_by": [
                {name: getattr(doubt, name) for name in ClaimDoubt.__dataclass_fields__} for doubt in self.doubts
            ],
        }


def sensitivity(definition: ClaimDefinition, readings: Iterable[Reading], verdict: str) -> Sensitivity:
    meant = used(definition, readings)
    others = [(place, why, value) for place, meaning in enumerate(meant) for why, value in other_readings(meaning)]
    others.sort(key=lambda other: other[1] in _VAGUE.values())  # digits that were misread first, roundings last
    most = min(MOST_TRIED, max(FEWEST_TRIED, MOST_WORK // max(1, len(meant))))
    doubts = [
        ClaimDoubt(meant[place].id, meant[place].run, why, meant[place].printed, _place(meant[place]), meant[place].value, value, then)
        for place, why, value in others[:most]
        if (then := _with(definition, meant, place, value)) != verdict
    ]  # fmt: skip
    return Sensitivity(len({place for place, _, _ in others}), len(others[:most]), len(others) > most, doubts)


def _with(definition: ClaimDefinition, meant: Sequence[Reading], place: int, value: float) -> str:
    changed = [*meant[:place], replace(meant[place], value=value, low=None, high=None), *meant[place + 1 :]]
    return judge(definition, changed).verdict


def other_readings(reading: Reading) -> Iterator[tuple[str, float]]:
    """Yield other readings of a doubtful value: (why it is doubtful, another value in base units)."""
    for value in reading.alternatives:
        yield "another reading of what is printed", value
    if reading.value is None:
        yield from (("an end of its range", end) for end in (reading.low, reading.high) if end is not None)
    elif reading.quality in _VAGUE and not reading.alternatives:
        half = _half_a_step(reading)
        if half:
            yield _VAGUE[reading.quality], reading.value - half
            yield _VAGUE[reading.quality], reading.value + half


def _half_a_step(reading: Reading) -> float:
    """Return half of the last printed digit in base units; 0 where the printed text has no number."""
    match = _DIGITS.search(reading.printed)
    digits = match[0].replace(",", "") if match else ""
    if not digits or digits.count(".") > 1 or not float(digits) or reading.value is None:
        return 0.0
    whole, _, decimals = digits.partition(".")
    step = 10.0 ** -len(decimals) if decimals else 10.0 ** (len(whole) - len(whole.rstrip("0")))
    return abs(reading.value) / float(digits) * step / 2


def _place(reading: Reading) -> str:
    """Return where a sample stands, such as `write 2000 MiB of sata-single`."""
    size = text_of("file_size", reading.file_size) if reading.file_size else ""
    whose = f"of {reading.facts['configuration']}" if reading.facts.get("configuration") else ""
    return " ".join(filter(None, [operation_of(reading.operation), size, whose]))
