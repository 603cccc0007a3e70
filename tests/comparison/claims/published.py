"""The five reports as readings in memory, made from their own files alone: what the loader makes of them in the database."""

import csv
from functools import cache
from itertools import pairwise
from typing import Any

import yaml

from apps.comparison.readings import Reading
from apps.studies.source import DATA, LATENCY, measured

STUDIES = ("crs4-sata-scsi", "thumper-x4500", "infn-10ge-chain", "dtn-ucsc", "tristan-sas-sata")
Row = dict[str, str]


def table(slug: str, name: str) -> list[Row]:
    with (DATA / slug / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def description(slug: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DATA / slug / "study.yaml").read_text(encoding="utf-8"))
    return found


@cache
def readings(slug: str) -> tuple[Reading, ...]:
    """One for each row, numbered as the rows are; the two rows of a printed range are one reading with two bounds."""
    pairs = list(zip(table(slug, "results.csv"), table(slug, "provenance.csv"), strict=True))
    made = [_reading(slug, number, row, origin) for number, (row, origin) in enumerate(pairs, 1)]
    return tuple(_ranges_joined(made, [row for row, _ in pairs]))


def _reading(slug: str, number: int, row: Row, origin: Row) -> Reading:
    operation, metric = measured(row["test"], row["direction"])
    scale = 1e9 if row["test"].endswith(LATENCY) else 1.0
    low, high = _bounds(slug, row)
    return Reading(
        id=number,
        run=number,
        operation=operation,
        metric=metric,
        value=float(row["value_si"]) * scale if row["value"] else None,
        facts=_facts(slug, row["configuration"], row["host"]),
        file_size=int(row["file_size_bytes"]) if row["file_size_bytes"] else None,
        block_size=int(row["record_size_bytes"]) if row["record_size_bytes"] else None,
        threads=int(row["threads"]) if row["threads"] else None,
        origin="published",
        quality=row["confidence"],
        missing_reason="" if row["value"] else "not in the report",
        low=low,
        high=high,
        printed=f"{row['value'] or origin['printed']} {row['unit']}",
        note=row["note"],
        alternatives=_alternatives(row, origin),
    )


def _alternatives(row: Row, origin: Row) -> tuple[float, ...]:
    """Other readings that are really possible: a strong repair has settled the matter. A value without a unit's factor
    in its row (a lost one) takes the table's, 1 Kbyte = 1024 bytes.
    """
    if origin["strength"] in ("", "strong") or not origin["alternatives"]:
        return ()
    factor = float(row["value_si"]) / float(row["value"]) if row["value"] else 1024.0
    return tuple(float(text) * factor for text in origin["alternatives"].split("|"))


def _bounds(slug: str, row: Row) -> tuple[float | None, float | None]:
    if row["value"]:
        return None, None
    if "+++++" in row["note"]:
        return 32768.0, None  # bonnie++: more than this many per second
    for cell in description(slug).get("unrecoverable_cells", []):
        place = (cell["table"], cell["configuration"], str(cell["size_mb"] * 2**20))
        if place == (row["test"], row["configuration"], row["file_size_bytes"]):
            return cell["range"][0] * 1024.0, cell["range"][1] * 1024.0
    return None, None


def _ranges_joined(made: list[Reading], rows: list[Row]) -> list[Reading]:
    kept = []
    upper = {
        second.id: first.id
        for (first, one), (second, other) in pairwise(zip(made, rows, strict=True))
        if _place(one) == _place(other)
    }
    highs = {first: made[second - 1].value for second, first in upper.items()}
    for one in made:
        if one.id in upper:
            continue
        if one.id in highs:
            one = _as_range(one, highs[one.id])
        kept.append(one)
    return kept


def _place(row: Row) -> tuple[str, ...]:
    return tuple(
        row[name] for name in ("configuration", "test", "file_size_bytes", "record_size_bytes", "threads", "direction")
    )


def _as_range(one: Reading, high: float | None) -> Reading:
    from dataclasses import replace

    return replace(one, value=None, low=one.value, high=high)


def _facts(slug: str, name: str, host: str) -> dict[str, Any]:
    """The facts that claims ask for, from study.yaml: the host's RAM, the controller's cache, disks and RAID level."""
    told = description(slug)
    configuration = next(one for one in told["configurations"] if one["name"] == name)
    entries = {
        kind: {one.get("id", one.get("name")): one for one in told.get(kind, [])}
        for kind in ("hosts", "controllers", "disks", "arrays")
    }
    machine = entries["hosts"].get(host, {})
    array = entries["arrays"].get(configuration.get("array"), {})
    controller = entries["controllers"].get(configuration.get("controller") or array.get("controller"), {})
    disk = entries["disks"].get(configuration.get("disk"), {})
    facts = {
        "configuration": name, "study": slug, "host": host, "ram": machine.get("ram_bytes"),
        "controller_cache": controller.get("cache_bytes"), "raid_level": array.get("level"),
        "interface": str(disk.get("interface", "")).partition(" ")[0], "disk_count": array.get("member_count"),
    }  # fmt: skip
    return {fact: value for fact, value in facts.items() if value not in (None, "", "unknown")}
