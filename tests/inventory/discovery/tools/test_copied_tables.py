"""lsblk's tables and /proc/mdstat as mails and logs show them: wrapped, indented, shifted, with other lines right below."""

import pytest

from apps.parsers.core.source_text import SourceText
from tests.inventory.discovery.tools.formats import content, parsed, scores

TREE = """\
NAME               MAJ:MIN RM  SIZE RO TYPE  MOUNTPOINT
sda                  8:0    0 46.6G  0 disk
├─sda1               8:1    0    1G  0 part  /boot
└─sda3               8:3    0 45.5G  0 part
  ├─vg_sys_one-root 252:0    0 35.5G  0 lvm   /
  └─vg_sys_one-swap 252:1    0   10G  0 lvm   [SWAP]
sdb                  8:16   0    1T  0 disk
"""


def _devices(text: str) -> list[tuple[str, str | None, str | None, str | None]]:
    return [
        (one["name"], one.get("size"), one.get("mountpoint"), one.get("parent"))
        for one in content("lsblk", text)["blockdevices"]
    ]


@pytest.mark.parametrize("blanks", ["  ", "   ", "    "])
def test_rows_that_stand_right_of_their_headings_are_read(blanks: str) -> None:
    text = TREE.replace("\n  ├", f"\n{blanks}├").replace("\n  └", f"\n{blanks}└")
    assert _devices(text) == [
        ("sda", "46.6G", None, None), ("sda1", "1G", "/boot", "sda"), ("sda3", "45.5G", None, "sda"),
        ("vg_sys_one-root", "35.5G", "/", "sda3"), ("vg_sys_one-swap", "10G", "[SWAP]", "sda3"), ("sdb", "1T", None, None),
    ]  # fmt: skip


@pytest.mark.parametrize(("above", "below"), [("│ └─", "└─"), ("| `-", "`-")])
def test_devices_below_one_that_is_not_the_last_are_read(above: str, below: str) -> None:
    text = (
        "NAME      MAJ:MIN RM   SIZE RO TYPE  MOUNTPOINT\nsda         8:0    0 465.8G  0 disk\n"
        f"|-sda1      8:1    0     1G  0 part\n{above}md126   9:126  0  1022M  0 raid1 /boot\n{below}sda2      8:2    0   464G  0 part\n"
    )
    assert [(name, parent) for name, _, _, parent in _devices(text)] == [
        ("sda", None), ("sda1", "sda"), ("md126", "sda1"), ("sda2", "sda"),
    ]  # fmt: skip


FLAT = "NAME    MAJ:MIN RM  SIZE RO TYPE MOUNTPOINT\nsda       8:0    0   20G  0 disk\n└─sda1    8:1    0    1G  0 part /boot\n"


@pytest.mark.parametrize(
    "line",
    [
        "++ ls -lrth /dev/vda",
        "brw-rw----. 1 root disk 252, 0 Nov 29 15:20 /dev/vda",
        "/****** wait for it ******/",
        "nodeone+ # x",
    ],
)
def test_a_line_right_below_a_table_takes_no_row_from_it(line: str) -> None:
    found = parsed("lsblk", f"{FLAT}{line}\n")
    assert not found.broken
    (one,) = found.inventory
    assert ([row["name"] for row in one.content["blockdevices"]], one.last_line) == (["sda", "sda1"], 3)


def test_rows_below_a_line_that_is_none_are_told() -> None:
    found = parsed("lsblk", f"{FLAT}++ ls\nsdb       8:16   0   20G  0 disk\n")
    assert len(found.inventory[0].content["blockdevices"]) == 2
    assert [(one.line, one.found) for one in found.broken] == [(4, "++ ls")]


@pytest.mark.parametrize("dots", ["...", "  ...", "[...]", "…"])
def test_rows_that_were_left_out_take_none_of_the_others(dots: str) -> None:
    rows = FLAT.replace("└─sda1", f"{dots}\n│ └─md1").replace("md1    ", "md1   ")
    assert [(name, parent) for name, _, _, parent in _devices(rows)] == [("sda", None), ("md1", None)]
    assert scores(SourceText(FLAT.replace("sda  ", f"{dots}\nsda  ", 1))) == {"lsblk": 1.0}


@pytest.mark.parametrize("margin", [5, 8, 16])
def test_an_indented_table_is_read(margin: int) -> None:
    text = "We saw this:\n\n" + "".join(f"{' ' * margin}{line}\n" for line in FLAT.splitlines()) + "\nany idea?\n"
    assert scores(SourceText(text)) == {"lsblk": 1.0}
    assert _devices(text) == _devices(FLAT)


def test_a_last_column_without_values_needs_no_blanks() -> None:
    text = "KNAME      MODEL                VENDOR\nnvme0n1    EX515THALA-000H3\nnvme1n1    EX515THALA-000H3\n"
    assert content("lsblk", text)["blockdevices"] == [
        {"kname": name, "model": "EX515THALA-000H3", "vendor": None} for name in ("nvme0n1", "nvme1n1")
    ]


