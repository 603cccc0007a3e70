"""`zpool status` (`-LP`; `-j` from OpenZFS 2.3 on): pools, their vdevs and what lies in them. `zfs list` tells how datasets were made.

        tank                 ONLINE       0     0     0
              raidz2-0           ONLINE       0     0     0
                /dev/sda1        ONLINE       0     0     0
        logs
              /dev/nvme0n1p1     ONLINE       0     0     0

Indentation is the nesting. A pool spreads its data over its vdevs as RAID 0 does; raidz1 and raidz2 lose one and two
drives, as RAID 5 and 6; raidz3, which loses three, has no such number.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.inventory.discovery.looks import ToolLook
from apps.inventory.discovery.tool_output import (
    MARGIN,
    Block,
    Content,
    blanked,
    has_block,
    inventory,
    json_values,
    parse_blocks,
)
from apps.inventory.discovery.tool_output import whole as whole_file
from apps.inventory.discovery.tool_text import dictionary
from apps.inventory.discovery.tool_values import UnreadableError, json_object, name, text
from apps.parsers.core.models import Broken, ParsedFile, ParsedInventory
from apps.parsers.core.source_text import SourceText

NAME = "zpool"
TITLE = "zpool status"
TOOL = "zpool"
_JSON = re.compile(r'"pools"\s*:\s*\{')
_LIKE = re.compile(rf"^{MARGIN}pool: \S", re.MULTILINE)
_POOL = re.compile(r"\s{0,40}pool: \S")
_IMPORTABLE = re.compile(r"\s{0,40}id: \d")  # of `zpool import`, which lists pools that the host does not have
_CONFIG = re.compile(r"\s{0,40}config:\s*$")
_HEADING = re.compile(r"NAME\s+STATE\b")
_FAR = 40  # lines: what a pool's status and action say may be long
MAX_POOLS, MAX_DEVICES, MAX_DEPTH = 256, 4096, 8
_JSON_GROUPS = {"logs": "log", "spares": "spare", "l2cache": "cache", "special": "special", "dedup": "dedup"}
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
    """A pool, vdev or device. `role`: '' for data, else log, cache, spare, special, dedup; `printed`: its state as printed."""

    name: str
    state: str = ""
    role: str = ""
    below: "list[ZpoolNode]" = field(default_factory=list)
    printed: str = ""

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

    def with_earlier(self, before: "Pools", look: ToolLook) -> "Pools":
        """Return the pools with those of the looks before, which this partial `look` did not look for."""
        mine = {pool.name for pool in self.pools}
        return Pools((*self.pools, *(pool for pool in before.pools if pool.name not in mine)))


def looks_like(text: SourceText) -> float:
    text = blanked(text)
    if '"vdev_type"' in text.text and _JSON.search(text.text):
        return 1.0
    return 1.0 if _LIKE.search(text.by_lines) and has_block(text, _blocks) else 0.0


def parse(text: SourceText) -> ParsedFile:
    broken: list[Broken] = []
    found: list[ParsedInventory] = []
    for block, value in json_values(text, broken) if '"vdev_type"' in text.text else ():
        if isinstance(value, dict) and isinstance(value.get("pools"), dict):
            found.append(inventory(text, TOOL, block, _summary(_of_json(value)), value))
    if found or broken:
        return whole_file(text, TOOL, found, broken, "pools")
    return parse_blocks(text, TOOL, _blocks, _read, "pool: and config:")


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    """Yield the block of each command's pools: each from `pool:` to `errors:`, or to the last device without that line."""
    index = 0
    while index < len(lines):
        end = _pool_end(lines, index) if _POOL.match(lines[index]) else index
        first, last = index, end
        while end > index:  # the next pool of the same command follows after a blank line
            last, index = end, next((at for at in range(end, min(end + 3, len(lines))) if lines[at].strip()), end)
            end = _pool_end(lines, index) if index < len(lines) and _POOL.match(lines[index]) else index
        if last > first:
            yield first, last
        index = max(index, first + 1)


def _pool_end(lines: Sequence[str], first: int) -> int:
    """Return the index after the last line of the pool that begins at `first`; `first` where its devices are missing."""
    config = next((at for at in range(first, min(first + _FAR, len(lines))) if _CONFIG.match(lines[at])), -1)
    if config < 0 or any(_POOL.match(line) or _IMPORTABLE.match(line) for line in lines[first + 1 : config]):
        return first
    end = next((at for at in range(config + 1, len(lines)) if _ends(lines[at])), len(lines))
    if end < len(lines) and lines[end].lstrip().startswith("errors:"):
        return end + 1
    return max(at for at in range(config, end) if lines[at].strip()) + 1


