"""RAID plans as such: spread, sizes, commands. Small cases are held against all ways there are."""

import shlex
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as some

from apps.inventory.raid_plans.commands import path_of
from apps.inventory.raid_plans.plan import capacity_of, data_offset, plan, used_of
from apps.inventory.raid_plans.spread import spread
from apps.inventory.raid_plans.wish import LEVELS, RaidCandidate, RaidPlanError, RaidWish
from tests.inventory import thumper
from tests.sampling import examples

MIB, GIB, TB = 1024**2, 1024**3, 10**12
KIB512 = 512 * 1024


def disk(key: int, controller: str, size: int | None = 4 * TB, enclosure: str = "") -> RaidCandidate:
    return RaidCandidate(key, f"sd{key}", size, controller, enclosure, f"/dev/disk/by-id/wwn-0x{key:016x}", True)


def disks(*counts: int) -> list[RaidCandidate]:
    """So many disks on each controller."""
    places = [str(number) for number, count in enumerate(counts) for _ in range(count)]
    return [disk(key, place) for key, place in enumerate(places)]


def shared(groups: list[Counter[str]]) -> int:
    """Sum of squares of the members that share a controller: the less, the more even."""
    return sum(count * count for group in groups for count in group.values())


def best_of_all_ways(given_disks: list[RaidCandidate], sizes: list[int]) -> int:
    if not sizes:
        return 0
    best = 10**9
    for group in combinations(given_disks, sizes[0]):
        rest = [one for one in given_disks if one not in group]
        best = min(best, shared([Counter(one.controller for one in group)]) + best_of_all_ways(rest, sizes[1:]))
    return best


@given(some.lists(some.integers(0, 4), min_size=1, max_size=4), some.integers(1, 2), some.integers(2, 4))
@settings(max_examples=examples(60), deadline=None)
def test_no_other_way_spreads_more_evenly(counts, arrays, members) -> None:
    given_disks = disks(*counts)
    assume(members * arrays <= len(given_disks) <= 9)
    found = spread(RaidWish("0", arrays=arrays, members=members), given_disks)
    assert shared([group.by_controller for group in found.groups]) == best_of_all_ways(given_disks, [members] * arrays)


@given(
    some.sampled_from(LEVELS), some.lists(some.integers(0, 9), min_size=1, max_size=7), some.integers(1, 3), some.integers(0, 2),
    some.integers(2, 3), some.randoms(use_true_random=False),
)  # fmt: skip
@settings(max_examples=examples(150), deadline=None)
def test_a_plan_holds_what_its_level_needs(level, counts, arrays, spares, groups, shuffle) -> None:
    given_disks = disks(*counts)
    wish = RaidWish(level, arrays=arrays, spares=0 if level == "0" else spares, groups=groups)
    try:
        found = plan(wish, given_disks)
    except RaidPlanError:
        assert len(given_disks) < (wish.least + wish.spares + wish.step) * wish.group_count
        return
    used = [one.key for group in found.groups for one in (*group.members, *group.spares)]
    assert len(used) == len(set(used))
    assert set(used) | {one.key for one, _ in found.left_out} == {one.key for one in given_disks}
    sizes = {len(group.members) for group in found.groups}
    assert len(found.groups) == wish.group_count
    assert len(sizes) == 1
    assert min(sizes) >= wish.least
    assert all(len(group.spares) == wish.spares for group in found.groups)
    least = {"0": 0, "1": min(sizes) - 1, "5": 1, "6": 2, "10": 1, "50": 1, "60": 2}
    assert found.any_disks == least[level]
    again = list(given_disks)
    shuffle.shuffle(again)
    assert plan(wish, again).groups == found.groups


def test_no_controller_twice_where_there_are_enough() -> None:
    found = plan(RaidWish("6", members=5), disks(4, 4, 4, 4, 4))
    assert found.most_on_one == 1
    assert found.notes[0] == "No two members of a group share a controller."
    assert found.bears == ("0", "1", "2", "3", "4")
    assert found.breaks == ()


def test_it_says_how_many_share_one_where_there_are_too_few() -> None:
    found = plan(RaidWish("6", members=8), disks(8, 8, 8))
    assert found.most_on_one == 3
    assert "The disks are on 3 controllers, so up to 3 members of a group share one." in found.notes
    assert found.breaks == ("0", "1")
    assert found.bears == ("2",)


