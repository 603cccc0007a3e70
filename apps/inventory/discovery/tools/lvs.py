"""`lvs -a --reportformat json --units b --nosuffix -o …`: what each logical volume is, segment by segment.

    {"report": [{"lv": [{"lv_dm_path": "/dev/mapper/vg-data", "segtype": "raid5", "stripes": "4", "stripe_size": "65536"}]}]}

A volume of several segments has several rows. A thin volume is as its pool's data part (`[pool_tdata]`) is.
"""

from dataclasses import dataclass
from typing import Any

from apps.inventory.discovery.tool_text import rows
from apps.inventory.discovery.tool_values import UnreadableError, json_object, name, whole

TOOL = "lvs"
MAX_ROWS = 16_384
_LEVELS = {
    "linear": "linear",
    "striped": "0",
    "mirror": "1",
    "raid0": "0",
    "raid0_meta": "0",
    "raid1": "1",
    "raid4": "4",
    "raid10": "10",
    "error": "",
    "zero": "",
}


@dataclass(frozen=True)
class LvmVolume:
    """A logical volume.

    `level` is '' where segments differ or lvs prints none; `chunk_size` is LVM's stripe size in bytes.
    """

    dm_name: str
    level: str = ""
    chunk_size: int | None = None
    layout: str = ""
    uuid: str = ""


@dataclass(frozen=True)
class Volumes:
    by_dm_name: dict[str, LvmVolume]


def discover(printed: str) -> Volumes:
    reports = rows(json_object(TOOL, printed).get("report"))
    segments = [one for report in reports for one in rows(report.get("lv"), MAX_ROWS)][:MAX_ROWS]
    if not reports:
        raise UnreadableError(TOOL, printed[:80], "a report of lv")
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for one in segments:
        label = name(one.get("lv_name"), 200).strip("[]")
        groups.setdefault((name(one.get("vg_name"), 200), label), []).append(one)
    found = (_volume(key, parts, groups) for key, parts in groups.items())
    return Volumes({one.dm_name: one for one in found if one.dm_name})


def _volume(
    key: tuple[str, str], parts: list[dict[str, Any]], groups: dict[tuple[str, str], list[dict[str, Any]]]
) -> LvmVolume:
    group, label = key
    path = name(parts[0].get("lv_dm_path"), 255) or f"/dev/mapper/{_escaped(group)}-{_escaped(label)}"
    kinds = {name(one.get("segtype"), 40) for one in parts}
    pool = name(parts[0].get("pool_lv"), 200).strip("[]")
    layout = "thin" if kinds == {"thin"} else "cached" if kinds & {"cache", "writecache"} else ""
    told = groups.get((group, f"{pool}_tdata"), []) if layout == "thin" else parts
    levels = {_level(name(one.get("segtype"), 40)) for one in told}
    chunks = {whole(one.get("stripe_size")) for one in told}
    return LvmVolume(
        path.removeprefix("/dev/mapper/"), levels.pop() if len(levels) == 1 else "",
        (chunks.pop() or None) if len(chunks) == 1 else None, layout, name(parts[0].get("lv_uuid"), 80),
    )  # fmt: skip


def _escaped(part: str) -> str:
    return part.replace("-", "--")


def _level(kind: str) -> str:
    for prefix in ("raid5", "raid6"):
        if kind.startswith(prefix):
            return prefix[-1]
    return "10" if kind.startswith("raid10") else _LEVELS.get(kind, "")
