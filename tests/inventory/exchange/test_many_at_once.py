"""Many rows in few statements: as many queries for two hundred as for two, each row in the history, and the same fate for each as one by one."""

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.inventory.exchange.files import IncomingFile, read
from apps.inventory.exchange.importer import bring_in, preview
from apps.inventory.exchange.outcome import Outcome
from apps.inventory.models import Array, ArrayMember, Change, Controller, Disk, Filesystem, Host
from apps.labs.models import Lab

pytestmark = pytest.mark.django_db


def rows_of(**kinds: Any) -> list[IncomingFile]:
    return read(json.dumps({"format": "spindle inventory", "version": 1, **kinds}).encode(), "inventory.json")


def many(count: int, firmware: str = "SN05") -> list[IncomingFile]:
    hosts = range(count // 10)
    return rows_of(
        hosts=[{"name": f"h{n}"} for n in hosts],
        controllers=[{"host": f"h{n}", "name": name} for n in hosts for name in ("hba", "zcr")],
        disks=[
            {"host": f"h{n // 10}", "serial": f"S{n}", "model": "ST", "firmware": firmware, "labels": {"rack": firmware}}
            for n in range(count)
        ],
        arrays=[
            {"host": f"h{n}", "name": "md0", "members": [{"position": i, "disk": f"serial/ST/S{n * 10 + i}"} for i in range(9)]}
            for n in hosts
        ],
    )  # fmt: skip


def queries(rows: list[IncomingFile], lab: Lab) -> tuple[int, Outcome]:
    with CaptureQueriesContext(connection) as asked:
        outcome = preview(lab, rows)
    return len(asked), outcome


@pytest.mark.parametrize("act", ["created", "unchanged", "changed"])
def test_the_number_of_queries_does_not_grow_with_the_file(lab: Lab, act: str) -> None:
    counts = []
    for size in (20, 200):
        if act != "created":
            bring_in(lab, many(size), "engineer")
        asked, outcome = queries(many(size, "SN06" if act == "changed" else "SN05"), lab)
        assert outcome.counts[act] >= size
        counts.append(asked)
    assert counts[1] <= counts[0] + 1
    assert counts[1] < 50


def test_each_row_is_in_the_history_with_what_changed(lab: Lab) -> None:
    bring_in(lab, many(30), "engineer")
    assert Change.objects.filter(row_kind="disk", act="made").count() == 30
    assert ArrayMember.objects.count() == Change.objects.filter(row_kind="arraymember").count() == 27
    was = Disk.objects.get(serial="S7").updated_at
    bring_in(lab, many(30, "SN06"), "engineer")
    changed = Change.objects.filter(row_kind="disk", act="changed")
    assert [(one.before["firmware"], one.after["labels"]) for one in changed] == [("SN05", {"rack": "SN06"})] * 30
    disk = Disk.objects.get(serial="S7")
    assert (disk.firmware, disk.sources["firmware"], disk.is_present, disk.capacity_bytes) == (
        "SN06",
        "typed",
        True,
        None,
    )
    assert disk.updated_at > was


def test_a_row_that_breaks_a_rule_of_the_database_is_refused_and_the_others_are_written(lab: Lab) -> None:
    host = Host.objects.create(lab=lab, name="h")
    Disk.objects.create(lab=lab, host=host, serial="S1", model="ST")
    other = Disk.objects.create(lab=lab, host=host, serial="S2", model="ST")
    new = [{"host": "h", "mount_point": "/data", "device_name": f"sd{n}", "type": "xfs"} for n in "abc"]
    new[2]["mount_point"] = "/other"
    new[1]["key"] = "h/a second one"
    rows = rows_of(disks=[{"key": "serial/ST/S2", "serial": "S1"}], filesystems=new)
    outcome = bring_in(lab, rows, "engineer")
    assert outcome.counts == {"created": 2, "changed": 0, "unchanged": 0, "refused": 2}
    assert [one.problems[0].sentence[:60] for one in outcome.entries if one.problems] == [
        "found the model and serial number of another disk of this la", "found a mount point where another filesystem of this host is",
    ]  # fmt: skip
    other.refresh_from_db()
    assert other.serial == "S2"
    assert set(Filesystem.objects.values_list("device_name", flat=True)) == {"sda", "sdc"}


def test_names_that_move_on_from_row_to_row_are_taken_in_the_files_order(lab: Lab) -> None:
    host = Host.objects.create(lab=lab, name="h")
    a, b = (Controller.objects.create(lab=lab, host=host, name=name) for name in ("a", "b"))
    rows = [{"key": "h/b", "name": "c"}, {"key": "h/a", "name": "b"}]
    assert bring_in(lab, rows_of(controllers=rows), "engineer").counts["refused"] == 0
    assert [Controller.objects.get(pk=one.pk).name for one in (a, b)] == ["b", "c"]
    back = [{"key": "h/b", "name": "c"}, {"key": "h/c", "name": "d"}]
    refused, changed = bring_in(lab, rows_of(controllers=back), "engineer").entries
    assert refused.problems[0].sentence.startswith("found the name of another controller of this host")
    assert changed.act == "changed"


def test_what_only_the_database_refuses_is_found_row_by_row(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever was not foreseen: the kind is done again, one by one, and only the row that is meant is refused."""
    host = Host.objects.create(lab=lab, name="h")
    Controller.objects.create(lab=lab, host=host, name="a")
    second = Controller.objects.create(lab=lab, host=host, name="b")
    new = [{"host": "h", "name": f"new {n}"} for n in range(5)]
    rows = rows_of(controllers=[{"key": "h/b", "name": "a", "firmware": "2"}, *new, {"key": "h/a", "firmware": "3"}])
    foreseen = preview(lab, rows)
    monkeypatch.setattr("apps.inventory.exchange.row_writer.held_by", lambda model, rows: [])
    outcome = bring_in(lab, rows, "engineer")
    assert outcome.counts == {"created": 5, "changed": 1, "unchanged": 0, "refused": 1}
    assert outcome.digest == foreseen.digest
    second.refresh_from_db()
    assert (second.name, second.firmware, Controller.objects.get(name="a").firmware) == ("b", "", "3")
    assert Change.objects.filter(row_kind="controller", act="made").count() == 7


def test_members_that_change_place_keep_their_rows(lab: Lab) -> None:
    bring_in(lab, many(10), "engineer")
    array = Array.objects.get()
    before = list(array.members.order_by("position").values_list("pk", flat=True))
    said = [{"position": at, "disk": f"serial/ST/S{disk}"} for at, disk in enumerate((1, 0, 2, 9))]
    outcome = bring_in(lab, rows_of(arrays=[{"key": "h0/md0", "members": said}]), "engineer")
    assert outcome.counts["changed"] == 1
    after = list(array.members.order_by("position").values_list("pk", "disk__serial"))
    assert after == list(zip(before, ["S1", "S0", "S2", "S9"], strict=False))
    acts = Change.objects.filter(row_kind="arraymember").exclude(act="made").values_list("act", flat=True)
    assert sorted(acts) == ["changed"] * 3 + ["deleted"] * 5
