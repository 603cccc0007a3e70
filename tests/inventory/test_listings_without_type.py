"""lsblk with columns of one's own and no TYPE, in all its forms: which devices are disks, arrays and partitions."""

from pathlib import Path

import pytest

from tests.inventory.brought import BroughtText
from tests.inventory.hosts import FIXTURES

LISTINGS = FIXTURES / "listings"

# file → the disks with their serial numbers, and the arrays with the devices that they lie on
EXPECTED = {
    "lsblk-own-columns.txt": ({"sdk": "QQ8001", "nvme4n1": "QQ8002", "mmcblk1": "0x51a2b3"}, {}),
    "lsblk-f.txt": ({"sdc": "", "sdd": ""}, {"md5": ["sdc3", "sdd3"], "vg5-srv": [""]}),
    "lsblk-t.txt": ({"sde": "", "nvme5n1": ""}, {}),
    "lsblk-ascii.txt": ({"vdf": "", "dasdb": "", "cciss!c0d1": ""}, {"os-root": ["vdf2"]}),
    "lsblk-inverse.txt": ({"sdg": "", "sdh": "", "sdi": ""}, {"md7": ["sdh1", "sdi1"]}),
    "lsblk-list.txt": ({"sdl": "", "sdm": ""}, {"md9": []}),
    "lsblk-name-last.txt": ({"sdn": "", "nvme6n1": ""}, {}),
    "lsblk-disks-only.txt": ({"sdo": "QQ7001", "sdp": "QQ7002"}, {}),
    "lsblk-newer.txt": ({"sdq": "", "nvme7n1": ""}, {}),
    "lsblk-pairs.txt": ({"sdr": "QQ5001", "nvme8n1": "QQ5002"}, {}),
    "lsblk-raw.txt": ({"sds": "QQ4001", "nvme9n1": "QQ4002"}, {}),
    "lsblk-json.txt": ({"sdt": "QQ3001", "nvme2n1": "QQ3002"}, {"md3": ["sdt2"]}),
}  # fmt: skip


def brought(name: str) -> BroughtText:
    return BroughtText((LISTINGS / name).read_bytes(), name)


def test_every_listing_has_its_expectation() -> None:
    assert {path.name for path in LISTINGS.glob("lsblk-*")} == EXPECTED.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_disks_are_disks_and_partitions_no_arrays(name: str) -> None:
    text = brought(name)
    disks, arrays = EXPECTED[name]
    assert (text.file.error, text.file.broken, text.readings.problems) == (None, (), {})
    assert {key: one.serial for key, one in text.disks.items()} == disks
    assert {key: [partition for _, partition, _ in text.members(key)] for key in text.arrays} == arrays


def test_what_lies_on_others_is_told_by_what_they_hold() -> None:
    arrays = brought("lsblk-f.txt").arrays
    assert (arrays["md5"].software, arrays["md5"].uuid) == ("md", "5a5a5a5a-1111-2222-3333-444455556666")
    assert (arrays["vg5-srv"].software, arrays["vg5-srv"].device_name) == ("LVM", "/dev/mapper/vg5-srv")
    mounted = {one.kname: one.mountpoints for one in brought("lsblk-f.txt").readings.lsblk.devices}  # type: ignore[union-attr]
    assert mounted["vg5-srv"] == ("/srv", "/export")


def test_figures_are_those_of_their_columns() -> None:
    disks = brought("lsblk-own-columns.txt").disks
    assert (disks["sdk"].model, disks["sdk"].capacity_bytes) == ("OWN DISK 8000", int(7.3 * 1024**4))
    topology = brought("lsblk-t.txt").disks
    assert (topology["sde"].is_solid_state, topology["nvme5n1"].is_solid_state) == (False, True)
    assert brought("lsblk-disks-only.txt").disks["sdp"].is_solid_state is True


def test_listings_of_a_page_and_of_a_mail_are_the_same() -> None:
    for path in sorted(Path(LISTINGS).glob("lsblk-[!jpr]*")):
        plain = BroughtText(path.read_bytes())
        quoted = BroughtText("".join(f"> {line}\n" for line in path.read_text().splitlines()))
        indented = BroughtText("".join(f"    {line}\n" for line in path.read_text().splitlines()))
        assert quoted.disks == indented.disks == plain.disks, path.name
        assert quoted.arrays == indented.arrays == plain.arrays, path.name
