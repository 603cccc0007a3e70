"""All descriptions of machines whose host is sure, taken in one act that was shown before."""

import json
import re
from typing import Any

import pytest
from django.test import Client

from apps.inventory.models import Change, Difference, Disk, Host, ToolOutput
from apps.labs.models import AuditEvent, Lab
from apps.uploads.models import FoundInventory, Upload
from tests.uploads.conftest import Bring

pytestmark = pytest.mark.services


def lsblk(host: str, disk: str, size: int = 480103981056) -> bytes:
    found = {"blockdevices": [{"name": disk, "kname": disk, "type": "disk", "size": size, "rota": False}]}
    return f"root@{host}:~# lsblk -J -b\n".encode() + json.dumps(found, indent=1).encode() + b"\n"


def mdstat(host: str) -> bytes:
    return f"root@{host}:~# cat /proc/mdstat\nPersonalities : [raid1]\nunused devices: <none>\n".encode()


@pytest.fixture
def two(bring: Bring, lab: Lab) -> Upload:
    """Outputs of two hosts of the lab, and of one that nobody knows."""
    for name in ("db1", "db2"):
        Host.objects.create(lab=lab, name=name)
    files = {
        "1.txt": lsblk("db1", "sda"),
        "2.txt": lsblk("db2", "sdb"),
        "3.txt": mdstat("db1"),
        "4.txt": lsblk("elsewhere", "sdc"),
    }
    return bring(files)


def digest(shown: str) -> str:
    found = re.search(r'name="digest" value="([0-9a-f]{64})"', shown)
    assert found
    return found[1]


def states() -> list[tuple[str, str]]:
    return list(FoundInventory.objects.order_by("id").values_list("printed_host", "state"))


def test_what_would_change_is_shown_and_nothing_does(two: Upload, sign_in: Any) -> None:
    engineer: Client = sign_in("engineer")
    changes = Change.objects.count()
    assert "Take all 3 whose host is sure" in engineer.get(two.get_absolute_url()).content.decode()
    shown = engineer.get(f"{two.get_absolute_url()}inventory/").content.decode()
    assert "Take 3 descriptions into the inventory?" in shown
    assert "1 description without a sure host" in shown
    assert ("disk sda" in shown, "disk sdb" in shown, "sdc" in shown) == (True, True, False)
    assert not Disk.objects.exists()
    assert not ToolOutput.objects.exists()
    assert Change.objects.count() == changes
    assert {state for _, state in states()} == {"offered"}


def test_one_act_takes_those_whose_host_is_sure(two: Upload, sign_in: Any) -> None:
    engineer: Client = sign_in("engineer")
    address = f"{two.get_absolute_url()}inventory/"
    shown = engineer.get(address).content.decode()
    after = engineer.post(address, {"digest": digest(shown)}, follow=True).content.decode()
    assert "db1: 2 descriptions taken." in after
    assert dict(Disk.objects.values_list("host__name", "device_name")) == {"db1": "sda", "db2": "sdb"}
    assert states() == [("db1", "taken"), ("db2", "taken"), ("db1", "taken"), ("elsewhere", "offered")]
    assert sorted(AuditEvent.objects.filter(act="inventory taken").values_list("subject", flat=True)) == ["db1", "db2"]
    assert "Nothing to take" in engineer.get(address).content.decode()


def test_what_somebody_typed_stays_and_is_said_before(two: Upload, sign_in: Any, lab: Lab) -> None:
    host = Host.objects.get(name="db1")
    disk = Disk.objects.create(
        lab=lab, host=host, device_name="sda", capacity_bytes=10**12, sources={"capacity_bytes": "typed"}
    )
    engineer: Client = sign_in("engineer")
    address = f"{two.get_absolute_url()}inventory/"
    shown = engineer.get(address).content.decode()
    assert "Typed, stays" in shown
    assert not Difference.objects.exists()
    engineer.post(address, {"digest": digest(shown)})
    disk.refresh_from_db()
    assert disk.capacity_bytes == 10**12
    assert Difference.objects.get().discovered == 480103981056


def test_what_changed_since_it_was_shown_is_shown_again(two: Upload, sign_in: Any) -> None:
    engineer: Client = sign_in("engineer")
    address = f"{two.get_absolute_url()}inventory/"
    shown = engineer.get(address).content.decode()
    FoundInventory.objects.filter(printed_host="db2").update(state="declined")
    again = engineer.post(address, {"digest": digest(shown)})
    assert again.status_code == 409
    assert "not what was shown before" in again.content.decode()
    assert not Disk.objects.exists()


def test_a_name_in_the_text_that_is_another_hosts_makes_it_unsure(bring: Bring, lab: Lab, sign_in: Any) -> None:
    db1, _ = (Host.objects.create(lab=lab, name=name) for name in ("db1", "db2"))
    upload = bring({"2.txt": lsblk("localhost", "sdb"), "3.txt": mdstat("db1"), "9.txt": lsblk("db2", "sda")}, host=db1)
    shown = sign_in("engineer").get(f"{upload.get_absolute_url()}inventory/").content.decode()
    assert ("2.txt" in shown, "3.txt" in shown, "9.txt" in shown) == (True, True, False)


def test_viewers_and_other_labs_take_nothing(two: Upload, sign_in: Any) -> None:
    address = f"{two.get_absolute_url()}inventory/"
    assert sign_in("viewer").get(address).status_code == 403
    assert sign_in("stranger").get(address).status_code == 404
    assert "whose host is sure" not in sign_in("viewer").get(two.get_absolute_url()).content.decode()
