"""A sum and the streams that it sums are no readings of one thing: where a run says both, the sum alone counts.

iperf prints `SUM` beside its streams, Vdbench a `Total` beside its hosts, storage and workload definitions. Their mean
would be no rate that anything had. What only the streams have (the jitter of iperf 2) counts.

fio's jobs that run at the same time are such parts too, and its report has their sum only with `group_reporting` or from
several clients: it is made here (`summed`), for what adds up. What does not (latencies, CPU, the least and the most of an
interval) stays each job's own, and says so: it is never held against that of a whole.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from apps.comparison.fact_names import is_of_one_run
from apps.comparison.likeness import simple_path
from apps.comparison.readings import usable
from apps.runs.metrics import DISK
from apps.runs.sections import is_sum, name_in, turns_of

Row = Mapping[str, Any]
Place = tuple[Any, ...]
Beside = Mapping[Place, Mapping[str, float]]
RATES = ("bandwidth", "iops")  # over the time of all
COUNTS = ("io_bytes",)
MEANS = ("bandwidth_mean", "iops_mean")  # of intervals: of jobs that ran for the same time they add up
ADD_UP = (*RATES, *COUNTS, *MEANS)  # of processes that run at the same time; latencies and shares never do
SAME_TIME = 0.05  # by how much run times may differ
PLACE = ("run_id", "measure__operation", "section", "point_id")
_PLACE = (
    "run_id", "measure__operation", "measure__metric",
    "point__file_size", "point__block_size", "point__threads", "point__iodepth",
)  # fmt: skip


def without_parts(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows that count: where a run has a sum and its parts, the sum alone.

    Rows have `section`, `run__tool`, `run__sections` and the columns of their place.
    """
    wholes = {_place(row) for row in rows if _is_whole(row)}
    return [row for row in rows if _is_whole(row) or _place(row) not in wholes] if wholes else list(rows)


def summed(rows: Sequence[dict[str, Any]], beside_of: Callable[[Collection[int]], Beside]) -> list[dict[str, Any]]:
    """Return the rows with fio's jobs of one time and one point as one row, which has what they did together.

    That is what `group_reporting` and the sum "All clients" print: all bytes, or I/Os, over the longest of the run times.
    A job's run time is its bytes over its bandwidth. Rates of jobs whose time is not known, or that began at different
    times, are not added up. `beside_of`: what was measured at the places of these runs, asked for only where there is
    something to add up.

    Where a run still has several values at one place, `part` of a row has what tells it from the others.
    """
    places = _turns_at_places(rows)
    runs = {key[0] for key, turns in places.items() if key[2] in ADD_UP and any(len(some) > 1 for some in turns)}
    beside = beside_of(runs) if runs else {}
    instead: dict[int, dict[str, Any] | None] = {}  # by the row's identity
    for key, turns in places.items():
        for of_turn, apart in zip(turns, _apart(turns), strict=True):
            whole = _sum(of_turn, beside) if key[2] in ADD_UP and _can_be_summed(of_turn) else None
            if whole is not None:
                instead |= {id(row): None for row in of_turn[1:]}
                instead[id(of_turn[0])] = {**whole, "part": {**of_sum(of_turn), **apart}}
            else:
                instead |= {id(row): {**row, "part": {**facts, **apart}} for row, facts in _each(of_turn)}
    rows_found = (instead.get(id(row), row) for row in rows)
    return [row for row in rows_found if row is not None]


def _turns_at_places(rows: Sequence[dict[str, Any]]) -> dict[Place, list[list[dict[str, Any]]]]:
    """Return the rows of fio's jobs at each place of a run that has several, by the turns in which they ran."""
    places: dict[Place, dict[int | None, list[dict[str, Any]]]] = {}
    turns: dict[int, dict[int, int]] = {}
    for row in rows:
        if row["run__tool"] == "fio" and len(row["run__sections"]) > 1 and row["measure__operation"] != DISK:
            run = row["run_id"]
            if run not in turns:
                turns[run] = turns_of(row["run__sections"])
            point = (row["point__file_size"], row["point__block_size"], row["point__iodepth"])
            place = places.setdefault((run, row["measure__operation"], row["measure__metric"], *point), {})
            place.setdefault(turns[run].get(row["section"]), []).append(row)
    return {key: list(of.values()) for key, of in places.items() if sum(map(len, of.values())) > 1}


def _apart(turns: Sequence[Sequence[Row]]) -> list[dict[str, str]]:
    """Return for each turn what tells its jobs from those of the other turns."""
    return differing([together(some) for some in turns])


def _each(rows: Sequence[dict[str, Any]]) -> list[tuple[dict[str, Any], dict[str, str]]]:
    """Return the rows of one turn that cannot be added up, each with what tells it apart and that it is of a part."""
    if len(rows) == 1:
        return [(rows[0], {})]
    of_parts = {AT_ONCE: f"{len(rows)}, each by itself"}
    return [(row, {**of_parts, **facts}) for row, facts in zip(rows, find_differences(rows), strict=True)]


def _can_be_summed(rows: Sequence[Row]) -> bool:
    known = all(usable(row["value"]) is not None for row in rows)
    begins = {_option(row, "startdelay") for row in rows} if len(rows) > 1 else set()
    return known and len(begins) < 2 and 1 < len(rows) == len({row["section"] for row in rows})


