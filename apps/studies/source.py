"""A published study as it lies in `data/<slug>/`: study.yaml, results.csv, provenance.csv, legacy files and tables of
figures. Reads files, knows no database.

results.csv has one value per row; `value` is the printed number with a decimal point, `value_si` the same in base
units. provenance.csv says for each row, by number, at which line of the report it stands, what exactly is there, and
why it was read as it was. bringing.yaml says which legacy files are kept as runs of which configurations.
"""

import csv
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml

from apps.parsers.shape import ParsedSample
from apps.studies.reported import LATENCY, measured

DATA = Path(__file__).parent / "data"
FILES = ("results.csv", "provenance.csv", "study.yaml")
ORDER = ("crs4-sata-scsi", "thumper-x4500", "infn-10ge-chain", "dtn-ucsc", "tristan-sas-sata")  # of the reports' seeds
_PLACE = ("configuration", "test", "file_size_bytes", "record_size_bytes", "threads", "direction")
_TOO_FAST = "+++++"
_FASTEST = 32768.0  # files per second: 16 x 1024 of them in under half a second
Row = dict[str, str]


class StudyDataError(ValueError):
    """A study's own files disagree with each other or with our words."""


def slugs() -> list[str]:
    found = [path.parent.name for path in DATA.glob("*/study.yaml")]
    return sorted(found, key=lambda slug: (ORDER.index(slug) if slug in ORDER else len(ORDER), slug))


@dataclass(frozen=True)
class Reported:
    """One value of the report: the rows of results.csv that hold it (two for a printed range), and what it says."""

    rows: tuple[int, ...]
    configuration: str
    host: str
    tool: str
    sample: ParsedSample


@dataclass(frozen=True)
class StudySource:
    slug: str

    @property
    def folder(self) -> Path:
        return DATA / self.slug

    @cached_property
    def description(self) -> dict[str, Any]:
        return self._yaml("study.yaml")

    @cached_property
    def bringing(self) -> dict[str, Any]:
        return self._yaml("bringing.yaml")

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

    @cached_property
    def reported(self) -> list[Reported]:
        """The report's values in its order."""
        numbered = enumerate(self.rows, 1)
        return [self._reported(list(same)) for _, same in groupby(numbered, lambda one: _place(one[1][0]))]

    def artefacts(self) -> dict[str, bytes]:
        return {name: (self.folder / name).read_bytes() for name in FILES}

    def legacy(self) -> dict[str, bytes]:
        """Name → bytes of the files that the report prints or that were rebuilt from it."""
        return {path.name: path.read_bytes() for path in sorted((self.folder / "legacy").glob("*")) if path.is_file()}

    def figures(self) -> dict[str, bytes]:
        """The tables of figures: what stands in the report's tables, sentences and slides and in no legacy file."""
        return {path.name: path.read_bytes() for path in sorted(self.folder.glob("figures*.csv"))}

    def plans(self) -> dict[str, Any] | None:
        """plan.yaml: the procedure that the report describes."""
        return self._yaml("plan.yaml") if (self.folder / "plan.yaml").exists() else None

    def wording(self) -> tuple[str, dict[str, str]]:
        """wording.yaml: the report's language, and the study's own texts in it; none where the report is in English."""
        if not (self.folder / "wording.yaml").exists():
            return "", {}
        found = self._yaml("wording.yaml")
        return found["language"], {one["en"]: one["said"] for one in found["texts"]}

    def claims(self) -> str:
        path = self.folder / "claims.yaml"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def _yaml(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = yaml.safe_load((self.folder / name).read_text(encoding="utf-8"))
        return found

    def _table(self, name: str) -> list[Row]:
        with (self.folder / name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def _reported(self, same: list[tuple[int, tuple[Row, Row]]]) -> Reported:
        """`same`: one numbered row, or the low and the high end of a printed range."""
        row, origin = same[0][1]
        ends = [float(one["value_si"]) for _, (one, _) in same] if len(same) > 1 else []
        return Reported(
            rows=tuple(number for number, _ in same),
            configuration=row["configuration"],
            host=row["host"],
            tool=row["tool"],
            sample=self._sample(row, origin, ends),
        )

    def _sample(self, row: Row, origin: Row, ends: list[float]) -> ParsedSample:
        operation, metric = self._measured(row)
        low, high = (min(ends), max(ends)) if ends else self._bounds(row)
        is_one = bool(row["value"]) and not ends
        return ParsedSample(
            operation=operation,
            metric=metric,
            value=float(row["value_si"]) * (1e9 if row["test"].endswith(LATENCY) else 1) if is_one else None,
            file_size=_whole(row["file_size_bytes"]),
            block_size=_whole(row["record_size_bytes"]),
            threads=_whole(row["threads"]),
            printed=_printed(row, origin, is_range=bool(ends)),
            line=int(origin["source_line"].partition("-")[0]),
            quality="lower_bound" if _TOO_FAST in row["note"] else row["confidence"],
            missing_reason="" if is_one or ends else _reason(row),
            low=low,
            high=high,
            cpu=float(row["cpu_percent"]) / 100 if row["cpu_percent"] else None,
            note=_note(row, origin),
            alternatives=self._alternatives(row, origin),
        )

    def _measured(self, row: Row) -> tuple[str, str]:
        try:
            return measured(row["test"], row["direction"])
        except KeyError:
            raise StudyDataError(f"{self.slug}: found test {row['test']!r}, expected one that a report has") from None

    def _alternatives(self, row: Row, origin: Row) -> tuple[float, ...]:
        """Other readings, in base units, where the one that was taken is not certain."""
        if origin["strength"] in ("", "strong") or not origin["alternatives"]:
            return ()
        return tuple(float(text) * self._factor(row["unit"]) for text in origin["alternatives"].split("|"))

    def _bounds(self, row: Row) -> tuple[float | None, float | None]:
        """The range that a lost value lies in, in base units; kept as two bounds, not as a made-up mean."""
        if _TOO_FAST in row["note"]:
            return _FASTEST, None
        for cell in self.description.get("unrecoverable_cells", []) if not row["value"] else []:
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


def _place(row: Row) -> tuple[str, ...]:
    return tuple(row[name] for name in _PLACE)


def _printed(row: Row, origin: Row, *, is_range: bool) -> str:
    if is_range:
        return f"{origin['printed']} {row['unit']}"
    if not row["value"] and (_TOO_FAST in row["note"] or "printed N.A." in row["note"]):
        return origin["printed"]
    return f"{row['value'] or origin['printed']} {row['unit']}"


def _reason(row: Row) -> str:
    if _TOO_FAST in row["note"]:
        return "+++++: too fast to time"
    return "printed N.A." if "printed N.A." in row["note"] else "not recoverable from the report"


def _whole(text: str) -> int | None:
    return int(text) if text else None


def _note(row: Row, origin: Row) -> str:
    told = row["note"].partition("; low end of the printed range")[0]
    parts = [told, f"in the report, line {origin['source_line']}: {origin['printed']!r}", origin["basis"]]
    if origin["alternatives"]:
        parts.append(f"other readings: {origin['alternatives']}")
    return "; ".join(filter(None, parts))
