"""What changed between two snapshots, in words: a replaced disk is no moved disk, and knowing more is no change of the machine."""

import time
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.inventory.snapshots.differences import differences_of
from apps.inventory.snapshots.differences.fields import mkfs_options, mount_options
from tests.pace import within
from tests.sampling import examples


def disk(number: int, letter: str, **fields: Any) -> dict[str, Any]:
    state = {
        "number": number, "device_name": f"sd{letter}", "vendor": "Seagate", "model": "ST4000", "serial": f"S{letter.upper()}",
        "capacity_bytes": 4 * 10**12, "absent": {"firmware": "not_printed"}, "is_present": True,
    }  # fmt: skip
    return state | fields


CARD = {"name": "HBA 1", "address": "0000:02:00.0", "model": "SAS3008", "firmware": "16.00"}
OTHER_CARD = {"name": "HBA 2", "address": "0000:03:00.0", "model": "SAS3008", "firmware": "16.00"}


def content(letters: str = "abcd") -> dict[str, Any]:
    members = [
        {"position": n, "partition": "", "state": "in_sync", "controller": CARD, "disk": disk(n + 1, letter)}
        for n, letter in enumerate(letters)
    ]
    array = {"name": "md0", "level": "5", "chunk_size": 256 * 1024, "uuid": "u0", "state": "clean"}
    return {
        "format": 1,
        "target": {"name": "data", "kind": "directory", "path": "/data"},
        "host": {"name": "node7", "kernel": "6.1.0-25", "ram_bytes": 64 * 2**30, "labels": {"rack": "3"}},
        "filesystem": {"type": "xfs", "mount_point": "/data", "mount_options": "rw,relatime,swidth=1024"},
        "storage": {"controller": None, "array": array, "members": members},
    }


def changed(**parts: Any) -> dict[str, Any]:
    """`changed(host={"kernel": "6.1.0-30"})`"""
    new = content()
    for part, fields in parts.items():
        (new["storage"]["array"] if part == "array" else new[part]).update(fields)
    return new


def texts(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return [one.text for one in differences_of(before, after)]


def member(of: dict[str, Any], place: int) -> dict[str, Any]:
    found: dict[str, Any] = of["storage"]["members"][place]
    return found


def test_the_same_stack_has_no_differences() -> None:
    assert differences_of(content(), content()) == []


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (changed(host={"kernel": "6.1.0-30"}), ["kernel 6.1.0-25 → 6.1.0-30"]),
        (changed(host={"ram_bytes": 32 * 2**30}), ["RAM 64\u00a0GiB → 32\u00a0GiB"]),
        (changed(array={"chunk_size": 512 * 1024}), ["chunk size 256\u00a0KiB → 512\u00a0KiB"]),
        (changed(array={"level": "6"}), ["level RAID 5 → RAID 6"]),
        (changed(host={"labels": {"rack": "4", "row": "b"}}), ["label rack 3 → 4", "label row added (b)"]),
        (
            changed(filesystem={"mount_options": "swidth=2048,rw,noatime"}),
            ["mount option noatime added", "mount option relatime removed", "mount option swidth 1024 → 2048"],
        ),
    ],
)
def test_fields_are_said_with_their_units_and_options_one_by_one(after: dict[str, Any], said: list[str]) -> None:
    assert texts(content(), after) == said


def test_the_order_of_mount_options_is_no_change_of_one() -> None:
    found = differences_of(content(), changed(filesystem={"mount_options": "relatime,rw,swidth=1024"}))
    assert [one.group for one in found] == ["record"]


def test_a_disk_with_another_serial_in_the_same_place_was_replaced() -> None:
    after = content()
    member(after, 1)["disk"] = disk(2, "b", serial="NEW", capacity_bytes=6 * 10**12)
    replaced, capacity = differences_of(content(), after)
    assert (replaced.kind, replaced.part) == ("replaced", "place 1 of md0")
    assert replaced.text == "place 1 of md0: disk replaced, Seagate ST4000 serial SB → Seagate ST4000 serial NEW"
    assert capacity.text == "capacity 4\u00a0TB → 6\u00a0TB"


