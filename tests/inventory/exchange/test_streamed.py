"""Files of inventory go out row by row: the same bytes as if they were made whole, in constant memory."""

import io
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.exceptions import FieldError
from django.core.management import call_command
from django.db import connection
from django.db.models import Q
from django.test.utils import CaptureQueriesContext

from apps.inventory.exchange import document, writers
from apps.inventory.exchange.document import Outgoing
from apps.inventory.exchange.registry import BY_NAME
from apps.inventory.exchange.writers import csv_pieces, json_pieces, zip_pieces
from apps.inventory.models import Disk, Filesystem, Host, NetworkLink, Nic, Switch
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from tests.inventory.exchange import whole
from tests.memory import sent
from tests.sampling import for_each, sample

pytestmark = pytest.mark.django_db
Pieces = Callable[[Lab], Iterator[bytes]]


def _csv_of(name: str) -> Pieces:
    return lambda lab: csv_pieces(BY_NAME[name], Outgoing(lab).rows(BY_NAME[name]))


@pytest.fixture(params=[500, 2], ids=["one batch", "many batches"])
def batches(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "AT_ONCE", request.param)
    monkeypatch.setattr(writers, "AT_ONCE", request.param)


@pytest.fixture
def doubles(full: Lab) -> Lab:
    """Rows that nothing tells apart, and some that only look alike."""
    host = Host.objects.get(name="storage1")
    for fields in (
        {"wwn": "w"}, {"wwn": "w", "device_name": "sdz", "host": host}, {"serial": "S", "wwn": "w"}, {"device_name": "sdy"},
        {"device_name": "sdy", "host": host}, {"device_name": "sdy", "host": host, "model": "other"}, {}, {"vendor": "V"}, {},
    ):  # fmt: skip
        Disk.objects.create(lab=full, **fields)
    for fields in ({"type": "xfs"}, {"type": "", "device_name": "xfs"}, {"mount_point": "xfs", "type": "ext4"}):
        Filesystem.objects.create(lab=full, host=host, is_present=False, **fields)
    switch, nic = Switch.objects.get(), Nic.objects.filter(host=host).get()
    NetworkLink.objects.create(lab=full, nic=nic, far_switch=switch)
    NetworkLink.objects.create(lab=full, switch=switch, far_nic=nic)
    return full


@pytest.mark.usefixtures("batches")
def test_json_is_the_same_bytes(doubles: Lab) -> None:
    assert b"".join(json_pieces(Outgoing(doubles))) == whole.as_json(whole.document_of(doubles))


@pytest.mark.usefixtures("batches")
@for_each("name", BY_NAME)
def test_each_table_is_the_same_bytes(doubles: Lab, name: str) -> None:
    wanted = whole.as_csv(BY_NAME[name], whole.document_of(doubles)).encode()
    assert wanted.count(b"\n") > 1
    assert b"".join(_csv_of(name)(doubles)) == wanted


@pytest.mark.slow
@pytest.mark.usefixtures("batches")
def test_the_zip_has_the_same_members_and_is_the_same_file_each_time(doubles: Lab) -> None:
    made = b"".join(zip_pieces(Outgoing(doubles)))
    with zipfile.ZipFile(io.BytesIO(made)) as archive:
        assert archive.testzip() is None
        found = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(io.BytesIO(whole.as_zip(whole.document_of(doubles)))) as archive:
        assert found == {name: archive.read(name) for name in archive.namelist()}
    assert b"".join(zip_pieces(Outgoing(doubles))) == made


@pytest.mark.slow
@pytest.mark.usefixtures("batches")
@pytest.mark.parametrize("name", ["storage1", "a/b #2"])
def test_one_host_is_the_same_bytes(doubles: Lab, name: str) -> None:
    host = Host.objects.get(name=name)
    assert b"".join(json_pieces(Outgoing(doubles, host))) == whole.as_json(whole.document_of(doubles, host))


@pytest.mark.usefixtures("batches")
def test_chosen_rows_are_the_same_bytes(doubles: Lab) -> None:
    chosen = Disk.objects.filter(serial="")
    wanted = whole.document_of(doubles, kinds=["disks"], only=set(chosen.values_list("pk", flat=True)))
    assert len(wanted["disks"]) > 5
    assert b"".join(json_pieces(Outgoing(doubles, kinds=["disks"], only=chosen))) == whole.as_json(wanted)


