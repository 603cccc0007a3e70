"""Two published studies' tables as they were printed, rebuilt from the studies' own readings of them."""

import csv
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

_BESIDE = Path(__file__).resolve().parents[4] / "shared" / "studies"
STUDIES = Path(os.environ.get("SPINDLE_STUDIES", _BESIDE))
Row = dict[str, str]


def rows_of(study: str) -> list[Row]:
    path = STUDIES / study / "results.csv"
    if not path.exists():
        pytest.skip(f"the published studies are not here ({path})")
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


CONFIGURATIONS = {  # the printed heading → configuration
    "sata 3ware": "sata-3ware-raid5", "scsi zero channel": "scsi-zcr-raid5", "single sata": "sata-single",
    "sata raid1 sw": "sata-raid1-sw", "sata raid0 sw": "sata-raid0-sw", "scsi raid1 sw": "scsi-raid1-sw",
    "scsi raid0 sw": "scsi-raid0-sw",
}  # fmt: skip
SIZES_MB = (100, 500, 1000, 2000, 4000, 8000)
CRS4_TITLES = {
    "seq_write_block": "file write per block - write() function",
    "seq_read_char": "file read per character getc() function",
    "seq_read_block": "file read per block - read() function",
}


@dataclass(frozen=True)
class Printed:
    """The cells of one printed table; a cell that was not measured is blank, one that the scan lost is a ?."""

    title: str
    cells: list[list[str]]

    def delimited(self, mark: str) -> str:
        heading = ["file size MB", *CONFIGURATIONS]
        return "\n".join([self.title, "Kbyte/sec", *(mark.join(row) for row in [heading, *self.cells]), ""])

    def aligned(self) -> str:
        rows = [["file size", *CONFIGURATIONS], *self.cells]
        widths = [max(len(row[place]) for row in rows) + 3 for place in range(len(rows[0]))]
        lines = ["".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([self.title, "Kbyte/sec", *lines, ""])

    def piped(self, mark: str = "|") -> str:
        rows = [["file size MB", *CONFIGURATIONS], *self.cells]
        lines = [mark + mark.join(f" {cell} " for cell in row) + mark for row in rows]
        if mark == "|":
            lines.insert(1, "|" + " --: |" * len(rows[0]))
        return "\n".join([self.title, "Kbyte/sec", "", *lines, ""])


def crs4_table(test: str) -> Printed:
    values = {
        (int(row["file_size_bytes"]) >> 20, row["configuration"]): row["value"].replace(".", ",") or "?"
        for row in rows_of("crs4-sata-scsi")
        if row["test"] == test
    }
    cells = [[str(size), *(values.get((size, name), "") for name in CONFIGURATIONS.values())] for size in SIZES_MB]
    return Printed(CRS4_TITLES[test], cells)
