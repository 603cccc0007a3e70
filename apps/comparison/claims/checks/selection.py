"""Selection of the samples that a claim refers to."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from apps.comparison.claims.checks.definition import SampleGroup, Where
from apps.comparison.readings import Reading

FILE_SIZE_OVER_CACHE = "file_size_over_cache"
_DECIMALS = re.compile(r"[~≈<>≥\s]*\d+(?:[.,](\d+))?", re.ASCII)
_OWN = {"operation", "metric", "run", "repetition", "quality", "origin"}


def dimension(reading: Reading, name: str) -> Any:
    """Return a sample's value of this dimension, or None where it is not known."""
    if name == "sample":
        return reading.id
    if name == "decimals":
        match = _DECIMALS.match(reading.printed)
        return len(match[1] or "") if match else None
    if name == FILE_SIZE_OVER_CACHE:
        cache = reading.of("controller_cache")
        is_known = isinstance(cache, int | float) and cache > 0
        return reading.file_size / cache if reading.file_size and is_known else None
    return getattr(reading, name) if name in _OWN else reading.of(name)


def chosen(samples: SampleGroup, readings: Iterable[Reading]) -> list[Reading]:
    """Return the readings that the group selects, in their order."""
    return [reading for reading in readings if _is_meant(samples, reading)]


def _is_meant(samples: SampleGroup, reading: Reading) -> bool:
    if reading.metric != samples.metric or (samples.operations and reading.operation not in samples.operations):
        return False
    if samples.configurations and reading.facts.get("configuration") not in samples.configurations:
        return False
    return all(_fits(condition, dimension(reading, condition.name)) for condition in samples.where)


def _fits(condition: Where, value: Any) -> bool:
    if condition.is_unknown:
        return value is None
    if condition.equals and not any(_same(value, wanted) for wanted in condition.equals):
        return False
    if all(bound is None for bound in (condition.at_least, condition.above, condition.at_most, condition.below)):
        return True
    return isinstance(value, int | float) and _within(condition, float(value))


def _same(value: Any, wanted: Any) -> bool:
    """Return whether a fact equals a wanted value; 5 may be a number or a word."""
    if isinstance(value, int | float) and isinstance(wanted, int | float):
        return value == wanted
    return value is not None and str(value) == str(wanted)


def _within(condition: Where, value: float) -> bool:
    return (
        (condition.at_least is None or value >= condition.at_least)
        and (condition.above is None or value > condition.above)
        and (condition.at_most is None or value <= condition.at_most)
        and (condition.below is None or value < condition.below)
    )


Key = tuple[Any, ...]


def key_of(reading: Reading, per: Sequence[str]) -> Key:
    return tuple(_hashable(dimension(reading, name)) for name in per)


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
