"""`sysctl`: kernel settings that matter to tests, as `name = value` lines. Only names of the list are kept."""

import re
from dataclasses import dataclass

from apps.inventory.discovery.tool_values import UnreadableError, text

TOOL = "sysctl"
_KEPT = re.compile(
    r"net\.core\.(?:[rw]mem_(?:max|default)|netdev_max_backlog|default_qdisc)|net\.ipv4\.tcp_(?:[rw]?mem|congestion_control|window_scaling|timestamps|sack)"
    r"|vm\.(?:dirty_[a-z_]+|swappiness|vfs_cache_pressure|min_free_kbytes|nr_hugepages|zone_reclaim_mode)"
    r"|fs\.(?:aio-max-nr|file-max)|dev\.raid\.speed_limit_(?:min|max)|kernel\.(?:numa_balancing|sched_[a-z_]+)"
)
_LINE = re.compile(r"([a-z][\w.\-]{2,80})\s*=\s*(.*)")


@dataclass(frozen=True)
class Settings:
    values: dict[str, str]


def discover(printed: str) -> Settings:
    found = [match for line in printed.splitlines()[:20_000] if (match := _LINE.fullmatch(line[:1000].strip()))]
    if not found:
        raise UnreadableError(TOOL, next(iter(printed.strip().splitlines()), ""), "lines such as vm.swappiness = 60", 1)
    kept = {match[1]: re.sub(r"\s+", " ", text(match[2], 200)) for match in found if _KEPT.fullmatch(match[1])}
    return Settings(dict(sorted(kept.items())))
