"""What this machine is, as its own tools say it: outputs are sent verbatim and read by the server, so a better parser needs no new agent."""

import hashlib
import json
import re
import socket
import sys
from typing import Any, Dict, List, Optional

from . import sysfs, tools
from .conf import Conf, boot_id
from .tools import ASKED, ONE_OF, RAID, TOOL_TIMEOUT_S, Clock, output, run_tool

LONGEST_MESSAGE = 12 * 1024 * 1024
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


def collect(conf: Conf, folder: str) -> List[Dict[str, Any]]:
    """What each tool says. They are started in `folder`, because some leave a log where they are."""
    clock = Clock()
    outputs = [tools.first_that_works(tool, lines, clock, folder) for tool, lines in ONE_OF]
    outputs += [_file(tool, path) for tool, path in FILES] + [_machine(conf, folder)]
    outputs.append(output("sysctl", ["/proc/sys"], 0, sysfs.settings().encode(), b""))
    outputs.append(output("sysfs", ["/sys"], 0, json.dumps(sysfs.device_tree()).encode(), b""))
    outputs += [ask(clock, folder) for ask in ASKED]
    for tool, programs, shows in RAID:
        outputs.append(tools.raid(tool, programs, shows, clock, folder))
    return within(outputs, LONGEST_MESSAGE)


def within(outputs: List[Dict[str, Any]], most: int) -> List[Dict[str, Any]]:
    """The message has a size. What comes last and does not fit is left empty, and that is said."""
    size, kept = 0, []
    for one in outputs:
        size += len(one["stdout"])
        fits = size <= most
        kept.append(
            one if fits else dict(one, exit_status=1, stdout="", stderr="left out: all outputs together are too large")
        )
        size -= 0 if fits else len(one["stdout"])
    return kept


def digest(outputs: List[Dict[str, Any]]) -> str:
    """Equal for two looks at an unchanged machine."""
    stable = [(one["tool"], one["exit_status"] == 127, _stable(one["tool"], one["stdout"])) for one in outputs]
    return hashlib.sha256(json.dumps(stable).encode()).hexdigest()


def _stable(tool: str, text: str) -> str:
    if tool == "meminfo":
        return text[:40]
    if tool in (one for one, _, _ in RAID):
        return re.sub(RAID_VOLATILE, "", text, flags=re.MULTILINE | re.IGNORECASE)
    text = VOLATILE.sub("", text)
    return re.sub(VOLATILE_OF[tool], "", text, flags=re.MULTILINE) if tool in VOLATILE_OF else text


def fio_version(path: Optional[str], folder: str) -> Optional[str]:
    """Cheap enough to ask at each start: `fio-3.33`; None when fio is missing or does not run."""
    if path is None:
        return None
    told = run_tool([path, "--version"], TOOL_TIMEOUT_S, folder)
    return told["stdout"].strip() or None if told["exit_status"] == 0 else None


def _file(tool: str, path: str) -> Dict[str, Any]:
    try:
        with open(path, "rb") as source:
            return output(tool, [path], 0, source.read(tools.LONGEST_OUTPUT), b"")
    except OSError as error:
        return output(tool, [path], 1, b"", str(error).encode())


def _machine(conf: Conf, folder: str) -> Dict[str, Any]:
    virt = run_tool(["systemd-detect-virt"], TOOL_TIMEOUT_S, folder)["stdout"].strip()
    names = ("board_vendor", "board_name", "sys_vendor", "product_name")
    facts = dict(
        {name: tools.text_of(f"/sys/class/dmi/id/{name}") or None for name in names},
        hostname=socket.gethostname(),
        fqdn=socket.getfqdn(),
        virt=virt or None,
        directory=conf.directory,
        boot_id=boot_id(),
        python=".".join(map(str, sys.version_info[:3])),
    )
    return output("machine", [], 0, json.dumps(facts).encode(), b"")
