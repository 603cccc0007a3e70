"""The terms of a check evaluated to numbers, for each value of what the check is made `per`."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from apps.comparison.claims.checks.amounts import Amount, aggregated, combined, format_range
from apps.comparison.claims.checks.definition import Arithmetic, SampleGroup, Stated, Term
from apps.comparison.claims.checks.selection import Key, chosen, dimension, key_of
from apps.comparison.labels import IN_BYTES, label_of, natural, operation_of, text_of
from apps.comparison.readings import Reading
from apps.runs.metrics import METRICS

Labels = Mapping[str, str]  # a configuration's name → what people call it


class NoNumberError(Exception):
    """A comparison cannot be made; says why."""


@dataclass(frozen=True)
class Board:
    """The readings that a check is made on, and what people call the configurations."""

    readings: Sequence[Reading]
    labels: Labels = field(default_factory=dict)

    @cached_property
    def _groups(self) -> dict[Any, Mapping[Key, Sequence[Reading]]]:
        return {}

    def groups(self, samples: SampleGroup, per: Sequence[str]) -> Mapping[Key, Sequence[Reading]]:
        """Return the readings of a group by key."""
        dimensions = tuple(per) if samples.is_matched else ()
        known = id(samples), dimensions
        if known not in self._groups:
            readings: dict[Key, list[Reading]] = {}
            for reading in chosen(samples, self.readings):
                readings.setdefault(key_of(reading, dimensions), []).append(reading)
            self._groups[known] = readings
        return self._groups[known]

    def keys(self, terms: Iterable[Term], per: Sequence[str]) -> tuple[list[Key], int]:
        """Return the keys that all matched groups have, in natural order, and how many keys some group lacks."""
        groups = [set(self.groups(part, per)) for term in terms for part in _matched(term)] if per else []
        if not groups:
            return [()], 0
        shared = set.intersection(*groups)
        return sorted(shared, key=lambda key: tuple(natural(part) for part in key)), len(set.union(*groups) - shared)

    def amount(self, term: Term, per: Sequence[str], key: Key) -> Amount:
        if isinstance(term, Stated):
            value = format_range(term.value, term.value, term.unit)
            return Amount(term.value, term.value, term.unit, f"{term.name} ({value})" if term.name else value)
        if isinstance(term, Arithmetic):
            result = combined(term.operator, [self.amount(part, per, key) for part in term.of])
            if result is None:
                raise NoNumberError("nothing can be divided by 0")
            return result
        readings = self.groups(term, per).get(key if term.is_matched else (), ())
        return _number_of(term, readings, self.labels)


def _matched(term: Term) -> list[SampleGroup]:
    if isinstance(term, SampleGroup):
        return [term] if term.is_matched else []
    return [samples_term for part in term.of for samples_term in _matched(part)] if isinstance(term, Arithmetic) else []


def _number_of(samples: SampleGroup, readings: Sequence[Reading], labels: Labels) -> Amount:
    meant, name = _at_the_end(samples, readings), name_of(samples, labels)
    if not meant:
        raise NoNumberError(f"there is no sample of {name}")
    ids = tuple(reading.id for reading in meant)
    if samples.aggregate == "count":
        count = len(meant) * samples.times
        return Amount(count, count, "", f"{name} {format_range(count, count, '')}", ids)
    known = [(reading.id, bounds) for reading in meant if (bounds := _bounds(samples.take, reading)) is not None]
    if not known:
        raise NoNumberError(f"{name} has no value")
    low, high = aggregated(samples.aggregate, [bounds for _, bounds in known])
    unit = unit_of(samples)
    low, high = sorted((low * samples.times, high * samples.times))
    return Amount(low, high, unit, f"{name} {format_range(low, high, unit)}", tuple(pk for pk, _ in known))


def _at_the_end(samples: SampleGroup, readings: Sequence[Reading]) -> Sequence[Reading]:
    """Return only the readings of the largest or smallest file, where the group asks for that."""
    pick = {"largest_file": max, "smallest_file": min}.get(samples.aggregate)
    sizes = [reading.file_size for reading in readings if reading.file_size is not None]
    if pick is None or not sizes:
        return readings if pick is None else []
    end = pick(sizes)
    return [reading for reading in readings if reading.file_size == end]


def _bounds(take: str, reading: Reading) -> tuple[float, float] | None:
    if take == "value":
        return bounds_of(reading)
    value = dimension(reading, take)
    if take in IN_BYTES and value == "none":
        return 0.0, 0.0
    return (float(value), float(value)) if isinstance(value, int | float) else None


def bounds_of(reading: Reading) -> tuple[float, float] | None:
    """Return the value as (low, high), or the range that it lies in; None where nothing is known."""
    if reading.value is not None:
        return reading.value, reading.value
    if reading.low is None and reading.high is None:
        return None
    return (
        reading.low if reading.low is not None else -math.inf,
        reading.high if reading.high is not None else math.inf,
    )


def unit_of(samples: SampleGroup) -> str:
    if samples.aggregate == "count":
        return ""
    if samples.take != "value":
        return "B" if samples.take in IN_BYTES else ""
    return METRICS[samples.metric].unit


_AGGREGATES = {"max": "largest ", "min": "smallest ", "median": "median ", "sum": "sum of ", "count": "number of "}
_ENDS = {"largest_file": ", largest file", "smallest_file": ", smallest file"}


def name_of(samples: SampleGroup, labels: Labels) -> str:
    """Return the group's own name, or one such as `largest write bandwidth of single SATA disk`."""
    if samples.name:
        return samples.name
    operations = " or ".join(operation_of(operation) for operation in samples.operations)
    what = f"{operations} {METRICS[samples.metric].label.lower()}".strip()
    taken = what if samples.take == "value" else label_of(samples.take)
    times = f"{text_of('', samples.times)} × " if samples.times != 1 else ""
    called = " or ".join(labels.get(configuration, configuration) for configuration in samples.configurations)
    whose = f" of {called}" if called else ""
    return f"{times}{_AGGREGATES.get(samples.aggregate, '')}{taken}{whose}{_ENDS.get(samples.aggregate, '')}"


def key_words(per: Sequence[str], key: Key, labels: Labels) -> str:
    """Return what a comparison is made for, such as `write · 2000 MiB`."""
    return " · ".join(_dimension_words(name, value, labels) for name, value in zip(per, key, strict=False))


def _dimension_words(name: str, value: Any, labels: Labels) -> str:
    if name == "operation":
        return operation_of(str(value))
    if name == "configuration":
        return labels.get(str(value), text_of(name, value))
    if name in ("host", "interface", "file_size"):
        return text_of(name, value)
    return f"{label_of(name)} {text_of(name, value)}"
