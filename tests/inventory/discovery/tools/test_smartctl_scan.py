"""smartctl's list of devices as text, alone and above their reports."""

from apps.inventory.discovery.tools.smartctl import drives as smartctl
from apps.parsers.core.source_text import SourceText
from tests.inventory.discovery.tools.formats import content, parsed, scores

SCAN = """\
/dev/sda -d sat # /dev/sda [SAT], ATA device
/dev/bus/0 -d megaraid,8 # /dev/bus/0 [megaraid_disk_08], SCSI device
# /dev/nvme0 -d nvme # /dev/nvme0, NVMe device open failed: Permission denied
"""
REPORT = """\
smartctl 7.2 2020-12-30 r5155 [x86_64-linux-5.10.0] (local build)
=== START OF INFORMATION SECTION ===
Device Model:     Example 7
Serial Number:    S7
"""


def test_each_device_has_what_smartctl_is_to_be_called_with() -> None:
    assert content("smartctl text", SCAN)["devices"] == [
        {"name": "/dev/sda", "type": "sat", "info_name": "/dev/sda [SAT]", "protocol": "ATA"},
        {"name": "/dev/bus/0", "type": "megaraid,8", "info_name": "/dev/bus/0 [megaraid_disk_08]", "protocol": "SCSI"},
        {
            "name": "/dev/nvme0",
            "type": "nvme",
            "info_name": "/dev/nvme0",
            "protocol": "NVMe",
            "open_error": "Permission denied",
        },
    ]


def test_a_scan_is_known_by_its_lines_alone() -> None:
    assert scores(SourceText(f"$ smartctl --scan-open\n{SCAN}")) == {"smartctl text": 1.0}
    assert not scores(SourceText("dd if=/dev/sda of=/dev/sdb # /dev/sda, the old device\n"))


def test_reports_beside_a_scan_are_read_with_it() -> None:
    found = parsed("smartctl text", f"{SCAN}{REPORT}\n{SCAN}").inventory
    assert [(one.line, one.last_line) for one in found] == [(1, 3), (4, 7), (9, 11)]


def test_discovery_takes_only_what_drives_say_of_themselves() -> None:
    assert [drive.serial for drive in smartctl.discover(f"{SCAN}{REPORT}").drives] == ["S7"]
    assert smartctl.discover(SCAN.splitlines()[0]).drives == ()
