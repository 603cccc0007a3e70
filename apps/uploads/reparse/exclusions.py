"""Runs of a file that a person left out when the others were saved, stored so that a new reading neither offers nor saves them."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from apps.uploads.file_reader import FileReading, ReadRun
from apps.uploads.reparse.run_matching import RunPlace, places_found


@dataclass(frozen=True)
class LeftOut:
    """One, as the file's page shows it; `place`: among those of the file."""

    place: int
    words: str


def left_out_of(reading: FileReading) -> list[dict[str, object]]:
    """Return what identifies the unticked runs, except those that only gave way to another reading of the same lines."""
    if all(run.is_chosen for run in reading.runs):
        return []
    chosen = {place for place, run in enumerate(reading.runs) if run.is_chosen}
    left = [place for place, run in enumerate(reading.runs) if place not in chosen and chosen.isdisjoint(run.rivals)]
    return remembered(reading, left)


def remembered(reading: FileReading, places: Iterable[int]) -> list[dict[str, Any]]:
    """Return what identifies the runs with these indices in a later reading, as JSON."""
    every = places_found(reading.runs)
    return [_remembered(every[place], reading.runs[place]) for place in places]


def _remembered(place: RunPlace, reading: ReadRun) -> dict[str, object]:
    return {
        "format": place.format, "number": place.number, "digest": place.digest, "words": described(reading),
        "span": list(place.whole) if place.whole else None, "told": sorted(map(list, place.printed)),
    }  # fmt: skip


def places_left_out(rows: Collection[dict[str, Any]]) -> list[RunPlace]:
    return [
        RunPlace(
            row["format"], row["number"], row["digest"], span=tuple(row["span"]) if row["span"] else None,
            printed=frozenset((name, value) for name, value in row["told"]), is_chosen=False,
        )
        for row in rows
    ]  # fmt: skip


def left_out_rows(rows: Collection[dict[str, Any]]) -> list[LeftOut]:
    return [LeftOut(place, row["words"]) for place, row in enumerate(rows)]


def described(reading: ReadRun) -> str:
    """Return a run in words: `lines 3 to 9: fio 3.36 /dev/sda, 12 samples`."""
    run = reading.run
    lines = f"lines {run.line} to {run.last_line or run.line}: " if run.line else ""
    name = " ".join(filter(None, (run.tool, run.tool_version, run.target or run.caption)))
    return f"{lines}{name}, {reading.sample_count} samples"