def test_a_device_with_another_name_is_the_same_disk() -> None:
    after = content()
    member(after, 0)["disk"] = disk(1, "q", serial="SA")
    [renamed] = differences_of(content(), after)
    assert (renamed.kind, renamed.before, renamed.after) == ("renamed", "sda", "sdq")


def test_a_disk_in_another_slot_or_on_another_controller_has_moved() -> None:
    before, after = content(), content()
    member(before, 0)["disk"] |= {"enclosure": "JBOD 1", "slot_number": 3}
    member(after, 0)["disk"] |= {"enclosure": "JBOD 2", "slot_number": 5}
    member(after, 1)["controller"] = OTHER_CARD
    found = differences_of(before, after)
    assert [(one.kind, one.label, one.before, one.after) for one in found] == [
        ("moved", "slot", "JBOD 1, d3", "JBOD 2, d5"),
        ("moved", "controller", "HBA 1", "HBA 2"),
        ("added", "", None, "HBA 2"),
    ]


def test_members_in_another_order_are_one_difference_of_the_array() -> None:
    after = content("badc")
    [order] = differences_of(content(), after)
    assert (order.kind, order.group) == ("order", "array")
    assert order.after == "sdb (SB), sda (SA), sdd (SD), sdc (SC)"


def test_an_added_and_a_removed_disk_are_said_as_such() -> None:
    assert texts(content("abcd"), content("abcde")) == ["disk sde (SE) added"]
    assert texts(content("abcde"), content("abcd")) == ["disk sde (SE) removed"]


def test_an_array_between_disk_and_filesystem_is_added() -> None:
    plain = content()
    plain["storage"] = member(content(), 0) | {"position": 0}
    said = texts(plain, content())
    assert "array md0 added" in said
    assert "disk sdb (SB) added" in said
    assert "place the top of the stack → place 0 of md0" in said


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("not_printed", "none", "learned"),
        ("unknown", "not_printed", "learned"),
        ("none", "unknown", "forgotten"),
        ("not_printed", "1.2", "learned"),
        ("none", "1.2", "changed"),
        ("1.2", "unknown", "forgotten"),
        ("1.2", "none", "changed"),
    ],
)
def test_a_change_of_knowledge_is_told_apart_from_a_change_of_the_machine(before: str, after: str, kind: str) -> None:
    def card(word: str) -> dict[str, Any]:
        bare = {name: value for name, value in CARD.items() if name != "firmware"}
        return bare | ({"firmware": word} if word == "1.2" else {"absent": {"firmware": word}})

    sides = content(), content()
    for side, word in zip(sides, (before, after), strict=True):
        for one in side["storage"]["members"]:
            one["controller"] = card(word)
    [found] = differences_of(*sides)
    assert (found.kind, found.field, found.is_knowledge) == (kind, "firmware", kind != "changed")
    assert f"{before.replace('_', ' ')} → {after.replace('_', ' ')}" in found.text


def test_parts_without_a_rule_of_their_own_are_compared_all_the_same() -> None:
    before, after = (
        content() | {"paths": [{"name": "san", "count": 4}]},
        content() | {"paths": [{"name": "san", "count": 2}]},
    )
    [found] = differences_of(before, after)
    assert (found.group, found.label, found.before, found.after) == ("network", "san count", 4, 2)


def test_storage_paths_are_compared_section_by_section() -> None:
    def over(*sections: dict[str, Any], name: str = "SAN") -> dict[str, Any]:
        return content() | {"storage_paths": [{"name": name, "sections": list(sections)}]}

    host = {"name": "server – T2000", "link": "FC-2G", "count": 4, "standby_count": 0}
    shelf = {"name": "T2000 – JBOD", "link": "FC-2G", "count": 2, "standby_count": 1}
    before, after = over(host, shelf), over(shelf | {"link": "FC-4G"}, host | {"count": 2, "bytes_per_second": 10**9})
    assert {(one.part, one.text) for one in differences_of(before, after)} == {
        ("SAN: server – T2000", "links 4 → 2"),
        ("SAN: server – T2000", "printed bandwidth unknown → 1.00\xa0GB/s"),
        ("SAN: T2000 – JBOD", "link FC-2G → FC-4G"),
        ("SAN", "sections server – T2000, T2000 – JBOD → T2000 – JBOD, server – T2000"),
    }
    assert [one.text for one in differences_of(over(host), over(host, shelf))] == ["SAN: T2000 – JBOD added"]
    assert [one.text for one in differences_of(over(host), content())] == ["storage path SAN removed"]
    [order] = differences_of(over(host, shelf), over(shelf, host))
    assert order.text == "sections server – T2000, T2000 – JBOD → T2000 – JBOD, server – T2000"


