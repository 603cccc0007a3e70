"""The pages of bulk work: files out and in, many edited alike; nothing is written before it was seen, and nothing by a viewer."""

import json
from io import BytesIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from apps.inventory.models import Disk, Enclosure, Filesystem, Host, InventoryImport, Snapshot
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from tests.dashboard import world
from tests.sampling import for_each

pytestmark = pytest.mark.django_db


@pytest.fixture
def host(lab: Lab) -> Host:
    return world.raid_host(lab, "storage1")


def text_of(answer) -> str:
    return b"".join(answer.streaming_content).decode() if answer.streaming else answer.content.decode()


def upload(client, name: str, content: bytes):
    file = BytesIO(content)
    file.name = name
    return client.post(reverse("inventory-bring"), {"file": file})


def test_a_list_goes_out_as_found_or_as_ticked(lab: Lab, host: Host, sign_in) -> None:
    client, address = sign_in("viewer"), reverse("inventory-export")
    found = text_of(client.get(address, {"kind": "disks", "format": "csv", "q": "nvme"})).splitlines()
    assert len(found) == 2
    ticked = Disk.objects.filter(device_name__in=["sda", "sdb"]).values_list("pk", flat=True)
    rows = json.loads(text_of(client.get(address, {"kind": "disks", "format": "json", "pk": list(ticked)})))["disks"]
    assert [row["device_name"] for row in rows] == ["sda", "sdb"]
    assert client.get(address, {"format": "xls"}).status_code == 404
    assert client.get(address, {"host": host.pk, "format": "zip"}).status_code == 200


def test_a_published_labs_rows_do_not_go_out_as_ours(cast, sign_in) -> None:
    reports = Lab.objects.create(name="Reports", slug="reports", is_published=True)
    with lab_scope(reports.pk):
        theirs = Host.objects.create(lab=reports, name="theirs")
    address = reverse("inventory-export")
    assert json.loads(text_of(sign_in("viewer").get(address)))["hosts"] == []
    assert sign_in("viewer").get(address, {"host": theirs.pk}).status_code == 404


def test_a_file_is_looked_at_then_applied_and_only_once(lab: Lab, host: Host, sign_in) -> None:
    client = sign_in("engineer")
    there = upload(client, "hosts.csv", b"name,kernel\nstorage1,6.9\nnode9,6.9\n")
    shown = client.get(there.headers["Location"])
    page = shown.content.decode()
    assert "6.1.0-18-amd64" in page
    assert "node9" in page
    assert Host.objects.get().kernel == "6.1.0-18-amd64"
    client.post(there.headers["Location"], {"digest": shown.context["outcome"].digest})
    assert set(Host.objects.values_list("name", "kernel")) == {("storage1", "6.9"), ("node9", "6.9")}
    kept = InventoryImport.objects.get()
    assert (kept.applied_by, kept.counts["created"], kept.counts["changed"]) == ("engineer@example.org", 1, 1)
    Host.objects.update(kernel="7")
    assert client.post(there.headers["Location"], {"digest": "x"}).status_code == 200
    assert set(Host.objects.values_list("kernel", flat=True)) == {"7"}


def test_a_preview_that_is_out_of_date_is_shown_anew(lab: Lab, host: Host, sign_in) -> None:
    client = sign_in("engineer")
    there = upload(client, "hosts.csv", b"name,kernel\nstorage1,6.9\n").headers["Location"]
    digest = client.get(there).context["outcome"].digest
    Host.objects.update(kernel="6.5")
    answer = client.post(there, {"digest": digest})
    assert answer.status_code == 409
    assert "has changed since this preview was made" in answer.content.decode()
    assert client.post(there).status_code == 409
    assert Host.objects.get().kernel == "6.5"


def test_a_file_that_is_no_table_is_refused_in_words_and_not_kept(lab: Lab, sign_in) -> None:
    answer = upload(sign_in("engineer"), "hosts.csv", b"colour\nred\n")
    assert answer.status_code == 422
    assert "found &#x27;colour&#x27;, expected one of: key, name" in answer.content.decode()
    assert not InventoryImport.objects.exists()


