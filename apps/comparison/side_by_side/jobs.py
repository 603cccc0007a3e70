"""Which row the parts of a run stand in: what its jobs did together in that of the whole, a job by itself in that of its name.

Pure.

Columns are held against each other within a row, so a number must not bring two jobs together: job 1 of one report is
not job 1 of another. What has neither a whole nor a name stands in a row of its own column alone.
"""

import math
import statistics
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.comparison.queries.aggregates import AT_ONCE, Beside, summed
from apps.comparison.readings import POINT, usable
from apps.runs.metrics import DISK
from apps.runs.sections import is_sum, names_of, told_apart

Name = tuple[Any, ...]
WHOLE: Name = ()
Old = tuple[int, int, int, int]  # column, measure, point and section, as the database counts them
Cell = tuple[int, int, int, int]  # column, measure, point and part
Row = dict[str, Any]


@dataclass
class Numbers:
    """Numbers for what the database has none for: parts of these names, and points of jobs together."""

    points: dict[tuple[Any, ...], int]  # sizes → id
    parts: dict[Name, int] = field(default_factory=lambda: {WHOLE: 0})

    def point(self, sizes: tuple[Any, ...]) -> int:
        return self.points.setdefault(sizes, -1 - len(self.points))

    def part(self, name: Name) -> int:
        return self.parts.setdefault(name, len(self.parts))


@dataclass
class JobCell:
    """A cell: its values with None for what has none, what the database calls its samples, and what the parts are called."""

    sizes: tuple[Any, ...]
    values: list[float | None] = field(default_factory=list)
    samples: set[Old] = field(default_factory=set)
    names: dict[str, None] = field(default_factory=dict)
    jobs: set[str] = field(default_factory=set)  # of runs that had one job alone
    section: int = 0
    is_sum: bool = False

    @property
    def figures(self) -> tuple[float, ...]:
        """Return the sums of the cell, in the order of `table.SUMS`."""
        known = [value for value in self.values if value is not None]
        n, without = float(len(known)), float(len(self.values) - len(known))
        if not known:
            return (n, without, *[math.nan] * 5, 0.0)
        spread = statistics.stdev(known) if len(known) > 1 else math.nan
        logs = [math.log(number) for number in known if number > 0]
        mean = statistics.fmean(logs) if logs else math.nan
        variance = statistics.variance(logs) if len(logs) > 1 else 0.0
        return n, without, statistics.fmean(known), spread, min(known), max(known), mean, variance


def cells_of(
    rows: Sequence[Row], numbers: Numbers, beside_of: Callable[[Collection[int]], Beside]
) -> dict[Cell, JobCell]:
    """Return the cells by column, measure, point and part, from samples of columns whose runs have parts."""
    cells_found: dict[Cell, JobCell] = {}
    by_id = {row["id"]: row for row in rows}
    of_run: dict[tuple[Any, ...], list[Row]] = {}
    for row in summed([dict(row) for row in rows], beside_of):
        place = (row["column"], row["run_id"], row["measure_id"], *(row[f"point__{name}"] for name in POINT))
        of_run.setdefault(place, []).append(row)
    for several in of_run.values():
        for row, (name, words) in zip(several, _names(several), strict=True):
            sizes = tuple(row[f"point__{size}"] for size in POINT)
            key = row["column"], row["measure_id"], numbers.point(sizes), numbers.part(name)
            cell = cells_found.setdefault(key, JobCell(sizes, section=row["section"]))
            cell.values.append(usable(row["value"]))
            cell.is_sum = cell.is_sum or _is_made(row)
            cell.section = min(cell.section, row["section"])
            stored = by_id[row["id"]]
            cell.samples.add((row["column"], row["measure_id"], stored["point_id"], row["section"]))
            if words:
                cell.names[words] = None
            cell.jobs.add(next(iter(row["names"].values()), "") if len(row["names"]) == 1 else "")
    return cells_found


def _names(rows: Sequence[Row]) -> Iterable[tuple[Name, str]]:
    """Yield the name of each value of one run at one place: of the whole, or of its part."""
    called = [_called(row) for row in rows]
    often, seen = Counter(called), Counter[str]()
    for row, name in zip(rows, called, strict=True):
        seen[name] += 1
        part, words = row.get("part", {}), f"{name}, {seen[name]} of {often[name]}" if often[name] > 1 else name
        if row["run__tool"] != "fio" and is_sum(row["run__tool"], name):
            yield WHOLE, name
        elif len(rows) == 1 and not part and not _is_a_stream(row):
            yield WHOLE, name if len(row["names"]) > 1 else ""
        elif not name or _is_a_stream(row):
            yield ("of a column", row["column"], row["section"]), words
        elif _is_made(row):
            yield ("together", words, *sorted(part.items())), words
        else:
            yield by_name(words, part.get(AT_ONCE, "")), words


