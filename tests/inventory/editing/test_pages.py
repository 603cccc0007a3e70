"""Parts are added, changed and deleted by hand; only what a person changed counts as typed."""

from collections.abc import Callable

import pytest
from django.test import Client

from apps.inventory.editing.registry import KINDS
from apps.inventory.models import (
    Array,
    Change,
    Controller,
    Disk,
    Enclosure,
    Filesystem,
    Host,
    NetworkLink,
    Nic,
    StoragePath,
    Switch,
    Target,
)
from apps.labs.models import Lab
from apps.runs.models import Run
from tests.inventory.editing.parts import Machine, form_of, machine

SignIn = Callable[[str], Client]


@pytest.fixture
def ours(lab: Lab) -> Machine:
    return machine(lab)


@pytest.fixture
def engineer(sign_in: SignIn) -> Client:
    return sign_in("engineer")


def test_saving_an_untouched_form_changes_nothing(ours: Machine, engineer: Client) -> None:
    before = Change.objects.count()
    for name, part in (("disks", ours.disks[0]), ("arrays", ours.md2), ("hosts", ours.host), ("filesystems", ours.filesystem),
                       ("targets", ours.target), ("controllers", ours.controller)):  # fmt: skip
        address = f"/{name}/{part.pk}/edit/"
        answer = engineer.post(address, form_of(engineer.get(address)))
        assert answer.status_code == 302, name
    assert Change.objects.count() == before


def test_a_renamed_enclosure_takes_its_disks_along(ours: Machine, lab: Lab, engineer: Client) -> None:
    shelf = Enclosure.objects.create(lab=lab, host=ours.host, name="front")
    Disk.objects.filter(pk=ours.disks[0].pk).update(enclosure="front", slot_number=1)
    address = f"/enclosures/{shelf.pk}/edit/"
    assert engineer.post(address, form_of(engineer.get(address)) | {"name": "back"}).status_code == 302
    assert Disk.objects.get(pk=ours.disks[0].pk).enclosure == "back"
    change = Change.objects.of_part("enclosure", shelf.pk).first()
    engineer.post(f"/hosts/changes/{change.pk}/undo/")
    assert Disk.objects.get(pk=ours.disks[0].pk).enclosure == "front"


def test_only_what_was_changed_is_typed(ours: Machine, engineer: Client) -> None:
    address = f"/disks/{ours.disks[0].pk}/edit/"
    data = form_of(engineer.get(address)) | {"rpm": "7200", "cache_bytes": "16 MiB", "why-firmware": "not_printed"}
    assert engineer.post(address, data).headers["Location"] == f"/disks/{ours.disks[0].pk}/"
    disk = Disk.objects.get(pk=ours.disks[0].pk)
    assert (disk.rpm, disk.cache_bytes, disk.absent) == (7200, 16 * 2**20, {"firmware": "not_printed"})
    assert disk.sources == {"capacity_bytes": "discovered", "rpm": "typed", "cache_bytes": "typed", "firmware": "typed"}


@pytest.mark.parametrize(
    ("field", "text", "said"),
    [
        ("capacity_bytes", "600", "the unit is missing"),
        ("capacity_bytes", "600 Gb", "b stands for bits"),
        ("rpm", "7200 rpm", "expected a whole number such as 7200"),
        ("serial", "node7-b", "another disk of this lab"),
    ],
)
def test_what_cannot_be_is_refused_beside_its_field_and_nothing_is_lost(
    ours: Machine, engineer: Client, field: str, text: str, said: str
) -> None:
    address = f"/disks/{ours.disks[0].pk}/edit/"
    data = form_of(engineer.get(address)) | {field: text, "notes": "typed with care"}
    page = engineer.post(address, data)
    assert page.status_code == 422
    assert said in " ".join(page.context["form"].errors[field])
    assert "typed with care" in page.content.decode()
    assert text in page.content.decode()


def test_many_alike_are_added_in_one_form(ours: Machine, engineer: Client) -> None:
    address = f"/disks/new/?host={ours.host.pk}"
    data = form_of(engineer.get(address))
    data |= {"device_name": "sdy", "model": "X", "slot_number": "7", "how_many": "16", "capacity_bytes": "4 TB"}
    assert engineer.post(address, data).headers["Location"] == f"/hosts/{ours.host.pk}/"
    found = Disk.objects.filter(model="X").order_by("slot_number")
    assert [disk.device_name for disk in found][:3] == ["sdy", "sdz", "sdaa"]
    assert [disk.slot_number for disk in found] == list(range(7, 23))
    assert {disk.capacity_bytes for disk in found} == {4 * 10**12}


