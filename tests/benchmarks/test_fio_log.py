"""A fio log of a million lines, from its bytes to a series that is stored packed and drawn: against NumPy reading the
same numbers.
"""

import io
import time
from collections.abc import Callable

import numpy as np
import pytest

from apps.parsers import fio_logs
from apps.parsers.source_text import SourceText
from apps.runs.packing import overview, pack, part_of
from tests.benchmarks.figures import pairs, report

pytestmark = pytest.mark.benchmark
LINES = 1_000_000
TARGET = 3.0
LOOSE = 6.0  # a shared machine may be at something else


def log(lines: int) -> bytes:
    """Reads and writes, interleaved, every I/O with its block size, offset and priority."""
    numbers = np.random.default_rng(3)
    columns = [
        np.cumsum(numbers.integers(0, 2, lines)),
        numbers.lognormal(11, 0.5, lines).astype(np.int64),
        numbers.integers(0, 2, lines),
        np.full(lines, 4096),
        numbers.integers(0, 2**30, lines) * 4096,
        np.zeros(lines, np.int64),
    ]
    out = io.BytesIO()
    np.savetxt(out, np.stack(columns, axis=1), fmt="%d", delimiter=", ")
    return out.getvalue()


def stored(data: bytes) -> int:
    """As an upload does it; how many values there were."""
    text = SourceText(data, "job_clat.1.log")
    assert fio_logs.looks_like(text) == 1.0
    (run,) = fio_logs.parse(text).runs
    for series in run.series:
        assert overview(series.times_s, series.values)
        assert pack(series.times_s, series.values)
    return sum(len(series.values) for series in run.series)


def seconds(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def test_a_log_of_a_million_lines_is_stored_as_fast_as_numpy_reads_it() -> None:
    data = log(LINES)
    assert stored(data) == LINES
    ratios, floors = [], []
    for _ in range(pairs(3, 15)):
        floor = seconds(lambda: np.loadtxt(io.BytesIO(data), delimiter=","))
        floors.append(floor)
        ratios.append(seconds(lambda: stored(data)) / floor)
    report("fio log", "numpy.loadtxt", floors, "none, the floor", "s")
    middle = report("fio log", "parse, pack and overview ÷ numpy.loadtxt", ratios, f"≤ {TARGET:g}")
    assert middle <= LOOSE


def test_a_zoom_into_a_million_points_is_drawn_at_once() -> None:
    packed = pack(np.arange(LINES) / 1000, np.random.default_rng(3).lognormal(11, 0.5, LINES))
    spent = [seconds(lambda: part_of(packed, 100, 900)) * 1000 for _ in range(pairs(5, 30))]
    assert report("fio log", "a part of a million points", spent, "≤ 200", "ms") <= 2000
