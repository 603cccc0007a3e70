"""Uploaded parts of a host, and outputs in which is nothing for the inventory."""

import pytest

from apps.inventory.models import Disk, Filesystem, Host, ToolOutput
from apps.labs.models import Lab
from apps.uploads.inventory_import import preview_import, take
from tests.uploads.conftest import Bring, only_file

pytestmark = pytest.mark.django_db
ALL = b"""\
$ lsblk -o NAME,TYPE,SIZE,MODEL
NAME   TYPE   SIZE MODEL
sdv    disk   7.3T OWN DISK 8
sdw    disk 931.5G OWN FLASH 1
$ findmnt --real
TARGET  SOURCE    FSTYPE OPTIONS
/       /dev/sdv2 ext4   rw,relatime
`-/srv  /dev/sdw1 xfs    rw,relatime
"""
PARTS = (
    b"$ lsblk /dev/sdv\nNAME   MAJ:MIN RM  SIZE RO TYPE MOUNTPOINT\nsdv     65:80   0  7.3T  0 disk \n`-sdv1  65:81   0  7.3T  0 part /\n",
    b"$ lsblk -d -o NAME,MODEL,SIZE,ROTA\nNAME MODEL         SIZE ROTA\nsdv  OWN DISK 8    7.3T    1\nsdw  OWN FLASH 1 931.5G    0\n",
    b"$ findmnt /srv\nTARGET SOURCE    FSTYPE OPTIONS\n/srv   /dev/sdw1 xfs    rw,relatime\n",
    b"NAME   MAJ:MIN RM  SIZE RO TYPE MOUNTPOINT\nsdv     65:80   0  7.3T  0 disk \n",
)


@pytest.fixture
def host(lab: Lab) -> Host:
    return Host.objects.create(lab=lab, name="own7")


def bring_and_take(bring: Bring, data: bytes, host: Host) -> list[str]:
    return [take(found, host) for found in only_file(bring({"look.txt": data})).inventory.order_by("line")]


def test_parts_of_a_host_say_nothing_of_the_rest(bring: Bring, host: Host) -> None:
    bring_and_take(bring, ALL, host)
    for part in PARTS:
        assert all("is in the inventory" in words for words in bring_and_take(bring, part, host))
        assert sorted(Disk.objects.filter(is_present=True).values_list("device_name", flat=True)) == ["sdv", "sdw"]
        assert sorted(Filesystem.objects.filter(is_present=True).values_list("mount_point", flat=True)) == ["/", "/srv"]
    assert Disk.objects.count() == 2
    assert ToolOutput.objects.filter(tool="lsblk").latest("id").argv == []


def test_a_whole_look_tells_what_is_gone(bring: Bring, host: Host) -> None:
    bring_and_take(bring, ALL, host)
    bring_and_take(bring, ALL.replace(b"sdw    disk 931.5G OWN FLASH 1\n", b""), host)
    assert dict(Disk.objects.values_list("device_name", "is_present")) == {"sdv": True, "sdw": False}


def test_what_has_nothing_for_the_inventory_says_why(bring: Bring, host: Host) -> None:
    export = b"MD_LEVEL=raid1\nMD_DEVICES=2\nMD_METADATA=1.2\nMD_UUID=01020304:05060708:090a0b0c:0d0e0f10\n"
    (words,) = bring_and_take(bring, export, host)
    assert "nothing of it goes into the inventory: mdadm --export does not tell which array this is" in words
    assert not ToolOutput.objects.exists()
    upload = bring({"export.txt": export}, host=host)
    (of_host,) = preview_import(upload).hosts
    ((_, reason),) = of_host.taken
    assert "does not tell which array this is" in reason


def test_a_listing_that_could_not_be_read_to_its_end_is_no_whole_look(bring: Bring, host: Host) -> None:
    bring_and_take(bring, ALL, host)
    for odd in (b"what is this?\n", b"[...]\n"):
        cut = ALL.replace(b"sdw    disk 931.5G OWN FLASH 1\n", odd + b"sdx    disk 931.5G OWN FLASH 2\n")
        bring_and_take(bring, cut, host)
        assert Disk.objects.get(device_name="sdw").is_present