def test_many_are_edited_alike_after_a_preview(lab: Lab, host: Host, sign_in) -> None:
    client, address = sign_in("engineer"), reverse("inventory-edit-many", args=["disks"])
    ids = list(Disk.objects.filter(device_name__startswith="sd").values_list("pk", flat=True))
    assert client.get(address, {"pk": ids}).context["form"].is_bound is False
    form = {
        "pk": ids,
        "on-firmware": "on",
        "firmware": "0006",
        "on-rpm": "on",
        "rpm": "10000",
        "labels_set": "bought=2024",
        "vendor": "not meant",
    }
    shown = client.post(address, form | {"step": "preview"})
    assert shown.context["outcome"].counts == {"created": 0, "changed": 8, "unchanged": 0, "refused": 0}
    assert not Disk.objects.filter(firmware="0006").exists()
    assert client.post(address, form | {"step": "apply", "digest": "another"}).status_code == 409
    client.post(address, form | {"step": "apply", "digest": shown.context["outcome"].digest})
    for disk in Disk.objects.filter(pk__in=ids):
        assert (disk.firmware, disk.rpm, disk.vendor, disk.labels) == ("0006", 10_000, "Seagate", {"bought": "2024"})
        assert disk.sources["firmware"] == "typed"


def test_what_cannot_be_is_refused_row_by_row(lab: Lab, host: Host, sign_in) -> None:
    other = Host.objects.create(lab=lab, name="other")
    loose = Disk.objects.create(lab=lab, serial="loose")
    client, address = sign_in("engineer"), reverse("inventory-edit-many", args=["disks"])
    form = {
        "pk": [loose.pk, Disk.objects.get(device_name="sda").pk],
        "on-host": "on",
        "host": other.pk,
        "step": "preview",
    }
    outcome = client.post(address, form).context["outcome"]
    assert outcome.counts == {"created": 0, "changed": 1, "unchanged": 0, "refused": 1}
    [refused] = [entry for entry in outcome.entries if entry.problems]
    assert "which is in storage1; expected one in other" in " ".join(one.sentence for one in refused.problems)


def test_hosts_go_into_maintenance_together(lab: Lab, sign_in) -> None:
    ids = [Host.objects.create(lab=lab, name=name).pk for name in ("a", "b")]
    client, address = sign_in("engineer"), reverse("inventory-edit-many", args=["hosts"])
    form = {
        "pk": ids,
        "on-is_in_maintenance": "on",
        "is_in_maintenance": "on",
        "on-maintenance_note": "on",
        "maintenance_note": "new fans",
    }
    digest = client.post(address, form | {"step": "preview"}).context["outcome"].digest
    client.post(address, form | {"step": "apply", "digest": digest})
    assert set(Host.objects.values_list("is_in_maintenance", "maintenance_note")) == {(True, "new fans")}


def test_all_that_a_list_finds_are_chosen_at_once(lab: Lab, host: Host, sign_in) -> None:
    answer = sign_in("engineer").get(reverse("inventory-edit-many", args=["disks"]), {"all": "1", "q": "st4000"})
    assert len(answer.context["rows"]) == 8


def test_nothing_ticked_and_nothing_meant_say_what_to_do(lab: Lab, host: Host, sign_in) -> None:
    client, address = sign_in("engineer"), reverse("inventory-edit-many", args=["disks"])
    assert "None chosen" in client.get(address).content.decode()
    answer = client.post(address, {"pk": [host.disks.first().pk], "step": "preview"})
    assert answer.status_code == 422
    assert "Tick at least one field" in answer.content.decode()
    assert client.get(reverse("inventory-edit-many", args=["pigs"])).status_code == 404
    assert client.get(reverse("inventory-edit-many", args=["storage-paths"])).status_code == 404
    assert (
        client.get(reverse("inventory-export"), {"kind": "storage-paths", "format": "csv", "q": "x"}).status_code == 200
    )