def test_an_empty_lab_is_the_same_bytes() -> None:
    empty = Lab.objects.create(name="Empty", slug="empty")
    with lab_scope(empty.pk):
        assert b"".join(json_pieces(Outgoing(empty))) == whole.as_json(whole.document_of(empty))
        assert b"".join(zip_pieces(Outgoing(empty))) == whole.as_zip(whole.document_of(empty))


def test_rows_are_asked_for_when_the_request_is_over_and_stay_the_labs_own(full: Lab) -> None:
    """The scope that they were made in has ended; another one has begun."""
    other = Lab.objects.create(name="Other", slug="other")
    Host.objects.create(lab=other, name="theirs")
    pieces = json_pieces(Outgoing(full))
    wanted = whole.as_json(whole.document_of(full))
    with lab_scope(other.pk):
        assert b"".join(pieces) == wanted
        assert list(Host.objects.values_list("name", flat=True)) == ["theirs"]


def test_what_is_deleted_meanwhile_is_left_out(full: Lab) -> None:
    host = Host.objects.create(lab=full, name="leaves")
    Disk.objects.create(lab=full, host=host, serial="stays")
    outgoing = Outgoing(full, kinds=["disks"])
    rows = outgoing.rows(BY_NAME["disks"])
    next(rows)
    host.delete()
    assert [row.get("host") for row in Outgoing(full).rows(BY_NAME["disks"]) if row.get("serial") == "stays"] == [None]
    assert any(row.get("serial") == "stays" for row in rows)


def queries(lab: Lab) -> int:
    with CaptureQueriesContext(connection) as asked:
        for _ in json_pieces(Outgoing(lab)):
            pass
    return len(asked)


def test_the_number_of_queries_grows_by_batch_and_not_by_row(full: Lab) -> None:
    few = queries(full)
    _more_disks(full, 300)
    assert queries(full) == few <= 50
    _more_disks(full, 1000)
    assert queries(full) <= few + 3 * 3  # two or three batches more: the disks, their hosts, their controllers


def _more_disks(lab: Lab, count: int) -> None:
    """Half of them have no identity of their own."""
    host, known = Host.objects.order_by("id").first(), Disk.objects.count()
    Disk.objects.bulk_create(
        Disk(lab=lab, host=host, serial=f"S{known + n}" if n % 2 else "", model="ST4000NM0023", notes="x" * 300)
        for n in range(count)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "pieces",
    sample([lambda lab: json_pieces(Outgoing(lab)), lambda lab: zip_pieces(Outgoing(lab)), _csv_of("disks")], 1),
)
def test_six_times_the_rows_take_no_more_memory(lab: Lab, pieces: Pieces, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the rows without an identity of their own a number stays, of the others nothing."""
    monkeypatch.setattr(document, "AT_ONCE", 50)
    monkeypatch.setattr(writers, "AT_ONCE", 50)
    Host.objects.create(lab=lab, name="h")
    _more_disks(lab, 100)
    sent(lambda: pieces(lab))  # the first one brings modules in
    low = sent(lambda: pieces(lab))[1]
    _more_disks(lab, 500)
    high = min(sent(lambda: pieces(lab))[1] for _ in range(3))  # something else may be read in beside one of them
    made_whole = sent(lambda: [whole.as_json(whole.document_of(lab))])[1]
    assert high < low + 150_000
    assert made_whole > high + 1_000_000  # or the measure would see nothing


def test_a_file_of_the_command_is_whole_or_not_there(full: Lab, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "inventory.json"
    call_command("export_inventory", file, lab=full.slug)
    before = file.read_bytes()
    assert before == whole.as_json(whole.document_of(full))
    monkeypatch.setattr(document, "_in_host", lambda kind, host: Q() if kind.name == "hosts" else Q(no_such=1))
    with pytest.raises(FieldError):
        call_command("export_inventory", file, lab=full.slug, host="storage1")
    assert [one.name for one in tmp_path.iterdir()] == [file.name]
    assert file.read_bytes() == before
