"""The charts of a plan: latency over throughput of a search for saturation, and the rounds of a steady state."""

from collections.abc import Sequence

from apps.comparison.charts.chart import (
    Axis,
    Chart,
    ChartKind,
    ChartPoint,
    ChartSeries,
    ReferenceLine,
    Region,
    ValueForm,
)
from apps.core.quantities import written
from apps.core.units import human, plain, unit_for
from apps.plans.results.steady_state import SteadyCell
from apps.studies.plans.saturation.row_ladders import RowLadder
from apps.studies.plans.stopping_rule import SteadyWindow

ROOM = 1.1  # of the highest value or line, whichever is higher: a picture needs every line's label in its frame


def saturation_chart(ladders: Sequence[RowLadder], title: str) -> Chart:
    """Build the curve of latency over IOPS: a line for each search, in the order of its points, and the bound across."""
    series = tuple(
        ChartSeries(
            ladder.label,
            tuple(
                ChartPoint(result.iops, _at(result.load.words, result.iops), result.latency, n=result.rounds)
                for result in ladder.ladder.results
                if result.is_measured and result.iops is not None
            ),
            tone,
        )
        for tone, ladder in enumerate(ladders)
    )
    bounds = sorted({ladder.ladder.bound for ladder in ladders})
    latencies = [point.value for one in series for point in one.points]
    unit = unit_for([*latencies, *bounds], "ns")
    percentile = ladders[0].percentile if ladders else 99
    top = ROOM * max([*filter(None, latencies), *bounds], default=1.0)
    y = Axis(f"p{percentile} latency ({unit.label})", unit=unit, base_unit="ns", low=0.0, high=top)
    lines = tuple(ReferenceLine("y", bound, f"bound {human(bound, 'ns')}", "bound") for bound in bounds)
    statements = [f"{ladder.label}: {ladder.statement}" for ladder in ladders]
    description = f"Line chart: {title}, p{percentile} latency over IOPS. {' '.join(statements)}"
    caption = "Each mark is a point of the search, from the lightest load on."
    return Chart(ChartKind.LINE, title, Axis("IOPS"), y, series, description, caption, lines)


def _at(words: str, iops: float) -> str:
    return f"{words}, {plain(round(iops))} IOPS"


def steady_state_chart(steady: SteadyCell, base: int = 1000) -> Chart:
    """Build the plot of a cell's rounds: the window shaded, with its average, its limits and its least-squares line."""
    values = [entry.value for entry in steady.rounds]
    unit = unit_for(values, "B/s", base)
    count = max(len(values), steady.needed)
    x = Axis("round", "even", labels=tuple(map(str, range(1, count + 1))))
    rounds = [
        ChartPoint(entry.number - 1.0, f"round {entry.number}, run {entry.run}", entry.value, n=1)
        for entry in steady.rounds
    ]
    series = [ChartSeries("rounds", (*rounds, *_no_rounds(len(values), count)))]
    lines: tuple[ReferenceLine, ...] = ()
    regions: tuple[Region, ...] = ()
    caption = "Marks: the mean of each round."
    if window := steady.window:
        fit = _line(window, window.start, window.end)
        average = _line(window, window.mean, window.mean)
        series += [ChartSeries("average of the window", average, 1), ChartSeries("least-squares line", fit, 2)]
        half = steady.range_percent / 200 * window.mean
        lines = tuple(
            ReferenceLine("y", window.mean + sign * half, f"average {word} {steady.range_percent / 2:g} %", "range")
            for sign, word in ((1, "+"), (-1, "−"))
        )
        regions = (Region(window.first - 1.25, window.last - 0.75, "window", "window"),)
        caption += f" Shaded: the window of {steady.needed} rounds that is judged."
    top = ROOM * max([*values, *(line.at for line in lines)])
    y = Axis(f"Bandwidth ({unit.label})", unit=unit, base_unit="B/s", low=0.0, high=top)
    title = f"Rounds of {steady.label}"
    description = f"Line chart: {title}. {written(steady.statement, base)}"
    return Chart(ChartKind.LINE, title, x, y, tuple(series), description, caption, lines, regions)


def _line(window: SteadyWindow, start: float, end: float) -> tuple[ChartPoint, ...]:
    """Return a straight line over the rounds of a window, and nothing for the rounds before it."""
    steps = window.last - window.first
    on_line = [
        ChartPoint(number - 1.0, f"round {number}", start + (end - start) * (number - window.first) / steps)
        for number in range(window.first, window.last + 1)
    ]
    return (*_no_rounds(0, window.first - 1), *on_line)


def _no_rounds(first: int, end: int) -> list[ChartPoint]:
    return [
        ChartPoint(float(place), f"round {place + 1}", form=ValueForm.MISSING, reason="not in the window")
        for place in range(first, end)
    ]
