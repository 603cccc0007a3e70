"""Where a discovery says other than a person typed: shown, never overwritten, decided by a person."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.inventory.discovery.rebuild import rebuild
from apps.inventory.discovery.receive import receive
from apps.inventory.models import Array, Controller, Difference, Disk, Host
from apps.labs.models import AuditEvent, Lab
from tests.inventory import hosts
from tests.inventory.hosts import lsblk, output, sas

pytestmark = pytest.mark.django_db


@pytest.fixture
def host(lab: Lab) -> Host:
    made = hosts.host(lab)
    receive(made, hosts.raid50())
    return made


def typed(part: Any, **values: Any) -> None:
    for name, value in values.items():
        setattr(part, name, value)
        part.sources[name] = "typed"
    part.save()


def open_ones() -> dict[str, tuple[Any, Any]]:
    return {
        f"{one.part_name} {one.field}": (one.typed, one.discovered)
        for one in Difference.objects.filter(decision="open")
    }


def test_each_typed_field_that_the_tools_contradict_is_a_difference_and_stays(host: Host) -> None:
    disk = Disk.objects.get(device_name="sda")
    typed(disk, model="Savvio 10K.6", serial="S0M00000")
    host.refresh_from_db()
    typed(host, board="X9DRi")
    rebuild(host)
    assert open_ones() == {
        "sda model": ("Savvio 10K.6", "ST600MM0006"),  # the serial number was typed as it is
        "node7 board": ("X9DRi", "Supermicro X11DPi-N"),
    }
    disk.refresh_from_db()
    assert (disk.model, host.board) == ("Savvio 10K.6", "X9DRi")


def test_blanks_and_capitals_are_no_difference(host: Host) -> None:
    typed(Disk.objects.get(device_name="sda"), model="st600 mm0006")
    rebuild(host)
    assert open_ones() == {}


def test_a_size_as_people_round_it_is_no_difference(host: Host) -> None:
    typed(Disk.objects.get(device_name="nvme0n1"), capacity_bytes=10**12)  # the disk says 1,000,204,886,016
    host.refresh_from_db()
    typed(host, ram_bytes=64 * hosts.GIB)  # the kernel says 62.8 GiB
    rebuild(host)
    assert open_ones() == {}
    typed(host, ram_bytes=128 * hosts.GIB)
    rebuild(host)
    assert list(open_ones()) == ["node7 ram_bytes"]


def test_it_is_closed_when_both_agree_and_opened_again_when_the_tools_say_another(host: Host) -> None:
    disk = Disk.objects.get(device_name="sda")
    typed(disk, firmware="LS07")
    rebuild(host)
    one = Difference.objects.get()
    one.decision, one.decided_by = "typed", "engineer"
    one.save()
    rebuild(host)
    assert Difference.objects.get().decision == "typed"
    receive(host, [output("lsblk", lsblk(sas("a", rev="LS09")))])
    one.refresh_from_db()
    assert (one.decision, one.decided_by, one.discovered) == ("open", "", "LS09")
    receive(host, [output("lsblk", lsblk(sas("a", rev="LS07")))])
    assert not Difference.objects.exists()


def test_a_reference_and_members_are_compared_by_name(host: Host) -> None:
    other = Controller.objects.create(lab=host.lab, host=host, name="9300-8i")
    typed(Disk.objects.get(device_name="sda"), controller=other)
    array = Array.objects.get(name="md0")
    array.members.filter(position=2).delete()
    array.sources["members"] = "typed"
    array.save()
    rebuild(host)
    found = open_ones()
    assert found["md0 members"] == (["sda", "sdb"], ["sda", "sdb", "sdc"])
    assert [value["name"] for value in found["sda controller"]] == ["9300-8i", "sas host 0"]
    assert array.members.count() == 2


def test_a_second_look_writes_nothing_and_asks_as_many_queries_for_many_differences(host: Host) -> None:
    def cost() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            rebuild(host)
        return len(queries)

    typed(Disk.objects.get(device_name="sda"), model="one")
    rebuild(host)
    before, few = list(Difference.objects.values()), cost()
    for disk in Disk.objects.filter(device_name__startswith="sd"):
        typed(disk, model="other", firmware="0")
    rebuild(host)
    assert Difference.objects.count() == 14
    assert cost() == few
    assert before[0]["pk" if "pk" in before[0] else "id"] in Difference.objects.values_list("pk", flat=True)


class TestDecisions:
    @pytest.fixture
    def one(self, host: Host) -> Difference:
        typed(Disk.objects.get(device_name="sda"), capacity_bytes=600 * 10**9)
        rebuild(host)
        found: Difference = Difference.objects.get()
        return found

    def test_taking_what_was_discovered_gives_the_field_back_to_discovery(self, one: Difference, sign_in: Any) -> None:
        answer = sign_in("engineer").post(f"/differences/{one.pk}/", {"decision": "discovered"}, follow=True)
        assert "What the tools say was taken" in answer.content.decode()
        disk, event = Disk.objects.get(device_name="sda"), AuditEvent.objects.latest("id")
        assert (disk.capacity_bytes, disk.sources["capacity_bytes"]) == (100 * hosts.GIB, "discovered")
        assert (event.subject, event.detail["typed"], event.detail["discovered"]) == (
            "sda",
            600 * 10**9,
            100 * hosts.GIB,
        )
        rebuild(one.host)
        one.refresh_from_db()
        assert one.decision == "discovered"

    def test_keeping_what_was_typed_folds_it_away(self, one: Difference, sign_in: Any) -> None:
        client = sign_in("engineer")
        address = f"/hosts/{one.host_id}/"
        assert "Keep typed" in client.get(address).content.decode()
        page = client.post(
            f"/differences/{one.pk}/", {"decision": "typed", "next": address}, follow=True
        ).content.decode()
        assert "1 kept as typed" in page
        assert "Keep typed" not in page
        assert Disk.objects.get(device_name="sda").capacity_bytes == 600 * 10**9

    def test_members_are_taken_from_the_tools_outputs(self, host: Host, sign_in: Any) -> None:
        array = Array.objects.get(name="md0")
        array.members.filter(position=2).delete()
        array.sources["members"] = "typed"
        array.save()
        rebuild(host)
        sign_in("engineer").post(f"/differences/{Difference.objects.get().pk}/", {"decision": "discovered"})
        assert [str(member) for member in array.members.all()] == ["sda", "sdb", "sdc"]

    def test_it_is_shown_on_the_part_with_units_and_only_engineers_decide(self, one: Difference, sign_in: Any) -> None:
        page = sign_in("viewer").get(f"/disks/{one.part_id}/").content.decode()
        assert "Entered and discovered values differ" in page
        assert "600\xa0GB" in page
        assert "Take discovered" not in page
        assert sign_in("viewer").post(f"/differences/{one.pk}/", {"decision": "typed"}).status_code == 403
        assert sign_in("engineer").get(f"/differences/{one.pk}/").status_code == 405
        answer = sign_in("engineer").post(f"/differences/{one.pk}/", {"decision": "both"}, follow=True)
        assert "expected typed or discovered" in answer.content.decode()
        assert Difference.objects.get().decision == "open"

    def test_what_it_refers_to_may_be_gone(self, one: Difference, sign_in: Any) -> None:
        Difference.objects.update(field="controller", discovered={"id": 10**9, "name": "sas host 9"})
        answer = sign_in("engineer").post(f"/differences/{one.pk}/", {"decision": "discovered"}, follow=True)
        assert "Nothing was changed. sas host 9 is not there any more" in answer.content.decode()
        Disk.objects.filter(pk=one.part_id).update(is_present=False)
        Difference.objects.update(part_id=10**9)
        answer = sign_in("engineer").post(f"/differences/{one.pk}/", {"decision": "discovered"}, follow=True)
        assert "sda is not there any more" in answer.content.decode()
        assert Difference.objects.get().decision == "open"

    def test_it_never_sends_anywhere_else(self, one: Difference, sign_in: Any) -> None:
        answer = sign_in("engineer").post(
            f"/differences/{one.pk}/", {"decision": "typed", "next": "https://evil.example/"}
        )
        assert answer.headers["Location"] == f"/hosts/{one.host_id}/#differences"
