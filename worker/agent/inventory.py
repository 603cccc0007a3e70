"""What this machine is, as its own tools and the kernel's device tree say it.

Outputs are sent verbatim and parsed by the server, so a better parser needs no new agent. All tools only show. No word of a
command line comes from the server: names of devices come from the kernel's own lists and must look like such names. Tools run
one after another at low priority, each with limits on time and output; a missing tool is reported with a shell's 127. Of
/sys and /proc/sys it reads what no tool prints: the card and the link of a disk, its slot in a JBOD, and kernel settings.
"""

import hashlib
import json
import os
import re
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

from .conf import Conf, boot_id
from .disk import text_of

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


class ToolClock:
    """What is left of the time for all tools together."""

    def __init__(self, seconds: float = ALL_TIMEOUT_S) -> None:
        self.end = time.monotonic() + seconds

    def left(self, most: float) -> float:
        return min(most, self.end - time.monotonic())


def run_tool(argv: List[str], seconds: float, folder: str) -> Dict[str, Any]:
    """Run a tool and return its output, cut at `LONGEST_OUTPUT`; exit status 124 after a timeout.

    Writes only in `folder`.
    """
    if seconds <= 0:
        return output(argv[0], argv, 124, b"", b"no time was left for it")
    path = shutil.which(argv[0], path=TOOL_ENV["PATH"])
    if path is None:
        return output(argv[0], argv, 127, b"", b"not found")
    with tempfile.TemporaryFile(dir=folder) as printed, tempfile.TemporaryFile(dir=folder) as complaint:
        try:
            child = subprocess.Popen(
                [path] + argv[1:],
                stdin=subprocess.DEVNULL,
                stdout=printed,
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
        printed.seek(0)
        complaint.seek(0)
        return output(argv[0], argv, status, printed.read(LONGEST_OUTPUT), complaint.read(4000))


def _modest() -> None:
    """Lower the tool process's CPU priority and limit its output and memory."""
    os.nice(10)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LONGEST_OUTPUT, LONGEST_OUTPUT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (512 << 20, 512 << 20))


def first_that_works(tool: str, lines: Iterable[str], clock: ToolClock, folder: str) -> Dict[str, Any]:
    result = {}  # type: Dict[str, Any]
    for line in lines:
        result = dict(run_tool(line.split(), clock.left(TOOL_TIMEOUT_S), folder), tool=tool)
        if result["exit_status"] in (0, 127):
            break
    return result


def each(
    tool: str, lines: Iterable[str], clock: ToolClock, folder: str, seconds: float = TOOL_TIMEOUT_S
) -> Dict[str, Any]:
    """Run several commands of one tool and return their outputs, each behind `$ ` and its command line, as in a terminal."""
    parts, complaints, argv, statuses = [], [], [], []  # type: List[str], List[str], List[str], List[int]
    size = 0
    for line in lines:
        item = run_tool(line.split(), clock.left(seconds), folder)
        size += len(item["stdout"].encode("utf-8", "replace"))
        argv.append(line)
        statuses.append(item["exit_status"])
        complaints.append(item["stderr"])
        if size > LONGEST_TOOL:
            complaints.append("the rest was left out")
            break
        parts.append(f"$ {line}\n{item['stdout'].rstrip()}\n")
        if item["exit_status"] == 127:
            break
    status = 0 if 0 in statuses else statuses[0] if statuses else 0
    text = "".join(parts).encode("utf-8", "replace") if statuses and status != 127 else b""
    return output(
        tool, argv[:50] or [tool], status, text, "\n".join(dict.fromkeys(filter(None, complaints)))[:4000].encode()
    )


def raid(tool: str, programs: Tuple[str, ...], shows: Tuple[str, ...], clock: ToolClock, folder: str) -> Dict[str, Any]:
    program = next((program for program in programs if shutil.which(program, path=TOOL_ENV["PATH"])), programs[0])
    return each(tool, [f"{program} {show}" for show in shows], clock, folder)


