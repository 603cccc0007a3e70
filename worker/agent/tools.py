"""The tools that the agent asks about this machine, each of their command lines, and how they are run.

All of them only show. No word of a command line comes from the server: names of devices come from the kernel's own lists and
must look like such names. Tools run one after the other, at low priority, each with a time limit and a limit on what it may
print; a tool that is not there is said so with a shell's 127.
"""

import os
import re
import resource
import shutil
import subprocess
import tempfile
import time
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

MAKERS = "/opt/MegaRAID/storcli:/opt/MegaRAID/perccli:/opt/MegaRAID/MegaCli:/opt/smartstorageadmin/ssacli/bin:/opt/dell/srvadmin/bin"
TOOL_ENV = {"LC_ALL": "C", "PATH": f"/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin:{MAKERS}"}
TOOL_TIMEOUT_S = 30
DRIVE_TIMEOUT_S = 10
ALL_TIMEOUT_S = 240
LONGEST_OUTPUT = 3 * 1024 * 1024  # bytes of one command
LONGEST_TOOL = 3 * 1024 * 1024  # of one tool's commands together; the server takes 4 MiB
MOST_DEVICES = 512
DEVICE = re.compile(r"[a-zA-Z][\w!.-]{0,59}")
PATH = re.compile(r"/[\w./+@:-]{0,400}")
LVS = "lv_name,vg_name,lv_uuid,lv_dm_path,segtype,stripes,stripe_size,chunk_size,pool_lv,origin,devices,lv_size"
ZFS = "name,type,recordsize,compression,checksum,sync,primarycache,atime"
SSV = "-fmt ssv"

# For each tool the command lines to try, best first: old versions lack some columns and options.
ONE_OF = (
    ("lsblk", ("lsblk -J -O -b", "lsblk -J -b", "lsblk -P -b")),
    (
        "findmnt",
        (
            "findmnt -J -b -o TARGET,SOURCE,FSTYPE,OPTIONS,SIZE,USED,AVAIL,UUID,LABEL,MAJ:MIN",
            "findmnt -J -o TARGET,SOURCE,FSTYPE,OPTIONS,UUID,LABEL,MAJ:MIN",
            "findmnt -l",
        ),
    ),
    ("uname", ("uname -srvm",)),
    ("lspci", ("lspci -D -vmm -nn -k", "lspci -D -vmm -nn", "lspci -vmm")),
    ("dmidecode", ("dmidecode",)),
    ("ip", ("ip -j -d link",)),
    ("nvme", ("nvme list -o json",)),
    ("pvs", ("pvs --readonly --reportformat json --units b --nosuffix",)),
    ("vgs", ("vgs --readonly --reportformat json --units b --nosuffix",)),
    ("lvs", (f"lvs --readonly -a --reportformat json --units b --nosuffix -o {LVS}",)),
    ("dmsetup", ("dmsetup table",)),
    ("zpool", ("zpool status -LP", "zpool status")),
    ("zfs", (f"zfs list -H -t filesystem -o {ZFS}",)),
)  # fmt: skip
# Tools of RAID controllers: the first program that is there, and what it shows.
RAID = (
    (
        "storcli",
        ("storcli64", "storcli", "perccli64", "perccli"),
        ("/call show all J nolog", "/call/eall/sall show all J nolog", "/call/sall show all J nolog", "/call/vall show all J nolog"),
    ),
    (
        "megacli",
        ("MegaCli64", "MegaCli", "megacli"),
        tuple(f"{what} -aALL -NoLog" for what in ("-AdpAllInfo", "-LDPDInfo", "-PDList", "-AdpBbuCmd -GetBbuStatus")),
    ),
    ("ssacli", ("ssacli", "hpssacli", "hpacucli"), ("ctrl all show config detail",)),
    ("arcconf", ("arcconf",), tuple(f"GETCONFIG {number} AL" for number in range(1, 5))),
    ("tw_cli", ("tw_cli",), tuple(f"/c{number} show all" for number in range(4))),
    (
        "omreport",
        ("omreport",),
        tuple(f"storage {what} {SSV}" for what in ("controller", "vdisk", "enclosure", "battery"))
        + tuple(f"storage pdisk controller={number} {SSV}" for number in range(4)),
    ),
)  # fmt: skip


class Clock:
    """What is left of the time for all tools together."""

    def __init__(self, seconds: float = ALL_TIMEOUT_S) -> None:
        self.end = time.monotonic() + seconds

    def left(self, most: float) -> float:
        return min(most, self.end - time.monotonic())


def run_tool(argv: List[str], seconds: float, folder: str) -> Dict[str, Any]:
    """One tool's words, cut at `LONGEST_OUTPUT`; 124 where it gave no answer in time. Nothing is written but in `folder`."""
    if seconds <= 0:
        return output(argv[0], argv, 124, b"", b"no time was left for it")
    path = shutil.which(argv[0], path=TOOL_ENV["PATH"])
    if path is None:
        return output(argv[0], argv, 127, b"", b"not found")
    with tempfile.TemporaryFile(dir=folder) as said, tempfile.TemporaryFile(dir=folder) as complaint:
        try:
            child = subprocess.Popen(
                [path] + argv[1:],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=complaint,
                env=TOOL_ENV,
                cwd=folder,
                preexec_fn=_modest,
            )
            status = child.wait(seconds)
        except subprocess.TimeoutExpired:
            child.kill()
            return output(argv[0], argv, 124, b"", b"no answer in time")
        except OSError as error:
            return output(argv[0], argv, 127, b"", str(error).encode())
        said.seek(0)
        complaint.seek(0)
        return output(argv[0], argv, status, said.read(LONGEST_OUTPUT), complaint.read(4000))


