"""Rows by COPY are the rows that were given, all or none, under ids that nobody else has."""

from typing import Any

import pytest
from django.db import DataError, IntegrityError, connection, transaction

from apps.core.sql import copy_rows, reserve_ids
from apps.labs.models import Lab
from apps.runs.models import Histogram, Measure, Point, Run, Sample

pytestmark = pytest.mark.services
COLUMNS = ("id", "run_id", "measure_id", "point_id", "section", "value", "printed", "source_line", "artefact_id")
TEXTS = ["", "plain", "a\ttab", "back\\slash", "\\N", "NULL", "новый\nline", '"quoted"', "%s $1", " spaces "]


@pytest.fixture
def run(lab: Lab) -> Run:
    run: Run = Run.objects.create(lab=lab, tool="fio", origin="uploaded")
    return run


@pytest.fixture
def rows(run: Run) -> list[tuple[Any, ...]]:
    measure, point = Measure.objects.create(operation="read", metric="iops"), Point.objects.create()
    values = [0.1, -5e-324, 1e308, float("inf"), None, 3, 2.5, -0.0, 1 / 3, 1e22]
    return [
        (pk, run.pk, measure.pk, point.pk, place, values[place], TEXTS[place], place or None, None)
        for place, pk in enumerate(reserve_ids(Sample, len(TEXTS)))
    ]


def stored() -> list[tuple[Any, ...]]:
    return list(Sample.objects.order_by("section").values_list(*COLUMNS))


def test_rows_come_back_as_they_were(rows: list[tuple[Any, ...]]) -> None:
    copy_rows(Sample, COLUMNS, iter(rows))
    assert stored() == rows


def test_what_the_database_refuses_is_its_own_error_and_nothing_is_there(rows: list[tuple[Any, ...]]) -> None:
    long = [*rows[:3], (*rows[3][:6], "x" * 81, None, None)]
    for wrong, error in ((long, DataError), ([*rows[:3], rows[0]], IntegrityError)):
        with pytest.raises(error), transaction.atomic():
            copy_rows(Sample, COLUMNS, wrong)
        assert stored() == []


def test_columns_that_are_left_out_have_the_databases_defaults(rows: list[tuple[Any, ...]]) -> None:
    copy_rows(Sample, COLUMNS[1:6], [row[1:6] for row in rows[:1]])
    assert (Sample.objects.get().pk > 0, Sample.objects.get().printed) == (True, "")


def test_a_failing_source_leaves_nothing(rows: list[tuple[Any, ...]]) -> None:
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        copy_rows(Sample, COLUMNS, ((*row[:5], 1 / (row[4] - 3), *row[6:]) for row in rows))
    assert stored() == []


def test_nothing_is_nothing(run: Run) -> None:
    copy_rows(Sample, COLUMNS, [])
    assert reserve_ids(Sample, 0) == []


@pytest.mark.parametrize("step", [1, 2], ids=["alone", "beside another"])
def test_reserved_ids_are_as_many_as_asked_and_nobody_elses(lab: Lab, step: int) -> None:
    with connection.cursor() as cursor:  # as if another connection took every other number
        cursor.execute(f"ALTER TABLE runs_histogram ALTER COLUMN id SET INCREMENT BY {step}")
        ids = reserve_ids(Histogram, 5)
        assert (len(set(ids)), ids) == (5, sorted(ids))
        cursor.execute("SELECT nextval(pg_get_serial_sequence('runs_histogram', 'id'))")
        assert cursor.fetchone()[0] > ids[-1]