def smartctl(clock: ToolClock, folder: str) -> Dict[str, Any]:
    """Return the output for each drive that smartctl finds, also behind RAID controllers.

    Sleeping drives are not woken.
    """
    scan = run_tool(["smartctl", "--scan"], clock.left(TOOL_TIMEOUT_S), folder)
    if scan["exit_status"] == 127:
        return dict(scan, tool="smartctl")
    result = re.findall(r"^(/dev/[a-z0-9/]{1,40}) -d ([a-z0-9,+]{1,30})", scan["stdout"], re.MULTILINE)[:MOST_DEVICES]
    text = "-j " if "--json" in run_tool(["smartctl", "--help"], clock.left(TOOL_TIMEOUT_S), folder)["stdout"] else ""
    lines = []
    for device, kind in result:
        known = "" if kind in ("scsi", "ata", "sat", "nvme") else f" -d {kind}"  # smartctl tells SATA from SAS itself
        lines.append(f"smartctl {text}-i -H -n standby{known} {device}")
    return each("smartctl", lines, clock, folder, DRIVE_TIMEOUT_S)


def mdadm(clock: ToolClock, folder: str) -> Dict[str, Any]:
    names = [name for name in listed("/sys/class/block") if os.path.isdir(f"/sys/class/block/{name}/md")]
    return each("mdadm", [f"mdadm --detail /dev/{name}" for name in names], clock, folder)


def ethtool(clock: ToolClock, folder: str) -> Dict[str, Any]:
    names = [name for name in listed("/sys/class/net") if os.path.exists(f"/sys/class/net/{name}/device")]
    lines = [line for name in names for line in (f"ethtool {name}", f"ethtool -i {name}")]
    return each("ethtool", lines, clock, folder, DRIVE_TIMEOUT_S)


def made(tool: str, command: str, types: Tuple[str, ...], place: int) -> Callable[[ToolClock, str], Dict[str, Any]]:
    """Return how each mounted filesystem of these types was made; `place` 0 asks by device, 1 by mount point."""

    def ask(clock: ToolClock, folder: str) -> Dict[str, Any]:
        words = [line.split() for line in text_of("/proc/self/mounts").splitlines()]
        places = [word[place] for word in words if len(word) > 2 and word[2] in types and word[0].startswith("/dev/")]
        wanted = [path for path in dict.fromkeys(places) if PATH.fullmatch(path)][:MOST_DEVICES]
        return each(tool, [f"{command} {item}" for item in wanted], clock, folder, DRIVE_TIMEOUT_S)

    return ask


def listed(folder: str) -> List[str]:
    """Return the names in a kernel folder that look like names of devices."""
    try:
        return [name for name in sorted(os.listdir(folder)) if DEVICE.fullmatch(name)][:MOST_DEVICES]
    except OSError:
        return []


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
)  # type: Tuple[Callable[[ToolClock, str], Dict[str, Any]], ...]


SETTINGS = (
    "net/core/rmem_max", "net/core/wmem_max", "net/core/rmem_default", "net/core/wmem_default", "net/core/netdev_max_backlog",
    "net/core/default_qdisc", "net/ipv4/tcp_rmem", "net/ipv4/tcp_wmem", "net/ipv4/tcp_mem", "net/ipv4/tcp_congestion_control",
    "net/ipv4/tcp_window_scaling", "net/ipv4/tcp_timestamps", "net/ipv4/tcp_sack", "vm/dirty_ratio", "vm/dirty_background_ratio",
    "vm/dirty_bytes", "vm/dirty_background_bytes", "vm/dirty_expire_centisecs", "vm/dirty_writeback_centisecs", "vm/swappiness",
    "vm/vfs_cache_pressure", "vm/min_free_kbytes", "vm/nr_hugepages", "vm/zone_reclaim_mode", "fs/aio-max-nr",
    "dev/raid/speed_limit_min", "dev/raid/speed_limit_max", "kernel/numa_balancing",
)  # fmt: skip


def settings() -> str:
    """Return kernel settings as `sysctl` prints them."""
    read = ((name, text_of(f"/proc/sys/{name}")) for name in SETTINGS)
    return "".join(f"{name.replace('/', '.')} = {' '.join(value.split())}\n" for name, value in read if value)


