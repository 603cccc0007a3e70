"""Seed 001: one of four disks dead (line 182), and /dev/sdp in md1 and in md4 of the text (108, 110). As loaded:
test_on_reports.py.
"""

from apps.comparison.caveats.array_state import RULE, check
from apps.comparison.compare import compare
from apps.comparison.question import Question
from apps.comparison.readings import Evidence
from tests.comparison.caveats.machines import Content, array, disk, machine
from tests.comparison.factories import reading

MD1 = ("sdm", "sdp", "sds", "sdv")
MD4_TEXT = ("sdb", "sdd", "sdf", "sdh", "sdl", "sdp", "sdr", "sdu")
MD4_COMMAND = ("sdb", "sdd", "sdf", "sdl", "sdh", "sdo", "sdr", "sdu")


def md(name: str, level: str, disks: tuple[str, ...], **fields: str) -> Content:
    return array(name, level, [disk(one) for one in disks], **fields)


def found(*storages: Content) -> list[str]:
    readings = [
        reading(n, 1.0, str(n), evidence=Evidence(machine=machine(storage))) for n, storage in enumerate(storages)
    ]
    return [line for one in compare(readings, Question()).caveats if one.rule == RULE.name for line in one.arithmetic]


def test_a_degraded_array_is_said_with_its_members() -> None:
    """The Pentium III's RAID 5 of four Deskstar IC35L040AVVN07-0; the report does not say which one was dead."""
    members = [disk(f"Deskstar {n}", "PATA", "ATA-100") for n in range(3)]
    dead = disk("Deskstar 3", "PATA", "ATA-100", state="faulty")
    ran = array("p3-raid5", "5", [*members, dead], state="degraded")
    assert check(machine(ran)) == "p3-raid5 is degraded (3 of 4 members work)"
    assert check(machine(array("p3-raid5", "5", members, state="resyncing"))) == "p3-raid5 is resyncing"


def test_thumpers_sdp_is_in_two_arrays_of_the_text() -> None:
    assert found(md("md1", "5", MD1), md("md4", "6", MD4_TEXT)) == ["all series: sdp is a member of md1 and of md4"]


def test_the_command_that_was_run_has_it_once() -> None:
    assert not found(md("md1", "5", MD1), md("md4", "6", MD4_COMMAND))


def test_the_next_round_may_use_the_same_disks() -> None:
    assert not found(md("md1", "5", MD1, round="ext3"), md("md2", "5", MD1, round="xfs"))


def test_different_partitions_of_a_disk_may_be_in_two_arrays() -> None:
    one = array("md0", "1", [disk("sda", partition="sda1"), disk("sdb", partition="sdb1")])
    other = array("md1", "1", [disk("sda", partition="sda2"), disk("sdb", partition="sdb2")])
    assert not found(one, other)
    assert found(one, array("md2", "1", [disk("sda"), disk("sdc")]))


def test_within_one_stack_too() -> None:
    stack = array(
        "md5", "0", [array("md2", "5", [disk("sda"), disk("sdb")]), array("md3", "5", [disk("sda"), disk("sdc")])]
    )
    assert check(machine(stack)) == "sda is a member of md2 and of md3"


def test_clean_arrays_and_single_disks_are_silent() -> None:
    assert check(machine(md("md1", "5", MD1, state="clean"))) is None
    assert check(machine(disk("sda"))) is None
    assert check(machine(None)) is None
