"""`zpool status -LP`: pools, their vdevs and what lies in them. `zfs list` tells how datasets were made.

        tank                 ONLINE       0     0     0
              raidz2-0           ONLINE       0     0     0
                /dev/sda1        ONLINE       0     0     0
        logs
              /dev/nvme0n1p1     ONLINE       0     0     0

Indentation is the nesting. A pool spreads its data over its vdevs as RAID 0 does; raidz1 and raidz2 lose one and two
drives, as RAID 5 and 6; raidz3, which loses three, has no such number.
"""

import re
from dataclasses import dataclass, field

from apps.inventory.discovery.tool_values import UnreadableError, text

TOOL = "zpool"
DATASETS = "zfs"
MAX_LINES = 50_000
_NODE = re.compile(
    r"\t( {0,40})(\S.{0,254}?)(?:\s{2,}(ONLINE|DEGRADED|FAULTED|OFFLINE|UNAVAIL|REMOVED|AVAIL|INUSE)\b.*)?\s*"
)
_GROUPS = ("logs", "cache", "spares", "special", "dedup")
_VDEV = re.compile(r"(mirror|raidz[123]?|draid[123]?(?::[\w:]+)?|replacing|spare|indirect)-\d+")
_LEVELS = {"mirror": "1", "raidz": "5", "raidz1": "5", "raidz2": "6", "draid": "5", "draid1": "5", "draid2": "6"}
_STATES = {"ONLINE": "clean", "DEGRADED": "degraded", "FAULTED": "failed", "UNAVAIL": "failed"}


@dataclass
class ZpoolNode:
    """A pool, vdev or device. `role`: '' for data, else log, cache, spare, special, dedup."""

    name: str
    state: str = ""
    role: str = ""
    below: "list[ZpoolNode]" = field(default_factory=list)

    @property
    def kind(self) -> str:
        """Return the kind of a vdev, such as mirror, raidz2 or draid2:4d:11c:1s; '' for a pool or device."""
        match = _VDEV.fullmatch(self.name)
        return match[1] if match else ""

    @property
    def level(self) -> str:
        return _LEVELS.get(self.kind.partition(":")[0], "")


@dataclass(frozen=True)
class Pools:
    pools: tuple[ZpoolNode, ...]


def discover(printed: str) -> Pools:
    pools: list[ZpoolNode] = []
    above: list[tuple[int, ZpoolNode]] = []
    role, is_config = "", False
    lines = printed.splitlines()[:MAX_LINES]
    for line in lines:
        if line.strip().startswith(("pool:", "errors:")):
            is_config, above, role = False, [], ""
        elif line.startswith("config:"):
            is_config = True
        elif (
            is_config
            and (match := _NODE.fullmatch(line[:400]))
            and match[2] != "NAME"
            and not match[2].startswith("NAME ")
        ):
            role = _put(match, pools, above, role)
    if not pools and not any("no pools available" in line for line in lines[:5]):
        raise UnreadableError(TOOL, next(iter(printed.strip().splitlines()), ""), "pool: and config:", 1)
    return Pools(tuple(pools))


def _put(match: "re.Match[str]", pools: list[ZpoolNode], above: list[tuple[int, ZpoolNode]], role: str) -> str:
    """Add a node and return the role of the nodes that follow."""
    depth, label = len(match[1]), text(match[2], 200)
    if depth == 0 and label in _GROUPS and pools:
        del above[:]
        above.append((0, pools[-1]))
        return {"logs": "log", "spares": "spare"}.get(label, label)
    while above and above[-1][0] >= depth and depth > 0:
        above.pop()
    node = ZpoolNode(label, _STATES.get(match[3] or "", ""), role)
    if depth == 0:
        role, node.role = "", ""
        pools.append(node)
        del above[:]
    elif above:
        above[-1][1].below.append(node)
    if len(above) < 12:
        above.append((depth, node))
    return role


@dataclass(frozen=True)
class Datasets:
    """Name → options as `zfs create -o` takes them."""

    options: dict[str, str]


def discover_datasets(printed: str) -> Datasets:
    """Parse the datasets' settings, printed in columns separated by tabs.

    The command is `zfs list -H -o name,type,recordsize,compression,checksum,sync,primarycache,atime`.

    Raises:
        UnreadableError: for text that is no such list.
    """
    names = ("recordsize", "compression", "checksum", "sync", "primarycache", "atime")
    found = {}
    for line in printed.splitlines()[:16_384]:
        cells = [text(cell, 200) for cell in line[:2000].split("\t")]
        if len(cells) == len(names) + 2 and cells[1] == "filesystem":
            found[cells[0]] = " ".join(
                f"-o {key}={value}" for key, value in zip(names, cells[2:], strict=True) if value != "-"
            )
    if printed.strip() and not found and "no datasets" not in printed:
        raise UnreadableError(
            DATASETS, next(iter(printed.strip().splitlines()), ""), "name, type and settings between tabs", 1
        )
    return Datasets(found)
