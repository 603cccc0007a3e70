"""Columns and their sums, each in one statement whatever the number of columns, runs and samples, and all in one round trip."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import Any

from django.db.models import F, OuterRef, Subquery
from django.urls import reverse

from apps.comparison.side_by_side import statements
from apps.comparison.side_by_side.asked import MOST_COLUMNS, Asked
from apps.comparison.side_by_side.memory import Memory
from apps.comparison.side_by_side.parts import OfColumn, of_columns, of_row
from apps.comparison.side_by_side.table import SUMS as FIGURES
from apps.comparison.side_by_side.table import Bounds, Column, Key, Place, Single, Sums
from apps.inventory.models import Target
from apps.labs.isolation import visible_labs
from apps.lib import sql
from apps.runs.metrics import DISK
from apps.runs.models import Run
from apps.runs.sections import names_of

AT_FIRST = 8  # columns, where nobody chose
SECTION = 3
N, WITHOUT = 4, 5  # the places in a row of how many samples have a value, and how many have none
SIZES = slice(12, None)  # the places of the point's sizes; between the key and them stand SUMS
Rows = Sequence[tuple[Any, ...]]


@contextmanager
def begun(asked: Asked) -> Iterator[Callable[[], tuple[list[Column], Sums]]]:
    """Asks, and goes on while the database sums up: what is yielded waits for columns and sums. Columns are in the order of the address, or
    of the study, and only what the scope may read; others are as if they were not, and no run lies on another lab's target or configuration.
    """
    written = partial(statements.written, of_study=bool(asked.study), wanted=bool(asked.metrics or asked.operations))
    of_columns = statements.CONFIGURATION_COLUMNS if asked.study else statements.TARGET_COLUMNS
    values = _values(asked)
    at_once = [(written(one), values) for one in (statements.SUMS, statements.MEASURES, of_columns)]
    with sql.ahead(*at_once, binary=True) as answers:

        def found() -> tuple[list[Column], Sums]:
            sums, measures, rows = answers()
            columns = _configurations(rows) if asked.study else _targets(asked, rows)

            def more(statement: str, some: Iterable[int]) -> Rows:
                """Of these columns; nothing is asked where there are none."""
                of = sorted(set(some))
                return sql.rows(written(statement, found=True), {**values, "columns": of}, binary=True) if of else []

            bounds = more(statements.BOUNDS, (row[0] for row in sums if row[WITHOUT]))
            printed = more(statements.PRINTED, (row[0] for row in sums if row[N] == 1))
            memory = more(statements.MEMORY_OF_CELLS, (column.id for column in columns if not column.is_alike))
            words = {measure: (operation, metric) for measure, operation, metric in measures}
            of_disk = {measure for measure, (operation, _) in words.items() if operation == DISK}
            in_parts = {row[1] in of_disk for row in sums if row[SECTION]}
            wanted = {row[0] for row in sums}
            jobs = _jobs(more(statements.PARTS, wanted if False in in_parts else ()))
            disks = _disks(more(statements.DISKS, wanted if True in in_parts else ()))
            parts = {measure: disks if measure in of_disk else jobs for measure in words}
            return columns, _all_sums(sums, words, parts, bounds, printed, memory)

        yield found


def _values(asked: Asked) -> dict[str, Any]:
    return {
        "columns": list(asked.targets), "study": asked.study, "most": MOST_COLUMNS, "labs": visible_labs(), "last": asked.last,
        "metrics": list(asked.metrics), "no_metrics": not asked.metrics,
        "operations": list(asked.operations), "no_operations": not asked.operations,
    }  # fmt: skip


def _configurations(rows: Rows) -> list[Column]:
    return [Column(pk, label, "", ram, Memory(*sizes), is_alike) for pk, ram, *sizes, is_alike, label in rows]


def _targets(asked: Asked, rows: Rows) -> list[Column]:
    by_id = {row[0]: _target(*row) for row in rows}
    return [by_id[pk] for pk in asked.targets if pk in by_id]


def _target(pk: int, ram: float | None, cached: float, asked: float, is_alike: bool, host: str, target: str) -> Column:
    filters = (("host", host), ("target", target))
    return Column(pk, f"{host}: {target}", _address(pk), ram, Memory(cached, asked), is_alike, filters)


@lru_cache(maxsize=4096)
def _address(target: int) -> str:
    return reverse("target", args=[target])


def _jobs(rows: Rows) -> dict[int, OfColumn]:
    return of_columns((column, names_of(sections, jobs)) for column, sections, jobs in rows)


def _disks(rows: Rows) -> dict[int, OfColumn]:
    runs: dict[tuple[int, int], dict[int, str]] = {}
    for column, run, section, note in rows:
        runs.setdefault((column, run), {})[section] = note
    return of_columns((column, names) for (column, _), names in runs.items())


def _all_sums(
    rows: Rows, words: Mapping[int, tuple[str, str]], parts: Mapping[int, Mapping[int, OfColumn]],
    bounds: Rows, printed: Rows, memory: Rows,
) -> Sums:  # fmt: skip
    import numpy as np

    cells = [(row[0], row[1:4]) for row in rows]
    columns: dict[Key, list[int]] = {}
    for column, key in cells:
        columns.setdefault(key, []).append(column)
    places: dict[Key, Place] = {}
    for (_, key), row in zip(cells, rows, strict=True):
        if key not in places:
            named = of_row(key[2], columns[key], parts[key[0]])
            file_size, block_size, threads, iodepth = row[SIZES]
            places[key] = Place(*words[key[0]], file_size, block_size, threads, iodepth, key[2], named)
    figures = np.array([row[4 : SIZES.start] for row in rows], dtype=float).reshape(-1, len(FIGURES))
    cell_of = {row[:4]: cell for cell, row in enumerate(rows)} if bounds or printed or memory else {}

    def by_cell(kind: Any, told: Rows) -> dict[int, Any]:
        return {cell_of[row[:4]]: kind(*row[4:]) for row in told if row[:4] in cell_of}

    return Sums(places, cells, figures, by_cell(_pair, bounds), by_cell(Single, printed), by_cell(Memory, memory))


def _pair(low: float | None, high: float | None) -> Bounds:
    return low, high


def newest_measured(most: int = AT_FIRST) -> list[Target]:
    """Targets by their last finished run."""
    measured = Target.objects.annotate(measured_at=_of_last_run("finished_at"), last_run=_of_last_run("id"))
    found: Any = measured.filter(last_run__isnull=False).select_related("host")
    return list(found.order_by(F("measured_at").desc(nulls_last=True), "-last_run")[:most])


def _of_last_run(field: str) -> Subquery:
    ended = Run.objects.finished().filter(target=OuterRef("pk")).order_by(F("finished_at").desc(nulls_last=True), "-id")
    return Subquery(ended.values(field)[:1])
