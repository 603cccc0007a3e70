"""Which facts of a host are missing because its agent has no root rights and no probe reads them for it.

The probe (`worker/agent/admin/probe.py`) is installed by the host's administrator or not. What it reads takes the place
of the agent's own outputs; the output `machine` says whether it is there:

    {"hostname": "node7", …, "probe": {"is_there": true, "may_drop_caches": false, "problem": "its outputs are of another boot …"}}
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from apps.inventory.discovery.tools.machine import TOOL as MACHINE
from apps.inventory.models import ToolOutput

NOT_FOUND = 127  # a shell's, for a tool that is not installed
# What each tool tells that nothing else does, of those that need root.
FACTS = {
    "dmidecode": "memory modules, board and BIOS", "smartctl": "serial numbers, health and wear of drives",
    "nvme": "models and firmware of NVMe drives", "mdadm": "layout and members of md arrays", "pvs": "LVM physical volumes",
    "vgs": "LVM volume groups", "lvs": "LVM volumes and their striping", "dmsetup": "device-mapper tables",
    "tune2fs": "features of ext filesystems", "storcli": "the RAID card and the drives behind it",
    "megacli": "the RAID card and the drives behind it", "ssacli": "the RAID card and the drives behind it",
    "arcconf": "the RAID card and the drives behind it", "tw_cli": "the RAID card and the drives behind it",
    "omreport": "the RAID card and the drives behind it",
}  # fmt: skip


@dataclass(frozen=True)
class MissingRootFacts:
    """What is missing for want of root: the facts by the tool that would tell them, and what is known of the probe."""

    facts: dict[str, str]
    has_probe: bool
    problem: str


def find_missing(newest: Iterable[ToolOutput]) -> MissingRootFacts | None:
    """Return what is missing of a host with these newest outputs; None where nothing is, or no agent has reported.

    A tool that is not installed there is missing for another reason, and one that answered is not missing.
    """
    outputs = {output.tool: output for output in newest}
    if MACHINE not in outputs:
        return None
    silent = {
        tool: fact for tool, fact in FACTS.items()
        if tool in outputs and outputs[tool].exit_status not in (0, NOT_FOUND)
    }  # fmt: skip
    probe = _probe_of(outputs[MACHINE].stdout)
    problem = str(probe.get("problem", ""))[:300]
    return MissingRootFacts(silent, bool(probe.get("is_there")), problem) if silent or problem else None


def _probe_of(text: str) -> dict[str, Any]:
    try:
        probe = json.loads(text).get("probe")
    except (ValueError, AttributeError):
        return {}
    return probe if isinstance(probe, dict) else {}