def test_raid_10_keeps_its_copies_on_different_controllers() -> None:
    found = plan(RaidWish("10"), disks(4, 4))
    members = [one.controller for one in found.groups[0].members]
    assert all(a != b for a, b in zip(members[::2], members[1::2], strict=True))
    assert found.bears == ("0", "1")
    assert found.best_case == 4


def test_enclosures_are_spread_too() -> None:
    given_disks = [disk(n, "0", enclosure=f"jbod{n // 4}") for n in range(12)]
    [group] = spread(RaidWish("6", members=6), given_disks).groups
    assert Counter(one.enclosure for one in group.members) == {"jbod0": 2, "jbod1": 2, "jbod2": 2}


def test_only_disks_of_one_size_make_an_array() -> None:
    mixed = [*disks(3, 3), disk(90, "2", 8 * TB), disk(91, "2", None)]
    found = plan(RaidWish("5"), mixed)
    assert found.disks == 6
    assert {(one.key, why) for one, why in found.left_out} == {(90, "of another size"), (91, "of another size")}
    alike = [disk(n, str(n), 4 * TB + n * 10**9) for n in range(4)]
    assert plan(RaidWish("5"), alike).disks == 4


@pytest.mark.parametrize(
    ("wish", "count", "said"),
    [
        (RaidWish("5"), 2, "Found 2 free disks, expected at least 3 for RAID 5."),
        (RaidWish("60"), 7, "Found 7 free disks, expected at least 8 for RAID 60 of 2 groups."),
        (RaidWish("6", spares=1), 4, "expected at least 5 for RAID 6 with 1 spare each."),
        (RaidWish("10", members=5), 8, "Found 5 members, expected an even number for RAID 10."),
        (RaidWish("50", members=7), 8, "Found 7 members, expected a multiple of the 2 groups."),
        (RaidWish("5", members=9), 8, "Found 8 free disks of one size, expected 9 for RAID 5."),
        (RaidWish("0", spares=1), 8, "Found spares for RAID 0"),
        (RaidWish("5", chunk=3000), 8, "Found a chunk of 3000 bytes"),
        (RaidWish("7"), 8, "Found level “7”"),
    ],
)  # fmt: skip
def test_what_cannot_be_says_found_and_expected(wish, count, said) -> None:
    with pytest.raises(RaidPlanError) as error:
        plan(wish, disks(count))
    assert said in str(error.value)


def test_md_begins_its_data_where_mdadm_4_does() -> None:
    """264,192 sectors is what `mdadm --examine` prints of disks of terabytes; the sizes are of a 4 TB drive, 7,814,037,168 sectors."""
    drive = 7_814_037_168 * 512
    assert data_offset(drive, KIB512) == 264_192 * 512
    assert used_of(drive, KIB512) == 7_813_772_288 * 512
    assert used_of(drive, None) == 7_813_772_976 * 512
    assert capacity_of("5", [drive] * 3, KIB512) == 7_813_772_288 * 1024
    assert data_offset(10 * GIB, KIB512) < 16 * MIB


@given(
    some.sampled_from(["0", "1", "5", "6", "10"]), some.integers(2, 6), some.integers(30, 42),
    some.sampled_from([4096, 65536, 524288, 4194304]),
)  # fmt: skip
def test_an_array_never_holds_more_than_its_data_disks(level, half, power, chunk) -> None:
    size, count = 2**power + 12345, half * 2
    data = {"0": count, "1": 1, "5": count - 1, "6": count - 2, "10": half}[level]
    held = capacity_of(level, [size] * count, chunk)
    assert data * (size - 130 * MIB - chunk) <= held <= data * size
    assert level == "1" or held % chunk == 0


def test_commands_name_members_in_order_and_match_the_stripe() -> None:
    given_disks = disks(2, 2, 2, 2)
    found = dict(plan(RaidWish("6", filesystem="xfs", name="vault", spares=1), given_disks).commands)
    create = shlex.split(found["Array vault"])
    assert create[:5] == ["mdadm", "--create", "/dev/md/vault", "--level=6", "--metadata=1.2"]
    assert "--raid-devices=7" in create
    assert "--chunk=512K" in create
    assert "--spare-devices=1" in create
    assert len([word for word in create if word.startswith("/dev/disk/by-id/")]) == 8
    assert found["Filesystem on vault"] == "mkfs.xfs -d su=512k,sw=5 /dev/md/vault"
    ext4 = dict(plan(RaidWish("6", filesystem="ext4", chunk=64 * 1024), given_disks).commands)
    assert ext4["Filesystem on data"] == "mkfs.ext4 -b 4096 -E stride=16,stripe-width=96 /dev/md/data"


