"""The runs of a lab in groups that are alike, for questions with everything else held equal.

Six statements, however many runs and questions there are: which measures and configurations there are, one run of each
configuration with its facts, which runs have several values at one point, the groups with their moments, and one example
of each set of points; one more for dates, some for runs of several values, and one for each layer of volumes where
single disks have some. PostgreSQL groups by numbers alone
(`Run.configuration_key`), so no facts are read but those of one run of each configuration.

The unit is the run: of a run that was measured at several points the mean logarithm counts, and only runs that were
measured at the same points are in one group.
"""

import re
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, variance
from typing import Any, NamedTuple

from django.db.models.expressions import RawSQL

from apps.comparison.fact_names import workload_facts
from apps.comparison.like_for_like.run_group import NONE, RunGroup, facts_of_run, place_of_run, point_facts
from apps.comparison.queries.part_sums import WholeValue, find_runs_of_parts, load_wholes
from apps.comparison.readings import MOST, POINT
from apps.comparison.statistics.meta_analysis import Moments
from apps.core import sql
from apps.inventory.models import ArrayMember
from apps.runs.models import Measure, Run, Sample

MeasureName = tuple[str, str]  # operation, metric
DiskKey = tuple[str, int] | tuple[str, int, str]  # a disk or filesystem by its id, or a device of a host by its name
MOST_RUNS = 400  # of a group that are named
# A partition as Linux names it, with its disk: sda1, nvme0n1p2, mmcblk0p1.
_PARTITION = re.compile(r"(?:/dev/)?(?:((?:sd|hd|vd|xvd)[a-z]+)\d+|((?:nvme\d+n|mmcblk)\d+)p\d+)")

# Sums by hand, because the ORM cannot group a grouping, and the page waits for it. One row for each run with its measures
# side by side takes half the time of one for each run and measure: 0.2 s for 100,000 runs of four measures. The join with
# the configurations is an outer one, so that the planner does not take the runs for a handful and loop over them.
_KEYS = """
SELECT configuration_key, min(id) FROM runs_run
WHERE lab_id = ANY(%(labs)s::bigint[]) AND state = 'finished' AND (%(study)s = '' OR id IN (
    SELECT place.run_id FROM studies_studyrun place
    JOIN studies_configuration configuration ON configuration.id = place.configuration_id
    JOIN studies_study study ON study.id = configuration.study_id WHERE study.slug = %(study)s))
GROUP BY 1"""
_GROUPS = """
SELECT run.number, count(*), min(whole.run_id), max(whole.run_id), {runs}, {moments}
FROM (
    SELECT run_id, {measures}
    FROM runs_sample WHERE measure_id = ANY(%(measures)s::smallint[]) AND value > 0 AND value < %(most)s
        AND run_id NOT IN (SELECT unnest(%(of_parts)s::bigint[]))
    GROUP BY run_id OFFSET 0
) AS whole
JOIN (
    SELECT runs_run.id, configuration.number FROM runs_run
    LEFT JOIN unnest(%(keys)s::bigint[], %(numbers)s::int[]) AS configuration(key, number)
        ON configuration.key = runs_run.configuration_key
    WHERE lab_id = ANY(%(labs)s::bigint[]) AND state = 'finished'
    OFFSET 0
) AS run ON run.id = whole.run_id
GROUP BY run.number, {points}"""
_OF_MEASURE = """
    avg(ln(value)) FILTER (WHERE measure_id = {n}) AS log{n},
    sum(hashint8(point_id)) FILTER (WHERE measure_id = {n}) AS points{n},
    count(*) FILTER (WHERE measure_id = {n}) AS count{n}"""
_MOMENTS = "points{n}, count{n}, avg(log{n}), var_samp(log{n})"
_POINTS = "points{n}, count{n}"
_RUNS = "(array_agg(whole.run_id))[1:%(most_runs)s]"
_COLUMNS = (
    "id", "lab_id", "origin", "facts", "labels", "tool", "tool_version", "host__name", "target_id", "target__name",
    "target__filesystem_id", "target__filesystem__disk_id", "target__filesystem__array_id",
    "target__filesystem__device_name", "target__host_id", "target__disk_id", "target__array_id", "workload_id",
    "workload__spec", "study_run__configuration__study__slug",
)  # fmt: skip