@for_each("name", ["inventory-bring", "inventory-edit-many", "inventory-merge", "inventory-duplicates"])
def test_a_viewer_changes_nothing(lab: Lab, host: Host, sign_in, name: str) -> None:
    address = reverse(name, args=["disks"] if name.endswith(("many", "merge")) else [])
    assert sign_in("viewer").post(address, {"pk": host.disks.first().pk}).status_code == 403


def test_another_labs_rows_are_not_edited(cast, lab: Lab, sign_in) -> None:
    with lab_scope(cast.other_lab.pk):
        theirs = Disk.objects.create(lab=cast.other_lab, serial="S")
    form = {"pk": theirs.pk, "on-rpm": "on", "rpm": "1", "step": "preview"}
    assert sign_in("owner").post(reverse("inventory-edit-many", args=["disks"]), form).context["rows"] == []


def test_the_commands_write_and_read_the_same_files(lab: Lab, host: Host, tmp_path, capsys) -> None:
    Lab.objects.create(name="Empty", slug="empty")
    for file in (tmp_path / "inventory.json", tmp_path / "inventory.zip"):
        call_command("export_inventory", file, lab=lab.slug)
        call_command("import_inventory", file, lab=lab.slug)
        assert "Would be: 0 created, 0 changed" in capsys.readouterr().out
    call_command("import_inventory", tmp_path / "inventory.json", lab="empty", apply=True)
    assert ", 0 refused." in capsys.readouterr().out
    with pytest.raises(CommandError, match=r"expected \.json or \.zip"):
        call_command("export_inventory", tmp_path / "x.txt", lab=lab.slug)
    (tmp_path / "x.csv").write_text("a")
    with pytest.raises(CommandError, match="expected a file name that begins with"):
        call_command("import_inventory", tmp_path / "x.csv", lab=lab.slug)


def test_enclosures_have_a_list_with_ticks_slots_and_disks(
    lab: Lab, host: Host, sign_in, django_assert_max_num_queries
) -> None:
    layout = [{"label": "Ctrl 0", "slots": ["c0d1", None, "c0d0"]}, {"label": "", "slots": ["d7"]}]
    front = Enclosure.objects.create(lab=lab, host=host, name="front", model="X4500", layout=layout)
    Disk.objects.filter(device_name__in=["sda", "sdb"]).update(enclosure="front")
    for number in range(20):
        Enclosure.objects.create(lab=lab, host=host, name=f"shelf {number}")
    client, address = sign_in("engineer"), reverse("enclosures")
    page = client.get(address, {"q": "x4500"})
    assert [(one.slot_count, one.disks_count) for one in page.context["page"]] == [(3, 2)]
    text = page.content.decode()
    assert f'name="pk" value="{front.pk}"' in text
    assert reverse("inventory-edit-many", args=["enclosures"]) in text
    assert reverse("inventory-merge", args=["enclosures"]) in text
    assert 'aria-current="page">Enclosures' in text
    with django_assert_max_num_queries(6):
        assert client.get(address).context["page"].paginator.count == 21
    shown = client.get(reverse("inventory-edit-many", args=["enclosures"]), {"pk": [front.pk]})
    assert [one.name for one in shown.context["rows"]] == ["front"]
    assert {"vendor", "naming_rule"} <= set(shown.context["form"].fields)
    assert "layout" not in shown.context["form"].fields
    assert "No enclosures yet" in sign_in("stranger").get(address).content.decode()


def test_snapshots_are_found_by_the_beginning_of_their_hosts_name(lab: Lab, sign_in) -> None:
    made = world.furnish(lab)
    client = sign_in("viewer")
    page = client.get(reverse("snapshots"), {"host": "stor"})
    assert [one.facts["host"] for one in page.context["page"]] == ["storage1"] * page.context["page"].paginator.count
    assert page.context["page"].paginator.count >= 1
    assert f'<option value="{made.host.name}">' in page.content.decode()
    none = client.get(reverse("snapshots"), {"host": "node"}, headers={"HX-Request": "true"}).content.decode()
    assert "Nothing of a host whose name begins with “node”" in none
    assert "<html" not in none


