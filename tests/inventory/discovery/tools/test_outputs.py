"""Layouts that the corpus lacks, written from the tools' definitions, and outputs that are cut, bent or in the middle of others."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.inventory.discovery.tool_output import field, is_prompt, table, typed
from apps.parsers.core.models import ParsedInventory, ParseError
from apps.parsers.core.source_text import SourceText
from tests.inventory.discovery.tools.formats import FORMATS, content, parsed, scores
from tests.pace import slowness
from tests.sampling import examples, for_each

DETAIL = """\
/dev/md0:
           Version : 1.2
        Raid Level : raid5
        Array Size : 405504 (396.00 MiB 415.24 MB)
      Raid Devices : 3
             State : clean
        Chunk Size : 64K

    Number   Major   Minor   RaidDevice State
       0     254        1        0      active sync   /dev/vda1
       1     254        2        1      active sync   /dev/vda2
       -       0        0        2      removed
"""
MDSTAT = (
    "Personalities : [raid1]\nmd0 : active raid1 sdb1[1] sda1[0]\n      8 blocks [2/2] [UU]\n\nunused devices: <none>\n"
)
LSBLK = (
    "NAME   MAJ:MIN RM  SIZE RO TYPE MOUNTPOINT\nsda      8:0    0   20G  0 disk \n└─sda1   8:1    0   20G  0 part /\n"
)
FINDMNT = "TARGET SOURCE    FSTYPE OPTIONS\n/      /dev/sda1 ext4   rw,relatime\n└─/sys sysfs     sysfs  rw\n"
LSPCI = "00:1f.2 SATA controller [0106]: Intel Corporation 82801IR [8086:2922] (rev 02) (prog-if 01 [AHCI 1.0])\n\tKernel driver in use: ahci\n"
DMIDECODE = "Handle 0x1100, DMI type 17, 40 bytes\nMemory Device\n\tSize: 16384 MB\n\tLocator: A1\n\n"
SMARTCTL = """\
smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)
Copyright (C) 2002-22, Bruce Allen, Christian Franke, www.smartmontools.org

=== START OF INFORMATION SECTION ===
Device Model:     WDC WD10
Serial Number:    123456
User Capacity:    1,000,204,886,016 bytes [1.00 TB]

=== START OF READ SMART DATA SECTION ===
SMART overall-health self-assessment test result: PASSED
ID# ATTRIBUTE_NAME          FLAGS    VALUE WORST THRESH FAIL RAW_VALUE
  9 Power_On_Hours          -O--CK   098   098   000    -    1730 (12 3 4)
"""
SMARTCTL_JSON = '{"smartctl": {"version": [7, 3], "exit_status": 4}, "model_name": "X", "user_capacity": {"bytes": 1000204886016}}\n'
STORCLI = """\
CLI Version = 007.1017.0000.0000 May 10, 2019
Operating system = Linux 3.10.0
Controller = 0
Status = Success
Description = None

Product Name = AVAGO 3108 MegaRAID
Virtual Drives = 1

VD LIST :
=======

---------------------------------------------------------------
DG/VD TYPE  State Access Consist Cache Cac sCC      Size Name
---------------------------------------------------------------
0/0   RAID6 Optl  RW     Yes     RWBD  -   ON  55.881 TB my data
---------------------------------------------------------------

Cac=CacheCade|Rec=Recovery|OfLn=OffLine|Pdgd=Partially Degraded
"""
STORCLI_JSON = '{"Controllers":[{"Command Status": {"Controller": 0, "Status": "Success"}, "Response Data": {"Product Name": "P"}}]}\n'
MEGACLI = "Adapter #0\n\nEnclosure Device ID: 32\nSlot Number: 0\nFirmware state: Online, Spun Up\nDrive Temperature :31C (87.80 F)\n"
OMREPORT = """\
List of Virtual Disks in the System

Controller PERC 5/i Integrated (Embedded)
ID                            : 0
Status                        : Ok
Name                          : Virtual Disk 0
Layout                        : RAID-5
Size                          : 743.00 GB (797790175232 bytes)
ID                            : 1
Status                        : Non-Critical
Name                          : Virtual Disk 1
"""
TW_CLI = (
    "Unit  UnitType  Status         %RCmpl  %V/I/M  Stripe  Size(GB)  Cache  AVrfy\n"
    + "-" * 78
    + "\nu0    RAID-5    OK             -       -       64K     698.48    ON     OFF\n"
)
SSACLI = """\
Smart Array P440ar in Slot 0 (Embedded)

   Array A

      logicaldrive 1 (279.4 GB, RAID 1, OK)
      physicaldrive 1I:1:1 (port 1I:box 1:bay 1, SAS, 300 GB, OK)