SNAPSHOT = """\
Personalities : [raid1] [raid5]
md4 : active raid1 sde4[0] sda4[2]
      20970368 blocks super 1.2 [2/2] [UU]

unused devices: <none>
"""
LATER = SNAPSHOT.replace(" sda4[2]", "").replace("[2/2] [UU]", "[2/1] [U_]")


@pytest.mark.parametrize("margin", ["", "  ", "      "])
def test_every_snapshot_of_a_log_is_one(margin: str) -> None:
    text = f" ####\n 02:55:01 up\n{SNAPSHOT}...\n ####\n 03:00:01 up\n{LATER}...\n"
    found = parsed("mdstat", "".join(f"{margin}{line}\n" for line in text.splitlines())).inventory
    assert [(one.line, one.last_line, one.summary) for one in found] == [
        (3, 7, "md4: raid1 of 2 devices, clean"),
        (11, 15, "md4: raid1 of 2 devices, degraded"),
    ]
    assert found[0].content["personalities"] == ["raid1", "raid5"]


def test_an_array_that_is_told_again_is_of_another_snapshot() -> None:
    array = "".join(SNAPSHOT.splitlines(keepends=True)[1:4])
    text = array + array.replace(" sda4[2]", "").replace("[2/2] [UU]", "[2/1] [U_]")
    assert [one.content["arrays"][0]["places"] for one in parsed("mdstat", text).inventory] == ["UU", "U_"]


def test_arrays_without_personalities_are_read() -> None:
    text = "# cat /proc/mdstat\nmd480 : inactive sdc1[0](S) sdd1[1](S)\n      62502985709 blocks super 1.2\n"
    assert scores(SourceText(text)) == {"mdstat": 0.8}
    (array,) = content("mdstat", text)["arrays"]
    assert (array["size"], len(array["members"])) == (62502985709 * 1024, 2)


@pytest.mark.parametrize("quoted", ["", ">> "])
def test_members_that_a_mail_wrapped_are_all_there(quoted: str) -> None:
    lines = [
        "Personalities : [raid1] [multipath]", "[faulty] [raid10]", "md0 : active raid10 sdb1[3] sdi1[2] sdf1[0]", "sda1[1](F) sdc1[4](S)",
        "      26353689600 blocks super 1.2 512K", "[4/3] [U_UU]", "      [==>..]  recovery = 11.2%", "finish=197.2min speed=54928K/sec",
        "", "unused devices: <none>",
    ]  # fmt: skip
    found = parsed("mdstat", "".join(f"{quoted}{line}\n" for line in lines))
    assert not found.warnings
    (array,) = found.inventory[0].content["arrays"]
    assert [member["device"] for member in array["members"]] == ["sdf1", "sdi1", "sdb1", "sda1", "sdc1"]
    assert (array["size"], array["places"], array["action"], array["progress"]) == (
        26353689600 * 1024,
        "U_UU",
        "recovery",
        0.112,
    )
    assert found.inventory[0].content["personalities"] == ["raid1", "multipath", "faulty", "raid10"]


def test_what_is_no_member_among_wrapped_ones_is_told() -> None:
    found = parsed(
        "mdstat", "md0 : active raid1 sda1[0]\nsdb1[1] and sdc1[2]\n      100 blocks super 1.2 [3/3] [UUU]\n"
    )
    assert found.warnings == ("mdstat from line 1 on, its line 1: found 'and', expected a member such as sda1[0]",)
    assert "warnings" not in found.inventory[0].content


def test_an_array_that_a_mail_put_into_one_line_is_read() -> None:
    text = (
        "Personalities : [raid1]\nmd0 : active raid1 sdb2[1] sda2[0] 1874715648 blocks super 1.2 [2/1]\n"
        "[U_] resync=DELAYED unused devices: <none>\n"
    )
    found = parsed("mdstat", text)
    (array,) = found.inventory[0].content["arrays"]
    assert not found.warnings
    assert (array["size"], array["places"], array["action"], len(array["members"])) == (
        1874715648 * 1024,
        "U_",
        "resync",
        2,
    )


@pytest.mark.slow
def test_of_very_many_tables_the_first_are_read_and_the_end_is_told() -> None:
    found = parsed("lsblk", "NAME SIZE\nsda 1T\n\n" * 20_001)
    assert len(found.inventory) == 20_000
    (broken,) = found.broken
    assert (broken.line, broken.found) == (60_001, "NAME SIZE")
    assert "20,000" in broken.message