def _ends(line: str) -> bool:
    """Return whether a pool's devices end before this line."""
    begun = line.lstrip()
    return bool(begun) and (begun.startswith("errors:") or line[:1] not in (" ", "\t") or _POOL.match(line) is not None)


def _read(lines: Sequence[str]) -> tuple[str, Content]:
    pools = _of_text(lines)
    if not pools.pools:
        raise ValueError("a pool below config:")
    return _summary(pools), {"pools": [_plain(pool) for pool in pools.pools]}


def _plain(node: ZpoolNode) -> Content:
    plain: Content = {"name": node.name, "state": node.printed}
    plain |= {"role": node.role} if node.role else {}
    return plain | ({"devices": [_plain(one) for one in node.below]} if node.below else {})


def _summary(pools: Pools) -> str:
    shown = [f"pool {pool.name} {pool.printed.lower()}".strip() for pool in pools.pools[:4]]
    return ", ".join(shown) + (f", {len(pools.pools) - 4} more" if len(pools.pools) > 4 else "")


def discover(printed: str) -> Pools:
    """Parse the output of `zpool status`, text or JSON (`-j`, from 2.3 on).

    Raises:
        UnreadableError: for text that is neither.
    """
    if '"vdev_type"' in printed:
        return _of_json(json_object(TOOL, printed))
    lines = printed.splitlines()[:MAX_LINES]
    pools = _of_text(lines)
    if not pools.pools and not any("no pools available" in line for line in lines[:5]):
        raise UnreadableError(TOOL, next(iter(printed.strip().splitlines()), ""), "pool: and config:", 1)
    return pools


def _of_text(lines: Sequence[str]) -> Pools:
    pools: list[ZpoolNode] = []
    above: list[tuple[int, ZpoolNode]] = []
    role, margin, is_config = "", "\t", False
    for line in lines:
        begun = line.lstrip()
        if begun.startswith(("pool:", "errors:")):
            is_config, above, role = False, [], ""
        elif begun.startswith("config:"):
            is_config = True
        elif is_config and _HEADING.match(begun):
            margin = line[: len(line) - len(begun)]  # a tab, which pages turn into blanks
        elif (
            is_config and (match := _NODE.fullmatch(f"\t{line.removeprefix(margin)}"[:400])) and line.startswith(margin)
        ):
            role = _put(match, pools, above, role)
    return Pools(tuple(pools))


def _of_json(document: dict[str, Any]) -> Pools:
    pools = []
    for key, value in list(dictionary(document.get("pools")).items())[:MAX_POOLS]:
        pool = dictionary(value)
        root: object = next(iter(dictionary(pool.get("vdevs")).values()), {})
        node = _json_node(key, dictionary(root), "")
        node.name, node.state, node.printed = name(key, 200), _state(pool.get("state")), name(pool.get("state"), 20)
        for group, role in _JSON_GROUPS.items():
            parts = dictionary(pool.get(group)).items()
            node.below += [_json_node(label, dictionary(part), role) for label, part in list(parts)[:MAX_DEVICES]]
        pools.append(node)
    return Pools(tuple(pools))


def _json_node(label: str, part: dict[str, Any], role: str, depth: int = 0) -> ZpoolNode:
    below = list(dictionary(part.get("vdevs")).items())[:MAX_DEVICES] if depth < MAX_DEPTH else []
    path = name(part.get("path"), 200) if not below else ""
    node = ZpoolNode(path or name(label, 200), _state(part.get("state")), role, printed=name(part.get("state"), 20))
    node.below = [_json_node(inner, dictionary(one), "", depth + 1) for inner, one in below]
    return node


def _state(printed: object) -> str:
    return _STATES.get(name(printed, 20), "")


def _put(match: "re.Match[str]", pools: list[ZpoolNode], above: list[tuple[int, ZpoolNode]], role: str) -> str:
    """Add a node and return the role of the nodes that follow."""
    depth, label = len(match[1]), text(match[2], 200)
    if depth == 0 and label in _GROUPS and pools:
        del above[:]
        above.append((0, pools[-1]))
        return {"logs": "log", "spares": "spare"}.get(label, label)
    while above and above[-1][0] >= depth and depth > 0:
        above.pop()
    node = ZpoolNode(label, _state(match[3]), role, printed=match[3] or "")
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
