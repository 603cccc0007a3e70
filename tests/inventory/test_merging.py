"""Two rows that are one thing become one: every run, snapshot and member stays, and nothing is lost in silence."""

import pytest
from django.urls import reverse

from apps.agents.models import Agent
from apps.inventory.bulk.duplicates import DuplicateCandidate, likely
from apps.inventory.bulk.merge import MERGED, MergeError, merge, preview
from apps.inventory.bulk.suspects import likely_in
from apps.inventory.models import Array, Controller, Difference, Disk, Enclosure, Host, Snapshot, Target, ToolOutput
from apps.labs.isolation import lab_scope
from apps.labs.models import AuditEvent, Lab
from apps.runs.models import Attempt, Run
from tests.dashboard import world

pytestmark = [pytest.mark.django_db, pytest.mark.services]


def merged(lab: Lab, stays, goes, *taken: str):
    return merge(lab, stays, goes, taken, "engineer", preview(lab, stays, goes, taken).digest)


def test_two_hosts_become_one_with_every_run_and_snapshot(lab: Lab) -> None:
    made = world.furnish(lab)
    other = Host.objects.create(
        lab=lab, name="storage1.example.org", fqdn="storage1.example.org", board="X11", labels={"rack": "3"}
    )
    before = {run.pk: (run.snapshot_id, run.target_id) for run in Run.objects.all()}
    counts = Snapshot.objects.count(), Attempt.objects.count(), ToolOutput.objects.count(), Disk.objects.count()
    told = merged(lab, other, made.host, "kernel", "os")
    assert {run.pk: (run.snapshot_id, run.target_id) for run in Run.objects.filter(host=other)} == before
    assert (
        Snapshot.objects.count(),
        Attempt.objects.count(),
        ToolOutput.objects.count(),
        Disk.objects.count(),
    ) == counts
    assert not Host.objects.filter(name="storage1").exists()
    other.refresh_from_db()
    assert (other.kernel, other.sources["kernel"], other.board, other.cpu_model) == (
        "6.1.0-18-amd64",
        "discovered",
        "X11",
        "",
    )
    assert Agent.objects.get().host == other
    assert told.moved["runs"] == 2
    assert told.moved["disks"] == 9


def test_what_both_hosts_call_alike_is_merged_as_well(lab: Lab) -> None:
    first, second = world.raid_host(lab, "node"), world.raid_host(lab, "node.example.org")
    run = world.start(lab, second.targets.get(is_agents_own=True))
    told = merged(lab, first, second)
    assert "target node.example.org: data is merged with the one of the same name" in told.also
    run.refresh_from_db()
    assert run.target == first.targets.get(is_agents_own=True)
    assert first.arrays.count() == 3
    assert first.disks.count() == 18
    assert any("members of md0 are dropped" in one for one in told.also)
    assert first.filesystems.filter(mount_point="/srv/data").count() == 1


def test_a_preview_writes_nothing_and_says_what_a_merge_then_does(lab: Lab) -> None:
    first, second = world.raid_host(lab, "node"), world.raid_host(lab, "node.example.org")
    shown = preview(lab, first, second, ())
    assert Host.objects.count() == 2
    assert shown.moved == merge(lab, first, second, (), "engineer", shown.digest).moved
    assert AuditEvent.objects.get(act="inventory merged").detail["goes"] == second.pk


def test_a_merge_that_is_not_what_was_shown_is_not_done(lab: Lab) -> None:
    first, second = (Host.objects.create(lab=lab, name=name) for name in ("a", "b"))
    shown = preview(lab, first, second, ())
    Disk.objects.create(lab=lab, host=second, serial="S")
    with pytest.raises(MergeError, match="has changed since"):
        merge(lab, first, second, (), "engineer", shown.digest)
    assert Host.objects.count() == 2


def test_two_living_agents_are_not_merged_and_one_out_of_use_gives_way(lab: Lab) -> None:
    first, second = (Host.objects.create(lab=lab, name=name) for name in ("a", "b"))
    old, new = world.agent_on(first), world.agent_on(second)
    assert "revoke the one that is wrong first" in preview(lab, first, second, ()).problems[0]
    Agent.objects.filter(pk=old.pk).update(state="revoked")
    merged(lab, first, second)
    assert Agent.objects.get() == new
    assert Agent.objects.get().host == first


def test_a_disk_keeps_its_places_and_open_differences(lab: Lab) -> None:
    host = world.raid_host(lab, "node")
    stays, goes = Disk.objects.get(device_name="sda"), Disk.objects.create(lab=lab, host=host, serial="z1z a", rpm=5400)
    array = Array.objects.create(lab=lab, host=host, name="md7")
    array.members.create(position=0, disk=goes, partition="sda2")
    Difference.objects.create(
        lab=lab, host=host, part_kind="disk", part_id=goes.pk, part_name="x", field="rpm", typed=1
    )
    merged(lab, stays, goes, "rpm")
    stays.refresh_from_db()
    assert stays.rpm == 5400
    assert set(stays.memberships.values_list("array__name", flat=True)) == {"md0", "md7"}
    assert Difference.objects.get().part_id == stays.pk


def test_a_disk_that_would_be_in_one_array_twice_is_refused(lab: Lab) -> None:
    world.raid_host(lab, "node")
    stays, goes = Disk.objects.get(device_name="sda"), Disk.objects.get(device_name="sdb")
    with pytest.raises(MergeError, match="Both are members of md0"):
        merged(lab, stays, goes)


