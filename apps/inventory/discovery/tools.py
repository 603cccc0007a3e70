"""The tools that discovery reads. A new one is its module, a line here and a field of `Readings`."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from apps.inventory.discovery import cpuinfo, findmnt, lsblk, machine, mdstat, meminfo, os_release, uname
from apps.inventory.discovery.cpuinfo import Cpu
from apps.inventory.discovery.findmnt import Mounts
from apps.inventory.discovery.lsblk import BlockDevices
from apps.inventory.discovery.machine import Machine
from apps.inventory.discovery.mdstat import MdStat
from apps.inventory.discovery.meminfo import Memory
from apps.inventory.discovery.os_release import OsRelease
from apps.inventory.discovery.printed import UnreadableError, text
from apps.inventory.discovery.uname import Uname

PARSERS: dict[str, Callable[[str], Any]] = {
    module.TOOL: module.parse for module in (lsblk, findmnt, mdstat, cpuinfo, meminfo, os_release, uname, machine)
}
MAY_BE_MISSING = {mdstat.TOOL: MdStat()}  # a kernel without md has no /proc/mdstat


class Output(Protocol):
    """What a `ToolOutput` row has, and a test's stand-in."""

    tool: str
    exit_status: int | None
    stdout: str
    stderr: str


@dataclass
class Readings:
    """What each tool said; None where it said nothing readable. `problems`: tool → why not."""

    lsblk: BlockDevices | None = None
    findmnt: Mounts | None = None
    mdstat: MdStat | None = None
    cpuinfo: Cpu | None = None
    meminfo: Memory | None = None
    os_release: OsRelease | None = None
    uname: Uname | None = None
    machine: Machine | None = None
    problems: dict[str, str] = field(default_factory=dict)


def read(outputs: Iterable[Output]) -> Readings:
    """One unreadable output leaves the others working. Tools nobody reads yet are passed over."""
    readings = Readings()
    for output in outputs:
        if output.tool in PARSERS:
            setattr(readings, output.tool.replace("-", "_"), _read_one(output, readings.problems))
    return readings


def _read_one(output: Output, problems: dict[str, str]) -> Any:
    try:
        found = _parsed(output)
    except UnreadableError as error:
        problems[output.tool] = str(error)
        return None
    if warnings := getattr(found, "warnings", ()):
        problems[output.tool] = "; ".join(warnings[:20])[:4000]
    return found


def _parsed(output: Output) -> Any:
    if output.exit_status and not output.stdout.strip():
        if output.tool in MAY_BE_MISSING:
            return MAY_BE_MISSING[output.tool]
        said = text(output.stderr, 200) or "nothing"
        raise UnreadableError(output.tool, f"exit status {output.exit_status} and {said}", "output")
    return PARSERS[output.tool](output.stdout)