def device_tree() -> Dict[str, Any]:
    """Return paths of block devices, NVMe controllers and NICs below /sys/devices, links of PCI cards, slots of enclosures."""
    return {
        "block": {name: _path(f"block/{name}") for name in listed("/sys/block")},
        "nvme": {name: _path(f"class/nvme/{name}") for name in listed("/sys/class/nvme")},
        "net": {
            name: _nic(name) for name in listed("/sys/class/net") if os.path.exists(f"/sys/class/net/{name}/device")
        },
        "pci": _cards(),
        "enclosures": _enclosures(),
    }


def _path(name: str) -> str:
    return os.path.realpath(f"/sys/{name}")[len("/sys/devices/") :]


def _driver(device: str) -> str:
    path = f"{device}/driver"
    return os.path.basename(os.path.realpath(path)) if os.path.exists(path) else ""


def _nic(name: str) -> Dict[str, Any]:
    here = f"/sys/class/net/{name}"
    return {
        "path": _path(f"class/net/{name}"),
        "driver": _driver(f"{here}/device"),
        "speed": _number(f"{here}/speed"),
        "mtu": _number(f"{here}/mtu"),
        "address": text_of(f"{here}/address"),
    }


def _number(path: str) -> Any:
    text = text_of(path)
    return int(text) if text.lstrip("-").isdigit() else None


def _cards() -> Dict[str, Any]:
    """Return storage (class 01), network (02), Fibre Channel and InfiniBand (0c) cards."""
    result = {}
    for address in sorted(os.listdir("/sys/bus/pci/devices")) if os.path.isdir("/sys/bus/pci/devices") else []:
        here = f"/sys/bus/pci/devices/{address}"
        if text_of(f"{here}/class")[:4] in ("0x01", "0x02", "0x0c"):
            speed, width = text_of(f"{here}/current_link_speed"), text_of(f"{here}/current_link_width")
            result[address] = {"driver": _driver(here), "speed": speed, "width": width}
    return result


def _enclosures() -> Dict[str, Any]:
    """Return the SES enclosures with the disk in each slot."""
    result = {}
    root = "/sys/class/enclosure"
    for address in sorted(os.listdir(root)) if os.path.isdir(root) else []:
        slots = {}
        for name in sorted(os.listdir(f"{root}/{address}")):
            place = f"{root}/{address}/{name}"
            if os.path.exists(f"{place}/slot"):
                disks = listed(f"{place}/device/block")
                slots[name] = {"slot": _number(f"{place}/slot"), "disk": disks[0] if disks else None}
        device = f"{root}/{address}/device"
        result[address] = {"vendor": text_of(f"{device}/vendor"), "model": text_of(f"{device}/model"), "slots": slots}
    return result


LONGEST_MESSAGE = 12 * 1024 * 1024  # as JSON; the server takes 32 MiB
FILES = (
    ("mdstat", "/proc/mdstat"),
    ("cpuinfo", "/proc/cpuinfo"),
    ("meminfo", "/proc/meminfo"),
    ("os-release", "/etc/os-release"),
)

# Lines that differ at every look and say nothing about what the machine is: clocks, loads, counters, temperatures.
VOLATILE = re.compile(
    r'^.*(?:MHz|bogomips|"fsavail"|"fsused"|"fsuse%"|"used"|"avail"|"state"|"time_t"|"asctime"|"UsedBytes"|Local Time is).*$',
    re.MULTILINE,
)
VOLATILE_OF = {
    "smartctl": r'"utilization": \{[^}]*\}|^.*(?:Utilization|"exit_status").*$',
    "mdadm": r"^.*(?:Update Time|Events|Status) :.*$",
    "mdstat": r"^.*(?:finish=|speed=|bitmap:).*$",
    "tune2fs": r"^(?:Free|Last|Mount count|Lifetime|First orphan|Next check|Journal sequence|Filesystem state).*$|needs_recovery",
    "zpool": r"^ *(?:scan|scrub|action|see|status):.*(?:\n[ \t]+[^\n:]*)?$|(?<=ONLINE) .*$|(?<=DEGRADED) .*$",
    "ip": r'"(?:operstate|txqlen|qdisc|[rt]x_\w+|promiscuity|num_[rt]x_queues)":[^,}]*|"flags":\[[^\]]*\]|"stats64?":\{[^}]*\}',
    "dmsetup": r"(?<=thin-pool ).*$",
    "ethtool": r"^\s*Current message level.*(?:\n\s+[a-z ]+$)?",
}
# The tools of RAID controllers print clocks and sensors among the rest.
RAID_VOLATILE = (
    r"^.*(?:date|time|temp|volt|current(?! cache)|count|hours|charge|learn|next |seq|patrol|progress|remaining|usage|life|age\b"
    r"|elapsed|bbu).*$"
)


