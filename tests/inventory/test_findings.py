"""Findings about how hosts are put together: each rule fires on a machine of the seeds and is silent on a sound one."""

from pathlib import Path

import pytest

from apps.core.quantities import written
from apps.inventory.findings import RULES, Finding, findings_of
from apps.inventory.models import Array, ArrayMember, Controller, Disk, Filesystem, Host, NetworkLink, Nic, PathSection
from apps.inventory.topology.current_findings import findings_of_hosts
from apps.inventory.topology.tree import topology
from apps.labs.models import Lab
from tests.inventory import plants
from tests.sampling import for_each

GB = 10**9


def of(host: Host, rule: str) -> list[Finding]:
    return [one for one in findings_of(topology(host)) if one.rule == rule]


def lines(host: Host, rule: str) -> list[str]:
    return [written(one.arithmetic).replace("\u202f", " ").replace("\u00a0", " ") for one in of(host, rule)]


@pytest.fixture
def thumper(lab: Lab) -> Host:
    return plants.thumper(lab)


@pytest.fixture
def infn(lab: Lab) -> Host:
    return plants.infn(lab)


@pytest.fixture
def dtn(lab: Lab) -> Host:
    return plants.dtn(lab)


def disk(name: str) -> Disk:
    found: Disk = Disk.objects.get(device_name=name)
    return found


def replace(array: str, old: str, new: str) -> None:
    ArrayMember.objects.filter(array__name=array, disk=disk(old)).update(disk=disk(new))


def test_every_rule_has_a_test_that_it_fires_and_one_that_it_is_silent() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    assert len(RULES) == 16
    for rule in RULES:
        assert text.count(f'"{rule.name}"') >= 2, f"{rule.name} is not tested both ways"


def test_thumpers_text_puts_sdp_into_two_arrays_of_a_round(thumper: Host) -> None:
    (found,) = of(thumper, "member_in_two_arrays")
    assert found.arithmetic == "sdp is a member of md1 (round ext3) and of md4 (round ext3)"
    assert found.severity == "serious"
    assert [part.kind for part in found.parts] == ["disk", "array", "array"]


def test_the_command_with_sdo_and_another_round_over_the_same_disks_are_silent(thumper: Host) -> None:
    replace("md4", "sdp", "sdo")
    plants.array(thumper, "md1", "0", [disk(name) for name in ("sda", "sde", "sdk", "sdq")], round="xfs")
    assert of(thumper, "member_in_two_arrays") == []


def test_partitions_of_one_disk_may_be_in_two_arrays(thumper: Host) -> None:
    ArrayMember.objects.filter(array__name="md1", disk=disk("sdp")).update(partition="sdp1")
    assert len(of(thumper, "member_in_two_arrays")) == 1  # md4 claims the whole disk
    ArrayMember.objects.filter(array__name="md4", disk=disk("sdp")).update(partition="sdp2")
    assert of(thumper, "member_in_two_arrays") == []


def test_an_array_may_not_be_in_two_arrays_but_volumes_share_their_group(thumper: Host) -> None:
    md2 = Array.objects.get(name="md2")
    plants.array(thumper, "md6", "0", [md2], round="ext3")
    assert any("md2 (round ext3) is a member of md5" in line for line in lines(thumper, "member_in_two_arrays"))
    Array.objects.filter(name__in=["md5", "md6"]).update(software="LVM")
    assert not any("md2" in line for line in lines(thumper, "member_in_two_arrays"))


def test_thumpers_md1_would_not_survive_either_of_its_two_controllers(thumper: Host) -> None:
    (line,) = lines(thumper, "one_controller")
    assert line == (
        "md1 (RAID 5, round ext3) survives 1 failed member; "
        "controller 4 carries 2: sdm, sdp; controller 5 carries 2: sds, sdv"
    )


def test_one_row_that_stands_for_six_controllers_is_no_shared_controller_and_disks_name_their_slots(
    thumper: Host,
) -> None:
    one_row = Controller.objects.get(host=thumper, name="Marvell 0")
    Disk.objects.filter(host=thumper).update(controller=one_row)
    (found,) = of(thumper, "one_controller")  # md2 and md3 lie on four each, and only the slots say so
    assert "md1" in found.arithmetic
    assert [part.name for part in found.parts] == ["md1 (round ext3)", "Marvell 0"]
    Disk.objects.filter(host=thumper, device_name="sdm").update(device_name="", serial="")
    (found,) = of(thumper, "one_controller")
    assert "controller 4 carries 2: X4500 c4d0, sdp" in found.arithmetic


