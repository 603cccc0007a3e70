"""References of samples: the database does not check them, so these do."""

import threading
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction

from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.parsers.core.models import ParsedSample
from apps.runs.artefacts.integrity import REFERENCES, broken_references
from apps.runs.models import Provenance, Run, Sample
from apps.runs.samples import save_samples
from tests.comparison import factories
from tests.conftest import Cast
from tests.waiting import until_one_waits_for_a_lock

pytestmark = pytest.mark.services
PARSED = [ParsedSample("read", "iops", 1.0), ParsedSample("read", "bandwidth", 2.0, quality="rounded")]


def test_what_is_written_refers_to_what_is_there(lab: Lab) -> None:
    save_samples(factories.run(lab), PARSED)
    assert list(broken_references()) == []
    call_command("check_samples")


@pytest.mark.parametrize(("model", "column", "to"), REFERENCES, ids=[column for _, column, _ in REFERENCES])
def test_a_reference_that_leads_nowhere_is_found(lab: Lab, model: Any, column: str, to: Any) -> None:
    table, other = model._meta.db_table, to._meta.db_table
    save_samples(factories.run(lab), PARSED)
    with connection.cursor() as cursor:
        number = 30_000 if column == "measure_id" else 10**9
        cursor.execute(f"UPDATE {table} SET {column} = {number} WHERE ctid = (SELECT min(ctid) FROM {table})")
    (told,) = broken_references()
    assert told.startswith(f"{table}.{column}: found 1 that lead nowhere")
    assert other in told
    with pytest.raises(CommandError, match=f"the first to {number}"):
        call_command("check_samples")


def test_samples_of_a_run_that_is_not_there_are_refused(lab: Lab) -> None:
    run = factories.run(lab)
    Run.objects.filter(pk=run.pk).delete()
    with pytest.raises(IntegrityError, match="found no run"), transaction.atomic():
        save_samples(run, PARSED)
    assert not Sample.objects.exists()


def test_a_run_that_is_deleted_by_hand_takes_its_samples_along(lab: Lab) -> None:
    run, other = factories.run(lab), factories.run(lab)
    for one in (run, other):
        save_samples(one, PARSED)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM runs_run WHERE id = %s", [run.pk])
    assert set(Sample.objects.values_list("run", flat=True)) == {other.pk}
    assert Provenance.objects.count() == 1
    assert list(broken_references()) == []


@pytest.mark.django_db(transaction=True)
def test_who_deletes_a_run_waits_for_who_writes_its_samples_and_leaves_none_of_them(cast: Cast) -> None:
    with lab_scope(cast.lab.pk):
        run = factories.run(cast.lab)
    written = threading.Event()

    def delete() -> None:
        written.wait(10)
        with lab_scope(cast.lab.pk):
            Run.objects.filter(pk=run.pk).delete()
        connection.close()

    thread = threading.Thread(target=delete)
    thread.start()
    with lab_scope(cast.lab.pk), transaction.atomic():
        save_samples(run, PARSED)
        written.set()
        until_one_waits_for_a_lock()
    thread.join(10)
    with lab_scope(cast.lab.pk):
        assert not Run.objects.filter(pk=run.pk).exists()
        assert not Sample.objects.exists()
        assert list(broken_references()) == []