def test_a_nested_array_is_made_of_its_groups_first() -> None:
    commands = plan(RaidWish("50", arrays=2), disks(6, 6)).commands
    assert [what for what, _ in commands[:8]] == [
        "Group data0-0", "Group data0-1", "Array data0 over its groups", "Filesystem on data0",
        "Group data1-0", "Group data1-1", "Array data1 over its groups", "Filesystem on data1",
    ]  # fmt: skip
    over = commands[2][1]
    assert (
        over
        == "mdadm --create /dev/md/data0 --level=0 --metadata=1.2 --raid-devices=2 --chunk=512K /dev/md/data0-0 /dev/md/data0-1"
    )
    assert commands[3][1] == "mkfs.xfs -d su=512k,sw=4 /dev/md/data0"


@pytest.mark.parametrize(
    ("told", "path"),
    [
        (("sda", "SAS", "ST4000", "Z1", "0x5000C5004A1F0001"), "/dev/disk/by-id/wwn-0x5000c5004a1f0001"),
        (("sda", "SATA", "WDC WD40 EFRX", "WD-1 2", ""), "/dev/disk/by-id/ata-WDC_WD40_EFRX_WD-1_2"),
        (("nvme0n1", "NVMe", "INTEL X", "P1", "eui.01000000"), "/dev/disk/by-id/nvme-eui.01000000"),
        (("nvme0n1", "NVMe", "INTEL X", "P1", ""), "/dev/disk/by-id/nvme-INTEL_X_P1"),
        (("sda", "SAS", "ST4000", "", ""), "/dev/sda"),
        (("/dev/sda", "", "", "", "not a wwn; rm -rf /"), "/dev/sda"),
        (("sda; reboot", "", "", "", ""), ""),
        (("../sda", "", "", "", ""), ""),
        (("", "", "", "", ""), ""),
    ],
)  # fmt: skip
def test_a_device_is_named_by_what_lasts(told, path) -> None:
    assert path_of(*told)[0] == path
    assert path_of(*told)[1] == path.startswith("/dev/disk/")


@given(some.text(), some.text(), some.text(), some.sampled_from(["SATA", "NVMe", "SAS", ""]), some.text())
def test_no_name_becomes_a_command(device, model, serial, interface, wwn) -> None:
    path, _ = path_of(device, interface, model, serial, wwn)
    assert shlex.split(shlex.quote(path)) == [path]
    assert not set(path) & set(" \t\n;|&$`<>\"'\\*?()")


def test_without_a_name_there_are_no_commands() -> None:
    nameless = [RaidCandidate(n, f"disk {n}", TB, str(n), "", "", False) for n in range(3)]
    found = plan(RaidWish("5"), nameless)
    assert found.commands == ()
    assert any("no commands" in note for note in found.notes)


def test_without_sizes_there_is_no_capacity() -> None:
    found = plan(RaidWish("5"), [disk(n, str(n), None) for n in range(3)])
    assert (found.capacity, found.arithmetic) == (None, "The disks' sizes are not known.")


def test_the_thumpers_arrays_against_the_reports_rule() -> None:
    """Its author wished for different controllers "as far as possible". By the inferred grid md1 of the first round sits on two
    controllers; with the same 20 disks a plan puts every four on four, and the eight of md4 on five, two at most on one.
    """
    place = {name: str(controller) for controller, row in thumper.GRID.items() for name in row if name != "-"}
    on = {
        name: Counter(place[f"sd{letter}"] for letter in members.split())
        for name, (_, members, _) in thumper.ARRAYS["ext3"].items()
        if name != "md5"
    }
    assert {name: (len(count), max(count.values())) for name, count in on.items()} == {
        "md1": (2, 2), "md2": (4, 1), "md3": (4, 1), "md4": (5, 2),
    }  # fmt: skip
    free = [disk(n, place[f"sd{letter}"]) for n, letter in enumerate("abcdefghklmnopqrstuv")]
    fours = plan(RaidWish("5", arrays=3, members=4), free)
    assert [group.most_on_one for group in fours.groups] == [1, 1, 1]
    [eight] = plan(RaidWish("6", members=8), free).groups
    assert (len(eight.by_controller), eight.most_on_one) == (5, 2)