def test_a_raid_6_survives_two_members_on_a_controller_and_hardware_lies_behind_one_by_nature(
    thumper: Host, dtn: Host
) -> None:
    assert not any("md4" in line for line in lines(thumper, "one_controller"))
    assert of(dtn, "one_controller") == []


def test_the_only_controller_of_a_host_is_worth_a_note(lab: Lab) -> None:
    host = Host.objects.create(lab=lab, name="small")
    card = Controller.objects.create(lab=lab, host=host, name="sata")
    pair = [Disk.objects.create(lab=lab, host=host, controller=card, device_name=f"sd{x}") for x in "ab"]
    plants.array(host, "md0", "1", pair)
    (found,) = of(host, "one_controller")
    assert (found.severity, "sata carries all members, 2: sda, sdb" in found.arithmetic) == ("note", True)


def test_a_system_disk_as_a_member_is_named(thumper: Host) -> None:
    assert of(thumper, "system_disk_member") == []  # seed 001 keeps sdi out
    replace("md2", "sdk", "sdi")
    assert lines(thumper, "system_disk_member") == ["sdi carries / or /boot and is a member of md2 (round ext3)"]


def test_the_array_that_carries_the_system_may_have_its_disks(dtn: Host) -> None:
    assert of(dtn, "system_disk_member") == []
    os_disk = Disk.objects.get(serial="vd-os-0")
    ArrayMember.objects.filter(array__name="vd-data", position=0).update(disk=os_disk, partition="sda4")
    assert lines(dtn, "system_disk_member") == [
        "vd-os-0 carries / or /boot and is a member of vd-data (by its partition sda4)"
    ]


@pytest.mark.parametrize(
    ("level", "printed", "told"),
    [
        ("5", 750, None),  # seed 001: the xfs geometry gives 4 × 250 GB less one
        ("5", 1000, "md1 (round ext3): RAID 5, (4 − 1) × 250 GB = 750 GB; it has 1 TB, 1.33 times that"),
        ("6", 500, None),
        ("6", 300, "md1 (round ext3): RAID 6, (4 − 2) × 250 GB = 500 GB; it has 300 GB, only 0.60 of that"),
        ("0", 1000, None),
        ("10", 500, None),
        ("1", 250, None),
    ],
)
def test_a_capacity_must_fit_the_geometry(thumper: Host, level: str, printed: int, told: str | None) -> None:
    Array.objects.filter(name="md1").update(level=level, capacity_bytes=printed * GB)
    assert lines(thumper, "capacity") == ([told] if told else [])


def test_a_volume_may_be_smaller_than_its_group_and_partitions_than_their_disks(thumper: Host) -> None:
    Array.objects.filter(name="md1").update(capacity_bytes=100 * GB)
    assert len(of(thumper, "capacity")) == 1
    ArrayMember.objects.filter(array__name="md1").update(partition="x1")
    assert of(thumper, "capacity") == []


def test_the_pentiums_raid_5_with_a_dead_disk_is_degraded(lab: Lab) -> None:
    host = Host.objects.create(lab=lab, name="p3-old")
    array = Array.objects.create(lab=lab, host=host, name="p3-raid5", level="5", member_count=4, state="degraded")
    assert lines(host, "degraded") == ["p3-raid5 (RAID 5) is degraded; it survives no further failure"]
    Array.objects.filter(pk=array.pk).update(level="6")
    assert lines(host, "degraded") == ["p3-raid5 (RAID 6) is degraded; it survives 1 more"]
    Array.objects.filter(pk=array.pk).update(state="clean")
    assert of(host, "degraded") == []


def test_a_resync_is_a_warning_and_a_clean_array_is_silent(thumper: Host) -> None:
    assert of(thumper, "resyncing") == []
    Array.objects.filter(name="md4").update(state="resyncing")
    assert lines(thumper, "resyncing") == ["md4 (RAID 6, round ext3) is resyncing"]


