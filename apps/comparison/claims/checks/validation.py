"""Validation of a claim's definition from plain data; `definition` has the types."""

import re
import sys
from collections.abc import Iterator
from typing import Any, get_args

import msgspec

from apps.comparison.claims.checks.definition import (
    Aggregate,
    AnyCheck,
    Arithmetic,
    Bounds,
    ClaimDefinition,
    DefinitionError,
    Equality,
    Monotony,
    NotCheckable,
    Ranking,
    RatioCheck,
    SampleGroup,
    Sets,
    Stated,
    Term,
    TextAgainstTable,
    Threshold,
    Where,
)
from apps.comparison.claims.checks.unit_meanings import meanings_of
from apps.runs.metrics import METRICS, OPERATIONS

MOST_CHECKS, MOST_TERMS, MOST_DEPTH = 16, 12, 6
AGGREGATES: tuple[str, ...] = get_args(Aggregate)
BOUNDS = Bounds.__struct_fields__
_NAME = re.compile(r"[A-Za-z_][\w.\- ]{0,79}")
_PATH = re.compile(r" - at `(?:key in )?\$\.?(.*)`$")
Parts = list[tuple[str, Term | None]]


def definition_of(data: Any) -> ClaimDefinition:
    """Parse a claim's definition from `{"checks": [{"kind": "ranking", "chain": [{"is": "samples", …}, …]}, …]}`.

    Raises:
        DefinitionError: A field does not fit; the error names it.
    """
    try:
        definition = msgspec.convert(data, ClaimDefinition)
    except msgspec.ValidationError as error:
        raise _named(error, data) from None
    except RecursionError:
        raise DefinitionError("checks", "terms within terms without end", f"at most {MOST_DEPTH} deep") from None
    _has(definition.checks, "checks", MOST_CHECKS)
    for place, check in enumerate(definition.checks):
        _check(check, f"checks[{place}]")
    return definition


def _named(error: msgspec.ValidationError, data: Any) -> DefinitionError:
    """Convert msgspec's `Expected `int`, got `str` - at `$.checks[0].per`` to an error that names the field."""
    path = _PATH.search(str(error))
    field = path[1] if path else "definition"
    return DefinitionError(field, _at(data, field), _PATH.sub("", str(error)))


def _at(data: Any, path: str) -> Any:
    """Return the value at a JSON path, as far as it can be followed."""
    for name, index in re.findall(r"(\w+)|\[(\d+)\]", path):
        try:
            data = data[int(index)] if index else data[name]
        except (KeyError, IndexError, TypeError):
            break
    return data if isinstance(data, str | int | float | bool | None) else type(data).__name__


def _has(items: list[Any], field: str, most: int, least: int = 1) -> None:
    if not least <= len(items) <= most:
        raise DefinitionError(field, f"{len(items)} entries", f"{least} to {most}")


def _check(check: AnyCheck, field: str) -> None:
    for place, name in enumerate(check.per):
        _dimension(name, f"{field}.per[{place}]")
    if isinstance(check, NotCheckable):
        if not check.reason.strip():
            raise DefinitionError(f"{field}.reason", check.reason, "why it cannot be checked, in a sentence")
    elif isinstance(check, Sets):
        _sets(check, field)
    else:
        _parts(check, field)


def _parts(check: AnyCheck, field: str) -> None:
    if isinstance(check, Ranking):
        _has(check.chain, f"{field}.chain", MOST_TERMS, least=2)
    for name, term in parts_of(check):
        if term is None:
            raise DefinitionError(f"{field}.{name}", None, "samples, a stated number or arithmetic")
        _term(term, f"{field}.{name}")
    if isinstance(check, RatioCheck | Threshold) and all(getattr(check, name) is None for name in BOUNDS):
        raise DefinitionError(f"{field}.at_least", None, f"at least one of: {', '.join(BOUNDS)}")
    if isinstance(check, RatioCheck):
        _bounds(check, field)
    if isinstance(check, Monotony):
        _dimension(check.along, f"{field}.along")
    if isinstance(check, TextAgainstTable):
        _quoted(check, field)
    for name in ("absolute", "relative", "slack", "within"):
        _not_negative(getattr(check, name, None), f"{field}.{name}")


def parts_of(check: AnyCheck) -> Parts:
    """Return (field, term) of every number in a check; the term is None where a required one is missing."""
    if isinstance(check, Ranking):
        return [(f"chain[{place}]", term) for place, term in enumerate(check.chain)]
    if isinstance(check, RatioCheck):
        return [("of", check.of), ("over", check.over)]
    if isinstance(check, Threshold):
        return [("of", check.of), *((name, bound) for name in BOUNDS if (bound := getattr(check, name)) is not None)]
    if isinstance(check, Equality):
        return [("of", check.of), ("to", check.to)]
    if isinstance(check, Monotony | TextAgainstTable):
        return [("of", check.of)]
    if isinstance(check, Sets):
        return [
            (f"sets[{place}].taken", definition.taken)
            for place, definition in enumerate(check.sets)
            if definition.taken
        ]
    return []