def test_a_network_tests_way_is_compared_cable_by_cable() -> None:
    far = {"name": "eth0", "mtu": 9000, "bits_per_second": 10**10}
    cable = {"bits_per_second": 10**10, "mtu": 9000, "count": 1}
    before = content() | {
        "network": {"nic": far, "way": [cable | {"to": "switch"}, cable | {"to": "far eth0", "nic": far}]}
    }
    slow = cable | {"to": "far eth0", "nic": far | {"mtu": 1500, "bits_per_second": 10**9}}
    after = content() | {"network": {"nic": far | {"mtu": 1500}, "way": [cable | {"to": "switch"}, slow]}}
    assert [(one.part, one.text.replace("\xa0", " ")) for one in differences_of(before, after)] == [
        ("NIC eth0", "MTU 9000 → 1500"),
        ("far NIC of cable 2 to far eth0", "link rate 10 Gb/s → 1 Gb/s"),
        ("far NIC of cable 2 to far eth0", "MTU 9000 → 1500"),
    ]
    shorter = content() | {"network": {"nic": far, "way": [cable | {"to": "far eth0"}]}}
    assert [one.text for one in differences_of(before, shorter)] == [
        "leads to switch → far eth0",
        "cable 2 to far eth0 removed",
    ]


def test_options_are_read_whatever_their_order() -> None:
    assert mount_options("rw,stripe=256") == {"stripe": "256", "rw": None}
    assert mkfs_options("-b 4096 -d su=64k,sw=4 -F") == {"-b": "4096", "-d su": "64k", "-d sw": "4", "-F": None}


words = st.sampled_from(["", "a", "b", "none"])
letters = st.permutations("abcde").map("".join).flatmap(lambda text: st.integers(1, 5).map(lambda n: text[:n]))


@st.composite
def contents(draw: Any) -> dict[str, Any]:
    made = content(draw(letters))
    for one in made["storage"]["members"]:
        one["disk"] |= {"serial": draw(words), "model": draw(words), "slot_number": draw(st.integers(0, 3))}
        one["state"] = draw(words)
        one["controller"] = draw(st.sampled_from([CARD, OTHER_CARD, None]))
    made["host"] |= {"kernel": draw(words), "absent": {"board": draw(st.sampled_from(["none", "unknown"]))}}
    made["filesystem"] = draw(st.sampled_from([made["filesystem"], None]))
    return made


@pytest.mark.slow
@settings(max_examples=examples(150), deadline=None)
@given(contents(), contents())
def test_there_is_a_difference_exactly_where_the_contents_differ(before: dict[str, Any], after: dict[str, Any]) -> None:
    kept = deepcopy(before), deepcopy(after)
    assert bool(differences_of(before, after)) == (before != after)
    assert (before, after) == kept
    assert all(one.text and one.as_json() for one in differences_of(before, after))


def test_a_thousand_disks_are_compared_in_a_moment() -> None:
    names = [f"{n:04d}" for n in range(1000)]

    def large(letters: list[str]) -> dict[str, Any]:
        made = content("")
        made["storage"]["members"] = [
            {"position": n, "partition": "", "state": "", "controller": CARD, "disk": disk(n + 1, name)}
            for n, name in enumerate(letters)
        ]
        return made

    began = time.process_time()
    found = differences_of(large(names), large([f"x{name}" for name in names]))
    assert {one.kind for one in found} == {"replaced"}
    assert within(time.process_time() - began, 2)
