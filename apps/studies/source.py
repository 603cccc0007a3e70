"""A published study as it lies in `data/<slug>/`: study.yaml, results.csv, provenance.csv. Reads files, knows no
database.

results.csv has one value per row; `value` is the printed number with a decimal point, `value_si` the same in base
units. provenance.csv says for each row, by number, at which line of the report it stands, what exactly is there, and
why it was read as it was.
"""

import csv
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from apps.parsers.shape import ParsedSample

DATA = Path(__file__).parent / "data"
FILES = ("results.csv", "provenance.csv", "study.yaml")
LOADED = ("crs4-sata-scsi",)  # of the others the data and claims are here, and their tests' names in `reported.py`
OPERATIONS = {  # test → (operation, metric)
    "seq_write_block": ("write", "bandwidth"),
    "seq_write_char": ("char_write", "bandwidth"),
    "seq_read_block": ("read", "bandwidth"),
    "seq_read_char": ("char_read", "bandwidth"),
}
Row = dict[str, str]


class StudyDataError(ValueError):
    """A study's own files disagree with each other or with our words."""


def slugs() -> list[str]:
    return [slug for slug in LOADED if (DATA / slug / "study.yaml").exists()]


@dataclass(frozen=True)
class StudySource:
    slug: str

    @property
    def folder(self) -> Path:
        return DATA / self.slug

    @cached_property
    def description(self) -> dict[str, Any]:
        found: dict[str, Any] = yaml.safe_load((self.folder / "study.yaml").read_text(encoding="utf-8"))
        return found

    @cached_property
    def rows(self) -> list[tuple[Row, Row]]:
        """Each row of results.csv with its row of provenance.csv."""
        results, origins = self._table("results.csv"), self._table("provenance.csv")
        numbers = [int(origin["row"]) for origin in origins]
        if numbers != list(range(1, len(results) + 1)):
            raise StudyDataError(
                f"{self.slug}: provenance.csv numbers {len(origins)} rows, expected 1 to {len(results)}"
            )
        return list(zip(results, origins, strict=True))

    def groups(self) -> dict[tuple[str, int], list[ParsedSample]]:
        """(configuration, file size in bytes) → its samples, in the order of the report."""
        groups: dict[tuple[str, int], list[ParsedSample]] = {}
        for row, origin in self.rows:
            key = row["configuration"], int(row["file_size_bytes"])
            groups.setdefault(key, []).append(self._sample(row, origin))
        return groups

    def artefacts(self) -> dict[str, bytes]:
        return {name: (self.folder / name).read_bytes() for name in FILES}

    def _table(self, name: str) -> list[Row]:
        with (self.folder / name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def _sample(self, row: Row, origin: Row) -> ParsedSample:
        if row["test"] not in OPERATIONS:
            raise StudyDataError(f"{self.slug}: found test {row['test']!r}, expected one of: {', '.join(OPERATIONS)}")
        operation, metric = OPERATIONS[row["test"]]
        low, high = (None, None) if row["value"] else self._bounds(row)
        return ParsedSample(
            operation=operation,
            metric=metric,
            value=float(row["value_si"]) if row["value"] else None,
            file_size=int(row["file_size_bytes"]),
            block_size=_whole(row["record_size_bytes"]),
            threads=_whole(row["threads"]),
            printed=f"{row['value'] or origin['printed']} {row['unit']}",
            line=int(origin["source_line"]),
            quality=row["confidence"],
            missing_reason="" if row["value"] else "not recoverable from the report",
            low=low,
            high=high,
            cpu=float(row["cpu_percent"]) / 100 if row["cpu_percent"] else None,
            note=_note(row, origin),
            alternatives=self._alternatives(row, origin),
        )

    def _alternatives(self, row: Row, origin: Row) -> tuple[float, ...]:
        """Other readings, in base units, where the one that was taken is not certain."""
        if origin["strength"] in ("", "strong") or not origin["alternatives"]:
            return ()
        return tuple(float(text) * self._factor(row["unit"]) for text in origin["alternatives"].split("|"))

    def _bounds(self, row: Row) -> tuple[float | None, float | None]:
        """The range that a lost value lies in, in base units; kept as two bounds, not as a made-up mean."""
        for cell in self.description.get("unrecoverable_cells", []):
            place = (cell["table"], cell["size_mb"], cell["configuration"])
            if place == (row["test"], int(row["file_size_bytes"]) // 2**20, row["configuration"]):
                factor = self._factor(row["unit"])
                return cell["range"][0] * factor, cell["range"][1] * factor
        return None, None

    def _factor(self, unit: str) -> float:
        for known in self.description["units"]:
            if known["printed"] == unit:
                return float(known["factor"])
        raise StudyDataError(f"{self.slug}: unit {unit!r} is not among the study's units")


def _whole(text: str) -> int | None:
    return int(text) if text else None


def _note(row: Row, origin: Row) -> str:
    parts = [row["note"], f"in the report, line {origin['source_line']}: {origin['printed']!r}", origin["basis"]]
    if origin["alternatives"]:
        parts.append(f"other readings: {origin['alternatives']}")
    return "; ".join(filter(None, parts))