"""
ARCCONF = (
    "Controllers found: 1\n"
    + "-" * 70
    + "\nController information\n"
    + "-" * 70
    + "\n   Controller Model                         : Adaptec 6405\n   Channel,Device(T:L)                      : 0,0(0:0)\n"
)
NVME = """\
Node             SN          Model       Namespace Usage                      Format           FW Rev
---------------- ----------- ----------- --------- -------------------------- ---------------- --------
/dev/nvme0n1     QQ1         OWN FLASH   1           1.02  TB /   2.00  TB    512   B +  0 B   7B1
"""
ZPOOL = """\
  pool: depot
 state: ONLINE
config:

\tNAME    STATE     READ WRITE CKSUM
\tdepot   ONLINE       0     0     0
\t  sdq   ONLINE       0     0     0

errors: No known data errors
"""
OUTPUTS = {
    "mdadm": DETAIL, "mdstat": MDSTAT, "lsblk": LSBLK, "findmnt": FINDMNT, "lspci": LSPCI, "dmidecode": DMIDECODE, "smartctl text": SMARTCTL,
    "smartctl json": SMARTCTL_JSON, "storcli text": STORCLI, "storcli json": STORCLI_JSON, "megacli": MEGACLI, "omreport": OMREPORT,
    "tw_cli": TW_CLI, "ssacli": SSACLI, "arcconf": ARCCONF, "nvme": NVME, "zpool": ZPOOL,
}  # fmt: skip


def test_every_format_is_here() -> None:
    assert set(OUTPUTS) == set(FORMATS)


@for_each("name", OUTPUTS)
def test_an_output_is_recognised_and_summed_up(name: str) -> None:
    assert scores(SourceText(OUTPUTS[name])) == {name: 1.0}
    (one,) = parsed(name, OUTPUTS[name]).inventory
    assert one.summary
    assert one.line == 1


SUMMARIES = {
    "mdadm": "/dev/md0: raid5 of 3 devices, clean, chunk 64K", "mdstat": "md0: raid1 of 2 devices, clean", "lsblk": "2 block devices: sda 20G",
    "findmnt": "2 mounts: / is ext4 on /dev/sda1", "lspci": "1 PCI device, storage: Intel Corporation 82801IR", "dmidecode": "1 structure",
    "smartctl text": "WDC WD10 (123456), 1,000,204,886,016 bytes [1.00 TB], health PASSED", "smartctl json": "X, 1.00 TB",
    "storcli text": "controller 0: AVAGO 3108 MegaRAID, 1 virtual drive", "storcli json": "controller 0: P", "megacli": "adapter 0: 1 physical drive",
    "omreport": "List of Virtual Disks in the System: 2 rows (Non-Critical, Ok)", "tw_cli": "1 unit (OK)",
    "ssacli": "Smart Array P440ar in Slot 0 (Embedded), 1 physical drive, 1 logical drive", "arcconf": "Adaptec 6405",
    "nvme": "1 NVMe drive: nvme0n1 OWN FLASH", "zpool": "pool depot online",
}  # fmt: skip


@for_each("name", SUMMARIES)
def test_the_summary_is_for_people(name: str) -> None:
    (one,) = parsed(name, OUTPUTS[name]).inventory
    assert one.summary == SUMMARIES[name]


@for_each("name", OUTPUTS)
def test_an_output_between_prompts_and_prose_is_found_with_its_lines_and_host(name: str) -> None:
    before = "Hello,\nthis is what we have here.\n\nroot@host3:~# tool\n"
    behind = "root@host3:~# \n\nI hope that helps.\n"
    (one,) = parsed(name, before + OUTPUTS[name] + behind).inventory
    assert one.line == 5
    assert one.last_line == 4 + len(OUTPUTS[name].rstrip().splitlines())
    assert one.host == "host3"


@for_each("name", OUTPUTS)
def test_crlf_mail_quotes_and_a_byte_order_mark_change_nothing(name: str) -> None:
    (plain,) = parsed(name, OUTPUTS[name]).inventory
    crlf = "\ufeff" + OUTPUTS[name].replace("\n", "\r\n")
    quoted = "".join(f"> {line}\n" for line in OUTPUTS[name].splitlines())
    for text in (crlf, quoted):
        assert scores(SourceText(text)) == {name: 1.0}
        assert [one.content for one in parsed(name, text).inventory] == [plain.content]


@for_each("name", OUTPUTS)
def test_two_outputs_in_one_text_are_two(name: str) -> None:
    found = parsed(name, OUTPUTS[name] + "$ tool\n" + OUTPUTS[name])
    assert len(found.inventory) == 2


@for_each("name", OUTPUTS)
def test_an_output_cut_anywhere_is_read_as_far_as_it_goes_or_refused(name: str) -> None:
    data = OUTPUTS[name]
    for end in range(0, len(data), max(1, len(data) // 40)):
        found = _inventory(name, data[:end])
        assert found is None or len(found) == 1


def _inventory(name: str, text: str) -> tuple[ParsedInventory, ...] | None:
    try:
        return parsed(name, text).inventory
    except ParseError:
        return None


@for_each("name", OUTPUTS)
def test_no_output_is_refused(name: str) -> None:
    for text in ("", "nothing of it\n", "\x00\x00", "a : b\n" * 10):
        assert FORMATS[name].looks_like(SourceText(text)) == 0
        with pytest.raises(ParseError):
            parsed(name, text)


@given(st.sampled_from(sorted(OUTPUTS)), st.data())
@settings(max_examples=examples(150), deadline=None)
def test_a_bent_output_is_read_or_refused_and_nothing_else(name: str, data: st.DataObject) -> None:
    text = OUTPUTS[name]
    place = data.draw(st.integers(0, len(text)))
    gap = data.draw(st.integers(0, 40))
    bent = text[:place] + data.draw(st.text(max_size=12)) + text[place + gap :]
    source = SourceText(bent)
    assert 0 <= FORMATS[name].looks_like(source) <= 1
    try:
        parsed(name, source)
    except ParseError:
        pass


@for_each("name", OUTPUTS, number=4)
def test_reading_takes_time_in_proportion(name: str) -> None:
    def seconds(times: int) -> float:
        lines = OUTPUTS[name].splitlines()
        text = SourceText("".join(f"{line}\n" * times for line in lines))
        assert text.lines
        started = time.process_time()
        try:
            parsed(name, text)
        except ParseError:
            pass
        return time.process_time() - started

    seconds(10)
    # three tries: what else the machine does can only make a reading longer, and one that is not in proportion is long each time
    assert any(seconds(2000) < 10 * 1.8 * max(seconds(200), 0.02 * slowness()) for _ in range(3))


def test_smartctls_brief_attributes_are_read() -> None:
    (attribute,) = content("smartctl text", SMARTCTL)["attributes"]
    assert attribute == {
        "id": 9, "name": "Power_On_Hours", "flag": "-O--CK", "value": 98, "worst": 98, "thresh": 0, "when_failed": "-", "raw": "1730 (12 3 4)",
    }  # fmt: skip


def test_omreports_own_text_is_read_as_rows() -> None:
    (section,) = content("omreport", OMREPORT)["sections"]
    assert section["title"] == "Controller PERC 5/i Integrated (Embedded)"
    assert [row["Name"] for row in section["rows"]] == ["Virtual Disk 0", "Virtual Disk 1"]
    assert section["rows"][0] == {
        "ID": 0,
        "Status": "Ok",
        "Name": "Virtual Disk 0",
        "Layout": "RAID-5",
        "Size": "743.00 GB (797790175232 bytes)",
    }


def test_storclis_table_keeps_blanks_inside_names_and_sizes() -> None:
    (drive,) = content("storcli text", STORCLI)["Response Data"]["VD LIST"]
    assert (drive["Size"], drive["Name"], drive["DG/VD"]) == ("55.881 TB", "my data", "0/0")


def test_mdadm_export_and_scan_are_read() -> None:
    export = content("mdadm", "MD_LEVEL=raid1\nMD_DEVICES=2\nMD_METADATA=1.2\nMD_UUID=aa:bb\nMD_DEVNAME=0\n")
    assert (export["MD_LEVEL"], export["MD_DEVICES"]) == ("raid1", 2)
    scan = content(
        "mdadm",
        "ARRAY /dev/md0 metadata=1.2 name=host3:0 UUID=aa:bb\nARRAY /dev/md1 level=raid5 num-devices=3 UUID=cc:dd\n",
    )
    assert scan["arrays"] == [
        {"device": "/dev/md0", "metadata": "1.2", "name": "host3:0", "UUID": "aa:bb"},
        {"device": "/dev/md1", "level": "raid5", "num-devices": "3", "UUID": "cc:dd"},
    ]


def test_mdadm_examine_of_intels_metadata_has_its_volumes_apart() -> None:
    found = content(
        "mdadm",
        "/dev/sda:\n          Magic : Intel Raid ISM Cfg Sig. 1.3.00\n        Version : 1.3.00\n  Disk00 Serial : S3\n\n"
        "[Volume0]:\n           UUID : aa:bb\n     RAID Level : 5\n        Members : 3\n",
    )
    assert found["magic"] == "Intel Raid ISM Cfg Sig. 1.3.00"
    assert found["[Volume0]"] == {"uuid": "aa:bb", "raid_level": 5, "members": 3}


def test_ssaclis_sections_nest_as_indented() -> None:
    found = content("ssacli", SSACLI)
    (array,) = found["parts"]
    assert (array["kind"], array["name"]) == ("Array", "A")
    assert [(part["kind"], part["words"][0]) for part in array["parts"]] == [
        ("logicaldrive", "279.4 GB"),
        ("physicaldrive", "port 1I:box 1:bay 1"),
    ]


def test_arcconfs_keys_with_a_colon_inside_stay_whole() -> None:
    assert content("arcconf", ARCCONF)["Controller information"] == {
        "Controller Model": "Adaptec 6405",
        "Channel,Device(T:L)": "0,0(0:0)",
    }


def test_smartctl_json_that_is_cut_off_leaves_the_whole_ones() -> None:
    found = parsed("smartctl json", SMARTCTL_JSON + SMARTCTL_JSON[:60])
    assert len(found.inventory) == 1
    assert [broken.line for broken in found.broken] == [2]


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("Slot Number", "3", 3), ("Serial Number", "4031102", "4031102"), ("Firmware Version", "7", "7"),
        ("DID", "07", "07"), ("Size", "9" * 30, "9" * 30),
        ("Temperature", "-5", -5), ("WWN", "5000", "5000"), ("Ratio", "1.0", "1.0"),
    ],
)  # fmt: skip
def test_a_number_is_one_only_where_it_can_be_nothing_else(key: str, value: str, expected: object) -> None:
    assert typed(key, value) == expected


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("  Raid Level : raid5", ("Raid Level", "raid5")), ("Drive Temperature :31C (87.80 F)", ("Drive Temperature", "31C (87.80 F)")),
        ("PCI Address (Domain:Bus): 0000:06", ("PCI Address (Domain:Bus)", "0000:06")), ("Name:", ("Name", "")), ("no field", None), (": x", None),
    ],
)  # fmt: skip
def test_a_field_ends_at_the_colon_before_a_blank(line: str, found: tuple[str, str] | None) -> None:
    assert field(line) == found


def test_a_table_is_cut_where_all_its_lines_are_blank() -> None:
    assert table("Port  Size      Model", ["p0    1.82 TB   SEAGATE ST3", "p1    698 GB    WDC WD7"]) == [
        {"Port": "p0", "Size": "1.82 TB", "Model": "SEAGATE ST3"}, {"Port": "p1", "Size": "698 GB", "Model": "WDC WD7"},
    ]  # fmt: skip
    assert table("", ["x"]) == []


@pytest.mark.parametrize(
    ("line", "is_one"),
    [("root@h:~# ls", True), ("# smartctl -a", True), ("$ cat x", True), ("ID# ATTRIBUTE", False), ("Name: x", False)],
)
def test_a_prompt_is_told_from_a_heading(line: str, is_one: bool) -> None:
    assert is_prompt(line) is is_one


def test_raw_lsblk_with_a_short_row_is_read_up_to_it() -> None:
    found = content("lsblk", "NAME MAJ:MIN RM SIZE\nloop0 7:0 0 300M\nzram0\n")
    assert found["blockdevices"] == [{"name": "loop0", "maj:min": "7:0", "rm": "0", "size": "300M"}]


def test_a_section_of_storcli_that_is_named_like_a_field_keeps_both() -> None:
    text = STORCLI + "\nVirtual Drives :\n==============\n\nState = Onln\n"
    data = content("storcli text", text)["Response Data"]
    assert (data["Virtual Drives"], data["State"]) == (1, "Onln")
