"""Columns and their sums, each in one statement whatever the number of columns, runs and samples."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

from django.db.models import F, OuterRef, Subquery
from django.urls import reverse

from apps.comparison.queries.samples import rates_beside
from apps.comparison.side_by_side import statements
from apps.comparison.side_by_side.jobs import (
    UNNAMED,
    JobCell,
    Numbers,
    OfColumn,
    Old,
    as_rows,
    cells_of,
    of_columns,
    of_jobs,
    of_row,
)
from apps.comparison.side_by_side.memory import MemorySizes
from apps.comparison.side_by_side.question import MOST_COLUMNS, SideBySideQuestion
from apps.comparison.side_by_side.table import SUMS as FIGURES
from apps.comparison.side_by_side.table import (
    Bounds,
    Key,
    Kinds,
    SideBySideColumn,
    SideBySidePlace,
    SideBySideTable,
    Single,
    Sums,
    table,
)
from apps.core import sql
from apps.inventory.models import Target
from apps.labs.isolation import visible_labs
from apps.runs.activity import ACTIVITY
from apps.runs.metrics import DISK
from apps.runs.models import Run
from apps.runs.sections import names_of

AT_FIRST = 8  # columns, where nobody chose
SECTION = 3
N, WITHOUT = 4, 5  # the places in a row of how many samples have a value, and how many have none
SIZES = slice(12, None)  # the places of the point's sizes; between the key and them stand SUMS
Rows = Sequence[tuple[Any, ...]]


def load(question: SideBySideQuestion) -> tuple[list[SideBySideColumn], Sums]:
    """Return columns, in the order of the address or of the study, and their sums; only what the scope may read.

    Others are as if they were not, and no run lies on another lab's target or configuration.
    """
    write = partial(
        statements.written, of_study=bool(question.study), wanted=bool(question.metrics or question.operations)
    )
    values = _values(question)

    def read(statement: str) -> Rows:
        return sql.rows(write(statement), values, binary=True)

    def read_columns(statement: str, some: Iterable[int], **also: Any) -> Rows:
        """Read a statement for these columns only; nothing is queried where there are none."""
        of = sorted(set(some))
        return sql.rows(write(statement, is_found=True), {**values, **also, "columns": of}, binary=True) if of else []

    sums, measures = read(statements.SUMS), read(statements.MEASURES)
    rows = read(statements.CONFIGURATION_COLUMNS if question.study else statements.TARGET_COLUMNS)
    columns = _configurations(rows) if question.study else _targets(question, rows)
    kinds = Kinds.of(read(statements.KINDS))
    of_kinds = {"kind_runs": list(kinds.runs), "kinds": list(kinds.runs.values())}
    by_cell = read_columns(statements.KINDS_OF_CELLS, kinds.mixed, **of_kinds)
    bounds = read_columns(statements.BOUNDS, (row[0] for row in sums if row[WITHOUT]))
    printed = read_columns(statements.PRINTED, (row[0] for row in sums if row[N] == 1))
    memory = read_columns(statements.MEMORY_OF_CELLS, (column.id for column in columns if not column.is_alike))
    words = {measure: (operation, metric) for measure, operation, metric in measures}
    of_disk = {measure for measure, (operation, _) in words.items() if operation == DISK}
    wanted = {row[0] for row in sums}
    with_jobs = {row[0] for row in sums if row[SECTION] and row[1] not in of_disk}
    samples = as_rows(read_columns(statements.PART_SAMPLES, with_jobs), words, statements.PART_SAMPLE_COLUMNS)
    alone = _alone(read_columns(statements.PARTS, wanted - with_jobs if with_jobs else ()))
    with_disks = any(row[SECTION] and row[1] in of_disk for row in sums)
    disks = _disks(read_columns(statements.DISKS, wanted if with_disks else ()))
    counted = _in_jobs(sums, samples, alone, of_disk) if with_jobs else Counted(sums)
    return columns, _all_sums(counted, words, disks, bounds, printed, memory, kinds, by_cell)


def _values(question: SideBySideQuestion) -> dict[str, Any]:
    return {
        "columns": list(question.targets), "study": question.study, "most": MOST_COLUMNS, "labs": visible_labs(), "last": question.last,
        "activity": sorted(ACTIVITY), "metrics": list(question.metrics), "no_metrics": not question.metrics,
        "operations": list(question.operations), "no_operations": not question.operations,
    }  # fmt: skip


def _configurations(rows: Rows) -> list[SideBySideColumn]:
    return [
        SideBySideColumn(pk, label, "", ram, MemorySizes(*sizes), is_alike) for pk, ram, *sizes, is_alike, label in rows
    ]


def _targets(question: SideBySideQuestion, rows: Rows) -> list[SideBySideColumn]:
    by_id = {row[0]: _target(*row) for row in rows}
    return [by_id[pk] for pk in question.targets if pk in by_id]


def _target(
    pk: int, ram: float | None, cached: float, planned: float, is_alike: bool, host: str, target: str
) -> SideBySideColumn:
    filters = (("host", host), ("target", target))
    return SideBySideColumn(pk, f"{host}: {target}", _address(pk), ram, MemorySizes(cached, planned), is_alike, filters)


@lru_cache(maxsize=4096)
def _address(target: int) -> str:
    return reverse("target", args=[target])


@dataclass(frozen=True)
class Counted:
    """Rows as SUMS has them, with the number of a part for that of a section where runs have parts.

    `samples`: cell → its samples as the database counts them, where that is not the cell itself; `names`: what the
    parts of a row are called, and its place among them; `made`: cells that no single sample is printed for.
    """

    rows: Rows
    samples: Mapping[Old, Set[Old]] = field(default_factory=dict)
    names: Mapping[Key, tuple[int, tuple[str, ...]]] = field(default_factory=dict)
    made: Set[Old] = frozenset()


def _alone(rows: Rows) -> dict[int, str]:
    """Return the job's name of columns whose runs have one job each, of one name."""
    names_found: dict[int, set[str]] = {}
    for column, sections, jobs in rows:
        names = names_of(sections, jobs)
        names_found.setdefault(column, set()).add(next(iter(names.values())) if len(names) == 1 else "")
    return {column: next(iter(names)) for column, names in names_found.items() if len(names) == 1}