def test_members_are_added_moved_and_removed_without_any_script(ours: Machine, engineer: Client) -> None:
    address = f"/arrays/{ours.md1.pk}/edit/"
    data = form_of(engineer.get(address))
    page = engineer.post(address, data | {"act": "add-member"})
    assert [row["what"] for row in page.context["form"].place_rows] == ["sde", "sdf", "sdg", ""]
    page = engineer.post(address, form_of(page) | {"member-3-what": "node7-h", "act": "member-up-3"})
    assert [row["what"] for row in page.context["form"].place_rows] == ["sde", "sdf", "node7-h", "sdg"]
    page = engineer.post(address, form_of(page) | {"act": "member-remove-0"})
    assert Array.objects.get(pk=ours.md1.pk).members.count() == 3  # the buttons save nothing
    assert engineer.post(address, form_of(page)).status_code == 302
    members = ours.md1.members.order_by("position").select_related("disk")
    assert [(member.position, member.disk.device_name) for member in members] == [(0, "sdf"), (1, "sdh"), (2, "sdg")]


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("md2", "which lies on md0 itself"),
        ("sdb", "which is member 1 already"),
        ("nvme9", "expected a disk or an array of node7"),
    ],
)
def test_members_that_cannot_be_are_refused(ours: Machine, engineer: Client, what: str, said: str) -> None:
    address = f"/arrays/{ours.md0.pk}/edit/"
    data = form_of(engineer.get(address)) | {"member-3-what": what}
    page = engineer.post(address, data)
    assert page.status_code == 422
    assert said in page.content.decode()
    assert ours.md0.members.count() == 4


def test_every_kind_can_be_added(ours: Machine, lab: Lab, engineer: Client) -> None:
    wanted = {
        "host": {"name": "node8"}, "controller": {"name": "FC"}, "disk": {"serial": "Z"},
        "array": {"name": "md7", "member-count": "1", "member-0-what": "sdh"},
        "filesystem": {"type": "ext4", "mount_point": "/var"}, "target": {"name": "/var"}, "enclosure": {"name": "JBOD"},
        "nic": {"name": "eth0", "bits_per_second": "10 Gb/s"}, "switch": {"name": "sw"},
        "networklink": {},
        "storagepath": {
            "name": "SAN", "section-count": "1", "section-0-name": "server – T2000", "section-0-count": "4", "section-0-standby_count": "0",
            "section-0-bytes_per_second": "1 GB/s",
        },
    }  # fmt: skip
    for kind in KINDS:
        address = f"/{kind.plural}/new/" + (f"?host={ours.host.pk}" if kind.has_host else "")
        more = dict(wanted[kind.name])
        if kind.name == "networklink":
            more = {
                "nic": str(Nic.objects.get().pk),
                "far_switch": str(Switch.objects.get().pk),
                "bits_per_second": "10 Gb/s",
            }
        answer = engineer.post(address, form_of(engineer.get(address)) | more)
        assert answer.status_code == 302, (kind.name, answer.context["form"].errors, answer.context["form"].row_errors)
    assert (Host.objects.count(), Controller.objects.count(), NetworkLink.objects.get().bits_per_second) == (
        2,
        2,
        10**10,
    )
    assert [(one.count, one.bytes_per_second) for one in StoragePath.objects.get().sections.all()] == [(4, 10**9)]
    assert Array.objects.get(name="md7").members.get().disk == ours.disks[7]


def test_a_part_for_a_host_asks_for_the_host_first(ours: Machine, engineer: Client) -> None:
    page = engineer.get("/disks/new/")
    assert "Where is the new disk?" in page.content.decode()
    assert f'<option value="{ours.host.pk}">node7</option>' in page.content.decode()


def test_labels_are_rows_of_names_and_values(ours: Machine, engineer: Client) -> None:
    address = f"/hosts/{ours.host.pk}/edit/"
    data = form_of(engineer.get(address)) | {
        "label-count": "2",
        "label-0-name": "room",
        "label-0-value": "B12",
        "label-1-name": "",
        "label-1-value": "",
    }
    assert engineer.post(address, data).status_code == 302
    assert Host.objects.get(pk=ours.host.pk).labels == {"room": "B12"}
    assert "room=B12" in engineer.get("/hosts/?label=room%3DB12").content.decode()
    assert "Nothing with" in engineer.get("/hosts/?label=room%3DB13").content.decode()
    half = form_of(engineer.get(address)) | {"label-0-value": ""}
    page = engineer.post(address, half)
    assert (page.status_code, "expected a name and a value" in page.content.decode()) == (422, True)