def collect(conf: Conf, folder: str, of_probe: Optional[Dict[str, Any]] = None) -> List[Dict[str, Any]]:
    """Return the output of each tool; tools run in `folder`, because some leave a log in their working directory.

    Args:
        of_probe: What is told of the probe that runs as root.
    """
    clock = ToolClock()
    outputs = [first_that_works(tool, lines, clock, folder) for tool, lines in ONE_OF]
    outputs += [_file(tool, path) for tool, path in FILES] + [_machine(conf, folder, of_probe or {})]
    outputs.append(output("sysctl", ["/proc/sys"], 0, settings().encode(), b""))
    outputs.append(output("sysfs", ["/sys"], 0, json.dumps(device_tree()).encode(), b""))
    outputs += [ask(clock, folder) for ask in ASKED]
    for tool, programs, shows in RAID:
        outputs.append(raid(tool, programs, shows, clock, folder))
    return within(outputs, LONGEST_MESSAGE)


def within(outputs: List[Dict[str, Any]], most: int) -> List[Dict[str, Any]]:
    """Return the outputs that fit into the message's size; what does not fit is emptied and says so."""
    size, fitting = 0, []
    for item in outputs:
        length = len(json.dumps(item["stdout"])) - 2  # without its quotation marks
        size += length
        fits = size <= most
        fitting.append(
            item
            if fits
            else dict(item, exit_status=1, stdout="", stderr="left out: all outputs together are too large")
        )
        size -= 0 if fits else length
    return fitting


def digest(outputs: List[Dict[str, Any]]) -> str:
    """Return a hash that is equal for two scans of an unchanged machine."""
    stable = [(item["tool"], item["exit_status"] == 127, _stable(item["tool"], item["stdout"])) for item in outputs]
    return hashlib.sha256(json.dumps(stable).encode()).hexdigest()


def _stable(tool: str, text: str) -> str:
    if tool == "meminfo":
        return text[:40]
    if tool in (item for item, _, _ in RAID):
        return re.sub(RAID_VOLATILE, "", text, flags=re.MULTILINE | re.IGNORECASE)
    text = VOLATILE.sub("", text)
    return re.sub(VOLATILE_OF[tool], "", text, flags=re.MULTILINE) if tool in VOLATILE_OF else text


def fio_version(path: Optional[str], folder: str) -> Optional[str]:
    """Return fio's version such as `fio-3.33`, or None where fio is missing or does not run."""
    if path is None:
        return None
    reported = run_tool([path, "--version"], TOOL_TIMEOUT_S, folder)
    return reported["stdout"].strip() or None if reported["exit_status"] == 0 else None


def _file(tool: str, path: str) -> Dict[str, Any]:
    try:
        with open(path, "rb") as source:
            return output(tool, [path], 0, source.read(LONGEST_OUTPUT), b"")
    except OSError as error:
        return output(tool, [path], 1, b"", str(error).encode())


def _machine(conf: Conf, folder: str, of_probe: Dict[str, Any]) -> Dict[str, Any]:
    virt = run_tool(["systemd-detect-virt"], TOOL_TIMEOUT_S, folder)["stdout"].strip()
    names = ("board_vendor", "board_name", "sys_vendor", "product_name")
    facts = dict(
        {name: text_of(f"/sys/class/dmi/id/{name}") or None for name in names},
        hostname=socket.gethostname(),
        fqdn=socket.getfqdn(),
        virt=virt or None,
        directory=conf.directory,
        directories=[root.path for root in conf.roots],
        boot_id=boot_id(),
        python=".".join(map(str, sys.version_info[:3])),
        probe={name: value for name, value in of_probe.items() if name != "at"},
    )
    return output("machine", [], 0, json.dumps(facts).encode(), b"")