def load_groups(
    labs: Collection[int], measures: Iterable[MeasureName], study: str = "", *, in_detail: bool = False
) -> dict[MeasureName, list[RunGroup]]:
    """Return the groups of these labs' finished runs, by operation and metric.

    The caller has checked that the labs may be read. `in_detail`: with the runs of each group and their dates.
    """
    ids = _measures(measures)
    groups: dict[MeasureName, list[RunGroup]] = {name: [] for name in ids.values()}
    first_of = dict(sql.rows(_KEYS, {"labs": list(labs), "study": study})) if ids and labs else {}
    known = _configurations(first_of)
    numbers = {key: known.numbers[key] for key in first_of if key in known.numbers}
    of_parts = find_runs_of_parts(labs, ids) if numbers else []
    values = {
        "labs": list(labs), "measures": list(ids), "most": MOST, "most_runs": MOST_RUNS,
        "keys": list(numbers), "numbers": list(numbers.values()), "of_parts": of_parts,
    }  # fmt: skip
    alike = _merged(sql.rows(_statement(ids, in_detail=in_detail), values) if numbers else [], list(ids))
    examples = {(place.points, place.values): (some.first, place.measure) for place, some in alike.items()}
    points = _points(examples, ids)
    found = [
        KnownGroup(place.configuration, place.measure, points[place.points, place.values], some)
        for place, some in alike.items()
    ]
    found += _put_together(of_parts, ids, numbers)
    dates = _dates({run for one in found for run in (one.runs.first, one.runs.last)}) if in_detail else {}
    configurations: dict[
        tuple[int, tuple[tuple[str, str], ...]], dict[str, str]
    ] = {}  # shared by groups at other points
    for one in found:
        facts, target, stored, source = known.configurations[one.configuration]
        some = one.runs
        groups[ids[one.measure]].append(
            RunGroup(
                configuration=configurations.setdefault((one.configuration, one.part), {**facts, **dict(one.part)}),
                logs=some.logs,
                point=one.point,
                runs=tuple(sorted(some.runs)[:MOST_RUNS]),
                target=target,
                began=min(dates.get(some.first, ""), dates.get(some.last, "")),
                ended=max(dates.get(some.first, ""), dates.get(some.last, "")),
                texts=stored,
                source=source,
            )
        )
    return groups


class GroupPlace(NamedTuple):
    """What the runs of a group have in common; `points` is a hash of the points of their `values`."""

    configuration: int
    measure: int
    points: int
    values: int


class AlikeRuns(NamedTuple):
    """The moments of a group's runs, its first and last run, and where they were asked for all of them."""

    logs: Moments
    first: int
    last: int
    runs: Sequence[int]

    def joined(self, other: "AlikeRuns") -> "AlikeRuns":
        """Return both together."""
        first, last = min(self.first, other.first), max(self.last, other.last)
        return AlikeRuns(self.logs + other.logs, first, last, (*self.runs, *other.runs))


class KnownGroup(NamedTuple):
    """Alike runs with their place; `part` are facts of values that are each of one of several jobs."""

    configuration: int
    measure: int
    point: Mapping[str, str]
    runs: AlikeRuns
    part: tuple[tuple[str, str], ...] = ()


def _put_together(runs: Collection[int], measures: Collection[int], numbers: Mapping[int, int]) -> list[KnownGroup]:
    """Return the groups of runs with several values at one point, put together; `numbers`: configurations by key."""
    if not runs:
        return []
    keys = dict(Run.objects.filter(pk__in=_unnested(runs)).order_by().values_list("pk", "configuration_key"))
    alike: dict[tuple[int, int, tuple[tuple[str, str], ...], str], list[WholeValue]] = defaultdict(list)
    for whole in load_wholes(runs, measures):
        number = numbers.get(keys.get(whole.run, 0))
        if number is not None:
            alike[number, whole.measure, whole.part, _signature(whole)].append(whole)
    return [
        KnownGroup(number, measure, point_facts(some[0].points, signature), _alike_runs(some), part)
        for (number, measure, part, signature), some in alike.items()
    ]