def test_who_was_slower_sees_the_difference_and_loses_nothing(ours: Machine, sign_in: SignIn, engineer: Client) -> None:
    address = f"/disks/{ours.disks[0].pk}/edit/"
    mine = form_of(engineer.get(address)) | {"rpm": "7200", "firmware": "A1"}
    owner = sign_in("owner")
    owner.post(address, form_of(owner.get(address)) | {"vendor": "Seagate", "rpm": "10000"})
    page = engineer.post(address, mine)
    assert page.status_code == 409
    form, text = page.context["form"], page.content.decode()
    assert (form["rpm"].value(), form["firmware"].value(), form["vendor"].value()) == ("7200", "A1", "Seagate")
    assert "Somebody else saved first" in text
    assert "owner@example.org" in text
    assert Disk.objects.get(pk=ours.disks[0].pk).rpm == 10000
    assert engineer.post(address, form_of(page)).status_code == 302
    disk = Disk.objects.get(pk=ours.disks[0].pk)
    assert (disk.rpm, disk.firmware, disk.vendor) == (7200, "A1", "Seagate")


def test_a_viewer_edits_nothing(ours: Machine, sign_in: SignIn) -> None:
    viewer = sign_in("viewer")
    assert viewer.get(f"/disks/{ours.disks[0].pk}/edit/").status_code == 403
    assert viewer.post(f"/disks/{ours.disks[0].pk}/delete/").status_code == 403
    assert "/edit/" not in viewer.get(f"/disks/{ours.disks[0].pk}/").content.decode()
    assert f"/disks/{ours.disks[0].pk}/history/" in viewer.get(f"/disks/{ours.disks[0].pk}/").content.decode()


def test_deleting_says_what_goes_and_what_stays(ours: Machine, engineer: Client) -> None:
    text = engineer.get(f"/controllers/{ours.controller.pk}/delete/").content.decode()
    assert "8 disks lose their controller: sda, sdb" in text
    text = engineer.get(f"/hosts/{ours.host.pk}/delete/").content.decode()
    assert "3 arrays: md0, md1, md2" in text
    assert "8 disks lose their host" in text
    page = engineer.get(f"/hosts/{ours.host.pk}/delete/")
    assert engineer.post(f"/hosts/{ours.host.pk}/delete/", {"version": page.context["version"]}).status_code == 302
    assert (Host.objects.count(), Array.objects.count(), Disk.objects.filter(host=None).count()) == (0, 0, 8)


def test_a_member_and_a_host_with_evidence_cannot_be_deleted(ours: Machine, lab: Lab, engineer: Client) -> None:
    page = engineer.post(f"/disks/{ours.disks[0].pk}/delete/", {"version": "999999999"})
    assert (page.status_code, "It is a member of md0 in node7" in page.content.decode()) == (409, True)
    Run.objects.create(lab=lab, tool="fio", origin="uploaded", host=ours.host, target=ours.target)
    text = engineer.get(f"/hosts/{ours.host.pk}/delete/").content.decode()
    assert "1 run: parts with runs cannot be deleted." in text
    assert '<button class="btn btn-danger">' not in text
    assert Target.objects.count() == 1


def test_a_disk_moves_to_another_host_only_when_nothing_holds_it(ours: Machine, lab: Lab, engineer: Client) -> None:
    other = Host.objects.create(lab=lab, name="node8")
    address = f"/disks/{ours.disks[0].pk}/edit/"
    page = engineer.post(address, form_of(engineer.get(address)) | {"host": str(other.pk), "controller": ""})
    assert "it is a member of md0 in node7; take it out first" in page.content.decode()
    address = f"/disks/{ours.disks[7].pk}/edit/"
    page = engineer.post(address, form_of(engineer.get(address)) | {"host": str(other.pk)})
    assert "found HBA, which is in node7; expected one in node8" in page.content.decode()
    assert (
        engineer.post(address, form_of(engineer.get(address)) | {"host": str(other.pk), "controller": ""}).status_code
        == 302
    )
    assert Disk.objects.get(pk=ours.disks[7].pk).host == other


def test_the_agents_own_directory_is_not_for_people_to_move(ours: Machine, engineer: Client) -> None:
    Target.objects.filter(pk=ours.target.pk).update(is_agents_own=True)
    address = f"/targets/{ours.target.pk}/edit/"
    page = engineer.post(address, form_of(engineer.get(address)) | {"path": "/etc"})
    assert "the host&#x27;s own agent offers it" in page.content.decode()
    assert Filesystem.objects.count() == 1
