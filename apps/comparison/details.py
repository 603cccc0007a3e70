"""Details of a cell as short lines for people: spread, test, outliers, modes, advice."""

from collections.abc import Iterator, Sequence
from typing import Any

from apps.comparison.cells import Comparison, ComparisonCell, Verdict
from apps.comparison.labels import label_of, text_of
from apps.comparison.statistics.factors import LevelPair
from apps.comparison.statistics.ratios import ALPHA
from apps.comparison.statistics.summary import ENOUGH
from apps.core.units import ColumnUnit, significant

METHODS = {
    "welch": "ratio of geometric means, Welch's interval on logarithms",
    "bootstrap": "ratio of medians, bootstrapped interval",
    "means": "ratio of means, no interval",
    "medians": "ratio of medians, no interval",
}
SMALLEST_P = 0.001
MOST_RATIOS = 4  # of a factor that stand in its line


def details(cell: ComparisonCell, unit: ColumnUnit) -> list[str]:
    """Return lines about a cell: spread, test, outliers, modes; none for a cell without a value."""
    return [
        *_spread(cell, unit), *_members(cell, unit), *_test(cell), *_oddities(cell, unit),
        *([f"{cell.advice}."] if cell.withheld else [cell.advice] if cell.advice else []),
    ]  # fmt: skip


def remark(cell: ComparisonCell, unit: ColumnUnit) -> str:
    """Return a remark that must not be hidden: two modes, outliers, and what would settle an open question."""
    parts = []
    if cell.modes:
        parts.append(f"two modes: {modes_text(cell, unit)}")
    if cell.outliers:
        parts.append(f"{len(cell.outliers)} outlier{'s' if len(cell.outliers) > 1 else ''}")
    if cell.verdict is Verdict.NO_DIFFERENCE and cell.more_runs:
        parts.append(f"{cell.more_runs} more run{'s' if cell.more_runs > 1 else ''} would settle this")
    return "; ".join(parts)


def modes_text(cell: ComparisonCell, unit: ColumnUnit) -> str:
    return " and ".join(f"{unit.text(mode.value)} ({mode.n} runs)" for mode in cell.modes)


def _spread(cell: ComparisonCell, unit: ColumnUnit) -> Iterator[str]:
    if cell.n > 1:
        spread = f", standard deviation {unit.text(cell.stdev)}" if cell.stdev is not None else ""
        yield f"{unit.text(cell.minimum)} to {unit.text(cell.maximum)} {unit.label}, median {unit.text(cell.median)}{spread}"
    elif cell.n == 1:
        yield f"One run has no interval; from {ENOUGH} on there is one."


def _members(cell: ComparisonCell, unit: ColumnUnit) -> Iterator[str]:
    for member in cell.members:
        runs = len(member.runs)
        yield f"{member.text or 'otherwise alike'}: {unit.text(member.mean)} {unit.label}, {runs} run{'s' if runs > 1 else ''}"
    if len(cell.members) < cell.unlike > 1:
        yield f"and {cell.unlike - len(cell.members)} more configurations"


def _test(cell: ComparisonCell) -> Iterator[str]:
    if cell.method:
        yield f"{METHODS[cell.method][0].upper()}{METHODS[cell.method][1:]}."
    if cell.p is not None and cell.p_adjusted is not None:
        effect = "" if cell.effect_size is None else f"; g = {significant(cell.effect_size, 2)}"
        yield f"{_p(cell.p)}, with all cells {_p(cell.p_adjusted)}{effect}"
        if cell.p < ALPHA <= cell.p_adjusted:
            yield "Alone it would be significant; among all cells it may be chance."


def _p(p: float) -> str:
    return f"p < {SMALLEST_P}" if p < SMALLEST_P else f"p = {significant(p, 2)}"


def _oddities(cell: ComparisonCell, unit: ColumnUnit) -> Iterator[str]:
    for outlier in cell.outliers:
        yield f"Outlier, counted: {unit.text(outlier.value)} {unit.label} in run {outlier.run}."
    if cell.modes:
        yield f"Two modes: {modes_text(cell, unit)}; the mean between them was hardly ever measured."
    if cell.n >= ENOUGH and cell.minimum == cell.maximum:
        yield "All runs gave the same figure, as rounding does: their spread is hidden, so intervals are too narrow."


def effect_rows(comparison: Comparison) -> list[dict[str, Any]]:
    """Return the ratios of factors as text, such as `environment: native ÷ guest 6.05× and 6.86×`, with their sources."""
    return [
        {
            "factor": label_of(effect.factor),
            "level": effect.level,
            "against": effect.against,
            "range": _ratios([ratio for held in effect.held for _, ratio in held.ratios]),
            "is_alike": effect.is_alike,
            "held": [_held(held, comparison.x) for held in effect.held],
        }
        for effect in comparison.effects
    ]


def _held(held: LevelPair, x: str) -> dict[str, str]:
    several = len(held.ratios) > 1
    ratios = (
        f"{text_of(x, at)}: {significant(ratio)}×" if several else f"{significant(ratio)}×" for at, ratio in held.ratios
    )
    return {
        "at": " · ".join(held.at),
        "ratios": "; ".join(ratios),
        "pair": " / ".join(held.contrast.series),
        "differs": "; ".join(differ.text for differ in held.contrast.differs),
    }


def _ratios(ratios: Sequence[float]) -> str:
    """Return plain ratios one by one, so that the least and the most are not taken for the ends of an interval."""
    texts = [f"{text}×" for text in dict.fromkeys(significant(ratio) for ratio in sorted(ratios))]
    if len(texts) > MOST_RATIOS:
        return f"{len(ratios)} ratios, the least {texts[0]}, the greatest {texts[-1]}"
    return " and ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))
