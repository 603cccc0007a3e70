"""Slot maps as such: names, order, the naming rule, listings, spans. Seed 001's table is the test."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as some

from apps.inventory.slots import layout
from apps.inventory.slots.driver_listing import read, read_slots
from apps.inventory.slots.driver_names import (
    block_number,
    device_names,
    entry_of,
    index_of,
    letters,
    possible_entries,
    slot_of,
)  # fmt: skip
from apps.inventory.slots.names import Slot, SlotError, slot_named
from apps.inventory.slots.placement import KnownDisk, SlotChange, doubles, proposed
from apps.inventory.slots.spans import most_controllers, span_of
from apps.inventory.topology.redundancy import Group, Leaf, is_alive
from tests.inventory import thumper
from tests.sampling import for_each

THUMPER = [Slot(c, d) for c, row in thumper.GRID.items() for d, name in enumerate(row) if name != "-"]
TABLE_1 = """\
c0d7 c0d6 c0d5 c0d4
Ctrl 0: c0d3 c0d2 c0d1 c0d0
c1d7 c1d6 c1d5 c1d4
Ctrl 1: c1d3 c1d2 c1d1 c1d0
c4d7 c4d6 c4d5 c4d4
Ctrl 4: c4d3 c4d2 c4d1 c4d0
c5d7 c5d6 c5d5 c5d4
Ctrl 5: c5d3 c5d2 c5d1 c5d0
c2d7 c2d6 c2d5 c2d4
Ctrl 2: c2d3 c2d2 c2d1 c2d0
c3d7 c3d6 c3d5 c3d4
Ctrl 3: c3d3 c3d2 c3d1 c3d0"""


def test_the_thumpers_layout_is_table_1_of_the_report() -> None:
    rows = layout.PRESETS["x4500"][1]
    assert layout.as_text(rows) == TABLE_1
    assert len(rows) == 12
    assert len(layout.slots_in(rows)) == 48
    printed = [row.slots[0].controller for row in rows if row.label and row.slots[0]]
    assert printed == thumper.ORDER


def test_a_layout_comes_back_from_json_and_from_text() -> None:
    rows = layout.from_text("Ctrl 1: c1d1 - c1d0\n\nd7 d8\n")
    assert rows[0] == layout.Row("Ctrl 1", (Slot(1, 1), None, Slot(1, 0)))
    assert layout.rows_of(layout.as_json(rows)) == rows
    assert layout.from_text(layout.as_text(rows)) == rows


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("c1d0\nc1x", "Line 2: found “c1x”, expected a slot such as c1d4 or d7."),
        ("c1d0\n\nc1d0", "every slot once; it is in line 1 too"),
        ("Ctrl 0:", "slots after the label"),
        (" ".join(f"d{n}" for n in range(65)), "at most 64"),
    ],
)
def test_a_wrong_layout_says_where_and_what(text, said) -> None:
    with pytest.raises(SlotError) as error:
        layout.from_text(text)
    assert said in str(error.value)


@pytest.mark.parametrize("broken", [{}, "c1d0", [1], [{"slots": "c1d0"}], [{"slots": ["x"]}], [{"slots": [["c0d0"]]}]])
def test_a_broken_layout_of_the_database_is_an_error_and_no_crash(broken) -> None:
    with pytest.raises(SlotError):
        layout.rows_of(broken)


def test_presets_count_across_and_down() -> None:
    assert layout.as_text(layout.grid(2, 3)) == "d0 d1 d2\nd3 d4 d5"
    assert layout.as_text(layout.grid(3, 2, "down", 1)) == "d1 d4\nd2 d5\nd3 d6"
    sizes = {name: len(layout.slots_in(rows)) for name, (_, rows) in layout.PRESETS.items()}
    assert sizes == {"x4500": 48, "2u12": 12, "2u24": 24, "4u60": 60}


def test_an_enclosure_that_nobody_laid_out_shows_its_slots_in_order() -> None:
    assert layout.as_text(layout.default_rows([Slot(None, 3), Slot(None, 1)])) == "d1 d2 d3"
    assert layout.as_text(layout.default_rows([Slot(1, 0), Slot(0, 2)])) == "Ctrl 0: c0d0 c0d1 c0d2\nCtrl 1: c1d0"
    assert layout.as_text(layout.default_rows([Slot(None, 0), Slot(None, 5000)])) == "d0 d5000"


def test_entry_numbers_are_eight_times_controller_plus_disk() -> None:
    printed = {12: "c1d4", 13: "c1d5", 16: "c2d0", 24: "c3d0", 46: "c5d6", 8: "c1d0", 9: "c1d1"}
    assert {entry_of(slot_named(name)): name for name in printed.values()} == printed
    assert {entry: str(slot_of(entry)) for entry in printed} == printed


def test_the_22_letters_of_the_report_come_out_exactly() -> None:
    names = device_names(THUMPER)
    found = {c: [names.get(Slot(c, d), "-") for d in range(8)] for c in range(6)}
    assert found == thumper.GRID


def test_letters_follow_numbers_and_not_text() -> None:
    names = device_names([slot_of(entry) for entry in (12, 13, 8, 9)])
    assert [names[slot_of(entry)] for entry in (8, 9, 12, 13)] == ["sda", "sdb", "sdc", "sdd"]


@pytest.mark.parametrize(("index", "name"), [(0, "a"), (21, "v"), (25, "z"), (26, "aa"), (701, "zz"), (702, "aaa")])
def test_letters_go_on_after_z(index, name) -> None:
    assert letters(index) == name
    assert index_of(f"/dev/sd{name}") == index


@pytest.mark.parametrize("name", ["", "sd", "nvme0n1", "sdA", "sd1", "sdé", "hda"])
def test_what_is_no_sd_disk_has_no_letter(name) -> None:
    assert index_of(name) is None


@for_each("name, numbers", [("sda", (8, 0)), ("sdb", (8, 16)), ("sdp", (8, 240)), ("sdq", (65, 0)), ("sdr", (65, 16)), ("sdv", (65, 80)),
     ("sddx", (71, 240)), ("sddy", (128, 0)), ("sdiv", (135, 240)), ("sdiw", (8, 256))])  # fmt: skip
def test_block_numbers_are_the_kernels(name, numbers) -> None:
    index = index_of(name)
    assert index is not None
    assert block_number(index) == numbers


def test_the_reports_listing_is_read_with_its_gaps() -> None:
    found = read(thumper.LISTING + thumper.NAMES)
    assert found.has_gaps
    assert sorted(entry_of(one.slot) for one in found.entries) == [8, 9, 12, 13, 16, 24, 46]
    assert {one.drive for one in found.entries} == {"HITACH"}
    assert {str(one.slot): one.device_name for one in found.entries if one.device_name} == {
        "c1d0": "sda", "c1d1": "sdb", "c1d4": "sdc", "c1d5": "sdd", "c2d0": "sde", "c3d0": "sdi"}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/proc/scsi/mvSata/12:1 5 0 0", "Line 1: found “12”, expected entry number 8 × 1 + 5 = 13."),
        ("\n/proc/scsi/mvSata/9:0 9", "Line 2: found “9”"),
        ("hello", "Line 1: found “hello”"),
        ("c1d0 sda\nc1d0 sdb", "Line 2: found “c1d0 sdb”, expected sda"),
    ],
)
def test_a_listing_that_breaks_the_rule_says_line_found_and_expected(text, said) -> None:
    with pytest.raises(SlotError) as error:
        read(text)
    assert said in str(error.value)


@given(some.text(max_size=300))
def test_any_text_is_read_or_refused(text) -> None:
    for reader in (read, read_slots, layout.from_text):
        with suppress(SlotError):
            reader(text)


def test_what_the_printed_entries_leave_open_is_a_range() -> None:
    printed = {0: 8, 1: 9, 2: 12, 3: 13, 4: 16, 8: 24}

    def controllers(letter: str) -> set[int]:
        index = index_of(f"sd{letter}")
        assert index is not None
        return {entry // 8 for entry in possible_entries(index, printed, 22, 48)}

    assert list(possible_entries(0, printed, 22, 48)) == [8]
    assert list(possible_entries(5, printed, 22, 48)) == [17, 18, 19, 20, 21]
    assert [controllers(letter) for letter in "mpsv"] == [{3, 4}, {3, 4, 5}, {4, 5}, {4, 5}]
    assert most_controllers([controllers(letter) for letter in "mpsv"]) == 3


def test_most_controllers_is_a_matching_and_no_union() -> None:
    assert most_controllers([{1, 2}, {1}, {1}]) == 2
    assert most_controllers([]) == 0


def tree(level: str, places: str) -> Group:
    return Group(level, tuple(Leaf(n, place) for n, place in enumerate(places.split())))


def test_a_span_says_controllers_and_what_their_loss_does() -> None:
    md4 = span_of("md4", "RAID 6", tree("6", "1 1 2 3 2 4 5 5"))
    assert md4.sentence == (
        "md4 (RAID 6): 8 disks on 5 controllers (1, 2, 3, 4, 5), at most 2 on one. It survives the loss of any one of them."
    )
    md1 = span_of("md1", "RAID 5", tree("5", "4 4 5 5"))
    assert md1.sentence.endswith(
        "on 2 controllers (4, 5), at most 2 on one. It does not survive the loss of a controller."
    )
    mixed = span_of("md0", "RAID 5", tree("5", "10 2 2"))
    assert mixed.sentence.endswith(
        "on 2 controllers (2, 10), at most 2 on one. It survives the loss of controller 10, not of 2."
    )
    unknown = span_of("md0", "", Group("5", (Leaf(1), Leaf(2))))
    assert unknown.sentence == "md0: 2 disks; their controllers are not known."


def test_a_member_that_has_failed_is_lost_already() -> None:
    members = (Leaf(0, "1", is_gone=True), Leaf(1, "2"), Leaf(2, "3"))
    assert span_of("md0", "", Group("5", members)).dies == ("2", "3")
    assert is_alive(Group("5", members), frozenset()) is True


def known(key: int, name: str, slot: str = "", **sources: str) -> KnownDisk:
    return KnownDisk(key, name, "box" if slot else "", slot_named(slot) if slot else None, sources)


def test_a_known_disk_is_found_by_its_name_and_put_in_its_slot() -> None:
    [a, b] = proposed(read("/x/8:1 0\n/x/9:1 1"), (), [known(7, "sdb", device_name="discovered")], "box")
    assert (a.act, b.act) == ("new", "change")
    assert b.changes == (
        SlotChange("enclosure", "", "box", "", "typed"),
        SlotChange("slot_controller", None, 1, "", "typed"),
        SlotChange("slot_number", None, 1, "", "typed"),
    )


def test_what_is_known_is_replaced_only_with_consent() -> None:
    disks = [known(7, "sdx", "c1d0", device_name="discovered", slot_number="discovered")]
    [one] = proposed(read("c1d0"), (), disks, "box")
    assert one.act == "replace"
    assert [change.field for change in one.written(())] == []
    assert [(change.before, change.after) for change in one.written({"c1d0"})] == [("sdx", "sda")]


def test_an_inferred_value_gives_way_without_asking() -> None:
    disks = [
        known(
            7,
            "sdx",
            "c1d0",
            device_name="inferred",
            slot_number="inferred",
            slot_controller="inferred",
            enclosure="inferred",
        )
    ]
    [one] = proposed(read("c1d0 sda"), (), disks, "box")
    assert one.act == "change"
    assert {change.field: change.source for change in one.changes} == dict.fromkeys(
        ("enclosure", "slot_controller", "slot_number", "device_name"), "typed"
    )


def test_a_move_is_all_or_nothing() -> None:
    elsewhere = KnownDisk(
        7, "sda", "other", Slot(None, 3), {"slot_number": "typed", "enclosure": "typed", "device_name": "typed"}
    )
    [one] = proposed(read("c1d0"), (), [elsewhere], "box")
    assert one.act == "replace"
    assert one.written(()) == ()
    assert {change.field for change in one.written({"c1d0"})} == {"enclosure", "slot_controller", "slot_number"}


@pytest.mark.parametrize(
    ("listing", "disks", "said"),
    [
        ("c1d0 sdb", [], "sdb is printed here, but the rule gives sda"),
        ("c1d0", [known(1, "sda", "c1d0"), known(2, "sdb", "c1d0")], "2 disks say that they are in c1d0"),
        ("c1d0", [known(1, "sda"), known(2, "sda")], "2 disks of this host are called sda"),
        ("c1d0", [known(1, "sdq", "c1d0"), known(2, "sda")], "c1d0 holds sdq, but sda is another disk"),
        ("c9d0", [], "box has no slot c9d0"),
    ],
)
def test_a_contradiction_is_a_problem_and_places_nothing(listing, disks, said) -> None:
    [one] = proposed(read(listing), (), disks, "box", slots=[Slot(1, 0)])
    assert said in one.problem
    assert one.written({str(one.slot)}) == ()


def test_a_listing_with_gaps_gives_no_letters_by_itself() -> None:
    found = proposed(read(thumper.LISTING), (), [], "box")
    assert [one.device_name for one in found] == [""] * 7
    whole = proposed(read(thumper.LISTING), read_slots(thumper.INFERRED), [], "box")
    assert [one.device_name for one in whole] == [f"sd{letter}" for letter in "abcdefghijklmnopqrstuv"]


def test_no_two_disks_get_one_name() -> None:
    disks = [known(1, "sdb", "c1d0", device_name="typed"), known(2, "sda", "c0d0", device_name="inferred")]
    found = proposed(read("c0d0\nc1d0"), (), disks, "box")
    assert doubles(found, disks, set()) == []
    shifted = [known(1, "sda", "c1d0", device_name="inferred", slot_number="typed")]
    new, moved_on = proposed(read("c0d0\nc1d0"), (), shifted, "box")
    assert (new.act, new.device_name, moved_on.disk and moved_on.disk.key, moved_on.device_name) == (
        "new",
        "sda",
        1,
        "sdb",
    )
    [taken, _] = proposed(read("c0d0\nc1d0"), (), [known(1, "sda", "c1d0", device_name="typed")], "box")
    assert taken.problem == "sda sits in c1d0 already."
    both = [known(1, "sda", "c1d0", device_name="typed"), known(2, "", "c0d0")]
    found = proposed(read("c0d0\nc1d0"), (), both, "box")
    assert [one.problem for one in found] == ["c0d0 holds a disk without a name, but sda is another disk.", ""]