def test_two_snapshots_are_compared_by_number_and_by_hash(lab: Lab, sign_in, token) -> None:
    made = world.furnish(lab)
    first = made.finished.snapshot
    Host.objects.update(kernel="6.1.0-30")
    Filesystem.objects.filter(mount_point="/srv/data").update(
        mount_options="rw,relatime,inode64,logbsize=256k,sunit=1024,swidth=6144"
    )
    run = world.finished_run(lab, made.target, world.FIO_RESULT.read_bytes())
    client, address = sign_in("viewer"), reverse("snapshot-compare")
    for a, b in ((first.pk, run.snapshot_id), (first.sha256[:10], run.snapshot.sha256)):
        texts = [one.text for one in client.get(address, {"a": a, "b": b}).context["changes"]]
        assert texts == [
            "kernel 6.1.0-18-amd64 → 6.1.0-30",
            "mount option noatime removed",
            "mount option relatime added",
        ]
    page = client.get(address, {"a": first.pk, "b": first.pk}).content.decode()
    assert "The same stack" in page
    missing = client.get(address, {"a": first.pk, "b": "999999"})
    assert missing.status_code == 404
    assert "found no snapshot “999999”" in missing.content.decode()
    ticked = client.get(address, {"pk": [run.snapshot_id, first.pk]})
    assert [ticked.context[side].pk for side in "ab"] == [first.pk, run.snapshot_id]

    said = client.get(f"/runs/{run.pk}/").content.decode()
    assert "Since the last run on this target" in said
    assert "kernel 6.1.0-18-amd64 → 6.1.0-30" in said
    headers = {"Authorization": f"Bearer {token('read')}"}
    answer = client.get(f"/api/v1/snapshots/{first.pk}/difference/{run.snapshot_id}/", headers=headers).json()
    assert (answer["is_same"], [one["kind"] for one in answer["changes"]]) == (False, ["changed", "removed", "added"])
    listed = client.get("/api/v1/snapshots/", {"host": "storage1"}, headers=headers).json()["results"]
    assert [one["id"] for one in listed] == [first.pk, run.snapshot_id]


def test_a_hosts_timeline_tells_what_changed_when_in_a_constant_number_of_queries(
    lab: Lab, sign_in, django_assert_max_num_queries
) -> None:
    made = world.furnish(lab)
    for number in range(4):
        Host.objects.update(kernel=f"6.{number}", is_in_maintenance=False)  # where no run would be started
        world.finished_run(lab, made.target, world.FIO_RESULT.read_bytes())
        Host.objects.update(is_in_maintenance=bool(number % 2))
    client, address = sign_in("viewer"), reverse("host-timeline", args=[made.host.pk])
    entries = list(client.get(address).context["page"])
    snapshots = [one for one in entries if one.kind == "snapshot"]
    assert [[change.text for change in one.changes] for one in snapshots] == [
        ["kernel 6.2 → 6.3"], ["kernel 6.1 → 6.2"], ["kernel 6.0 → 6.1"], ["kernel 6.1.0-18-amd64 → 6.0"], []
    ]  # fmt: skip
    assert [one.runs for one in snapshots] == [1] * 5
    assert [one.sentence for one in entries if one.kind == "maintenance"] == [
        "began, by the system",
        "ended, by the system",
        "began, by the system",
    ]
    assert [one.tools for one in entries if one.kind == "look"] == [["lsblk"]]
    with django_assert_max_num_queries(12):
        client.get(address)
    assert {one.kind for one in client.get(address, {"only": "look"}).context["page"]} == {"look"}
    assert Snapshot.objects.count() == 5
