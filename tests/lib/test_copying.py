"""Rows by COPY are the rows that `bulk_create` would have written."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import DataError, IntegrityError, connection, transaction

from apps.labs.models import Lab
from apps.lib import copying
from apps.lib.copying import insert, new_ids
from apps.runs.models import Histogram, Run, Series

pytestmark = pytest.mark.services


@pytest.fixture(params=[0, 100], ids=["COPY", "INSERT"], autouse=True)
def few(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copying, "_FEW", request.param)


def runs(lab: Lab, **more: Any) -> list[Run]:
    return [Run(lab=lab, tool=f"fio{n}", origin="uploaded", **more) for n in range(3)]


def test_rows_come_back_as_they_were(lab: Lab) -> None:
    when = datetime(2026, 1, 2, 3, 4, 5, 678901, UTC)
    made = runs(lab, facts={"ram": 2**40, "пам'ять": None, "x": [1.5, True]}, started_at=when, progress=1)
    insert(made)
    assert [one._state.adding for one in made] == [False] * 3
    found = list(Run.objects.order_by("id"))
    assert [one.pk for one in found] == [one.pk for one in made]
    for there, here in zip(found, made, strict=True):
        for field in Run._meta.concrete_fields:
            assert getattr(there, field.attname) == getattr(here, field.attname), field.name
    assert abs((datetime.now(UTC) - found[0].created_at).total_seconds()) < 60


def test_bytes_lists_and_references_too(lab: Lab) -> None:
    (run, *_) = made = runs(lab)
    insert(made)
    insert([Histogram(run=run, operation="read", kind="clat", bins=[[1, 2]])])
    insert([Series(run=run, operation="read", metric="iops", count=1, packed=b"\0\xff", overview=[])])
    assert Histogram.objects.get().bins == [[1, 2]]
    assert bytes(Series.objects.get().packed) == b"\0\xff"


def test_what_the_database_refuses_is_its_own_error(lab: Lab) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        insert([Histogram(run_id=run, operation="read", kind="clat", bins=[]) for run in (runs_of(lab),) * 2])
    with pytest.raises(DataError), transaction.atomic():
        insert(runs(lab, tool_version="x" * 100))


def runs_of(lab: Lab) -> int:
    (run, *_) = made = runs(lab)
    insert(made)
    return int(run.pk)


def test_nothing_is_nothing(lab: Lab) -> None:
    insert([])


@pytest.mark.parametrize("taken", [0, 1], ids=["alone", "beside another"])
def test_new_ids_are_as_many_as_asked_and_nobody_elses(lab: Lab, taken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with connection.cursor() as cursor:
        if taken:  # as if another connection took every other number
            cursor.execute("ALTER TABLE runs_run ALTER COLUMN id SET INCREMENT BY 2")
        ids = list(new_ids("runs_run", 5))
        assert len(set(ids)) == 5
        assert ids == sorted(ids)
        cursor.execute("SELECT nextval(pg_get_serial_sequence('runs_run', 'id'))")
        assert cursor.fetchone()[0] > ids[-1]
