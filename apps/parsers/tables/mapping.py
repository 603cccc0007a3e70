"""What a person says about a table: which column is what, which unit with which base, which mark is the decimal one.

    Mapping(layout="wide", columns={0: Role("file_size", unit="MB (1024)"), 1: Role("value", fixed={"host": "a"})},
            headings="configuration", fixed={"operation": "write", "unit": "KB/s (1024)"}, decimal=",")

Layout `long` has one value per row, `wide` one per cell of several columns; then `headings` says which of the words in
`DIMENSIONS` the columns' headings are, or is empty where every value column says it in its `fixed`.

A row with one value may say more of it (`BESIDE`): its quality, what was printed, a remark, other readings of what was printed (numbers in
the value's unit, between `|`), and why there is none.

What holds for a value is gathered from the whole table (`fixed`), the heading, the row, the column's `fixed`, and its
half of a pair; the later ones win. Sizes in `fixed` are bytes. A unit is a name in `units.UNITS`, base and all.
"""

import hashlib
import re
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from apps.parsers.tables import cells, units, words
from apps.parsers.tables.grid import Grid
from apps.parsers.tables.words import METRICS, OPERATIONS

LAYOUTS = ("long", "wide")
SIZES = ("file_size", "block_size")
COUNTS = ("threads", "iodepth")
HEADING_ROWS = (0, 1, 2, 3, 4)
LABEL = "label:"
DIMENSIONS = ("configuration", "host", "target", *SIZES, *COUNTS, "operation", "metric", "unit", "repetition")
BESIDE = ("quality", "printed", "remark", "alternatives", "missing")  # what a row says of its one value
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
class Role:
    """What a column is. `unit`: of its numbers, for values, sizes and `cpu`. `fixed`: what holds for its values."""

    word: str
    unit: str = ""
    fixed: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Mapping:
    layout: str = "long"
    columns: dict[int, Role] = field(default_factory=dict)  # a column that is not here is not yet mapped
    headings: str = ""
    heading_unit: str = ""  # where the headings are sizes as bare numbers
    fixed: dict[str, str] = field(default_factory=dict)
    decimal: str = ""  # "" where it is not said: then cells that can be either are refused
    thousands: str = ""
    units: dict[str, str] = field(default_factory=dict)  # printed in cells → name in UNITS: {"MB/s": "MB/s (1000)"}
    meanings: dict[str, dict[str, str]] = field(default_factory=dict)  # {"operation": {"R": "read"}}
    fill_down: bool = False  # a blank dimension is that of the row above, as where a spreadsheet's cells were merged
    missing: dict[str, str] = field(default_factory=lambda: dict(cells.MISSING))  # lower case → reason
    pair_separator: str = ""
    pair: tuple[dict[str, str], dict[str, str]] = field(default_factory=lambda: ({}, {}))  # what each half is
    heading_rows: int | None = None  # where they are others than it looks
    tool: str = ""
    tool_version: str = ""
    quality: str = "exact"

    def to_json(self) -> dict[str, Any]:
        plain = asdict(self)
        plain["columns"] = {str(index): asdict(role) for index, role in self.columns.items()}
        plain["pair"] = list(self.pair)
        return plain

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Self:
        """Raises ValueError that says what is wrong; what is left out keeps its default."""
        if not isinstance(plain, dict) or (strange := set(plain) - set(cls.__dataclass_fields__)):
            raise ValueError(
                f"found {sorted(strange) if isinstance(plain, dict) else plain!r}, expected a mapping's fields"
            )
        try:
            columns = {int(index): Role(**role) for index, role in plain.get("columns", {}).items()}
            first, second = plain.get("pair", ({}, {}))
            mapping = cls(**{**plain, "columns": columns, "pair": (dict(first), dict(second))})
            faults = mapping.faults()
        except (TypeError, AttributeError) as error:
            raise ValueError(f"no mapping: {error}") from None
        if faults:
            raise ValueError("; ".join(faults))
        return mapping

    def faults(self) -> list[str]:
        """What no table could be read with."""
        said = [
            (self.layout, LAYOUTS, "layout"), (self.quality, QUALITIES, "quality"), (self.decimal, ("", ".", ","), "decimal"),
            (self.thousands, cells.THOUSANDS, "thousands"),
        ]  # fmt: skip
        found = [
            f"{what}: found {word!r}, expected one of {allowed}" for word, allowed, what in said if word not in allowed
        ]
        if self.heading_rows is not None and self.heading_rows not in HEADING_ROWS:
            found.append(f"rows of headings: found {self.heading_rows!r}, expected one of {HEADING_ROWS}")
        if self.decimal and self.decimal == self.thousands:
            found.append(f"decimal and thousands mark are both {self.decimal!r}")
        if self.headings and not _is_dimension(self.headings):
            found.append(f"headings: found {self.headings!r}, expected one of {DIMENSIONS}")
        for index, role in self.columns.items():
            if role.word not in ROLES and not _is_dimension(role.word):
                found.append(f"column {index + 1}: found {role.word!r}, expected one of {ROLES} or label:<name>")
        words = [role.word for role in self.columns.values()]
        if words.count("value") > 1 and (beside := [word for word in words if word in BESIDE]):
            found.append(
                f"{', '.join(beside)}: found {words.count('value')} values in a row, expected one that it is said of"
            )
        return [*found, *self._wrong_words(), *self._wrong_units()]

    def _everything_fixed(self) -> list[tuple[str, str]]:
        parts = [self.fixed, *self.pair, *(role.fixed for role in self.columns.values())]
        return [item for part in parts for item in part.items()]

    def _wrong_words(self) -> list[str]:
        found = []
        for word, value in self._everything_fixed():
            allowed = {"operation": OPERATIONS, "metric": tuple(METRICS)}.get(word)
            if not _is_dimension(word):
                found.append(f"found {word!r} in what is fixed, expected one of {DIMENSIONS} or label:<name>")
            elif allowed and value and value not in allowed:
                found.append(f"{word}: found {value!r}, expected one of {', '.join(allowed)}")
            elif word in (*SIZES, *COUNTS) and not (value.isascii() and value.isdigit() and len(value) < 19):
                found.append(
                    f"{word}: found {value!r}, expected a whole number" + (" of bytes" if word in SIZES else "")
                )
        return found

    def _wrong_units(self) -> list[str]:
        named = [self.heading_unit, *self.units.values(), *(role.unit for role in self.columns.values())]
        named += [value for word, value in self._everything_fixed() if word == "unit"]
        return [
            f"unit: found {unit!r}, expected one of {', '.join(units.UNITS)}"
            for unit in named
            if unit and unit not in units.UNITS
        ]


