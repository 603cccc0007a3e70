"""/proc/mdstat: levels, members, states and what md is busy with."""

import pytest

from apps.inventory.discovery.tool_values import UnreadableError
from apps.inventory.discovery.tools import mdstat
from tests.inventory import hosts


def one(second: str, third: str = "", head: str = "md0 : active raid5 sdc1[2] sdb1[1] sda1[0]") -> mdstat.MdArray:
    [array] = mdstat.discover(
        f"Personalities : [raid5]\n{head}\n      {second}\n      {third}\n\nunused devices: <none>\n"
    ).arrays
    return array


def test_a_nested_array_is_read_with_chunk_layout_and_spare() -> None:
    arrays = mdstat.discover(hosts.RAID50_MDSTAT).by_name()
    md1, md2 = arrays["md1"], arrays["md2"]
    assert (md1.level, md1.chunk_size, md1.layout, md1.raid_devices) == ("raid5", 512 * 1024, "left-symmetric", 3)
    assert [(m.device, m.state) for m in md1.members] == [
        ("sdd1", "in sync"), ("sde1", "in sync"), ("sdf1", "in sync"), ("sdg1", "spare"),
    ]  # fmt: skip
    assert (md1.size, md1.state, md1.bitmap) == (2344014848 * 1024, "clean", "0/9 pages [0KB], 65536KB chunk")
    assert [m.device for m in md2.members] == ["md0", "md1"]


@pytest.mark.parametrize(
    ("second", "third", "state", "progress"),
    [
        ("8 blocks level 5, 64k chunk, algorithm 2 [3/3] [UUU]", "", "clean", None),
        ("8 blocks level 5, 64k chunk, algorithm 2 [3/2] [U_U]", "", "degraded", None),
        ("8 blocks level 5, 64k chunk, algorithm 2 [3/1] [U__]", "", "failed", None),
        ("8 blocks level 5, 64k chunk [3/2] [UU_]", "[=>...]  recovery = 11.2% (8/9) finish=1min", "recovering", 0.112),
        ("8 blocks level 5, 64k chunk [3/3] [UUU]", "[=>...]  resync =  9.9% (8/9) finish=1min", "resyncing", 0.099),
        ("8 blocks level 5, 64k chunk [3/3] [UUU]", "[=>...]  check =  6.4% (8/9) finish=1min", "checking", 0.064),
        ("8 blocks level 5, 64k chunk [3/3] [UUU]", "[=>...]  reshape = 48.4% (8/9) finish=1min", "reshaping", 0.484),
        ("8 blocks level 5, 64k chunk [3/3] [UUU]", "resync=DELAYED", "resyncing", None),
        ("8 blocks level 5, 64k chunk [3/3] [UUU]", "resync=PENDING", "resyncing", None),
    ],
)
def test_state_and_progress(second: str, third: str, state: str, progress: float | None) -> None:
    array = one(second, third)
    assert (array.state, array.progress) == (state, progress)


@pytest.mark.parametrize(
    ("level", "places", "state"),
    [("raid1", "U_", "degraded"), ("raid1", "__", "failed"), ("raid6", "UU__", "degraded"), ("raid6", "U___", "failed"),
     ("raid10", "U_U_", "degraded"), ("raid10", "U___", "failed")],
)  # fmt: skip
def test_how_many_members_may_be_missing_depends_on_the_level(level: str, places: str, state: str) -> None:
    head = f"md0 : active {level} sdb1[1] sda1[0]"
    assert one(f"8 blocks [{len(places)}/{places.count('U')}] [{places}]", head=head).state == state


def test_flags_and_raid10_copies() -> None:
    array = one("8 blocks 512k chunks 2 near-copies [4/4] [UUUU]",
                head="md0 : active raid10 sde[4](F) sdd[3](W) sdc[2] sdb[1](J) sda[0]")  # fmt: skip
    assert array.layout == "2 near-copies"
    assert {m.device: m.state for m in array.members} == {
        "sda": "in sync", "sdb": "journal", "sdc": "in sync", "sdd": "write-mostly", "sde": "faulty",
    }  # fmt: skip


def test_a_read_only_array_is_active_and_an_inactive_one_may_lack_its_level() -> None:
    read_only = one("8 blocks [2/2] [UU]", head="md0 : active (auto-read-only) raid1 sdb[1] sda[0]")
    assert (read_only.access, read_only.level) == ("auto-read-only", "raid1")
    inactive = one("8 blocks super 1.2", head="md0 : inactive sdb1[1](S) sda1[0](S)")
    assert (inactive.level, inactive.state, len(inactive.members)) == ("", "inactive", 2)


def test_a_container_is_told_from_the_array_inside_it() -> None:
    inside = one("8 blocks super external:/md127/0 64k chunks", head="md126 : active raid0 sda[1] sdb[0]")
    container = one("8 blocks super external:imsm", head="md127 : inactive sdb[1](S) sda[0](S)")
    assert (inside.is_container, container.is_container) == (False, True)


def test_members_that_make_no_sense_are_named_with_their_line() -> None:
    read = mdstat.discover("Personalities : [raid1]\nmd0 : active raid1 sda[0] sd?b\n      8 blocks [2/2] [UU]\n")
    assert read.warnings == ("mdstat, line 2: found 'sd?b', expected a member such as sda1[0]",)


def test_no_arrays_is_an_answer_and_no_mdstat_is_an_error() -> None:
    assert mdstat.discover("Personalities : \nunused devices: <none>\n").arrays == ()
    with pytest.raises(UnreadableError, match=r"mdstat, line 1: found 'cat: not found', expected Personalities"):
        mdstat.discover("cat: not found")
