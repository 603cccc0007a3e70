"""A published study as it lies in `data/<slug>/`: study.yaml, results.csv, provenance.csv, legacy files and tables of figures.

Reads files, knows no database.

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

from apps.parsers.core.models import ParsedSample

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
    slugs = [path.parent.name for path in DATA.glob("*/study.yaml")]
    return sorted(slugs, key=lambda slug: (ORDER.index(slug) if slug in ORDER else len(ORDER), slug))


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
        """Return each row of results.csv with its row of provenance.csv."""
        results, origins = self._table("results.csv"), self._table("provenance.csv")
        numbers = [int(origin["row"]) for origin in origins]
        if numbers != list(range(1, len(results) + 1)):
            raise StudyDataError(
                f"{self.slug}: provenance.csv numbers {len(origins)} rows, expected 1 to {len(results)}"
            )
        return list(zip(results, origins, strict=True))

    @cached_property
    def reported(self) -> list[Reported]:
        """Return the report's values in its order."""
        numbered = enumerate(self.rows, 1)
        return [self._reported(list(same)) for _, same in groupby(numbered, lambda entry: _place(entry[1][0]))]

    def artefacts(self) -> dict[str, bytes]:
        return {name: (self.folder / name).read_bytes() for name in FILES}

    def legacy(self) -> dict[str, bytes]:
        """Name → bytes of the files that the report prints or that were rebuilt from it."""
        return {path.name: path.read_bytes() for path in sorted((self.folder / "legacy").glob("*")) if path.is_file()}

    def figures(self) -> dict[str, bytes]:
        """Return the tables of figures, which are in the report's tables, text and slides and in no legacy file."""
        return {path.name: path.read_bytes() for path in sorted(self.folder.glob("figures*.csv"))}

    def plans(self) -> dict[str, object] | None:
        """Return plan.yaml, the procedure that the report describes."""
        return self._yaml("plan.yaml") if (self.folder / "plan.yaml").exists() else None

    def wording(self) -> tuple[str, dict[str, str]]:
        """Return wording.yaml: the report's language and its texts in it; empty where the report is in English."""
        if not (self.folder / "wording.yaml").exists():
            return "", {}
        wording = self._yaml("wording.yaml")
        return wording["language"], {entry["en"]: entry["said"] for entry in wording["texts"]}

    def claims(self) -> str:
        path = self.folder / "claims.yaml"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def _yaml(self, name: str) -> dict[str, Any]:
        content: dict[str, Any] = yaml.safe_load((self.folder / name).read_text(encoding="utf-8"))
        return content

    def _table(self, name: str) -> list[Row]:
        with (self.folder / name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def _reported(self, same: list[tuple[int, tuple[Row, Row]]]) -> Reported:
        """Return a value from one numbered row, or from the low and high end of a printed range."""
        row, origin = same[0][1]
        ends = [float(row["value_si"]) for _, (row, _) in same] if len(same) > 1 else []
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
        """Return other readings in base units, where the one that was taken is uncertain."""
        if origin["strength"] in ("", "strong") or not origin["alternatives"]:
            return ()
        return tuple(float(text) * self._factor(row["unit"]) for text in origin["alternatives"].split("|"))

    def _bounds(self, row: Row) -> tuple[float | None, float | None]:
        """Return the bounds of a lost value in base units, stored as bounds and not as an invented mean."""
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
    note = row["note"].partition("; low end of the printed range")[0]
    parts = [note, f"in the report, line {origin['source_line']}: {origin['printed']!r}", origin["basis"]]
    if origin["alternatives"]:
        parts.append(f"other readings: {origin['alternatives']}")
    return "; ".join(filter(None, parts))


_BONNIE = {
    "seq_write_char": "char_write", "seq_write_block": "write", "rewrite": "rewrite", "seq_read_char": "char_read",
    "seq_read_block": "read", "random_seeks": "seek", "create_files_seq": "create_seq", "read_files_seq": "stat_seq",
    "delete_files_seq": "delete_seq", "create_files_random": "create_rand", "read_files_random": "stat_rand",
    "delete_files_random": "delete_rand",
}  # fmt: skip
_RATES = {"seek", "create_seq", "stat_seq", "delete_seq", "create_rand", "stat_rand", "delete_rand"}
_IOZONE = {
    "write": "write", "rewrite": "rewrite", "read": "read", "reread": "reread", "random_read": "randread",
    "random_write": "randwrite", "bkwd_read": "backward_read", "record_rewrite": "record_rewrite",
    "stride_read": "stride_read", "fwrite": "fwrite", "frewrite": "frewrite", "fread": "fread", "freread": "freread",
}  # fmt: skip
_THROUGHPUT = {
    "children": "bandwidth", "parent": "bandwidth_parent", "min": "bandwidth_min", "max": "bandwidth_max",
    "avg": "bandwidth_mean", "min_xfer": "min_xfer",
}  # fmt: skip
_OTHERS = {
    "dd_write": "write", "dd_write_fdatasync": "write", "dd_write_dsync": "write", "dd_read": "read",
    "seq_write": "write", "seq_read": "read", "cp": "copy", "net_throughput": "net_send",
    # what a disk server sends while jobs read is what its network carries, and the other way round
    "chain_read_net": "net_send", "chain_read_disk": "read", "chain_write_net": "net_receive", "chain_write_disk": "write",
}  # fmt: skip
LATENCY = "_latency"


def measured(test: str, direction: str) -> tuple[str, str]:
    """Return (operation, metric) of a report's test and direction.

    Raises:
        KeyError: No report has this test.
    """
    if test.endswith(LATENCY):
        return _BONNIE[test.removesuffix(LATENCY)], "latency_max"
    if test.startswith("iozone_throughput_"):
        return direction, _THROUGHPUT[test.removeprefix("iozone_throughput_")]
    if test.startswith("iozone_"):
        return _IOZONE[test.removeprefix("iozone_")], "bandwidth"
    operation = _BONNIE.get(test) or _OTHERS[test]
    return operation, "rate" if operation in _RATES else "bandwidth"