def _in_jobs(sums: Rows, samples: Sequence[dict[str, Any]], alone: Mapping[int, str], of_disk: Set[int]) -> Counted:
    """Replace each job's rows by what the jobs of one turn did together, and by jobs under their names."""
    numbers = Numbers({row[SIZES]: row[2] for row in sums})
    cells = cells_of(samples, numbers, rates_beside)
    with_jobs = {row["column"] for row in samples}
    remaining = [row for row in sums if row[1] in of_disk or row[0] not in with_jobs]
    moved = of_jobs(cells, {row[:4]: alone.get(row[0], "") for row in remaining if row[1] not in of_disk}, numbers)
    rows = [(*moved.get(row[:4], row[:4]), *row[4:]) for row in remaining]
    origin: dict[Old, Set[Old]] = {key: {old} for old, key in moved.items() if old not in cells}
    names: dict[Key, dict[str, None]] = {}
    first: dict[Key, int] = {}
    for old, cell in cells.items():
        key = moved.get(old, old)
        rows.append((*key, *cell.figures, *cell.sizes))
        origin[key] = cell.samples
        names.setdefault(key[1:], {}).update(
            dict.fromkeys([alone_name] if (alone_name := _job(cell, key, old)) else cell.names)
        )
        first[key[1:]] = min(first.get(key[1:], cell.section), cell.section)
    made = {moved.get(old, old) for old, cell in cells.items() if cell.is_sum}
    sums_of = {key[1:] for key in made}
    unnamed = {
        row[1:4]
        for row in rows
        if row[1:4] in names and row[1:4] not in sums_of and row[0] not in with_jobs and row[3] == 0
    }
    names_of_row = {
        key: (first[key], (*some, *((UNNAMED,) if some and key in unnamed else ()))) for key, some in names.items()
    }
    return Counted(rows, origin, names_of_row, made)


def _job(cell: JobCell, key: Old, old: Old) -> str:
    """Return the name of the one job whose row a cell was moved to."""
    return next(iter(cell.jobs)) if key != old else ""


