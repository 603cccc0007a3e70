"""Configurations × points: which cells are run, with what file size, and why the others are not.

matrix = Matrix(rows, points, {("scsi", "10g"): "never made"})
matrix.cell(row, point).reason          # "" where it is run
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from apps.core.units import multiple, size
from apps.studies.plans.guards import CacheRule
from apps.studies.plans.order import Step, steps

MIB = 1024**2


@dataclass(frozen=True)
class MatrixRow:
    """`ram` of its host in bytes, None where nobody knows it. `largest`: bytes, None for no limit."""

    name: str
    host: str = ""
    ram: int | None = None
    largest: int | None = None
    limit_reason: str = ""
    reason: str = ""


@dataclass(frozen=True)
class MatrixColumn:
    """One of `file_size` (bytes) and `ram_multiple`, or neither where the tool has no such thing.

    `largest_own`: bytes of the largest file of jobs beside it that have a size of their own.
    """

    name: str
    file_size: int | None = None
    ram_multiple: float | None = None
    largest_own: int = 0


@dataclass(frozen=True)
class MatrixCell:
    row: str
    point: str
    file_size: int | None
    reason: str = ""


def file_size_for(column: MatrixColumn, ram: int | None) -> int | None:
    """Return a file size in bytes.

    A multiple of RAM is rounded up to whole MiB, so that it never falls below its rule.
    """
    if column.ram_multiple is None:
        return column.file_size
    return None if ram is None else math.ceil(column.ram_multiple * ram / MIB) * MIB


@dataclass(frozen=True)
class Matrix:
    rows: Sequence[MatrixRow]
    points: Sequence[MatrixColumn]
    left_out: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @cached_property
    def cells(self) -> dict[tuple[str, str], MatrixCell]:
        return {(row.name, point.name): self._cell(row, point) for row in self.rows for point in self.points}

    def cell(self, row: str, point: str) -> MatrixCell:
        return self.cells[row, point]

    def _cell(self, row: MatrixRow, point: MatrixColumn) -> MatrixCell:
        wanted = file_size_for(point, row.ram)
        reason = (
            self.left_out.get((row.name, point.name))
            or row.reason
            or _beyond(row, wanted and max(wanted, point.largest_own))
        )
        if not reason and point.ram_multiple is not None and wanted is None:
            reason = f"The RAM of {row.host or 'its host'} is not known, so {point.ram_multiple:g} × RAM is no size."
        return MatrixCell(row.name, point.name, wanted, reason)

    def steps(self, order: str, rounds: int, seed: int = 0) -> list[Step]:
        """Return the steps of `rounds` rounds; their `row` and `point` are positions in `rows` and `points`."""
        open_cells = [
            (at, place)
            for at, row in enumerate(self.rows)
            for place, point in enumerate(self.points)
            if not self.cells[row.name, point.name].reason
        ]
        return steps(open_cells, order, rounds, seed)


def _beyond(row: MatrixRow, wanted: int | None) -> str:
    if row.largest is None or wanted is None or wanted <= row.largest:
        return ""
    why = f": {row.limit_reason}" if row.limit_reason else ""
    return f"Files end at {size(row.largest)} here{why}."


@dataclass(frozen=True)
class CacheFinding:
    """The largest file that a host meets, as a multiple of its RAM, against the rule. `multiple` None: RAM unknown."""

    host: str
    ram: int | None
    largest: int
    multiple: float | None
    factor: float
    is_met: bool | None

    @property
    def arithmetic(self) -> str:
        if self.ram is None or self.multiple is None:
            return f"{size(self.largest)}, but the RAM of this host is not known"
        return f"{size(self.largest)} / {size(self.ram)} RAM = {multiple(self.multiple)} × RAM"


def cache_findings(
    matrix: Matrix, factor: float, tolerance: float = 0.0, together: Mapping[tuple[str, str], int] | None = None
) -> list[CacheFinding]:
    """Return a finding for each host of the plan, in the order of its rows.

    The rule is met where the largest file ≥ factor × RAM × (1 − tolerance).

    Args:
        together: The bytes of all files of cells whose jobs run at the same time, by the names of row and point.
    """
    largest: dict[str, tuple[int | None, int]] = {}
    for row in matrix.rows:
        cells = [cell for cell in matrix.cells.values() if cell.row == row.name and not cell.reason]
        sizes = [(together or {}).get((cell.row, cell.point), cell.file_size) for cell in cells]
        if row.host and (known := [known_size for known_size in sizes if known_size]):
            largest[row.host] = row.ram, max(max(known), largest.get(row.host, (None, 0))[1])
    return [_finding(host, ram, most, factor, tolerance) for host, (ram, most) in largest.items()]


def _finding(host: str, ram: int | None, most: int, factor: float, tolerance: float) -> CacheFinding:
    multiple = most / ram if ram else None
    is_met = None if multiple is None else multiple >= CacheRule(factor, tolerance).least
    return CacheFinding(host, ram, most, multiple, factor, is_met)