def by_name(name: str, at_once: str = "") -> Name:
    return "called", name, at_once


def _called(row: Row) -> str:
    if not _is_made(row):
        return str(row["names"].get(row["section"], ""))
    return str(row["provenance__note"]).removeprefix("sum of ") + " together"


def _is_made(row: Row) -> bool:
    return str(row.get("provenance__note") or "").startswith("sum of ")


def _is_a_stream(row: Row) -> bool:
    """Return whether a row is of one of iperf's streams, whose names are numbers of sockets."""
    return bool(row["run__tool"].startswith("iperf")) and len(row["names"]) > 1


def of_jobs(cells: Mapping[Cell, JobCell], alone: Mapping[Cell, str], numbers: Numbers) -> dict[Cell, Cell]:
    """Return for cells of a whole the cell of the job of that name.

    Only where another column has that job among others and none has what several jobs did together. `alone` has the
    cells of columns without parts, with the name of their runs' one job.
    """
    sums = {key[1:3] for key, cell in cells.items() if cell.is_sum and key[3] == numbers.part(WHOLE)}
    jobs = {key: next(iter(cell.jobs)) for key, cell in cells.items() if len(cell.jobs) == 1} | dict(alone)
    places, targets_found = {key[1:] for key in cells}, {}
    for key, name in jobs.items():
        part = numbers.parts.get(by_name(name)) if name and key[3] == numbers.part(WHOLE) else None
        moved = (*key[:3], part) if part is not None else key
        if part is None or key[1:3] in sums or moved in cells:
            continue
        if moved[1:] in places:
            targets_found[key] = moved
    return targets_found


def as_rows(
    samples: Iterable[tuple[Any, ...]], words: Mapping[int, tuple[str, str]], columns: Sequence[str]
) -> list[Row]:
    """Return samples as rows for `summed`, with the names of their run's parts by number."""
    rows = [dict(zip(columns, sample, strict=True)) for sample in samples]
    names: dict[int, dict[int, str]] = {}
    for row in rows:
        row["measure__operation"], row["measure__metric"] = words[row["measure_id"]]
        run = row["run_id"]
        if run not in names:
            names[run] = names_of(row["run__sections"], row.pop("jobs"))
        row.pop("jobs", None)
        row["names"] = names[run]
    return rows


MOST = 3
UNNAMED = "unnamed"
Names = Mapping[int, str]  # of one run, by the section's number
OfColumn = Mapping[int, Sequence[str]]  # of all its runs that count


def of_columns(runs: Iterable[tuple[int, Names]]) -> dict[int, OfColumn]:
    """Return the names of parts by column; columns whose runs have one part each are left out."""
    names_found: dict[int, dict[int, dict[str, None]]] = {}
    for column, names in runs:
        for number, name in told_apart(names).items():
            names_found.setdefault(column, {}).setdefault(number, {})[name] = None
    return {column: {number: list(names) for number, names in parts.items()} for column, parts in names_found.items()}


def of_row(section: int, columns: Iterable[int], names: Mapping[int, OfColumn]) -> tuple[str, ...]:
    """Return the names of a row's part in the columns that have a value in the row."""
    names_by_column = [names.get(column, {}).get(section, ()) for column in columns]
    distinct = dict.fromkeys(name for names_there in names_by_column for name in names_there)
    return (*distinct, *((UNNAMED,) if distinct and () in names_by_column else ()))


def in_words(operation: str, section: int, names: Sequence[str]) -> str:
    """Return a part's one name, or its number with the names behind it: `job 2 (seq, randread)`."""
    if len(names) == 1:
        return names[0]
    kind = "disk" if operation == DISK else "part" if operation.startswith("net_") else "job"
    more = [f"{len(names) - MOST} more"] if len(names) > MOST else []
    behind = f" ({', '.join([*names[:MOST], *more])})" if names else ""
    return f"{kind} {section + 1}{behind}" if section or names else ""