def test_mounts_whose_source_is_too_long_go_on_below_it() -> None:
    text = """\
TARGET                   SOURCE     FSTYPE OPTIONS
/                        /dev/sda1  ext4   rw,relatime
├─/run                   tmpfs      tmpfs  rw,nosuid
├─/root/uts              nsfs[uts:[4026532440]]
│                                   nsfs   rw
└─/srv                   /dev/sdb1  xfs    ro
"""
    rows = content("findmnt", text)["filesystems"]
    assert [(row["target"], row["source"], row["fstype"], row["options"]) for row in rows[2:]] == [
        ("/root/uts", "nsfs[uts:[4026532440]]", "nsfs", "rw"), ("/srv", "/dev/sdb1", "xfs", "ro"),
    ]  # fmt: skip


def test_cells_of_findmnt_may_be_empty() -> None:
    text = """\
TARGET     SOURCE    LABEL SIZE UUID
/          /dev/sda1        29G 0b7c-1
├─/run     tmpfs
└─/srv/a   /dev/sdb1 data  1.8T 77aa-2
There are more.
"""
    rows = content("findmnt", text)["filesystems"]
    keys = ("target", "source", "label", "size", "uuid")
    assert [tuple(row[key] for key in keys) for row in rows] == [
        ("/", "/dev/sda1", None, "29G", "0b7c-1"),
        ("/run", "tmpfs", None, None, None),
        ("/srv/a", "/dev/sdb1", "data", "1.8T", "77aa-2"),
    ]
    (one,) = parsed("findmnt", "TARGET PROPAGATION OPT-FIELDS\n/      private     \n").inventory
    assert (one.content["filesystems"][0]["opt-fields"], one.summary) == (None, "1 mount")


def test_rows_of_lsblk_without_their_heading_are_devices() -> None:
    text = """\
As you see:

sdc       8:32   0   5.5T  0 disk

└─sdc1    8:33   0   5.5T  0 part

   └─md0   9:0    0   5.5T  0 raid1 /srv

NAME MAJ:MIN RM SIZE RO TYPE MOUNTPOINT
sda  8:0      0   1T  0 disk

And on the other one:
sdb  8:16     0   2T  0 disk
"""
    bare, whole, last = parsed("lsblk", text).inventory
    assert [(row["name"], row["size"], row["mountpoint"], row.get("parent")) for row in bare.content["blockdevices"]] == [
        ("sdc", "5.5T", None, None), ("sdc1", "5.5T", None, "sdc"), ("md0", "5.5T", "/srv", "sdc1"),
    ]  # fmt: skip
    assert [(one.line, one.last_line) for one in (bare, whole, last)] == [(3, 7), (9, 10), (13, 13)]
    assert scores(SourceText("# lsblk -n\nsdb  8:16     0   2T  0 disk\n")) == {"lsblk": 0.8}


def test_a_tree_that_a_mail_left_encoded_has_names() -> None:
    text = "NAME   MAJ:MIN RM   SIZE RO TYPE MOUNTPOINT\nsda      8:0    0 931.5G  0 disk\n"
    text += "=E2=94=9C=E2=94=80sda1   8:1    0     1G  0 part /boot\n=E2=94=94=E2=94=80sda2   8:2    0 930.5G  0 part\n"
    rows = content("lsblk", text)["blockdevices"]
    assert [(row["name"], row.get("parent")) for row in rows] == [("sda", None), ("sda1", "sda"), ("sda2", "sda")]


def test_a_device_that_has_nothing_but_its_places_is_a_row() -> None:
    text = "NAME   FSTYPE FSVER LABEL UUID FSAVAIL FSUSE% MOUNTPOINTS\nsda\n└─sda1 ext4   1.0                 1.1G    86% /\n"
    text += "zram0                                         [SWAP]\nlinux (for-next) # tree config\nconfig\n└── nullb\n"
    (one,) = parsed("lsblk", text).inventory
    assert [(row["name"], row["mountpoints"]) for row in one.content["blockdevices"]] == [
        ("sda", []), ("sda1", ["/"]), ("zram0", ["[SWAP]"]),
    ]  # fmt: skip
    assert not parsed("lsblk", text).broken


def test_a_prompt_behind_a_margin_ends_a_table() -> None:
    text = "On it:\n\n    $ lsblk -S\n    NAME MODEL            SERIAL\n    sda  Example SSD 1TB  S6X1\n    $ dmesg\n    [ 1.6] no\n"
    (one,) = parsed("lsblk", text).inventory
    assert one.content["blockdevices"] == [{"name": "sda", "model": "Example SSD 1TB", "serial": "S6X1"}]
    assert (one.line, one.last_line) == (4, 5)


def test_quotes_of_quotes_hide_no_margin() -> None:
    text = "> >>> On a machine with\n> >>>\n> >>>      07:00.2 SATA controller [0106]: Example FCH [1022:7901] (rev 51)\n> >>>\n> >>> it fails.\n"
    assert scores(SourceText(text)) == {"lspci": 1.0}
    assert content("lspci", text)["devices"][0]["slot"] == "07:00.2"
