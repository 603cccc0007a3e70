"""The comparison as a table for people: one row for every x, one column for every series, one unit for all."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from string import ascii_lowercase

from apps.comparison.caveats.rule import Caveat
from apps.comparison.cells import Comparison, ComparisonCell, Withheld
from apps.comparison.details import details, remark
from apps.comparison.labels import label_of, operation_of, text_of
from apps.comparison.likeness import explain_unlike
from apps.core import units
from apps.core.text import printed_as
from apps.core.units import ColumnUnit

TIMES = "×"
NOT_TESTED = "not tested"


@dataclass(frozen=True)
class GridFigure:
    """A cell as text. `value` is empty where nothing was measured; then `reason` says why."""

    cell: ComparisonCell
    value: str
    spread: str  # `± 3.1`, half of the 95 % interval
    exact: str  # in both bases, for a title
    in_full: str  # in base units alone, for the page itself
    judgement: str
    marks: str  # letters of the caveats that are about this cell
    reason: str
    remark: str  # two modes, outliers, what would settle it
    details: tuple[str, ...]
    mixture: str = ""  # `3 unlike configurations`, where it is one

    @property
    def printed(self) -> str:
        return _printed(self.cell)

    @property
    def count(self) -> str:
        return f"n = {self.cell.n}" if self.cell.n else "bounds only"

    @property
    def one_line(self) -> str:
        """Return `182 ± 3.1 (n = 5; 0.54× worse)`, for wikis, where a cell is one line."""
        if not self.value:
            return self.reason
        more = "; ".join(part for part in (self.count, self.mixture, self.judgement, self.remark) if part)
        return f"{' '.join(filter(None, [self.value, self.spread]))} ({more})"


@dataclass(frozen=True)
class ComparisonRow:
    number: int
    x: str
    exact_x: str
    figures: list[GridFigure]


@dataclass(frozen=True)
class ComparisonGrid:
    title: str
    unit: ColumnUnit
    x_label: str
    rows: list[ComparisonRow]
    letters: dict[str, str]  # caveat rule → the letter that marks its cells; none where it is about all cells

    def lettered(self, caveats: Iterable[Caveat]) -> list[tuple[Caveat, str]]:
        """Return each caveat with its letter, which is empty where it has none."""
        return [(caveat, self.letters.get(caveat.rule, "")) for caveat in caveats]


def grid(comparison: Comparison) -> ComparisonGrid:
    figures = [value for cell in comparison.cells for value in (cell.figure, cell.low, cell.high)]
    unit = units.unit_for(figures, comparison.metric.unit, comparison.question.base)
    letters = _letters(comparison)
    marks = {key: "" for caveat in comparison.caveats for key in caveat.cells}
    for caveat in comparison.caveats:
        for key in caveat.cells:
            marks[key] += letters.get(caveat.rule, "")
    by_x: dict[str, ComparisonRow] = {}
    for cell in comparison.cells:
        text = text_of(comparison.x, cell.x)
        row = by_x.setdefault(
            f"{type(cell.x)}{cell.x}", ComparisonRow(len(by_x) + 1, text, _exact_x(comparison.x, cell), [])
        )
        row.figures.append(_figure(cell, unit, comparison.metric.unit, marks.get((cell.x, cell.series), "")))
    return ComparisonGrid(title_of(comparison), unit, label_of(comparison.x), list(by_x.values()), letters)


def title_of(comparison: Comparison) -> str:
    """Return a title such as `Bandwidth of write by file size`."""
    return f"{comparison.metric.label} of {operation_of(comparison.operation)} by {label_of(comparison.x)}"


def _letters(comparison: Comparison) -> dict[str, str]:
    filled = {(cell.x, cell.series) for cell in comparison.cells if cell.runs}
    partial = [caveat.rule for caveat in comparison.caveats if not _covers(caveat, filled)]
    return dict(zip(partial, ascii_lowercase, strict=False))


def _covers(caveat: Caveat, filled: Iterable[object]) -> bool:
    return set(filled) <= set(caveat.cells)


def _exact_x(name: str, cell: ComparisonCell) -> str:
    is_size = name in ("file_size", "block_size") and isinstance(cell.x, int | float)
    return units.exact(cell.x, "B") if is_size else text_of(name, cell.x)


def _figure(cell: ComparisonCell, unit: ColumnUnit, base_unit: str, marks: str) -> GridFigure:
    half = None if cell.ci_high is None or cell.mean is None else cell.ci_high - cell.mean
    return GridFigure(
        cell=cell,
        value=value_text(cell, unit),
        spread="" if half is None else f"± {unit.text(half)}",
        exact=_exact(cell, base_unit, units.in_both_bases),
        in_full=_exact(cell, base_unit, units.exact),
        judgement=_judgement(cell),
        marks=marks,
        reason=cell.missing,
        remark=remark(cell, unit),
        details=tuple(details(cell, unit)),
        mixture=mixture(cell),
    )


def mixture(cell: ComparisonCell) -> str:
    """Return how many unlike configurations a cell holds; an empty text where all its runs are alike."""
    return f"{cell.unlike} unlike configurations" if cell.unlike > 1 else ""


def value_text(cell: ComparisonCell, unit: ColumnUnit) -> str:
    """Return the figure as text; a range as its two bounds, a lower bound as `≥`, an empty text where there is none."""
    if cell.figure is not None:
        approximate = "~" if "approximate" in cell.quality else ""
        return f"{approximate}{unit.text(cell.figure)}"
    return units.bounds(cell.low, cell.high, unit.text)


def _exact(cell: ComparisonCell, base_unit: str, written: Callable[[float, str], str]) -> str:
    if cell.figure is None:
        bounds = [written(bound, base_unit) for bound in (cell.low, cell.high) if bound is not None]
        remarks_of_cell = [" to ".join(bounds), cell.quality, _printed(cell)]
        return "; ".join(filter(None, remarks_of_cell)) if bounds else cell.missing
    parts = [written(cell.figure, base_unit), f"n = {cell.n}"]
    if cell.ci_low is not None:
        parts.append(f"95 % interval {units.exact(cell.ci_low)} to {units.exact(cell.ci_high, base_unit)}")
    elif cell.n:
        parts.append(_no_interval(cell))
    return "; ".join([*parts, cell.quality, *([printed] if (printed := _printed(cell)) else [])])


def _no_interval(cell: ComparisonCell) -> str:
    if cell.unlike > 1:
        return f"no interval: {mixture(cell)}"
    return "no interval: too few runs" if cell.n < 3 else "no interval"


def _printed(cell: ComparisonCell) -> str:
    return printed_as(cell.printed, cell.source_line)


def _judgement(cell: ComparisonCell) -> str:
    """Return `0.54× (0.50 to 0.58) worse`, or why there is no verdict.

    A ratio of medians says so where the figure above it is a mean.
    """
    if cell.withheld is Withheld.UNLIKE_BASELINE:
        return "not compared: the baseline is a mixture"
    if cell.ratio is None:
        return ""
    if cell.withheld is Withheld.CONFOUNDED:
        return f"{units.significant(cell.ratio)}{TIMES} {NOT_TESTED}: {explain_unlike(cell.confounders, cell.unknown)}"
    parts = [f"{units.significant(cell.ratio)}{TIMES}"]
    if cell.method == "bootstrap" and cell.mean is not None:
        parts.append("of medians")
    if cell.ratio_low is not None and cell.ratio_high is not None:
        parts.append(f"({units.significant(cell.ratio_low)} to {units.significant(cell.ratio_high)})")
    return " ".join([*parts, cell.verdict or NOT_TESTED])