def _sets(check: Sets, field: str) -> None:
    least = {"disjoint": 2, "equal": 2, "subset": 2}.get(check.relation, 1)
    _has(check.sets, f"{field}.sets", 2 if check.relation == "subset" else MOST_TERMS, least)
    if check.relation == "count" and check.count is None:
        raise DefinitionError(f"{field}.count", None, "how many each set has")
    for name, term in parts_of(check):
        if term is not None:
            _term(term, f"{field}.{name}")


def _quoted(check: TextAgainstTable, field: str) -> None:
    if check.quoted is None:
        raise DefinitionError(f"{field}.quoted", None, "the figure as the text has it: value and unit")
    _finite(check.quoted.value, f"{field}.quoted.value")
    if not check.meanings and not meanings_of(check.quoted.unit):
        raise DefinitionError(f"{field}.quoted.unit", check.quoted.unit, "a unit such as MB/s, GiB, Gb/s, /s, ms or s")
    for place, meaning in enumerate(check.meanings):
        if not (_is_finite(meaning.factor) and meaning.factor > 0):
            raise DefinitionError(f"{field}.meanings[{place}].factor", meaning.factor, "a number above 0")


def _term(term: Term, field: str, depth: int = 0) -> None:
    if depth > MOST_DEPTH:
        raise DefinitionError(field, "arithmetic within arithmetic", f"at most {MOST_DEPTH} deep")
    if isinstance(term, Arithmetic):
        _has(term.of, f"{field}.of", MOST_TERMS, least=2)
        for place, part in enumerate(term.of):
            _term(part, f"{field}.of[{place}]", depth + 1)
    elif isinstance(term, Stated):
        _finite(term.value, f"{field}.value")
    else:
        _samples(term, field)


def _samples(samples: SampleGroup, field: str) -> None:
    _finite(samples.times, f"{field}.times")
    _dimension(samples.take, f"{field}.take")
    if samples.metric not in METRICS:
        raise DefinitionError(f"{field}.metric", samples.metric, f"one of: {', '.join(METRICS)}")
    for place, operation in enumerate(samples.operations):
        if operation not in OPERATIONS:
            raise DefinitionError(f"{field}.operations[{place}]", operation, f"one of: {', '.join(OPERATIONS)}")
    for place, condition in enumerate(samples.where):
        _where(condition, f"{field}.where[{place}]")


def _where(condition: Where, field: str) -> None:
    _dimension(condition.name, f"{field}.name")
    bounds = [getattr(condition, name) for name in BOUNDS]
    if not condition.equals and not condition.is_unknown and all(bound is None for bound in bounds):
        raise DefinitionError(field, condition.name, f"what it is: equals, is_unknown, or one of {', '.join(BOUNDS)}")
    _bounds(condition, field)


def _bounds(bounded: Where | RatioCheck, field: str) -> None:
    for name in BOUNDS:
        if (bound := getattr(bounded, name)) is not None:
            _finite(bound, f"{field}.{name}")


def _dimension(name: str, field: str) -> None:
    if not _NAME.fullmatch(name):
        raise DefinitionError(field, name, "the name of a dimension, fact or label: letters, digits, _ . and -")


def _is_finite(value: float) -> bool:
    """Return whether a number is finite as a float; integers of JSON and YAML may be too large."""
    return abs(value) <= sys.float_info.max


def _short(value: float) -> object:
    return value if not isinstance(value, int) or _is_finite(value) else f"a whole number of {value.bit_length()} bits"


def _finite(value: float, field: str) -> None:
    if not _is_finite(value):
        raise DefinitionError(field, _short(value), "a number")


def _not_negative(value: float | None, field: str) -> None:
    if value is not None and not (_is_finite(value) and value >= 0):
        raise DefinitionError(field, _short(value), "a number that is 0 or more")


def samples_in(definition: ClaimDefinition) -> Iterator[SampleGroup]:
    """Yield every group of samples that the claim refers to."""
    for check in definition.checks:
        for _, term in parts_of(check):
            yield from _inside(term)


def _inside(term: Term | None) -> Iterator[SampleGroup]:
    if isinstance(term, SampleGroup):
        yield term
    elif isinstance(term, Arithmetic):
        for part in term.of:
            yield from _inside(part)