def test_members_that_failed_or_left_are_named(thumper: Host, dtn: Host) -> None:
    assert of(thumper, "failed_members") == []
    ArrayMember.objects.filter(array__name="md1", position=2).update(state="faulty")
    Disk.objects.filter(device_name="sdc").update(is_present=False)
    Disk.objects.filter(device_name="sde").update(host=dtn, controller=None)
    assert sorted(lines(thumper, "failed_members")) == [
        "md1 (round ext3): sds is faulty",
        "md2 (round ext3): sde is in dtn now, by that host's last scan",
        "md3 (round ext3): sdc was not seen in the last scan",
    ]
    # The page of all hosts reads them together, and says the same as each host's own.
    together = {host.pk: [one.arithmetic for one in found] for host, found in findings_of_hosts([thumper, dtn])}
    assert together[thumper.pk] == [one.arithmetic for one in findings_of(topology(thumper))]
    Disk.objects.filter(device_name="sde").update(host=None)
    assert any("sde is no longer in this host" in line for line in lines(thumper, "failed_members"))


def test_arrays_with_too_few_members_have_no_capacity_to_judge_and_break_nothing(lab: Lab) -> None:
    host = Host.objects.create(lab=lab, name="odd")
    members = [Disk.objects.create(lab=lab, host=host, device_name=f"sd{n}", capacity_bytes=GB) for n in range(4)]
    judged_from = {"0": 1, "1": 1, "4": 2, "5": 2, "6": 3, "10": 1, "50": 3, "60": 9, "jbod": 1, "": 9}
    for level in judged_from:
        for count in range(5):
            plants.array(host, f"{level} of {count}", level, members[:count], capacity_bytes=1)
    judged = {one.parts[0].name for one in of(host, "capacity")}
    assert judged == {f"{level} of {n}" for level, least in judged_from.items() for n in range(least, 5)}


@pytest.mark.parametrize(
    ("protection", "state", "severity"),
    [
        ("non-volatile", "", None),  # seed 003's PERC H700
        ("battery", "charged", None),
        ("battery", "Failed", "serious"),
        ("battery", "missing", "serious"),
        ("none", "", "serious"),
        ("", "", "note"),
    ],
)
def test_a_write_back_cache_needs_its_battery(dtn: Host, protection: str, state: str, severity: str | None) -> None:
    Controller.objects.update(cache_protection=protection, protection_state=state)
    assert [one.severity for one in of(dtn, "unprotected_cache")] == ([severity] if severity else [])


def test_write_through_and_a_card_without_memory_are_silent(dtn: Host) -> None:
    """Seed 004's P410 has zero memory."""
    Controller.objects.update(cache_protection="none", write_policy="write through")
    assert of(dtn, "unprotected_cache") == []
    Array.objects.filter(name="vd-data").update(write_policy="WriteBack")
    assert lines(dtn, "unprotected_cache") == [
        "PERC H700 writes back into 512 MiB of cache for vd-data; nothing protects it"
    ]
    Controller.objects.update(cache_bytes=None, absent={"cache_bytes": "none"})
    assert of(dtn, "unprotected_cache") == []


@for_each("level, software, count, told", [
        ("5", "md", 2, None), ("5", "", 2, "expected at least 3"), ("6", "", 3, "expected at least 4"),
        ("10", "md", 3, None), ("10", "", 5, "expected an even number"), ("1", "md", 1, "expected at least 2"),
        ("50", "", 6, None), ("0", "", 1, None),
    ], taken_back=True)  # fmt: skip
def test_a_level_needs_its_members(lab: Lab, level: str, software: str, count: int, told: str | None) -> None:
    host = Host.objects.create(lab=lab, name="a")
    Array.objects.create(lab=lab, host=host, name="x", level=level, software=software, member_count=count)
    assert lines(host, "member_count") == ([f"x: RAID {level} of {count}, {told}"] if told else [])


def test_a_raid_50_of_two_groups_has_no_wrong_number_of_members(thumper: Host) -> None:
    Array.objects.filter(name="md5").update(level="50", software="")
    assert of(thumper, "member_count") == []


