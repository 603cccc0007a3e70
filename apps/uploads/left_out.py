"""Runs of a file that somebody left out when the others were kept: remembered, so that reading the file again neither offers nor
keeps them, and kept after all where somebody says so.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from apps.uploads.pairing import Place
from apps.uploads.places_in_file import places_found
from apps.uploads.reading import FileReading, ReadRun


@dataclass(frozen=True)
class LeftOut:
    """One, as the file's page shows it; `place`: among those of the file."""

    place: int
    words: str


def left_out_of(found: FileReading) -> list[dict[str, Any]]:
    """Those without a tick that make no way for another reading of the same lines."""
    if all(one.is_chosen for one in found.runs):
        return []
    chosen = {place for place, one in enumerate(found.runs) if one.is_chosen}
    left = [place for place, one in enumerate(found.runs) if place not in chosen and chosen.isdisjoint(one.rivals)]
    return remembered(found, left)


def remembered(found: FileReading, places: Iterable[int]) -> list[dict[str, Any]]:
    """What tells each of these runs from the others, to find it in another reading."""
    every = places_found(found.runs)
    return [_remembered(every[place], found.runs[place]) for place in places]


def _remembered(place: Place, one: ReadRun) -> dict[str, Any]:
    return {
        "format": place.format, "number": place.number, "digest": place.digest, "words": described(one),
        "span": list(place.whole) if place.whole else None, "told": sorted(map(list, place.told)),
    }  # fmt: skip


def places_left_out(rows: Collection[dict[str, Any]]) -> list[Place]:
    return [
        Place(
            row["format"], row["number"], row["digest"], span=tuple(row["span"]) if row["span"] else None,
            told=frozenset((name, value) for name, value in row["told"]), is_chosen=False,
        )
        for row in rows
    ]  # fmt: skip


def shown(rows: Collection[dict[str, Any]]) -> list[LeftOut]:
    return [LeftOut(place, row["words"]) for place, row in enumerate(rows)]


def described(one: ReadRun) -> str:
    """`lines 3 to 9: fio 3.36 /dev/sda, 12 samples`"""
    run = one.run
    lines = f"lines {run.line} to {run.last_line or run.line}: " if run.line else ""
    name = " ".join(filter(None, (run.tool, run.tool_version, run.target or run.caption)))
    return f"{lines}{name}, {one.sample_count} samples"
