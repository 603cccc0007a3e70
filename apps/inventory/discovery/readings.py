"""The tools that discovery reads. A new one is its module, a line here and a field of `Readings`."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from apps.inventory.discovery.cards import Card, Cards, without_doubles
from apps.inventory.discovery.looks import PARTIAL, ToolLook, look_of
from apps.inventory.discovery.tool_values import UnreadableError, text
from apps.inventory.discovery.tools import (
    arcconf,
    cpuinfo,
    dmidecode,
    dmsetup,
    ethtool,
    findmnt,
    links,
    lspci,
    lvs,
    machine,
    mdstat,
    megacli,
    meminfo,
    mkfs,
    nvme,
    omreport,
    os_release,
    ssacli,
    sysctl,
    sysfs,
    tw_cli,
    uname,
    zpool,
)
from apps.inventory.discovery.tools.cpuinfo import Cpu
from apps.inventory.discovery.tools.dmidecode import Hardware
from apps.inventory.discovery.tools.dmsetup import Mappings
from apps.inventory.discovery.tools.ethtool import Rates
from apps.inventory.discovery.tools.findmnt import Mounts
from apps.inventory.discovery.tools.links import Links
from apps.inventory.discovery.tools.lsblk import devices as lsblk
from apps.inventory.discovery.tools.lsblk.devices import BlockDevices
from apps.inventory.discovery.tools.lspci import PciCards
from apps.inventory.discovery.tools.lvs import Volumes
from apps.inventory.discovery.tools.machine import ReportedMachine
from apps.inventory.discovery.tools.mdadm import arrays as mdadm
from apps.inventory.discovery.tools.mdadm.arrays import MdDetails
from apps.inventory.discovery.tools.mdstat import MdStat
from apps.inventory.discovery.tools.meminfo import MemInfo
from apps.inventory.discovery.tools.mkfs import MadeFilesystems
from apps.inventory.discovery.tools.os_release import OsRelease
from apps.inventory.discovery.tools.smartctl import drives as smartctl
from apps.inventory.discovery.tools.smartctl.drives import SmartDrives
from apps.inventory.discovery.tools.storcli import cards as storcli
from apps.inventory.discovery.tools.sysctl import Settings
from apps.inventory.discovery.tools.sysfs import DeviceTree
from apps.inventory.discovery.tools.uname import Uname
from apps.inventory.discovery.tools.zpool import Datasets, Pools

RAID_TOOLS = (storcli, megacli, ssacli, arcconf, tw_cli, omreport)
PARSERS: dict[str, Callable[[str], Any]] = {
    module.TOOL: module.discover
    for module in (
        lsblk, findmnt, mdstat, cpuinfo, meminfo, os_release, uname, machine, sysfs, sysctl, smartctl, nvme, dmidecode, lspci, links,
        ethtool, lvs, dmsetup, mdadm, zpool, *RAID_TOOLS,
    )
} | {mkfs.EXT: mkfs.discover_ext, mkfs.XFS: mkfs.discover_xfs, zpool.DATASETS: zpool.discover_datasets}  # fmt: skip
MAY_BE_MISSING = {mdstat.TOOL: MdStat()}  # a kernel without md has no /proc/mdstat
ALWAYS_THERE = {lsblk.TOOL, findmnt.TOOL, uname.TOOL}  # any other tool may be absent from a host
LISTING = {
    lsblk.TOOL,
    findmnt.TOOL,
    mdstat.TOOL,
    lspci.TOOL,
    zpool.TOOL,
}  # a partial look of these adds to the looks before
GATHERED = {module.TOOL for module in (smartctl, mdadm, *RAID_TOOLS)}  # tools whose outputs come in pieces
NOT_INSTALLED = 127  # the exit status of a shell
_NO_MAPPER = "/dev/mapper/control: open failed: No such"  # a kernel without device-mapper
_REFUSED = re.compile(r"permission denied|operation not permitted|\broot\b|superuser", re.IGNORECASE)


class Output(Protocol):
    """The fields of a `ToolOutput` that discovery reads; tests use a stand-in."""

    tool: str
    argv: Any
    exit_status: int | None
    stdout: str
    stderr: str


@dataclass
class Readings:
    """The parsed output of each tool, None if there was none that can be read.

    `problems` gives the reasons by tool, `looks` what each of the newest outputs looked at.
    """

    lsblk: BlockDevices | None = None
    findmnt: Mounts | None = None
    mdstat: MdStat | None = None
    cpuinfo: Cpu | None = None
    meminfo: MemInfo | None = None
    os_release: OsRelease | None = None
    uname: Uname | None = None
    machine: ReportedMachine | None = None
    sysfs: DeviceTree | None = None
    sysctl: Settings | None = None
    smartctl: SmartDrives | None = None
    nvme: SmartDrives | None = None
    dmidecode: Hardware | None = None
    lspci: PciCards | None = None
    ip: Links | None = None
    ethtool: Rates | None = None
    lvs: Volumes | None = None
    dmsetup: Mappings | None = None
    mdadm: MdDetails | None = None
    zpool: Pools | None = None
    zfs: Datasets | None = None
    tune2fs: MadeFilesystems | None = None
    xfs_info: MadeFilesystems | None = None
    storcli: Cards | None = None
    megacli: Cards | None = None
    ssacli: Cards | None = None
    arcconf: Cards | None = None
    tw_cli: Cards | None = None
    omreport: Cards | None = None
    problems: dict[str, str] = field(default_factory=dict)
    looks: dict[str, ToolLook] = field(default_factory=dict)

    def look(self, *tools: str) -> ToolLook:
        """Return what these tools looked at together; nothing where none of them could be read."""
        looks = [self.looks.get(tool, PARTIAL) for tool in tools if getattr(self, tool) is not None]
        kinds = frozenset.intersection(*(one.kinds for one in looks)) if looks else frozenset[str]()
        return ToolLook(kinds, frozenset[str]().union(*(one.omitted for one in looks)))

    def raid_cards(self) -> list[Card]:
        found = (getattr(self, module.TOOL) for module in RAID_TOOLS)
        return without_doubles([card for cards in found if cards for card in cards.cards])


def read(outputs: Iterable[Output], earlier: Mapping[str, Sequence[Output]] | None = None) -> Readings:
    """Parse the outputs of the tools that have a parser; the others are skipped.

    An output that cannot be parsed is noted in the problems and leaves the others intact. `earlier` has, for tools
    whose output is that of a partial look, the outputs before it, the newest first, back to the last whole look.
    """
    readings = Readings()
    for output in outputs:
        if output.tool in PARSERS:
            found = _read_one(output, readings.problems)
            readings.looks[output.tool] = _look(output, found)
            if found is not None and earlier and output.tool in earlier:
                found = _with_earlier(found, readings.looks[output.tool], earlier[output.tool])
            setattr(readings, output.tool.replace("-", "_"), found)
    return readings


def _look(output: Output, found: Any) -> ToolLook:
    """Return what an output looked at; what could be read only in part is a partial look."""
    if found is None or bool(getattr(found, "warnings", None)):
        return PARTIAL
    return look_of(output.tool, output.argv, output.stdout)


def _with_earlier(newest: Any, look: ToolLook, outputs: Sequence[Output]) -> Any:
    """Return the reading of a partial look with what the looks before it found."""
    looks = [(found, _look(one, found)) for one in outputs if (found := _read_one(one, {})) is not None]
    whole: Any = None
    for found, look_before in reversed(looks):
        whole = found if whole is None else found.with_earlier(whole, look_before)
    return newest if whole is None else newest.with_earlier(whole, look)


def _read_one(output: Output, problems: dict[str, str]) -> Any:
    try:
        found = _parsed(output)
    except UnreadableError as error:
        problems[output.tool] = _refusal(output) or str(error)
        return None
    if warnings := getattr(found, "warnings", ()):
        problems[output.tool] = "; ".join(warnings[:20])[:4000]
    return found


def _refusal(output: Output) -> str:
    """Return a sentence if the tool itself says that its caller lacked the rights, else ''."""
    said = next((line for line in output.stderr.splitlines()[:50] if _REFUSED.search(line[:1000])), "")
    needs = f"{output.tool} needs root (in a container also access to the devices)"
    return f"{needs}; it said: {text(said, 200)}" if said and output.exit_status else ""


def _parsed(output: Output) -> Any:
    if output.exit_status and _is_silent(output.stdout):
        if output.tool in MAY_BE_MISSING:
            return MAY_BE_MISSING[output.tool]
        if output.tool == dmsetup.TOOL and output.stderr.startswith(_NO_MAPPER):
            return Mappings({})
        if output.exit_status == NOT_INSTALLED and output.tool not in ALWAYS_THERE:
            return None
        said = text(output.stderr, 200) or "nothing"
        raise UnreadableError(output.tool, f"exit status {output.exit_status} and {said}", "output")
    if _is_silent(output.stdout) and output.tool not in ALWAYS_THERE and output.argv:
        return None  # it ran and there is no md array, volume group or pool
    return PARSERS[output.tool](output.stdout)


def _is_silent(printed: str) -> bool:
    """Return whether the output is empty or has only the commands that were tried."""
    return all(line.startswith("$ ") or not line.strip() for line in printed[:100_000].splitlines())
