"""Points of a plan, each once for every combination of values of fio's options: more dimensions of its matrix.

A combination that fio refuses, such as a synchronous engine at depth 8, is left out by name; where none remains, that is
an error about the option.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import orjson

from apps.core.text import find_free_name
from apps.parsers.fio.job_options.table import BY_NAME, spell_value
from apps.plans.presets.preset import PlanPointData, slug
from apps.runs.start.option_lists import (
    Combination,
    Values,
    combine,
    count_combinations,
    find_longest,
    read_options,
    set_options,
    spell_combination,
)
from apps.runs.workload import WorkloadError, checked
from apps.studies.plans.problems import PlanError
from apps.studies.plans.schema import MOST_POINTS
from apps.studies.plans.workload import SOME_SIZE, jobs_at

OF_POINT = {"block_size": "block_size", "iodepth": "iodepth", "numjobs": "threads"}  # what a point has beside its job
# Options that a plan asks for in fields of their own, or not at all.
ELSEWHERE = {
    "file_size": "nothing: the sizes of a plan are file_sizes",
    "rw": "nothing: the patterns of a plan are patterns",
    "block_size": "nothing: the block sizes of a plan are block_sizes",
    "iodepth": "nothing: the queue depths of a plan are iodepths",
    "numjobs": "nothing: the parallel jobs of a plan are numjobs",
    "stonewall": "nothing: the jobs of a point begin together, and each point runs after the one before",
}
MOST_TRIED = 5000  # combinations that are looked at, though fio may refuse some
MOST_NAMED = 6  # of those left out, in the notes
LONGEST_LABEL, LONGEST_NAME = 120, 54
_JOB = re.compile(r"^jobs\[\d+\]\.")
Relabel = Callable[[PlanPointData], str]


def read_plan_options(given: Any) -> Values:
    """Return the values of fio's options that somebody asks a plan for. Raises `PlanError` about `options.<name>`."""
    try:
        return read_options(given, ELSEWHERE)
    except WorkloadError as error:
        raise PlanError(error.field, error.found, error.expected) from None


def check_point(point: PlanPointData) -> dict[str, Any]:
    """Return the workload of a point, of a size where that depends on the host. Raises `WorkloadError`."""
    if "jobs" in point:
        return checked({"jobs": jobs_at(point["jobs"], point.get("file_size", SOME_SIZE))})
    sizes = {"file_size": point.get("file_size", SOME_SIZE), "block_size": point["block_size"]}
    job = {**point["job"], **sizes, "numjobs": point["threads"], "iodepth": point["iodepth"]}
    return checked({"jobs": [job]})


def vary_points(
    points: Sequence[PlanPointData],
    values: Mapping[str, Sequence[Any]],
    relabel: Relabel | None = None,
    in_label: Collection[str] = (),
) -> tuple[list[PlanPointData], list[str]]:
    """Return the points for each combination of the values, and sentences about those that are left out.

    Args:
        points: As `apps.studies.plans.schema` reads them, each with a job.
        values: Of fio's options; None stands for fio's default.
        relabel: Makes the label of a point that is as it will be; without it the point's own is taken.
        in_label: Options that the label says already; of the others those with several values are put behind it.

    Raises:
        PlanError: There are too many combinations, fio can do none of them, or jobs that run at the same time differ by one
            of the options.
    """
    if not values:
        return [{**point, "label": relabel(point) if relabel else point["label"]} for point in points], []
    if (count := len(points) * count_combinations(values)) > MOST_TRIED:
        raise _refuse_count(values, count)
    for point in points:
        _refuse_unlike(point, values)
    varied: list[PlanPointData] = []
    refused: list[tuple[PlanPointData, WorkloadError]] = []
    known: set[bytes] = set()
    taken: set[str] = set()
    for point in points:
        for combination in combine(values):
            changed = _set_values(point, combination)
            demand = orjson.dumps({**changed, "name": "", "label": ""}, option=orjson.OPT_SORT_KEYS)
            if demand in known:
                continue  # two combinations that are the same to fio, such as a default and its value
            known.add(demand)
            words = [word for word in spell_combination(combination, values) if word.partition("=")[0] not in in_label]
            changed["label"] = _shorten(" ".join([relabel(changed) if relabel else point["label"], *words]), len(known))
            try:
                check_point(changed)
            except WorkloadError as error:
                refused.append((changed, error))
                continue
            changed["name"] = find_free_name(slug(changed["label"])[:LONGEST_NAME], taken)
            taken.add(changed["name"])
            varied.append(changed)
            if len(varied) > MOST_POINTS:
                raise _refuse_count(values, count)
    if not varied:
        first = refused[0][1]
        raise PlanError(_field_of(first, values), first.found, first.expected)
    return varied, _describe_refused(refused)


def _set_values(point: PlanPointData, combination: Combination) -> PlanPointData:
    """Return a point with these values, those of its own fields there and the others in its job; or in each of its jobs."""
    if "jobs" in point:
        return {**point, "jobs": [set_options(job, combination) for job in point["jobs"]]}
    of_job = {name: value for name, value in combination.items() if name not in OF_POINT}
    of_point = {OF_POINT[name]: value for name, value in combination.items() if name in OF_POINT}
    return {**point, **of_point, "job": set_options(point["job"], of_job)}


def _refuse_unlike(point: PlanPointData, values: Mapping[str, Sequence[Any]]) -> None:
    """Raise `PlanError` about the first option that jobs of a point have at different values and that shall be varied."""
    for name in values if "jobs" in point else ():
        of_jobs = dict.fromkeys(spell_value(name, job.get(name, BY_NAME[name].default)) for job in point["jobs"])
        if len(of_jobs) > 1:
            wanted = ", ".join(spell_value(name, value) for value in values[name])
            label = point["label"].replace("\N{NO-BREAK SPACE}", " ")
            expected = f"nothing: the jobs that run together as {label} differ by it ({', '.join(of_jobs)})"
            raise PlanError(_field_of_option(name), wanted, expected)


def _shorten(label: str, number: int) -> str:
    return label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 10]}… {number}"


def _refuse_count(values: Mapping[str, Sequence[Any]], count: int) -> PlanError:
    found, expected = f"{count} combinations", f"at most {MOST_POINTS} points of a plan: fewer values"
    return PlanError(_field_of_option(find_longest(values)), found, expected)


def _field_of(error: WorkloadError, values: Mapping[str, Sequence[Any]]) -> str:
    """Return the field of a form or body that an error about a job is about."""
    name = _JOB.sub("", error.field)
    return _field_of_option(name if name in values else find_longest(values))


def _field_of_option(name: str) -> str:
    lists = {"rw": "patterns", "block_size": "block_sizes", "iodepth": "iodepths", "numjobs": "numjobs"}
    return lists.get(name, f"options.{name}")


def _words_of(error: WorkloadError, point: PlanPointData) -> str:
    return str(error) if "jobs" in point else _JOB.sub("", str(error))


def _describe_refused(refused: Sequence[tuple[PlanPointData, WorkloadError]]) -> list[str]:
    """Return what is left out and why, in a sentence for each and one for the rest."""
    sentences = [f"{point['label']} is left out: {_words_of(error, point)}." for point, error in refused[:MOST_NAMED]]
    more = len(refused) - MOST_NAMED
    return [*sentences, *([f"{more} more combinations are left out for such reasons."] if more > 0 else [])]
