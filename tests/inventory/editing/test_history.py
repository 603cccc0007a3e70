"""Every change is kept with who, when, before and after, whichever way it came; what a person did can be taken back."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import ProgrammingError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.inventory.discovery.receive import receive
from apps.inventory.history.authors import by
from apps.inventory.history.log import told
from apps.inventory.models import Array, Change, Controller, Disk, Filesystem, Host
from apps.inventory.vocabulary import Author
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from tests.agents.conftest import agent  # noqa: F401
from tests.inventory.editing.parts import Machine, form_of, machine
from tests.inventory.hosts import guest

SignIn = Callable[[str], Client]


@pytest.fixture
def ours(lab: Lab) -> Machine:
    return machine(lab)


@pytest.fixture
def engineer(sign_in: SignIn) -> Client:
    return sign_in("engineer")


def edit(client: Client, address: str, **changed: str) -> Any:
    answer = client.post(address, form_of(client.get(address)) | changed)
    assert answer.status_code == 302, answer.content.decode()[:2000]
    return answer


def lines(change: Change) -> list[tuple[str, str, str]]:
    return [(line.label, line.before, line.after) for entry in told([change]) for line in entry.lines]


def test_a_persons_change_says_who_before_and_after(ours: Machine, engineer: Client) -> None:
    disk = ours.disks[0]
    edit(engineer, f"/disks/{disk.pk}/edit/", capacity_bytes="250 GB", controller="", is_solid_state="no")
    change = Change.objects.of_part("disk", disk.pk).first()
    assert change.before["capacity_bytes"] == 600 * 10**9
    assert change.after["capacity_bytes"] == 250 * 10**9
    assert (change.who["by"], change.who["name"]) == ("person", "engineer@example.org")
    assert ("capacity", "600\u00a0GB", "250\u00a0GB") in lines(change)
    assert ("controller", "HBA", "unknown") in lines(change)
    assert ("solid state", "unknown", "no") in lines(change)


def test_bulk_updates_are_caught_and_empty_ones_are_not(ours: Machine) -> None:
    before = Change.objects.count()
    Disk.objects.update(rpm=7200)
    assert Change.objects.count() == before + 8
    Disk.objects.update(rpm=7200)
    Disk.objects.bulk_update(ours.disks, ["vendor"])
    assert Change.objects.count() == before + 8


def test_history_is_only_added_to(ours: Machine) -> None:
    for act in (lambda: Change.objects.update(part_name="x"), lambda: Change.objects.all().delete()):
        with pytest.raises(ProgrammingError, match="Cannot update or delete"), transaction.atomic():
            act()


def test_a_discovery_is_its_agents_and_the_second_changes_nothing(lab: Lab) -> None:
    host = Host.objects.create(lab=lab, name="guest")
    with by(Author.AGENT, host.name):
        receive(host, guest())
    disks = Change.objects.filter(part_kind="disk")
    assert {change.who["name"] for change in disks} == {"guest"}
    count = Change.objects.count()
    assert count > 5
    Filesystem.objects.update(used_bytes=1)  # every look finds another one
    with by(Author.AGENT, host.name):
        Filesystem.objects.update(used_bytes=2, free_bytes=3)
        receive(host, guest())
    assert (
        Change.objects.exclude(part_kind="filesystem").count()
        == count - Change.objects.filter(part_kind="filesystem", act="made").count()
    )


def test_an_agents_message_is_told_as_its_hosts(agent: Any, cast: Any) -> None:  # noqa: F811
    answer = agent.post("inventory/", outputs=guest())
    assert answer.status_code == 202
    with lab_scope(cast.lab.pk):
        assert {change.by for change in Change.objects.filter(part_kind="disk")} == {"agent"}


def test_a_moved_disk_is_in_the_history_of_both_hosts(ours: Machine, lab: Lab, engineer: Client) -> None:
    other = Host.objects.create(lab=lab, name="node8")
    edit(engineer, f"/disks/{ours.disks[7].pk}/edit/", host=str(other.pk), controller="", slot_number="4")
    for host in (ours.host, other):
        text = engineer.get(f"/hosts/{host.pk}/history/?by=person").content.decode()
        assert "disk sdh" in text
        assert "node7" in text
        assert "node8" in text


def test_a_page_of_history_costs_the_same_queries_however_long(ours: Machine, engineer: Client) -> None:
    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as made:
            assert engineer.get(f"/hosts/{ours.host.pk}/history/?kind=disk&act=changed").status_code == 200
        return len(made)

    Disk.objects.update(controller=None)
    few = queries()
    for rpm in range(40):
        Disk.objects.update(rpm=rpm)
    Disk.objects.update(controller=ours.controller)
    assert queries() == few


def test_the_labs_history_can_be_narrowed(ours: Machine, engineer: Client) -> None:
    edit(engineer, f"/disks/{ours.disks[0].pk}/edit/", firmware="A1")
    everything = engineer.get("/hosts/history/").context["page"].paginator.count
    assert everything > 10
    narrowed = [
        ("kind=disk&by=person", 1), ("who=ENGINEER", 1), ("who=nobody", 0), ("q=sda&act=changed", 1), ("since=2100-01-01", 0),
        ("until=2100-01-01", everything), ("kind=nonsense&since=yesterday", everything),
    ]  # fmt: skip
    for query, count in narrowed:
        assert engineer.get(f"/hosts/history/?{query}").context["page"].paginator.count == count, query


def test_undo_restores_exactly_those_fields_and_their_sources_as_a_new_change(ours: Machine, engineer: Client) -> None:
    disk = ours.disks[0]
    edit(engineer, f"/disks/{disk.pk}/edit/", capacity_bytes="250 GB", rpm="7200")
    change = Change.objects.of_part("disk", disk.pk).first()
    with by(Author.COMMAND, "later"):
        Disk.objects.filter(pk=disk.pk).update(firmware="A1")
    assert "600\u00a0GB" in engineer.get(f"/hosts/changes/{change.pk}/undo/").content.decode()
    assert engineer.post(f"/hosts/changes/{change.pk}/undo/").headers["Location"] == f"/disks/{disk.pk}/history/"
    now = Disk.objects.get(pk=disk.pk)
    assert (now.capacity_bytes, now.rpm, now.firmware) == (600 * 10**9, None, "A1")
    assert now.sources == {"capacity_bytes": "discovered"}  # the next look may say another
    newest = Change.objects.of_part("disk", disk.pk).first()
    assert (newest.by, newest.before["rpm"], newest.after["rpm"]) == ("person", 7200, None)


def test_undo_is_refused_where_later_changes_touched_the_same_fields(
    ours: Machine, engineer: Client, sign_in: SignIn
) -> None:
    disk = ours.disks[0]
    edit(engineer, f"/disks/{disk.pk}/edit/", rpm="7200")
    change = Change.objects.of_part("disk", disk.pk).first()
    edit(sign_in("owner"), f"/disks/{disk.pk}/edit/", rpm="10000")
    page = engineer.post(f"/hosts/changes/{change.pk}/undo/")
    text = page.content.decode()
    assert page.status_code == 409
    assert "sda was changed again since: rpm." in text
    assert "owner@example.org" in text
    assert Disk.objects.get(pk=disk.pk).rpm == 10000


def test_what_tools_did_is_not_undone(ours: Machine, engineer: Client) -> None:
    with by(Author.AGENT, "node7"):
        Disk.objects.filter(pk=ours.disks[0].pk).update(rpm=5400)
    change = Change.objects.of_part("disk", ours.disks[0].pk).first()
    page = engineer.post(f"/hosts/changes/{change.pk}/undo/")
    assert (page.status_code, "Only changes made by a person" in page.content.decode()) == (409, True)


def test_members_go_back_in_their_order(ours: Machine, engineer: Client) -> None:
    page = engineer.get(f"/arrays/{ours.md1.pk}/edit/")
    page = engineer.post(f"/arrays/{ours.md1.pk}/edit/", form_of(page) | {"act": "member-remove-0"})
    page = engineer.post(f"/arrays/{ours.md1.pk}/edit/", form_of(page) | {"act": "add-member"})
    page = engineer.post(f"/arrays/{ours.md1.pk}/edit/", form_of(page) | {"member-2-what": "sdh"})
    assert [str(member) for member in ours.md1.members.all()] == ["sdf", "sdg", "sdh"]
    change = Change.objects.of_part("array", ours.md1.pk).first()
    assert engineer.post(f"/hosts/changes/{change.pk}/undo/").status_code == 302
    assert [str(member) for member in ours.md1.members.all()] == ["sde", "sdf", "sdg"]


@pytest.mark.slow
def test_a_deleted_host_comes_back_with_all_that_went_with_it(ours: Machine, engineer: Client) -> None:
    before = {
        model: list(model.objects.order_by("pk").values_list("pk", flat=True))
        for model in (Host, Controller, Array, Filesystem)
    }
    engineer.post(f"/hosts/{ours.host.pk}/delete/", {"version": "999999999"})
    assert not Array.objects.exists()
    page = engineer.get(f"/hosts/{ours.host.pk}/history/")
    assert "Bring back …" in page.content.decode()
    change = Change.objects.of_part("host", ours.host.pk).filter(act="deleted").get()
    assert engineer.post(f"/hosts/changes/{change.pk}/undo/").status_code == 302
    assert {model: list(model.objects.order_by("pk").values_list("pk", flat=True)) for model in before} == before
    assert Disk.objects.filter(host=ours.host, controller=ours.controller).count() == 8
    assert [str(member) for member in ours.md2.members.all()] == ["md0", "md1"]


def test_what_was_made_is_not_undone_into_nothing(ours: Machine, lab: Lab, engineer: Client) -> None:
    address = f"/disks/new/?host={ours.host.pk}"
    engineer.post(address, form_of(engineer.get(address)) | {"serial": "NEW"})
    change = Change.objects.filter(part_kind="disk").first()
    page = engineer.post(f"/hosts/changes/{change.pk}/undo/")
    assert (page.status_code, "Delete it on its page" in page.content.decode()) == (409, True)


def test_a_viewer_reads_history_and_undoes_nothing(ours: Machine, sign_in: SignIn, engineer: Client) -> None:
    edit(engineer, f"/disks/{ours.disks[0].pk}/edit/", rpm="7200")
    change = Change.objects.of_part("disk", ours.disks[0].pk).first()
    viewer = sign_in("viewer")
    text = viewer.get(f"/disks/{ours.disks[0].pk}/history/").content.decode()
    assert "7200" in text
    assert "Undo …" not in text
    assert viewer.post(f"/hosts/changes/{change.pk}/undo/").status_code == 403