def test_unlike_members_are_a_note(thumper: Host) -> None:
    assert of(thumper, "mixed_members") == []
    Disk.objects.filter(device_name="sdm").update(capacity_bytes=400 * GB, rpm=7200)
    Disk.objects.filter(device_name="sdp").update(rpm=10000, interface="SAS")
    line = lines(thumper, "mixed_members")[0]
    assert line.startswith("md1 (round ext3): from 250 GB to 400 GB")
    assert line.endswith("10 000 rpm and 7 200 rpm; SAS and SATA")


@pytest.mark.parametrize(
    ("health", "is_bad"),
    [("passed", False), ("OK", False), ("no failures", False), ("FAILED!", True), ("predictive failure", True)],
)
def test_a_disk_may_say_that_it_fails(thumper: Host, health: str, is_bad: bool) -> None:
    assert of(thumper, "disk_health") == []
    Disk.objects.filter(device_name="sda").update(health=health)
    assert lines(thumper, "disk_health") == ([f"sda (model unknown) says: {health}"] if is_bad else [])


def test_a_link_slower_than_its_disk_or_its_ends_is_found(thumper: Host, infn: Host) -> None:
    Disk.objects.filter(device_name="sda").update(generation="SATA-3G", link_generation="SATA-1.5G")
    Disk.objects.filter(device_name="sdb").update(generation="SATA-3G", link_generation="SATA-3G")
    assert lines(thumper, "slow_link") == ["sda: its link runs at SATA-1.5G, 150 MB/s; the disk can SATA-3G, 300 MB/s"]
    assert of(infn, "slow_link") == []
    NetworkLink.objects.filter(nic__name="myri0").update(bits_per_second=GB)
    assert lines(infn, "slow_link") == [
        "server-san myri0 – server1 myri0: the cable runs at 1 Gb/s; both ends can 10 Gb/s"
    ]


def test_infns_frames_are_large_only_with_the_crossed_cable(infn: Host) -> None:
    assert of(infn, "mtu_mismatch") == []
    Nic.objects.filter(host=infn, name="myri1").update(mtu=9000)
    NetworkLink.objects.filter(nic__name="myri1").update(mtu=1500)
    assert lines(infn, "mtu_mismatch") == [
        "server-san myri1 – switch A: server-san myri1 9000, the cable or switch port 1500"
    ]


def test_infns_double_link_to_a_jbod_is_used_singly_but_is_redundant(infn: Host) -> None:
    assert (of(infn, "one_path"), of(infn, "redundant_path_missing")) == ([], [])
    PathSection.objects.filter(position=1).update(count=2, standby_count=1)
    assert lines(infn, "one_path") == ["SAN: all goes over one link (T2000 – JBODs: 1 × FC-2G, 1 more stands by)"]
    assert of(infn, "redundant_path_missing") == []


def test_a_single_cable_without_a_second_is_found(infn: Host) -> None:
    PathSection.objects.filter(position=1).update(count=1, standby_count=0)
    assert lines(infn, "redundant_path_missing") == ["SAN: T2000 – JBODs: 1 link (FC-2G), and none stands by"]
    second = infn.storage_paths.create(lab=infn.lab, name="SAN B", array=Array.objects.get(name="san-8tb"))
    PathSection.objects.create(path=second, position=0, name="server – T2000 B", count=1, link="FC-2G")
    assert of(infn, "redundant_path_missing") == []


def test_arrays_that_lie_on_themselves_are_found_and_stop_nothing(thumper: Host) -> None:
    assert of(thumper, "array_in_itself") == []
    md5, md2 = Array.objects.get(name="md5"), Array.objects.get(name="md2")
    ArrayMember.objects.create(array=md2, position=9, member_array=md5)
    assert {one.parts[0].name for one in of(thumper, "array_in_itself")} == {"md2 (round ext3)", "md5 (round ext3)"}


def test_what_is_not_known_is_not_judged(lab: Lab) -> None:
    host = Host.objects.create(lab=lab, name="bare")
    Array.objects.create(lab=lab, host=host, name="a")
    Controller.objects.create(lab=lab, host=host, name="c")
    Disk.objects.create(lab=lab, host=host)
    Filesystem.objects.create(lab=lab, host=host, type="tmpfs", mount_point="/tmp")
    assert findings_of(topology(host)) == []


def test_the_most_serious_come_first(thumper: Host) -> None:
    assert [one.severity for one in findings_of(topology(thumper))] == ["serious", "warning"]
