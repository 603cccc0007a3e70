"""What a person states about a table: which column is what, which unit with which base, which mark is the decimal one.

    ColumnMapping(layout="wide", columns={0: ColumnRole("file_size", unit="MB (1024)"), 1: ColumnRole("value", fixed={"host": "a"})},
                  headings="configuration", fixed={"operation": "write", "unit": "KB/s (1024)"}, decimal=",")

Layout `long` has one value per row, `wide` one per cell of several columns; then `headings` names which of the words in
`DIMENSIONS` the columns' headings are, or is empty where every value column has it in its `fixed`.

A row with one value may state more about it (`BESIDE`): its quality, what was printed, a remark, other readings of what
was printed (numbers in the value's unit, between `|`), and why there is none.

What holds for a value is collected from the whole table (`fixed`), the heading, the row, the column's `fixed`, and its
half of a pair; the later ones win. Sizes in `fixed` are bytes. A unit is a name in `units.UNITS`, including its base.
"""

import hashlib
import re
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from apps.parsers.tables import cells, units, words
from apps.parsers.tables.grid import TableGrid
from apps.parsers.tables.words import METRICS, OPERATIONS

LAYOUTS = ("long", "wide")
SIZES = ("file_size", "block_size")
COUNTS = ("threads", "iodepth")
HEADING_ROWS = (0, 1, 2, 3, 4)
LABEL = "label:"
DIMENSIONS = ("configuration", "host", "target", *SIZES, *COUNTS, "operation", "metric", "unit", "repetition")
BESIDE = ("quality", "printed", "remark", "alternatives", "missing")  # what a row may state about its only value
ROLES = (*DIMENSIONS, "value", "cpu", "ignore", *BESIDE)  # and `label:<name>`
QUALITIES = ("exact", "rounded", "approximate", "ocr_repaired", "read_from_text")


_NOT_IN_WORDS = re.compile(r"[/\\_.\-]+")
_POINT = re.compile(
    r"\b\d{1,9} ?(?:[kmgt]i?b?|bytes|threads?|jobs?|process(?:es)?|clients?|streams?|disks?)\b|\bqd ?=? ?\d{1,6}\b",
    re.IGNORECASE,
)


def _is_dimension(word: str) -> bool:
    return word in DIMENSIONS or (word.startswith(LABEL) and len(word) > len(LABEL))


