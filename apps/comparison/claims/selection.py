"""Which samples a claim speaks of."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from apps.comparison.claims.form import Samples, Where
from apps.comparison.readings import Reading

FILE_SIZE_OVER_CACHE = "file_size_over_cache"
_DECIMALS = re.compile(r"[~≈<>≥\s]*\d+(?:[.,](\d+))?", re.ASCII)
_OWN = {"operation", "metric", "run", "repetition", "quality", "origin"}


def dimension(reading: Reading, name: str) -> Any:
    """What a sample has under this name; None where it is not known."""
    if name == "sample":
        return reading.id
    if name == "decimals":
        found = _DECIMALS.match(reading.printed)
        return len(found[1] or "") if found else None
    if name == FILE_SIZE_OVER_CACHE:
        cache = reading.of("controller_cache")
        is_known = isinstance(cache, int | float) and cache > 0
        return reading.file_size / cache if reading.file_size and is_known else None
    return getattr(reading, name) if name in _OWN else reading.of(name)


def chosen(samples: Samples, readings: Iterable[Reading]) -> list[Reading]:
    """In the order of `readings`."""
    return [reading for reading in readings if _is_meant(samples, reading)]


def _is_meant(samples: Samples, reading: Reading) -> bool:
    if reading.metric != samples.metric or (samples.operations and reading.operation not in samples.operations):
        return False
    if samples.configurations and reading.facts.get("configuration") not in samples.configurations:
        return False
    return all(_fits(condition, dimension(reading, condition.name)) for condition in samples.where)


def _fits(condition: Where, found: Any) -> bool:
    if condition.is_unknown:
        return found is None
    if condition.equals and not any(_same(found, wanted) for wanted in condition.equals):
        return False
    if all(bound is None for bound in (condition.at_least, condition.above, condition.at_most, condition.below)):
        return True
    return isinstance(found, int | float) and _within(condition, float(found))


def _same(found: Any, wanted: Any) -> bool:
    """A fact may be the number 5 or the word "5"."""
    if isinstance(found, int | float) and isinstance(wanted, int | float):
        return found == wanted
    return found is not None and str(found) == str(wanted)


def _within(condition: Where, found: float) -> bool:
    return (
        (condition.at_least is None or found >= condition.at_least)
        and (condition.above is None or found > condition.above)
        and (condition.at_most is None or found <= condition.at_most)
        and (condition.below is None or found < condition.below)
    )


Key = tuple[Any, ...]


def key_of(reading: Reading, per: Sequence[str]) -> Key:
    return tuple(_hashable(dimension(reading, name)) for name in per)


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
