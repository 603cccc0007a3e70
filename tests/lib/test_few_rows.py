"""A few rows by one statement are the rows that Django would have written; statements that are sent in one go are one transaction."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import orjson
import pytest
from django.db import DataError, IntegrityError, connection

from apps.inventory.editing.authors import by
from apps.inventory.models import Host
from apps.inventory.vocabulary import Author
from apps.labs.isolation import lab_scope
from apps.labs.models import AuditEvent, Lab
from apps.lib.copying import ids_asked
from apps.lib.few_rows import array, change, change_all, put, put_one
from apps.lib.pipelined import abreast, in_one_go, is_queued, send
from apps.lib.sql import one_row, rows
from apps.runs.models import Run
from apps.uploads.models import Upload, UploadedFile
from tests.conftest import Cast

pytestmark = pytest.mark.services
WORDS = [
    "",
    "plain",
    'a "quoted" one',
    "back\\slash",
    "{1,2}",
    "NULL",
    None,
    " spaces ",
    "новый\nline",
    "it's",
    "%s %(x)s $1",
]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("text", WORDS), ("int8", [0, -(2**63), 2**63 - 1, None]), ("bool", [True, False, None]),
        ("float8", [0.1, 1e308, -5e-324, float("inf"), None, 3]), ("bytea", [b"", b"\0\xff\\x", None]),
        ("jsonb", [{"a": ['"', "\\", None]}, [], "x", 1.5, None]),
        ("timestamptz", [datetime(2026, 1, 2, 3, 4, 5, 678901, timezone(timedelta(hours=3))), None]),
    ],
)  # fmt: skip
def test_an_array_comes_back_as_it_was(db: None, kind: str, values: list[Any]) -> None:
    found = rows(f"SELECT * FROM unnest(%(given)s::{kind}[])", {"given": array(kind, values)})
    is_text = kind == "jsonb"  # Django reads it by itself
    assert [orjson.loads(value) if is_text and value else value for (value,) in found] == values


def test_rows_with_arrays_in_them(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE few (name text, list float8[]) ON COMMIT DROP")
    put("few", ("name", "list"), ("text", "float8[]"), [("a", [1.5, None]), ('"', []), (None, None)])
    assert rows("SELECT * FROM few") == [("a", [1.5, None]), ('"', []), (None, None)]
    put("few", ("name", "list"), ("text", "float8[]"), [])


def test_one_row_is_what_django_writes(lab: Lab) -> None:
    labels = {'"': "\\", "kernel": "6.1 %s"}
    asked = {
        "lab": lab,
        "name": "x % y",
        "door": "rest",
        "labels": labels,
        "lease_until": datetime.now(UTC),
        "tries": 1,
    }
    theirs, ours = Upload.objects.create(**asked), Upload(**asked)
    sql, values = put_one(ours, problem="upper('p')")
    found = one_row(f"{sql} RETURNING id", values)
    assert found
    stored = Upload.objects.get(pk=found[0])
    for field in Upload._meta.concrete_fields:
        name = field.attname
        if name not in ("id", "created_at", "problem"):
            assert getattr(stored, name) == getattr(theirs, name), name
    assert (stored.problem, stored.created_at) == ("P", ours.created_at)


def test_a_change_is_what_save_would_write(lab: Lab) -> None:
    upload = Upload.objects.create(lab=lab, name="x", door="rest")
    file = UploadedFile.objects.create(upload=upload, name="x")
    file.warnings, file.error, file.kept_at, file.packed = ['"'], {"line": None}, datetime.now(UTC), b"\0"
    file.state, file.name, file.known_as = "known", "not written", file
    change(file, ["warnings", "error", "kept_at", "packed", "state", "known_as"])
    found = UploadedFile.objects.get()
    assert (found.warnings, found.error, found.kept_at) == (['"'], {"line": None}, file.kept_at)
    assert (bytes(found.packed), found.state, found.known_as_id, found.name) == (b"\0", "known", file.pk, "x")


def test_asking_abreast_answers_each(db: None) -> None:
    def asking(first: int) -> Any:
        [(found,)] = yield "SELECT %(n)s::int", {"n": first}
        if found > 1:
            [(found,)] = yield "SELECT %(n)s::int * 10", {"n": found}
        return found

    def nothing() -> Any:
        return "at once"
        yield

    assert abreast(asking(1), asking(2), nothing()) == [1, 20, "at once"]
    with in_one_go():
        assert abreast(asking(2), asking(1)) == [20, 1]
    assert abreast() == []


def _event(lab: Lab, act: str) -> tuple[str, dict[str, Any]]:
    return put_one(AuditEvent(lab=lab, act=act, subject="s", who="w", detail={}))


def _acts(lab: Lab) -> list[str]:
    with lab_scope(lab.pk):
        return list(AuditEvent.objects.order_by("id").values_list("act", flat=True))


def _sent(lab: Lab, act: Any) -> None:
    with in_one_go():
        send(*_event(lab, "c"))
        act()


@pytest.mark.django_db(transaction=True)
def test_what_is_sent_in_one_go_is_there_for_all_or_not_at_all(cast: Cast) -> None:
    with in_one_go():
        send(*_event(cast.lab, "a"))
        assert is_queued()
        send(*_event(cast.lab, "b"))
    assert not is_queued()
    assert not connection.in_atomic_block
    assert _acts(cast.lab) == ["a", "b"]
    for error, act in ((DataError, lambda: send(*_event(cast.lab, "x" * 1000))), (ZeroDivisionError, lambda: 1 // 0)):
        with pytest.raises(error):
            _sent(cast.lab, act)
    assert _acts(cast.lab) == ["a", "b"]


@pytest.mark.django_db(transaction=True)
def test_what_is_refused_at_the_commit_is_an_error_of_it(cast: Cast) -> None:
    """References are looked at in the end."""
    with pytest.raises(IntegrityError), in_one_go():
        send(*put_one(Run(lab_id=10**12, tool="x", origin="uploaded")))
    with lab_scope(cast.lab.pk):
        assert not Run.objects.exists()
    assert one_row("SELECT 1") == (1,)


@pytest.mark.django_db(transaction=True)
def test_djangos_own_statements_stand_between_them(cast: Cast) -> None:
    """Those with a history send two statements as one."""
    with lab_scope(cast.lab.pk), by(Author.SYSTEM, "test"), in_one_go():
        send(*_event(cast.lab, "a"))
        host = Host.objects.create(lab=cast.lab, name="alpha")
        assert not is_queued()
        assert _acts(cast.lab) == ["a"]
        send(*_event(cast.lab, "b"))
        assert abreast(ids_asked("runs_run", 1))
        Host.objects.filter(pk=host.pk).update(name="beta")
    assert _acts(cast.lab) == ["a", "b"]
    with lab_scope(cast.lab.pk):
        assert Host.objects.get().name == "beta"


def test_inside_of_a_transaction_it_ends_with_that(lab: Lab) -> None:
    with in_one_go():
        send(*_event(lab, "a"))
    with pytest.raises(DataError), in_one_go():
        send(*_event(lab, "x" * 1000))
    assert connection.in_atomic_block
    assert _acts(lab) == ["a"]


def test_several_rows_are_changed_in_one_statement(lab: Lab) -> None:
    hosts = [Host.objects.create(lab=lab, name=f"h{number}", ram_bytes=number) for number in range(3)]
    for host in hosts[:2]:
        host.ram_bytes, host.labels, host.notes = None, {"a": 'with "quotes", {braces} and \\'}, f"of {host.name}"
    change_all(hosts[:2], ["ram_bytes", "labels", "notes"])
    change_all([], ["notes"])
    found = {one.name: (one.ram_bytes, one.labels, one.notes) for one in Host.objects.all()}
    assert found == {host.name: (host.ram_bytes, host.labels, host.notes) for host in hosts}
    assert found["h1"] == (None, {"a": 'with "quotes", {braces} and \\'}, "of h1")
