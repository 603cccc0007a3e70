"""One chart of every kind, with what is odd about it: bounds, holes, intervals, few values, outliers."""

from datetime import UTC, datetime, timedelta

from apps.comparison.charts.chart import Chart, ChartKind
from apps.comparison.charts.comparison import chart_of
from apps.comparison.charts.run import curve, histogram, over_time
from apps.comparison.charts.time_series import Track
from apps.comparison.compare import compare
from apps.comparison.question import Question
from apps.comparison.readings import Reading
from apps.runs.metrics import METRICS
from apps.runs.series.latencies import latency_of
from apps.trends.chart import chart_of_trend
from apps.trends.trend import trend
from apps.trends.types import MeasuredRun, Trend
from tests.comparison.factories import GIB, MIB, reading

COMPARED = (ChartKind.LINE, ChartKind.BAR, ChartKind.PAIRED, ChartKind.BOX, ChartKind.MATRIX)


def readings() -> list[Reading]:
    """`a` five times at the first size, once at the second; `b` one bound, two bounds, one figure, and one hole."""
    return [
        *(reading(n, value * 1e6, "a", file_size=MIB) for n, value in enumerate([90.0, 91, 92, 93, 150])),
        reading(7, 5e7, "a", file_size=GIB),
        reading(8, None, "b", low=2e7, high=4e7, file_size=MIB),
        reading(9, None, "b", low=3e7, quality="lower_bound", file_size=GIB),
        reading(10, 6e7, "b", file_size=2 * GIB, quality="approximate"),
        *(reading(20 + n, value * 1e6, "a", file_size=4 * GIB) for n, value in enumerate([70.0, 72, 74])),
        reading(30, 3.5e7, "b", file_size=4 * GIB),
    ]


def heat(scale: str = "linear") -> Chart:
    """IOzone's kind: file size × block size, with one hole."""
    rows = [(MIB, 4096, 1e8), (MIB, 65536, 4e8), (GIB, 4096, 5e7), (GIB, 2**20, 3.3e8), (MIB, 2**20, 1.23e8)]
    found = [reading(n, value, file_size=f, block_size=b) for n, (f, b, value) in enumerate(rows, start=1)]
    return chart_of(compare(found, Question(series=("block_size",), chart="heat", scale=scale)), found)


def found_trend() -> Trend:
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    values = [4e8 * (1 + 0.01 * (n * 7 % 5 - 2)) * (0.8 if n >= 30 else 1) for n in range(50)]
    values[12] = 6e8
    return trend(MeasuredRun(n + 1, begin + n * timedelta(days=1), value) for n, value in enumerate(values))


def every_kind() -> dict[ChartKind, Chart]:
    latencies = [
        latency_of("read", "clat", [[1000, 90], [10_000, 9], [100_000, 1]]),
        latency_of("write", "clat", [[5000, 4]]),
    ]
    rows = [[0.0, 1e6, 2e6, 3e6, 5], [1.0, 2e6, 3e6, 4e6, 5], [4.0, 0.0, 1e6, 9e6, 2]]
    found = readings()
    return {
        **{kind: chart_of(compare(found, Question(chart=str(kind))), found) for kind in COMPARED},
        ChartKind.HEAT: heat(),
        ChartKind.HISTOGRAM: histogram(latencies, "Latency"),
        ChartKind.CURVE: curve(latencies, "Latency"),
        ChartKind.TIME: over_time(METRICS["bandwidth"], [Track("read", rows), Track("write", rows[1:])], "Bandwidth"),
        ChartKind.TREND: chart_of_trend(found_trend(), METRICS["bandwidth"], "nightly"),
    }