def _modest() -> None:
    """In the tool's process: the last in the queue for the processor, with an end to what it may print and to its memory."""
    os.nice(10)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LONGEST_OUTPUT, LONGEST_OUTPUT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (512 << 20, 512 << 20))


def first_that_works(tool: str, lines: Iterable[str], clock: Clock, folder: str) -> Dict[str, Any]:
    found = {}  # type: Dict[str, Any]
    for line in lines:
        found = dict(run_tool(line.split(), clock.left(TOOL_TIMEOUT_S), folder), tool=tool)
        if found["exit_status"] in (0, 127):
            break
    return found


def each(tool: str, lines: Iterable[str], clock: Clock, folder: str, seconds: float = TOOL_TIMEOUT_S) -> Dict[str, Any]:
    """Several commands of one tool, each behind `$ ` and its line, as in a terminal."""
    said, complaints, argv, statuses = [], [], [], []  # type: List[str], List[str], List[str], List[int]
    size = 0
    for line in lines:
        one = run_tool(line.split(), clock.left(seconds), folder)
        size += len(one["stdout"].encode("utf-8", "replace"))
        argv.append(line)
        statuses.append(one["exit_status"])
        complaints.append(one["stderr"])
        if size > LONGEST_TOOL:
            complaints.append("the rest was left out")
            break
        said.append(f"$ {line}\n{one['stdout'].rstrip()}\n")
        if one["exit_status"] == 127:
            break
    status = 0 if 0 in statuses else statuses[0] if statuses else 0
    text = "".join(said).encode("utf-8", "replace") if statuses and status != 127 else b""
    return output(
        tool, argv[:50] or [tool], status, text, "\n".join(dict.fromkeys(filter(None, complaints)))[:4000].encode()
    )


def raid(tool: str, programs: Tuple[str, ...], shows: Tuple[str, ...], clock: Clock, folder: str) -> Dict[str, Any]:
    program = next((one for one in programs if shutil.which(one, path=TOOL_ENV["PATH"])), programs[0])
    return each(tool, [f"{program} {show}" for show in shows], clock, folder)


def smartctl(clock: Clock, folder: str) -> Dict[str, Any]:
    """Of each drive that smartctl itself finds, those behind RAID controllers too. A drive that sleeps is not woken."""
    scan = run_tool(["smartctl", "--scan"], clock.left(TOOL_TIMEOUT_S), folder)
    if scan["exit_status"] == 127:
        return dict(scan, tool="smartctl")
    found = re.findall(r"^(/dev/[a-z0-9/]{1,40}) -d ([a-z0-9,+]{1,30})", scan["stdout"], re.MULTILINE)[:MOST_DEVICES]
    shown = "-j " if "--json" in run_tool(["smartctl", "--help"], clock.left(TOOL_TIMEOUT_S), folder)["stdout"] else ""
    lines = []
    for device, kind in found:
        known = "" if kind in ("scsi", "ata", "sat", "nvme") else f" -d {kind}"  # smartctl tells SATA from SAS itself
        lines.append(f"smartctl {shown}-i -H -n standby{known} {device}")
    return each("smartctl", lines, clock, folder, DRIVE_TIMEOUT_S)


def mdadm(clock: Clock, folder: str) -> Dict[str, Any]:
    names = [name for name in listed("/sys/class/block") if os.path.isdir(f"/sys/class/block/{name}/md")]
    return each("mdadm", [f"mdadm --detail /dev/{name}" for name in names], clock, folder)


def ethtool(clock: Clock, folder: str) -> Dict[str, Any]:
    names = [name for name in listed("/sys/class/net") if os.path.exists(f"/sys/class/net/{name}/device")]
    lines = [line for name in names for line in (f"ethtool {name}", f"ethtool -i {name}")]
    return each("ethtool", lines, clock, folder, DRIVE_TIMEOUT_S)


def made(tool: str, command: str, types: Tuple[str, ...], place: int) -> Callable[[Clock, str], Dict[str, Any]]:
    """How each mounted filesystem of these types was made; `place` 0: asked by device, 1: by mount point."""

    def ask(clock: Clock, folder: str) -> Dict[str, Any]:
        words = [line.split() for line in text_of("/proc/self/mounts").splitlines()]
        places = [one[place] for one in words if len(one) > 2 and one[2] in types and one[0].startswith("/dev/")]
        wanted = [one for one in dict.fromkeys(places) if PATH.fullmatch(one)][:MOST_DEVICES]
        return each(tool, [f"{command} {one}" for one in wanted], clock, folder, DRIVE_TIMEOUT_S)

    return ask


def listed(folder: str) -> List[str]:
    """Names in a folder of the kernel's that look like names of devices."""
    try:
        return [name for name in sorted(os.listdir(folder)) if DEVICE.fullmatch(name)][:MOST_DEVICES]
    except OSError:
        return []


def text_of(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as source:
            return source.read(LONGEST_OUTPUT).strip()
    except OSError:
        return ""


def output(tool: str, argv: List[str], status: Optional[int], stdout: bytes, stderr: bytes) -> Dict[str, Any]:
    return {
        "tool": tool,
        "argv": argv,
        "exit_status": status,
        "stdout": stdout.decode("utf-8", "replace"),
        "stderr": stderr.decode("utf-8", "replace"),
    }


ASKED = (
    smartctl,
    mdadm,
    ethtool,
    made("tune2fs", "tune2fs -l", ("ext2", "ext3", "ext4"), 0),
    made("xfs_info", "xfs_info", ("xfs",), 1),
)  # type: Tuple[Callable[[Clock, str], Dict[str, Any]], ...]
