"""RAID 50 and 60 lose one or two members in each group, however the inventory tells the groups. Sums worked by hand."""

from typing import Any

import pytest

from apps.inventory.ceilings.ceiling import ceiling_of
from apps.inventory.ceilings.current import ceiling_now
from apps.inventory.discovery.receive import receive
from apps.inventory.models import Array, Host, Target
from apps.inventory.topology.geometry import data_members, groups_of, must_be_even, span_of
from apps.labs.models import Lab
from tests.inventory import hosts, raid_hosts
from tests.inventory.hosts import output
from tests.inventory.test_ceiling import Content, array, ceiling, disk, in_mb, plain

TB = 10**12


def drives(count: int, first: int = 0) -> list[Content]:
    return [disk(first + n, "SAS", "SAS-6G") for n in range(count)]


def flat(level: str, count: int, **fields: Any) -> Content:
    return array(level, drives(count), "hardware", **fields)


@pytest.mark.parametrize(
    ("level", "count", "layout", "data"),
    [
        ("50", 8, "2 spans", 6), ("50", 9, "3 spans", 6), ("50", 12, "span depth 4", 8), ("50", 12, "2 groups of 6", 10),
        ("60", 12, "2 spans", 8), ("60", 12, "3 spans", 6), ("60", 24, "Span Depth: 4", 16),
        ("50", 11, "4 + 4 + 3", 8), ("50", 7, "4+3", 5), ("60", 9, "5 + 4", 5),  # groups that are not alike
    ],
)  # fmt: skip
def test_groups_that_are_only_counted_each_give_up_their_parity(level: str, count: int, layout: str, data: int) -> None:
    found = ceiling(flat(level, count, layout=layout))
    expected = f"{count} × 600 MB/s SAS-6G lanes × {data}/{count} that carry data = {plain_mb(data * 600)}"
    assert plain(found.write) == [expected]
    assert in_mb(found.read) == count * 600.0
    assert not any("groups" in one for one in found.unknown)


def plain_mb(value: int) -> str:
    return f"{value:,} MB/s".replace(",", " ")


@pytest.mark.parametrize(
    ("level", "count", "layout", "data"),
    [
        ("50", 8, "", 6), ("60", 12, "", 8), ("50", 8, "left-symmetric", 6),
        ("50", 8, "5 spans", 6),  # eight disks do not make five groups of three
        ("50", 8, "4 + 3", 6),  # nor are they seven
        ("50", 8, "1 span", 6),
    ],
)  # fmt: skip
def test_where_the_groups_are_not_known_two_are_the_widest_bound(
    level: str, count: int, layout: str, data: int
) -> None:
    found = ceiling(flat(level, count, layout=layout))
    assert in_mb(found.write) == data * 600.0
    assert "how many groups md0 has: taken as two, the widest case" in found.unknown


@pytest.mark.parametrize(
    ("level", "inner", "sizes"), [("50", "5", (4, 4)), ("50", "5", (4, 3)), ("60", "6", (6, 5, 4))]
)
def test_groups_as_arrays_of_their_own_give_the_same_bound(level: str, inner: str, sizes: tuple[int, ...]) -> None:
    nested = [array(inner, drives(size, 10 * n), "hardware") for n, size in enumerate(sizes)]
    one_row = flat(level, sum(sizes), layout=" + ".join(map(str, sizes)))
    assert ceiling(array("0", nested, "hardware")).write.value == ceiling(one_row).write.value


@pytest.mark.parametrize(("level", "inner", "data"), [("50", "5", 6), ("60", "6", 4), ("10", "1", 2)])
def test_a_whole_that_is_called_50_over_its_groups_loses_their_parity_once(level: str, inner: str, data: int) -> None:
    """Two groups of four: whoever writes RAID 50 above two RAID 5 means the same as RAID 0 above them."""
    nested = [array(inner, drives(4, 10 * n), "hardware") for n in range(2)]
    assert in_mb(ceiling(array(level, nested, "hardware")).write) == data * 600.0


def test_spares_are_in_no_group() -> None:
    storage = flat("50", 10, layout="3 spans")
    storage["members"][9]["state"] = "spare"
    assert in_mb(ceiling(storage).write) == 6 * 600.0  # nine that hold data and parity, three groups


def test_a_report_that_counts_disks_and_groups_only() -> None:
    counted = array("60", [], "hardware", member_count=16, layout="2 spans")
    told = {"disk": {"interface": "SAS"}}
    found = ceiling_of({"target": {}, "host": {}, "filesystem": None, "storage": counted, "published": told})
    assert in_mb(found.write) == 12 * 2400.0  # of unknown generation: the fastest