def _signature(whole: WholeValue) -> str:
    points = sorted(str([point[name] for name in POINT]) for point in whole.points)
    return f"{len(points)} values put together, {zlib.crc32(chr(10).join(points).encode())}"


def _alike_runs(some: Sequence[WholeValue]) -> AlikeRuns:
    logs, runs = [whole.log for whole in some], sorted(whole.run for whole in some)
    moments = Moments(len(logs), fmean(logs), variance(logs) if len(logs) > 1 else 0.0)
    return AlikeRuns(moments, runs[0], runs[-1], runs)


def _statement(measures: Iterable[int], *, in_detail: bool) -> str:
    """Return the statement for measures, whose ids it has in clear: as parameters they would take twice the time."""

    def each(columns: str) -> str:
        return ", ".join(columns.format(n=n) for n in measures)

    return _GROUPS.format(
        runs=_RUNS if in_detail else "NULL", moments=each(_MOMENTS), measures=each(_OF_MEASURE), points=each(_POINTS)
    )


def _merged(rows: Iterable[tuple[Any, ...]], measures: Sequence[int]) -> dict[GroupPlace, AlikeRuns]:
    """Return the groups of each measure: rows are apart where any measure was taken at other points."""
    alike: dict[GroupPlace, AlikeRuns] = {}
    for number, n, first, last, runs, *moments in rows:
        if number is None:
            continue  # finished a moment ago
        for measure, points, count, mean, spread in zip(
            measures, moments[::4], moments[1::4], moments[2::4], moments[3::4], strict=True
        ):
            if count:
                place = GroupPlace(number, measure, points, count)
                some = AlikeRuns(Moments(n, mean, spread or 0.0), first, last, runs or ())
                alike[place] = alike[place].joined(some) if place in alike else some
    return alike


def _measures(names: Iterable[MeasureName]) -> dict[int, MeasureName]:
    wanted = set(names)
    operations = {operation for operation, _ in wanted}
    rows = Measure.objects.filter(operation__in=operations).values_list("id", "operation", "metric")
    return {pk: (operation, metric) for pk, operation, metric in rows if (operation, metric) in wanted}


@dataclass(frozen=True)
class KnownConfigurations:
    """The configurations of a lab's runs, and the number of each key's.

    Several keys are of one configuration where they differ in facts of single runs, or in patches of a kernel.
    """

    configurations: list[tuple[dict[str, str], str, dict[str, Any], str]]  # facts, target, what is stored, source
    numbers: dict[int, int]  # by key


def _configurations(first_of: Mapping[int, int]) -> KnownConfigurations:
    rows = Run.objects.filter(pk__in=_unnested(first_of.values())).order_by().values_list(*_COLUMNS)
    runs = {row[0]: dict(zip(_COLUMNS, row, strict=True)) for row in rows}
    stored_of = {pk: stored_facts(run) for pk, run in runs.items()}
    places = DiskNames([run for pk, run in runs.items() if _is_single(stored_of[pk])])
    asked = {run["workload_id"]: run["workload__spec"] for run in runs.values()}
    workloads = {pk: workload_facts(spec or {}) for pk, spec in asked.items()}
    alike: dict[tuple[str, str, frozenset[tuple[str, str]]], int] = {}
    known = KnownConfigurations([], {})
    for key, first in first_of.items():
        if run := runs.get(first):
            stored = stored_of[first]
            facts = facts_of_run(stored, workloads[run["workload_id"]])
            # for the question about disks among their kind
            if _is_single(stored) and (name := places.name(run)):
                facts["place"] = name
            target = str(run["target_id"] or place_of_run(stored))
            report = run["study_run__configuration__study__slug"] if run["origin"] == "published" else None
            source = f"{run['lab_id']}:{report or ''}"
            number = alike.setdefault((source, target, frozenset(facts.items())), len(alike))
            if number == len(known.configurations):
                known.configurations.append((facts, target, stored, source))
            known.numbers[key] = number
    return known


