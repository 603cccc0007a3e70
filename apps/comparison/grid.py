"""The comparison as a table for people: one row for every x, one column for every series, one unit for all."""

from collections.abc import Iterable
from dataclasses import dataclass
from string import ascii_lowercase

from apps.comparison.caveats.rule import Caveat
from apps.comparison.cells import Cell, Comparison
from apps.comparison.details import details, remark
from apps.comparison.words import label_of, operation_of, text_of
from apps.lib import units
from apps.lib.printed_text import printed_as
from apps.lib.units import ColumnUnit

TIMES = "×"
NOT_TESTED = "not tested"


@dataclass(frozen=True)
class Figure:
    """A cell as text. `value` is empty where nothing was measured; then `reason` says why."""

    cell: Cell
    value: str
    spread: str  # `± 3.1`, half of the 95 % interval
    exact: str
    judgement: str
    marks: str  # letters of the caveats that are about this cell
    reason: str
    remark: str  # two modes, outliers, what would settle it
    details: tuple[str, ...]

    @property
    def printed(self) -> str:
        return _printed(self.cell)

    @property
    def count(self) -> str:
        return f"n = {self.cell.n}" if self.cell.n else "bounds only"

    @property
    def one_line(self) -> str:
        """`182 ± 3.1 (n = 5; 0.54× worse)`: for wikis, where a cell is one line."""
        if not self.value:
            return self.reason
        more = "; ".join(part for part in (self.count, self.judgement, self.remark) if part)
        return f"{' '.join(filter(None, [self.value, self.spread]))} ({more})"


@dataclass(frozen=True)
class Row:
    number: int
    x: str
    exact_x: str
    figures: list[Figure]


@dataclass(frozen=True)
class Grid:
    title: str
    unit: ColumnUnit
    x_label: str
    rows: list[Row]
    letters: dict[str, str]  # caveat rule → the letter that marks its cells; none where it is about all cells

    def lettered(self, caveats: Iterable[Caveat]) -> list[tuple[Caveat, str]]:
        """Each with its letter, empty where it has none."""
        return [(caveat, self.letters.get(caveat.rule, "")) for caveat in caveats]


def grid(comparison: Comparison) -> Grid:
    figures = [value for cell in comparison.cells for value in (cell.figure, cell.low, cell.high)]
    unit = units.unit_for(figures, comparison.metric.unit, comparison.question.base)
    letters = _letters(comparison)
    marks = {key: "" for caveat in comparison.caveats for key in caveat.cells}
    for caveat in comparison.caveats:
        for key in caveat.cells:
            marks[key] += letters.get(caveat.rule, "")
    by_x: dict[str, Row] = {}
    for cell in comparison.cells:
        text = text_of(comparison.x, cell.x)
        row = by_x.setdefault(f"{type(cell.x)}{cell.x}", Row(len(by_x) + 1, text, _exact_x(comparison.x, cell), []))
        row.figures.append(_figure(cell, unit, comparison.metric.unit, marks.get((cell.x, cell.series), "")))
    return Grid(title_of(comparison), unit, label_of(comparison.x), list(by_x.values()), letters)


def title_of(comparison: Comparison) -> str:
    """`Bandwidth of write by file size`."""
    return f"{comparison.metric.label} of {operation_of(comparison.operation)} by {label_of(comparison.x)}"


def _letters(comparison: Comparison) -> dict[str, str]:
    filled = {(cell.x, cell.series) for cell in comparison.cells if cell.runs}
    partial = [caveat.rule for caveat in comparison.caveats if not _covers(caveat, filled)]
    return dict(zip(partial, ascii_lowercase, strict=False))


def _covers(caveat: Caveat, filled: Iterable[object]) -> bool:
    return set(filled) <= set(caveat.cells)


def _exact_x(name: str, cell: Cell) -> str:
    is_size = name in ("file_size", "block_size") and isinstance(cell.x, int | float)
    return units.exact(cell.x, "B") if is_size else text_of(name, cell.x)


def _figure(cell: Cell, unit: ColumnUnit, base_unit: str, marks: str) -> Figure:
    half = None if cell.ci_high is None or cell.mean is None else cell.ci_high - cell.mean
    return Figure(
        cell=cell,
        value=value_text(cell, unit),
        spread="" if half is None else f"± {unit.text(half)}",
        exact=_exact(cell, base_unit),
        judgement=_judgement(cell),
        marks=marks,
        reason=cell.missing,
        remark=remark(cell, unit),
        details=tuple(details(cell, unit)),
    )


def value_text(cell: Cell, unit: ColumnUnit) -> str:
    """The figure; a range as its two bounds; a lower bound as `≥`; nothing where there is none."""
    if cell.figure is not None:
        approximate = "~" if "approximate" in cell.quality else ""
        return f"{approximate}{unit.text(cell.figure)}"
    return units.bounds(cell.low, cell.high, unit.text)


def _exact(cell: Cell, base_unit: str) -> str:
    if cell.figure is None:
        bounds = [units.in_both_bases(bound, base_unit) for bound in (cell.low, cell.high) if bound is not None]
        said = [" to ".join(bounds), cell.quality, _printed(cell)]
        return "; ".join(filter(None, said)) if bounds else cell.missing
    parts = [units.in_both_bases(cell.figure, base_unit), f"n = {cell.n}"]
    if cell.ci_low is not None:
        parts.append(f"95 % interval {units.exact(cell.ci_low)} to {units.exact(cell.ci_high, base_unit)}")
    elif cell.n:
        parts.append("no interval: too few runs" if cell.n < 3 else "no interval")
    return "; ".join([*parts, cell.quality, *([printed] if (printed := _printed(cell)) else [])])


def _printed(cell: Cell) -> str:
    return printed_as(cell.printed, cell.source_line)


def _judgement(cell: Cell) -> str:
    """`0.54× (0.50 to 0.58) worse`; a ratio of medians says so where the figure above it is a mean."""
    if cell.ratio is None:
        return ""
    parts = [f"{units.significant(cell.ratio)}{TIMES}"]
    if cell.method == "bootstrap" and cell.mean is not None:
        parts.append("of medians")
    if cell.ratio_low is not None and cell.ratio_high is not None:
        parts.append(f"({units.significant(cell.ratio_low)} to {units.significant(cell.ratio_high)})")
    return " ".join([*parts, cell.verdict or NOT_TESTED])