def _disks(rows: Rows) -> dict[int, OfColumn]:
    runs: dict[tuple[int, int], dict[int, str]] = {}
    for column, run, section, note in rows:
        runs.setdefault((column, run), {})[section] = note
    return of_columns((column, names) for (column, _), names in runs.items())


def _all_sums(
    counted: Counted, words: Mapping[int, tuple[str, str]], disks: Mapping[int, OfColumn],
    bounds: Rows, printed: Rows, memory: Rows, kinds: Kinds, kinds_by_cell: Rows,
) -> Sums:  # fmt: skip
    import numpy as np

    rows = counted.rows
    cells = [(row[0], row[1:4]) for row in rows]
    columns: dict[Key, list[int]] = {}
    for column, key in cells:
        columns.setdefault(key, []).append(column)
    places: dict[Key, SideBySidePlace] = {}
    for (_, key), row in zip(cells, rows, strict=True):
        if key not in places:
            of_disk = words[key[0]][0] == DISK
            section, named = counted.names.get(key, (key[2], of_row(key[2], columns[key], disks) if of_disk else ()))
            file_size, block_size, threads, iodepth = row[SIZES]
            places[key] = SideBySidePlace(*words[key[0]], file_size, block_size, threads, iodepth, section, named)
    figures = np.array([row[4 : SIZES.start] for row in rows], dtype=float).reshape(-1, len(FIGURES))
    any_by_cell = bounds or printed or memory or kinds_by_cell
    cells_with: dict[Old, list[int]] = {}  # samples as the database counts them → cells
    for cell, row in enumerate(rows if any_by_cell else ()):
        for old in counted.samples.get(row[:4], (row[:4],)):
            cells_with.setdefault(old, []).append(cell)

    def by_cell(kind: Callable[..., Any], rows_read: Rows, both: Callable[[Any, Any], Any]) -> dict[int, Any]:
        values_found: dict[int, Any] = {}
        for row in rows_read:
            for cell in cells_with.get(row[:4], ()):
                value = kind(*row[4:])
                values_found[cell] = both(values_found[cell], value) if cell in values_found else value
        return values_found

    single = by_cell(Single, printed, lambda _, other: other)
    return Sums(
        places,
        cells,
        figures,
        by_cell(_pair, bounds, _widest),
        {cell: value for cell, value in single.items() if rows[cell][N] == 1 and rows[cell][:4] not in counted.made},
        by_cell(MemorySizes, memory, _most),
        kinds,
        by_cell(_kinds_of_cell, kinds_by_cell, _all_kinds),
    )


def _widest(bounds: Bounds, other: Bounds) -> Bounds:
    lows = [each for each in (bounds[0], other[0]) if each is not None]
    highs = [each for each in (bounds[1], other[1]) if each is not None]
    return min(lows, default=None), max(highs, default=None)


def _most(memory: MemorySizes, other: MemorySizes) -> MemorySizes:
    return MemorySizes(max(memory.cached, other.cached), max(memory.asked, other.asked))


def _all_kinds(first_pair: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return max(first_pair[0], other[0], len({first_pair[1], other[1]})), first_pair[1]


def _kinds_of_cell(count: int, number: int) -> tuple[int, int]:
    return int(count), int(number)


def _pair(low: float | None, high: float | None) -> Bounds:
    return low, high


def newest_measured(most: int = AT_FIRST) -> list[Target]:
    """Return the targets with the newest finished runs."""
    measured = Target.objects.annotate(measured_at=_of_last_run("finished_at"), last_run=_of_last_run("id"))
    targets: Any = measured.filter(last_run__isnull=False).select_related("host")
    return list(targets.order_by(F("measured_at").desc(nulls_last=True), "-last_run")[:most])


def _of_last_run(field: str) -> Subquery:
    ended = Run.objects.finished().filter(target=OuterRef("pk")).order_by(F("finished_at").desc(nulls_last=True), "-id")
    return Subquery(ended.values(field)[:1])


def in_force(question: SideBySideQuestion) -> SideBySideQuestion:
    """Return the question with the targets that were measured last, where nothing was chosen."""
    return question.with_(targets=tuple(target.pk for target in newest_measured())) if question.is_empty else question


def answer(question: SideBySideQuestion) -> SideBySideTable:
    return table(*load(question), question.baseline, question.base)