def _option(row: Row, name: str) -> str | None:
    options = row["run__sections"].get(str(row["section"]), {}).get("options", {})
    return None if options.get(name) in (None, "0") else str(options[name])


def _sum(rows: Sequence[dict[str, Any]], beside: Beside) -> dict[str, Any] | None:
    """Return the sum of jobs of one turn, or None.

    There is none for rates of which not all times are known, and for means of intervals of jobs that did not run for
    the same time.
    """
    known = [beside.get(tuple(row[name] for name in PLACE), {}) for row in rows]
    times = [time for known_values in known if (time := _runtime(known_values)) is not None]
    values, metric = [float(row["value"]) for row in rows], rows[0]["measure__metric"]
    is_timed = len(times) == len(rows)
    if metric not in COUNTS and not is_timed:
        return None
    if metric in MEANS and min(times) < (1 - SAME_TIME) * max(times):
        return None
    value = sum(values)
    if metric in RATES:
        value = sum(rate * time for rate, time in zip(values, times, strict=True)) / max(times)
    cpus = [row.get("provenance__cpu") for row in rows]
    of_all = {"io_bytes": sum(known_values["io_bytes"] for known_values in known)} if is_timed else {}
    if metric == "bandwidth":
        of_all["bandwidth"] = value
    return {
        **rows[0], "value": value, "printed": "", "source_line": None, "point__threads": _threads(rows),
        "provenance__cpu": sum(cpus) if None not in cpus else None, "provenance__note": f"sum of {len(rows)} jobs",
        "beside": of_all,
    }  # fmt: skip


def _runtime(known: Mapping[str, float]) -> float | None:
    moved, rate = known.get("io_bytes"), known.get("bandwidth")
    return moved / rate if moved and rate else None


def _threads(rows: Sequence[Row]) -> int | None:
    """Return the threads of all jobs together; the processes of one job have its number each."""
    of_jobs: dict[Place, int | None] = {}
    for row in rows:
        section = row["run__sections"].get(str(row["section"]), {})
        of_jobs[section.get("name"), section.get("options", {}).get("hostname")] = row["point__threads"]
    known = [threads for threads in of_jobs.values() if threads is not None]
    return sum(known) if len(known) == len(of_jobs) else None


def _is_whole(row: Row) -> bool:
    return is_sum(row["run__tool"], name_in(row["run__sections"], row["section"]))


def _place(row: Row) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in _PLACE)


JOB, FILE, AT_ONCE = "fio_job", "job_file", "jobs_at_once"  # facts of a part
NAMES = (JOB, FILE, AT_ONCE)
# What says when a job runs, how it is reported, where it is told of, or what its file is called.
_NOT_OF_THE_JOB = frozenset({
    "stonewall", "wait_for_previous", "new_group", "group_reporting", "name", "filename", "directory", "hostname", "description",
    "startdelay", "write_bw_log", "write_iops_log", "write_lat_log", "write_hist_log", "log_avg_msec", "per_job_logs", "unlink",
})  # fmt: skip
_COUNTED = re.compile(
    r"(?:(?:fio|job|run|rep(?:etition)?|round|test|pass|process|thread|worker|client|clone|stream)s?)?[\W_]*\d*",
    re.IGNORECASE,
)


def facts_of_section(row: Row) -> dict[str, str]:
    """Return what tells a sample's section from others of its run: its name, its file and its options."""
    known = row["run__sections"].get(str(row["section"]), {})
    options = known.get("options", {})
    name, place = str(known.get("name", "")), options.get("filename") or options.get("directory") or ""
    facts = {str(option): str(value) for option, value in options.items() if _is_of_the_job(str(option))}
    if name and not _COUNTED.fullmatch(name):
        facts[JOB] = name
    if place:
        facts[FILE] = ":".join(dict.fromkeys(simple_path(path) for path in str(place).split(":")))
    return facts


def _is_of_the_job(option: str) -> bool:
    return option not in _NOT_OF_THE_JOB and not is_of_one_run(option)


def find_differences(rows: Sequence[Row]) -> list[dict[str, str]]:
    """Return for each of these rows of one run at one place the facts in which they differ."""
    return differing([facts_of_section(row) for row in rows])


def differing(facts: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """Return of each mapping only what is not equal in all of them."""
    names = sorted({name for fact in facts for name in fact})
    unequal = [name for name in names if len({fact.get(name) for fact in facts}) > 1]
    return [{name: fact[name] for name in unequal if name in fact} for fact in facts]


def together(rows: Sequence[Row]) -> dict[str, str]:
    """Return the facts of several jobs joined as `hdd + ssd`, each value once."""
    facts = [facts_of_section(row) for row in rows]
    names = dict.fromkeys(name for fact in facts for name in fact)
    return {name: " + ".join(dict.fromkeys(fact.get(name, "not set") for fact in facts)) for name in names}


def of_sum(rows: Sequence[Row]) -> dict[str, str]:
    """Return the facts of a sum of jobs that are unlike in more than their names: it is no rate of one thing."""
    unequal = {name for differences in find_differences(rows) for name in differences} - {JOB}
    return {name: value for name, value in together(rows).items() if name in unequal}
