"""Options of fio with one value or several, of which each combination is a run to start or a column of a plan.

Values are read by the rows of the one option table. In a text a comma or a semicolon separates values, and numbers may
have ranges (`1,2,4..64`, `10..50 step 10`). Where a comma is part of fio's own value (`rate=1m,2m`, `cpus_allowed=0,2`)
a semicolon alone separates values. `default` is fio's own value, also where that is "not set".
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

from apps.core.quantities import SizeError, parse_size
from apps.parsers.fio.job_options.kinds import (
    WITH_COMMAS,
    ByteSize,
    NumberList,
    NumberSet,
    OptionKind,
    RealNumber,
    WholeNumber,
)
from apps.parsers.fio.job_options.option import REQUIRED, FioOption
from apps.parsers.fio.job_options.table import BY_NAME, DEFAULT, spell_value
from apps.runs.start.value_ranges import (
    COMMA,
    MOST_VALUES,
    SEMICOLON,
    ValueListError,
    expand_ranges,
    split_values,
)
from apps.runs.workload import WorkloadError, checked, digest, refuse_option

MOST_COMBINATIONS = 100  # of a start; a plan has its own limit
LONGEST_LIST = 300  # characters that somebody types of one option
Values = dict[str, list[Any]]  # by option; None stands for fio's default
Combination = Mapping[str, Any]


def read_options(given: Any, elsewhere: Mapping[str, str] | None = None, where: str = "options") -> Values:
    """Return the values of each option that somebody gave, checked one by one.

    Args:
        given: For each option a value, a text with one or several, or a list of values and texts.
        elsewhere: Options that are asked for in another way, with what is expected of them here.
        where: The field that errors name.

    Raises:
        WorkloadError: An option is unknown or refused, or a value is none of its own.
    """
    if not isinstance(given, Mapping):
        raise WorkloadError(where, given, "an object of options, each with a value or a list of values")
    values: Values = {}
    for name, value in given.items():
        if name in (elsewhere or {}):
            raise WorkloadError(f"{where}.{name}", value, (elsewhere or {})[name])
        if name not in BY_NAME:
            raise refuse_option(where, name, value)
        values[name] = read_option(f"{where}.{name}", BY_NAME[name], value)
    return values


def read_option(field: str, option: FioOption, given: Any) -> list[Any]:
    """Return the values of one option, each once. Raises a `WorkloadError` about `field`."""
    values: list[Any] = []
    for item in given if isinstance(given, list) else [given]:
        try:
            read = read_value_list(option, item) if isinstance(item, str) else [_as_value(option, item)]
        except ValueListError as error:
            raise WorkloadError(field, error.found, error.expected) from None
        values += [value for value in read if value not in values]
    if not 1 <= len(values) <= MOST_VALUES:
        raise WorkloadError(field, f"{len(values)} values", f"1 to {MOST_VALUES} values")
    return values


def read_value_list(option: FioOption, text: str) -> list[Any]:
    """Return the values of a text such as `1,2,4..64`, `libaio, io_uring` or `1m; 1m,2m`. Raises `ValueListError`."""
    if len(text) > LONGEST_LIST:
        raise ValueListError(f"{len(text)} characters", f"at most {LONGEST_LIST}")
    kind = option.kind
    parts = split_values(text, separator_of(option))
    defaults: list[Any] = [None for part in parts if part.lower() == DEFAULT][:1]
    if defaults:
        _as_value(option, None)
    typed = [part for part in parts if part.lower() != DEFAULT]
    if not typed:
        return defaults
    if has_ranges(option):
        step = replace(kind, low=0, high=2**62, **({"multiple_of": 1} if isinstance(kind, WholeNumber) else {}))  # type: ignore[type-var]
        values = expand_ranges(",".join(typed), lambda word: _read(kind, word), lambda word: _read(step, word))
    else:
        values = [_read(kind, word) for word in typed]
    for value in values:
        if not kind.accepts(value):
            raise ValueListError(kind.spell(value), kind.expected)
    return [*defaults, *values]


def separator_of(option: FioOption) -> str:
    """Return what separates the values of an option, as a pattern."""
    return SEMICOLON if isinstance(option.kind, WITH_COMMAS) else COMMA


def has_ranges(option: FioOption) -> bool:
    """Return whether values of an option can be typed as a range."""
    return isinstance(option.kind, WholeNumber | RealNumber)


def _read(kind: OptionKind, text: str) -> Any:
    try:
        value = parse_size(text) if isinstance(kind, ByteSize) else kind.read(text)
    except SizeError as error:
        raise ValueListError(text[:80], error.expected) from None
    except ValueError as error:
        raise ValueListError(text[:80], str(error)) from None
    if not kind.accepts(value):
        raise ValueListError(text[:80], kind.expected)
    return value


def _as_value(option: FioOption, given: Any) -> Any:
    """Return a value of JSON as the option has it. Raises `ValueListError`."""
    if given is None:
        if option.default is REQUIRED:
            raise ValueListError(DEFAULT, f"{option.kind.expected}; this option has no default")
        return None
    value = [given] if type(given) is int and isinstance(option.kind, NumberList | NumberSet) else given
    if not option.kind.accepts(value):
        raise ValueListError(str(given)[:80], option.kind.expected)
    return value


def combine(values: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Yield each combination of the values, the last option fastest; one empty combination where there is no option."""
    names = list(values)
    for chosen in product(*(values[name] for name in names)):
        yield dict(zip(names, chosen, strict=True))