@pytest.mark.parametrize(
    ("level", "members", "groups", "copies", "data"),
    [
        ("0", 4, 1, 2, 4),
        ("1", 3, 1, 2, 1),
        ("5", 4, 1, 2, 3),
        ("6", 4, 1, 2, 2),
        ("10", 6, 1, 3, 2),
        ("50", 9, 3, 2, 6),
    ],
)
def test_members_that_carry_data(level: str, members: int, groups: int, copies: int, data: int) -> None:
    assert data_members(level, members, groups, copies) == data


def test_only_raid_50_and_60_have_groups() -> None:
    assert [groups_of(level, "2 spans", 8) for level in ("0", "10", "6", "50", "60")] == [None, None, None, 2, 2]


def test_capacity_with_known_groups_is_one_sum_and_without_them_a_range() -> None:
    """Nine disks of 1 TB: three groups leave six; unknown, two groups would leave seven."""
    known, unknown = span_of("50", [TB] * 9, groups=3), span_of("50", [TB] * 9)
    assert known
    assert unknown
    assert (known.least, known.most, known.text) == (6 * TB, 6 * TB, "(9 − 3 × 1) × {size}")
    assert (unknown.least, unknown.most) == (6 * TB, 7 * TB)


def test_a_raid_50_of_three_groups_of_three_is_no_odd_count() -> None:
    assert [must_be_even(level, "") for level in ("10", "50", "60")] == [True, False, False]


LDINFO = """\
$ MegaCli64 -LDInfo -Lall -aALL

Adapter 0 -- Virtual Drive Information:
Virtual Drive: 0 (Target Id: 0)
Name                :data
RAID Level          : Primary-5, Secondary-3, RAID Level Qualifier-3
Size                : 5.456 TB
State               : Optimal
Strip Size          : 256 KB
Number Of Drives per span:3
Span Depth          : 3
"""


@pytest.mark.django_db
def test_megacli_counts_the_spans_of_drives_that_it_does_not_list(lab: Lab) -> None:
    host = hosts.host(lab)
    receive(host, [output("megacli", LDINFO)])
    row = Array.objects.get()
    assert (row.level, row.member_count, row.layout) == ("50", 9, "3 spans")


@pytest.mark.django_db
def test_storcli_without_its_topology_still_counts_the_spans(lab: Lab) -> None:
    """A RAID 50 of nine drives; whose are in which span is not in this output."""
    host: Host = hosts.host(lab)
    text = raid_hosts.storcli(spans=3, each=3).replace('"TOPOLOGY"', '"Topology"')
    printed = '"Span Depth": "3", "Number of Drives Per Span": "3", "Strip Size"'
    receive(host, [output("storcli", text.replace('"Strip Size"', printed))])
    row = Array.objects.get()
    assert (row.level, row.member_count, row.layout) == ("50", 9, "3 spans")
    bound = ceiling_now(Target.objects.create(lab=lab, host=host, name="data", array=row))
    assert bound
    assert not any("groups" in one for one in bound.unknown)


SSACLI = """\
$ ssacli ctrl all show config detail

Smart Array P408i-a SR Gen10 in Slot 0 (Embedded)
   Slot: 0
   Serial Number: PEYHC0DRHBV3SN

   Array: A
      Interface Type: SAS
      Unused Space: 0  MB (0.0%)

      Logical Drive: 1
         Size: 3.3 TB
         Fault Tolerance: 50
         Strip Size: 256 KB
         Status: OK
         Logical Drive Label: DATA
         Parity Group 0:
            physicaldrive 1I:1:1 (port 1I:box 1:bay 1, SAS HDD, 600 GB, OK)
            physicaldrive 1I:1:2 (port 1I:box 1:bay 2, SAS HDD, 600 GB, OK)
            physicaldrive 1I:1:3 (port 1I:box 1:bay 3, SAS HDD, 600 GB, OK)
         Parity Group 1:
            physicaldrive 1I:1:4 (port 1I:box 1:bay 4, SAS HDD, 600 GB, OK)
            physicaldrive 1I:1:5 (port 1I:box 1:bay 5, SAS HDD, 600 GB, OK)
            physicaldrive 1I:1:6 (port 1I:box 1:bay 6, SAS HDD, 600 GB, OK)
         Drive Type: Data
"""


@pytest.mark.django_db
def test_ssaclis_parity_groups_are_counted(lab: Lab) -> None:
    receive(hosts.host(lab), [output("ssacli", SSACLI)])
    row = Array.objects.get()
    assert (row.level, row.layout, row.members.count()) == ("50", "2 spans", 6)
