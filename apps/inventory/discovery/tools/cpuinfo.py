"""`/proc/cpuinfo`: blocks of `key : value`, one per logical CPU, with keys that differ by architecture.

    model name	: AMD EPYC 7402P 24-Core Processor
    physical id	: 0

x86 names the model, the socket (`physical id`) and whether it runs under a hypervisor (a flag); arm64 prints only
numbers of maker and part, PowerPC `cpu`, s390x one line per processor. `cache size` is what the kernel takes for the
largest cache of one core, in KB = 1024 bytes.
"""

import re
from dataclasses import dataclass

from apps.inventory.discovery.tool_values import UnreadableError, text

TOOL = "cpuinfo"
MAX_LINES = 400_000
# Makers and parts as the kernel's cputype.h has them; others stay numbers.
_ARM = {
    ("0x41", "0xd03"): "Cortex-A53", ("0x41", "0xd05"): "Cortex-A55", ("0x41", "0xd07"): "Cortex-A57",
    ("0x41", "0xd08"): "Cortex-A72", ("0x41", "0xd0b"): "Cortex-A76", ("0x41", "0xd0c"): "Neoverse-N1",
    ("0x41", "0xd40"): "Neoverse-V1", ("0x41", "0xd49"): "Neoverse-N2", ("0x41", "0xd4f"): "Neoverse-V2",
    ("0xc0", "0xac3"): "Ampere-1", ("0x43", "0x0af"): "ThunderX2", ("0x48", "0xd01"): "Kunpeng-920",
}  # fmt: skip


@dataclass(frozen=True)
class Cpu:
    """CPU facts.

    `count` is the number of logical CPUs, `cache_bytes` is for one core, `has_hypervisor` is None where the machine
    does not tell.
    """

    model: str
    count: int
    sockets: int | None = None
    cache_bytes: int | None = None
    has_hypervisor: bool | None = None


def discover(printed: str) -> Cpu:
    values: dict[str, str] = {}
    sockets: set[str] = set()
    count = 0
    for line in printed.splitlines()[:MAX_LINES]:
        key, colon, value = line[:4000].partition(":")
        key = key.strip()
        if not colon:
            continue
        count += key == "processor" or key.startswith("processor ")
        if key == "physical id":
            sockets.add(value.strip())
        values.setdefault(key, value.strip())
    if not count:
        raise UnreadableError(TOOL, next(iter(printed.strip().splitlines()), ""), "lines such as 'processor : 0'", 1)
    flags = values.get("flags", "").split()
    return Cpu(_model(values), count, len(sockets) or None, _cache(values), "hypervisor" in flags if flags else None)


def _model(values: dict[str, str]) -> str:
    for key in ("model name", "cpu", "Processor", "cpu model"):
        if values.get(key):
            return re.sub(r"\s+", " ", text(values[key], 200))
    if part := values.get("CPU part"):
        maker = values.get("CPU implementer", "")
        return text(_ARM.get((maker, part), f"ARM implementer {maker} part {part}"), 200)
    return text(values.get("vendor_id") or values.get("isa"), 200)


def _cache(values: dict[str, str]) -> int | None:
    printed = re.fullmatch(r"(\d{1,9}) ?KB", values.get("cache size", ""))
    return int(printed[1]) * 1024 if printed else None