@dataclass(frozen=True, slots=True)
class ColumnRole:
    """What a column is. `unit`: of its numbers, for values, sizes and `cpu`. `fixed`: what holds for its values."""

    word: str
    unit: str = ""
    fixed: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """What all columns of a table mean."""

    layout: str = "long"
    columns: dict[int, ColumnRole] = field(default_factory=dict)  # a column that is not here is not yet mapped
    headings: str = ""
    heading_unit: str = ""  # unit of headings that are sizes as bare numbers
    fixed: dict[str, str] = field(default_factory=dict)
    decimal: str = ""  # "" where it is not stated, so that ambiguous cells are refused
    thousands: str = ""
    units: dict[str, str] = field(default_factory=dict)  # printed in cells → name in UNITS: {"MB/s": "MB/s (1000)"}
    meanings: dict[str, dict[str, str]] = field(default_factory=dict)  # {"operation": {"R": "read"}}
    fill_down: bool = False  # a blank dimension is that of the row above, as in merged cells of a spreadsheet
    missing: dict[str, str] = field(default_factory=lambda: dict(cells.MISSING))  # lower case → reason
    pair_separator: str = ""
    pair: tuple[dict[str, str], dict[str, str]] = field(default_factory=lambda: ({}, {}))  # what each half is
    heading_rows: int | None = None  # None for as many as were detected
    tool: str = ""
    tool_version: str = ""
    quality: str = "exact"

    def to_json(self) -> dict[str, object]:
        """Return the mapping as JSON-like values."""
        plain = asdict(self)
        plain["columns"] = {str(index): asdict(role) for index, role in self.columns.items()}
        plain["pair"] = list(self.pair)
        return plain

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Self:
        """Return the mapping of JSON-like values; what is left out has its default.

        Raises:
            ValueError: with what is wrong.
        """
        if not isinstance(plain, dict) or (strange := set(plain) - set(cls.__dataclass_fields__)):
            raise ValueError(
                f"found {sorted(strange) if isinstance(plain, dict) else plain!r}, expected a mapping's fields"
            )
        try:
            columns = {int(index): ColumnRole(**role) for index, role in plain.get("columns", {}).items()}
            first, second = plain.get("pair", ({}, {}))
            mapping = cls(**{**plain, "columns": columns, "pair": (dict(first), dict(second))})
            faults = mapping.faults()
        except (TypeError, AttributeError) as error:
            raise ValueError(f"no mapping: {error}") from None
        if faults:
            raise ValueError("; ".join(faults))
        return mapping

    def faults(self) -> list[str]:
        """Return what makes it unusable for any table, one sentence each."""
        choices = [
            (self.layout, LAYOUTS, "layout"), (self.quality, QUALITIES, "quality"), (self.decimal, ("", ".", ","), "decimal"),
            (self.thousands, cells.THOUSANDS, "thousands"),
        ]  # fmt: skip
        faults = [
            f"{what}: found {word!r}, expected one of {allowed}"
            for word, allowed, what in choices
            if word not in allowed
        ]
        if self.heading_rows is not None and self.heading_rows not in HEADING_ROWS:
            faults.append(f"rows of headings: found {self.heading_rows!r}, expected one of {HEADING_ROWS}")
        if self.decimal and self.decimal == self.thousands:
            faults.append(f"decimal and thousands mark are both {self.decimal!r}")
        if self.headings and not _is_dimension(self.headings):
            faults.append(f"headings: found {self.headings!r}, expected one of {DIMENSIONS}")
        for index, role in self.columns.items():
            if role.word not in ROLES and not _is_dimension(role.word):
                faults.append(f"column {index + 1}: found {role.word!r}, expected one of {ROLES} or label:<name>")
        words = [role.word for role in self.columns.values()]
        if words.count("value") > 1 and (beside := [word for word in words if word in BESIDE]):
            faults.append(
                f"{', '.join(beside)}: found {words.count('value')} values in a row, expected one that it is said of"
            )
        return [*faults, *self._find_wrong_words(), *self._find_wrong_units()]

    def _list_fixed(self) -> list[tuple[str, str]]:
        parts = [self.fixed, *self.pair, *(role.fixed for role in self.columns.values())]
        return [item for part in parts for item in part.items()]

    def _find_wrong_words(self) -> list[str]:
        faults = []
        for word, value in self._list_fixed():
            allowed = {"operation": OPERATIONS, "metric": tuple(METRICS)}.get(word)
            if not _is_dimension(word):
                faults.append(f"found {word!r} in what is fixed, expected one of {DIMENSIONS} or label:<name>")
            elif allowed and value and value not in allowed:
                faults.append(f"{word}: found {value!r}, expected one of {', '.join(allowed)}")
            elif word in (*SIZES, *COUNTS) and not (value.isascii() and value.isdigit() and len(value) < 19):
                faults.append(
                    f"{word}: found {value!r}, expected a whole number" + (" of bytes" if word in SIZES else "")
                )
        return faults

    def _find_wrong_units(self) -> list[str]:
        named = [self.heading_unit, *self.units.values(), *(role.unit for role in self.columns.values())]
        named += [value for word, value in self._list_fixed() if word == "unit"]
        return [
            f"unit: found {unit!r}, expected one of {', '.join(units.UNITS)}"
            for unit in named
            if unit and unit not in units.UNITS
        ]


def make_signature(grid: TableGrid, name: str = "") -> str:
    """Return the same text for tables that look the same, so that the last mapping of one can be offered for the next.

    What the title and the file's name say of the values is part of the look: the same columns under `Writing` and under
    `Reading`, or in `write.csv` and `read.csv`, are two kinds of table.
    """
    headings = [column.heading.casefold() for column in grid.columns]
    if not any(headings):
        headings = [" ".join(row.cells).casefold() for row in grid.header] + [column.kind for column in grid.columns]
    statements = [*_list_statements(grid.caption), *_list_statements(_NOT_IN_WORDS.sub(" ", name))]
    text = "\x1f".join(
        [grid.delimiter, str(len(grid.columns)), *headings, *(["\x1e", *statements] if statements else [])]
    )
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


def _list_statements(text: str) -> list[str]:
    """Return what a title states about values: operations, metrics, units, sizes and counts."""
    text_words = words.normalise(text[:1000]).split()
    phrases = {
        " ".join(text_words[at : at + length]) for length in (1, 2, 3, 4) for at in range(len(text_words) - length + 1)
    }
    known = {word for phrase in phrases for word in (words.find_operation(phrase), words.find_metric(phrase)) if word}
    points = {"".join(match[0].casefold().split()) for match in _POINT.finditer(text[:1000])}
    return sorted({*known, *points, units.find_unit(text)} - {""})