def signature(grid: Grid, name: str = "") -> str:
    """The same for tables that look the same, so that the last mapping of one can be offered for the next.

    What the title and the file's name say of the values is a part of the look: the same columns under `Writing` and under `Reading`, or
    in `write.csv` and `read.csv`, are two kinds of table.
    """
    headings = [column.heading.casefold() for column in grid.columns]
    if not any(headings):
        headings = [" ".join(row.cells).casefold() for row in grid.header] + [column.kind for column in grid.columns]
    told = [*_told_by(grid.caption), *_told_by(_NOT_IN_WORDS.sub(" ", name))]
    text = "\x1f".join([grid.delimiter, str(len(grid.columns)), *headings, *(["\x1e", *told] if told else [])])
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


def _told_by(text: str) -> list[str]:
    """What a title says that values can be of: operations, metrics, units, sizes and counts."""
    said = words.plain(text[:1000]).split()
    phrases = {" ".join(said[at : at + length]) for length in (1, 2, 3, 4) for at in range(len(said) - length + 1)}
    known = {word for one in phrases for word in (words.operation(one), words.metric(one)) if word}
    points = {"".join(match[0].casefold().split()) for match in _POINT.finditer(text[:1000])}
    return sorted({*known, *points, units.found_in(text)} - {""})
