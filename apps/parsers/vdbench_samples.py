"""Samples and series of one Vdbench run, from its lines by column."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan

from apps.parsers.finite import INT4, INT8, number, positive, whole
from apps.parsers.shape import ParsedSample, ParsedSeries
from apps.parsers.vdbench_columns import Columns

_WORD = re.compile(r"\S+")
_DRIFT = 3


@dataclass(frozen=True, slots=True)
class Row:
    line: int
    at: float  # seconds on the report's clock
    text: str  # from the first value on
    start: int  # the column of the text
    values: Mapping[str, str]  # by column; empty for std_ and max_
    is_empty: bool = False  # averages over no interval

    def value(self, name: str) -> float | None:
        return positive(self.values.get(name, ""))

    def under(self, row: "Row") -> dict[str, str]:
        """A line with gaps, by the rates and response times of the full line that they end below.

        Vdbench prints rates narrower in `std_` lines, so ends drift by up to three places; columns are six apart.
        """
        ends = [
            (match.end() + row.start, name)
            for match, name in zip(_WORD.finditer(row.text), row.values, strict=False)
            if name.endswith((" rate", " resp"))
        ]
        found: dict[str, str] = {}
        for match in _WORD.finditer(self.text):
            drift, name = min((abs(end - match.end() - self.start), name) for end, name in ends)
            if drift <= _DRIFT:
                found.setdefault(name, match[0])
        return found


@dataclass(frozen=True, slots=True)
class _Point:
    """What all samples of a run share."""

    row: Row
    block_size: int | None
    threads: int | None
    note: str

    def sample(
        self, operation: str, metric: str, word: str, unit: str, factor: float, line: int | None = None
    ) -> ParsedSample:
        value = positive(word)
        return ParsedSample(
            operation, metric, None if value is None else round(value * factor, 6), block_size=self.block_size,
            threads=self.threads, printed=f"{word} {unit}".strip(), line=line or self.row.line, note=self.note,
            missing_reason="" if value is not None else "not a number",
        )  # fmt: skip


def operation_of(read_percent: float | None) -> str:
    return "read" if read_percent == 100 else "write" if read_percent == 0 else "mixed"


def samples_of(
    columns: Columns, whole_row: Row | None, spread: Row | None, largest: Row | None, intervals: Sequence[Row],
    loops: Mapping[str, int],
) -> Iterator[ParsedSample]:  # fmt: skip
    if whole_row is None or whole_row.is_empty:
        return
    size_column = "xfer size" if columns.is_files else "bytes i/o"
    block_size = loops.get("xfersize") or _fixed(size_column, whole_row, intervals)
    threads = loops.get("threads")
    point = _Point(whole_row, block_size, threads if threads and threads <= INT4 else None, _cpu(whole_row))
    if columns.is_files:
        yield from _of_files(point, spread, largest)
    else:
        yield from _of_devices(point, columns)


def _fixed(column: str, row: Row, intervals: Sequence[Row]) -> int | None:
    """The transfer size, where the average is the same whole block in every line."""
    sizes = {one.values.get(column) for one in (row, *intervals)}
    size = whole(next(iter(sizes)) or "", INT8) if len(sizes) == 1 else None
    return size if size and size % 512 == 0 else None


def _cpu(row: Row) -> str:
    total = row.values.get("cpu% sys+u") or row.values.get("cpu% total") or row.values.get("cpu% sys+usr")
    return f"CPU {total} % of all cores" if total else ""


def _of_devices(point: _Point, columns: Columns) -> Iterator[ParsedSample]:
    values = point.row.values
    operation = operation_of(point.row.value("read pct"))
    yield point.sample(operation, "iops", values["i/o rate"], "i/o/s", 1)
    speed = next((name for name in values if name.startswith("MB/sec")), "")
    if speed:
        yield point.sample(operation, "bandwidth", values[speed], "MB/sec", columns.megabyte)
    for column, metric in (
        ("resp time", "latency_mean"),
        ("resp max", "latency_max"),
        ("resp stddev", "latency_stdev"),
    ):
        if column in values:
            yield point.sample(operation, metric, values[column], "ms", 1e6)
    for side in ("read", "write"):
        if operation == "mixed" and f"{side} resp" in values:
            yield point.sample(side, "latency_mean", values[f"{side} resp"], "ms", 1e6)
        is_only_side = operation == side and "resp max" not in values
        if f"{side} max" in values and (operation == "mixed" or is_only_side):
            yield point.sample(side, "latency_max", values[f"{side} max"], "ms", 1e6)


def _of_files(point: _Point, spread: Row | None, largest: Row | None) -> Iterator[ParsedSample]:
    row = point.row
    sides = [side for side in ("read", "write") if row.value(f"{side} rate")]
    groups = [(side, side, "iops") for side in sides]
    if len(sides) != 1:
        groups.insert(0, ("mixed", "ReqstdOps", "rate"))
    for operation, group, rate in groups:
        yield point.sample(operation, rate, row.values[f"{group} rate"], "/s", 1)
        yield point.sample(operation, "latency_mean", row.values[f"{group} resp"], "ms", 1e6)
        if operation != "mixed" and f"mb/sec {operation}" in row.values:
            yield point.sample(operation, "bandwidth", row.values[f"mb/sec {operation}"], "mb/sec", 1024**2)
        for other, metric in ((spread, "latency_stdev"), (largest, "latency_max")):
            word = other.under(row).get(f"{group} resp") if other else None
            if other and word and number(word) is not None:
                yield point.sample(operation, metric, word, "ms", 1e6, other.line)


def series_of(
    columns: Columns, whole_row: Row | None, intervals: Sequence[Row], began: float | None
) -> Iterator[ParsedSeries]:
    if not intervals or any(isnan(row.at) for row in intervals):
        return
    if began is None:  # no line says when the run began: one interval before its first line
        step = intervals[1].at - intervals[0].at if len(intervals) > 1 else 0.0
        began = intervals[0].at - step
    times = tuple(round(row.at - began, 3) for row in intervals)
    if columns.is_files:
        wanted = [(side, f"{side} rate", f"mb/sec {side}", f"{side} resp") for side in ("read", "write")]
        wanted = [one for one in wanted if any(row.value(one[1]) for row in intervals)]
    else:
        told = whole_row if whole_row and not whole_row.is_empty else intervals[-1]
        percent = told.value("read pct")
        speed = next((name for name in columns.names if name.startswith("MB/sec")), "")
        wanted = [(operation_of(percent), "i/o rate", speed, "resp time")]
    for operation, rate, speed, latency in wanted:
        for column, metric, factor in (
            (rate, "iops", 1.0),
            (speed, "bandwidth", columns.megabyte),
            (latency, "latency_mean", 1e6),
        ):
            values = [row.value(column) for row in intervals]
            numbers = tuple(float("nan") if value is None else round(value * factor, 6) for value in values)
            yield ParsedSeries(operation, metric, 0, "report", times, numbers)