def count_combinations(values: Mapping[str, Sequence[Any]]) -> int:
    """Return how many combinations there are."""
    return prod(len(each) for each in values.values())


def find_longest(values: Mapping[str, Sequence[Any]]) -> str:
    """Return the option with the most values, of which somebody would leave some out."""
    return max(values, key=lambda name: len(values[name]))


def set_options(job: Mapping[str, Any], combination: Combination) -> dict[str, Any]:
    """Return a job with other values of some options, without what is rare and at its default."""
    changed = dict(job)
    for name, value in combination.items():
        option = BY_NAME[name]
        changed[name] = option.default if value is None else value
        if option.is_rare and changed[name] == option.default:
            del changed[name]
    return changed


def spell_combination(combination: Combination, values: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return `ioengine=libaio` for each option that has several values."""
    return [f"{name}={spell_value(name, value)}" for name, value in combination.items() if len(values[name]) > 1]


def parse_lines(text: str) -> dict[str, str]:
    """Return the options of a text with one on each line: `iodepth = 1, 2, 4..64`.

    Raises:
        WorkloadError: A line has no `=`, or names an option that another line has.
    """
    given: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        name, sign, values = (part.strip() for part in line.partition("="))
        if not name and not sign:
            continue
        if not name or not values:
            raise WorkloadError(
                "options", f"line {number}: {line.strip()[:80]}", "name = values, such as iodepth = 1, 8"
            )
        if name in given:
            raise WorkloadError("options", f"line {number}: {name} again", "each option once")
        given[name] = values
    return given


def vary_workload(spec: Any, values: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return the checked workload for each combination, whose values all jobs get; equal ones once.

    Raises:
        WorkloadError: The workload may not run, there are too many combinations, or one does not go together.
    """
    if not values:
        return [checked(spec)]
    if (count := count_combinations(values)) > MOST_COMBINATIONS:
        expected = f"at most {MOST_COMBINATIONS} at once: fewer values, or a plan"
        raise WorkloadError(f"options.{find_longest(values)}", f"{count} combinations", expected)
    jobs = spec.get("jobs") if isinstance(spec, dict) else None
    if not isinstance(jobs, list) or not all(isinstance(job, dict) for job in jobs):
        return [checked(spec)]
    workloads: dict[str, dict[str, Any]] = {}
    for combination in combine(values):
        try:
            complete = checked({**spec, "jobs": [set_options(job, combination) for job in jobs]})
        except WorkloadError as error:
            words = " ".join(spell_combination(combination, values))
            found = f"{error.found!r} with {words}" if words else error.found
            raise WorkloadError(error.field, found, error.expected) from None
        workloads.setdefault(digest(complete), complete)
    return list(workloads.values())
