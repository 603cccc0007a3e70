"""Seed 001: 1 GB/s from one SATA disk cannot be. Seed 003: dd's 1.4 GB/s from twelve SAS drives can."""

from apps.comparison.caveats.above_ceiling import check
from tests.comparison.caveats.machines import array, controller, disk, on, plain
from tests.comparison.factories import MIB, reading

DTN = on(array("vd-data", "6", [disk(f"d{n}", "SAS", "SAS-6G") for n in range(12)], "hardware"))
THUMPER = on(disk("sdi", "SATA", ""))


def test_thumpers_system_disk_does_not_write_1_gb_a_second() -> None:
    found = check(reading(1, 1e9, file_size=500 * MIB, evidence=THUMPER))
    assert plain(found) == (
        "1.00 GB/s > 600 MB/s, 1.67 × the disk links: 1 × 600 MB/s SATA-6G links = 600 MB/s. Not known, so taken at its "
        "widest or left out: how fast the disks' media are; the generation of the SATA links: taken as the fastest, SATA-6G; "
        "the controller, or its host bus"
    )


def test_dtns_iozone_rewrites_records_from_memory() -> None:
    """8 202 099 Kbytes/s at 64 KiB records; RAID 6 over twelve drives writes 6 000 MB/s at most."""
    assert check(reading(1, 8_202_099 * 1024.0, operation="record_rewrite", evidence=DTN))


def test_the_authors_rule_of_one_sas_lane_does_not_fire() -> None:
    """1.4 GB/s is above 0.75 GB/s of one lane; twelve drives have twelve lanes, 7.2 GB/s."""
    assert check(reading(1, 10_737_418_240 / 7.78806, evidence=DTN)) is None
    assert check(reading(1, 1_166_928_896.0, evidence=DTN)) is None
    assert check(reading(1, 6_500_000_000.0, operation="read", evidence=DTN)) is None


def test_ios_count_with_their_block_size() -> None:
    nvme = on(disk("nvme0n1", "NVMe", "PCIe 3.0 x4"))
    asked = {"operation": "randread", "metric": "iops", "evidence": nvme}
    assert check(reading(1, 1e6, block_size=4096, **asked))
    assert check(reading(1, 9e5, block_size=4096, **asked)) is None
    assert check(reading(1, 1e6, block_size=None, **asked)) is None


def test_a_lower_bound_above_the_ceiling_is_above_it() -> None:
    assert check(reading(1, None, low=1e9, evidence=THUMPER))


def test_a_network_test_is_held_against_the_network_alone() -> None:
    ten = on(disk("sda", "SATA", "SATA-1.5G"), labels={"network": "10 Gb/s"})
    assert check(reading(1, 1e9, operation="net_send", evidence=ten)) is None
    assert check(reading(1, 1.3e9, operation="net_send", evidence=ten))


def test_an_unknown_topology_or_no_snapshot_is_silent() -> None:
    assert check(reading(1, 1e12, evidence=on(array("a", "5", [], "hardware", on=controller("x"))))) is None
    assert check(reading(1, 1e12)) is None