def test_controllers_of_two_hosts_are_not_merged(lab: Lab) -> None:
    one, other = (
        Controller.objects.create(lab=lab, host=world.raid_host(lab, name), name="card") for name in ("a", "b")
    )
    assert "merge the two hosts first" in preview(lab, one, other, ()).problems[0]


def test_disks_follow_their_enclosure(lab: Lab) -> None:
    host = Host.objects.create(lab=lab, name="node")
    stays, goes = (Enclosure.objects.create(lab=lab, host=host, name=name) for name in ("front", "Front "))
    disk = Disk.objects.create(lab=lab, host=host, serial="S", enclosure="Front ")
    merged(lab, stays, goes)
    disk.refresh_from_db()
    assert disk.enclosure == "front"


def test_likely_duplicates_are_found_by_numbers_and_names_whatever_their_spelling() -> None:
    disks = [
        DuplicateCandidate(1, "sda", serial="WD-WCC4N1"), DuplicateCandidate(2, "sdb", serial=" wd wcc4n1"),
        DuplicateCandidate(3, "sdc", serial="0000"),
        DuplicateCandidate(4, "sdd", serial="0000"), DuplicateCandidate(5, "sde", wwn="0x5000C500A1"),
        DuplicateCandidate(6, "sdf", wwn="naa.5000c500a1"),
    ]  # fmt: skip
    assert [(one.first.id, one.second.id, one.why) for one in likely(disks)] == [
        (1, 2, "the same serial number"), (5, 6, "the same WWN")
    ]  # fmt: skip
    names = ["node7", "NODE7.example.org", "node70", "10.0.0.1", "10.0.0.2"]
    hosts = [DuplicateCandidate(number, name, name=name) for number, name in enumerate(names)]
    assert [(one.first.title, one.second.title) for one in likely(hosts, names_are_hosts=True)] == [
        ("node7", "NODE7.example.org")
    ]
    cards = [DuplicateCandidate(1, "a", name="HBA", place=1), DuplicateCandidate(2, "b", name="hba", place=2)]
    assert likely(cards) == []


def test_the_pages_lead_from_likely_duplicates_to_one_row(lab: Lab, sign_in) -> None:
    first, second = world.raid_host(lab, "node"), Host.objects.create(lab=lab, name="node.example.org", board="X11")
    client = sign_in("engineer")
    page = client.get(reverse("inventory-duplicates")).content.decode()
    address = f"{reverse('inventory-merge', args=['hosts'])}?stays={first.pk}&amp;goes={second.pk}"
    assert address in page
    shown = client.get(address.replace("&amp;", "&"))
    assert shown.context["taken"] == {"board"}
    form = {"stays": first.pk, "goes": second.pk, "take": ["board"], "digest": shown.context["merged"].digest}
    assert client.post(reverse("inventory-merge", args=["hosts"]), form).status_code == 302
    first.refresh_from_db()
    assert (first.board, Host.objects.count()) == ("X11", 1)


def test_a_duplicate_is_called_as_it_calls_itself_and_a_kind_is_one_query(lab: Lab, django_assert_num_queries) -> None:
    host = world.raid_host(lab, "node")
    twin = Disk.objects.create(lab=lab, host=host, serial="s 1", wwn="5000")
    Disk.objects.create(lab=lab, serial="S-1", wwn="")
    Array.objects.create(lab=lab, host=host, name="MD0", round="2")
    Array.objects.create(lab=lab, host=host, name="md0", round="2")
    nameless = [Disk.objects.create(lab=lab, wwn="0x5000c500A1") for _ in range(2)]
    found = {}
    for kind in MERGED:
        with django_assert_num_queries(1):
            found[kind] = [(one.first.title, one.second.title, one.why) for one in likely_in(lab, kind)]
    assert found["arrays"] == [("MD0 in node", "md0 in node", "the same name")]
    assert [str(one) for one in nameless] == [f"disk {one.pk}" for one in nameless]
    assert found["disks"] == [(*map(str, nameless), "the same WWN")]
    twin.serial, twin.host = "S1234", None
    twin.save()
    Disk.objects.filter(serial="S-1").update(serial="s-1234", host=host)
    assert [one.second.title for one in likely_in(lab, "disks")] == ["s-1234 in node", str(nameless[1])]


def test_two_ticked_rows_of_a_list_are_merged_and_other_numbers_are_refused(lab: Lab, sign_in) -> None:
    first, second = (Disk.objects.create(lab=lab, serial=serial) for serial in ("A", "B"))
    client = sign_in("engineer")
    there = client.get(reverse("inventory-merge", args=["disks"]), {"pk": [first.pk, second.pk]})
    assert there.headers["Location"].endswith(f"?stays={first.pk}&goes={second.pk}")
    for kind in ("disks", "enclosures"):
        answer = client.get(reverse("inventory-merge", args=[kind]), {"pk": [first.pk]})
        assert answer.headers["Location"] == f"/{kind}/"


def test_another_labs_rows_are_not_there_to_merge(cast, lab: Lab, sign_in) -> None:
    with lab_scope(cast.other_lab.pk):
        theirs = Host.objects.create(lab=cast.other_lab, name="theirs")
    ours = Host.objects.create(lab=lab, name="ours")
    for stays, goes in ((ours, theirs), (theirs, ours)):
        answer = sign_in("owner").get(reverse("inventory-merge", args=["hosts"]), {"stays": stays.pk, "goes": goes.pk})
        assert answer.status_code == 404
    assert Target.objects.count() == 0


def test_a_viewer_merges_nothing(lab: Lab, sign_in) -> None:
    assert sign_in("viewer").get(reverse("inventory-duplicates")).status_code == 403