def _unnested(numbers: Iterable[int]) -> RawSQL:
    """Return numbers as one parameter: a thousand of them as a thousand would take longer to send than to find."""
    return RawSQL("SELECT unnest(%s::bigint[])", [list(numbers)])


def _points(
    examples: Mapping[tuple[int, int], tuple[int, int]], measures: Collection[int]
) -> dict[tuple[int, int], dict[str, str]]:
    """Return the facts of each set of points; `examples` has a run and a measure that were measured at it."""
    points: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    runs = {run for run, _ in examples.values()}
    samples = Sample.objects.filter(
        run__in=_unnested(runs), measure__in=measures, value__gt=0, value__lt=MOST
    ).order_by()
    for run, measure, *place in samples.values_list("run_id", "measure_id", *(f"point__{name}" for name in POINT)):
        points[run, measure].append(dict(zip(POINT, place, strict=True)))
    return {
        (signature, count): point_facts(points[example], f"{count} values, {signature}")
        for (signature, count), example in examples.items()
    }


def _dates(runs: Collection[int]) -> dict[int, str]:
    rows = Run.objects.filter(pk__in=_unnested(runs)).order_by().values_list("id", "finished_at", "created_at")
    return {pk: (finished or created).date().isoformat() for pk, finished, created in rows}


def stored_facts(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is stored of a run: labels and facts, and its host, tool and study, which take precedence."""
    named = {
        "host": run["host__name"],
        "target": run["target__name"],
        "tool": run["tool"],
        "tool_version": run["tool_version"],
        "study": run["study_run__configuration__study__slug"],
    }
    return {**run["labels"], **run["facts"], **{name: value for name, value in named.items() if value}}


def _is_single(stored: Mapping[str, Any]) -> bool:
    """Return whether the run was on one disk, as far as its facts tell."""
    return str(stored.get("raid_level", "")).lower() in NONE or str(stored.get("disk_count")) == "1"


class DiskNames:
    """One name for all targets that lie on one disk: its partitions, volumes and directories are not several disks."""

    def __init__(self, runs: Sequence[Mapping[str, Any]]) -> None:
        arrays = {run["target__filesystem__array_id"] or run["target__array_id"] for run in runs} - {None}
        self._disks = _single_disks(arrays)
        self._names: dict[DiskKey, str] = {}
        for run in runs:
            key, name = self._key(run), run["target__name"]
            if key and name:
                self._names[key] = min(self._names.get(key, name), name)

    def name(self, run: Mapping[str, Any]) -> str | None:
        """Return the first of the names of the targets on the run's disk; its own target's where the disk is unknown."""
        key = self._key(run)
        own: str | None = run["target__name"]
        return self._names.get(key, own) if key else own

    def _key(self, run: Mapping[str, Any]) -> DiskKey | None:
        array = run["target__filesystem__array_id"] or run["target__array_id"]
        if disk := run["target__filesystem__disk_id"] or run["target__disk_id"] or self._disks.get(array):
            return "disk", disk
        if match := _PARTITION.fullmatch(run["target__filesystem__device_name"] or ""):
            return "device", run["target__host_id"], match[1] or match[2]
        filesystem = run["target__filesystem_id"]
        return ("filesystem", filesystem) if filesystem else None


def _single_disks(arrays: Collection[int]) -> dict[int, int]:
    """Return the disk of each array and volume that lies on one disk alone."""
    below: dict[int, set[tuple[int | None, int | None]]] = defaultdict(set)
    waiting = set(arrays)
    while waiting:
        members = ArrayMember.objects.filter(array__in=waiting).values_list("array_id", "disk_id", "member_array_id")
        for array, disk, inner in members:
            below[array].add((disk, inner))
        waiting = {inner for array in waiting for _, inner in below[array] if inner} - below.keys()
    return {array: disk for array in arrays if (disk := _single_disk(array, below)) is not None}


def _single_disk(array: int, below: Mapping[int, Collection[tuple[int | None, int | None]]]) -> int | None:
    seen: set[int] = set()
    while array not in seen and len(below.get(array, ())) == 1:
        seen.add(array)
        ((disk, inner),) = below[array]
        if disk or not inner:
            return disk
        array = inner
    return None
