"""Samples and series of one Vdbench run, from its lines by column."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan

from apps.parsers.core.models import ParsedSample, ParsedSeries
from apps.parsers.core.numbers import INT4, INT8, read_non_negative, read_number, read_whole
from apps.parsers.vdbench.columns import VdbenchColumns

NOTHING_DONE = "no I/O was done"
_WORD = re.compile(r"\S+")
_DRIFT = 3


@dataclass(frozen=True, slots=True)
class VdbenchRow:
    """One line of figures."""

    line: int
    at: float  # seconds on the report's clock
    text: str  # the line from the first value on
    start: int  # index in the line at which that begins
    values: Mapping[str, str]  # by column; empty for std_ and max_
    is_empty: bool = False  # averages over no interval

    def value(self, name: str) -> float | None:
        """Return a value, None where it is missing or negative."""
        return read_non_negative(self.values.get(name, ""))

    def assign_to(self, row: "VdbenchRow") -> dict[str, str]:
        """Return the figures of a line with gaps by the columns of the full line `row` below which they end.

        Only rates and response times are assigned. Vdbench prints rates narrower in `std_` lines, so ends differ by up
        to three characters; columns are six apart.
        """
        ends = [
            (match.end() + row.start, name)
            for match, name in zip(_WORD.finditer(row.text), row.values, strict=False)
            if name.endswith((" rate", " resp"))
        ]
        figures: dict[str, str] = {}
        for match in _WORD.finditer(self.text):
            drift, name = min((abs(end - match.end() - self.start), name) for end, name in ends)
            if drift <= _DRIFT:
                figures.setdefault(name, match[0])
        return figures


@dataclass(frozen=True, slots=True)
class _SampleContext:
    """What all samples of a run have in common."""

    row: VdbenchRow
    block_size: int | None
    threads: int | None
    note: str
    is_idle: bool = False  # no I/O was done, so that every figure is a zero that was not measured

    def make_sample(
        self, operation: str, metric: str, word: str, unit: str, factor: float, line: int | None = None
    ) -> ParsedSample:
        value = None if self.is_idle else read_non_negative(word)
        reason = NOTHING_DONE if self.is_idle else "" if value is not None else "not a number"
        return ParsedSample(
            operation, metric, None if value is None else round(value * factor, 6), block_size=self.block_size,
            threads=self.threads, printed=f"{word} {unit}".strip(), line=line or self.row.line, note=self.note,
            missing_reason=reason,
        )  # fmt: skip


def choose_operation(read_percent: float | None) -> str:
    """Return read, write or mixed for the share of reads in percent."""
    return "read" if read_percent == 100 else "write" if read_percent == 0 else "mixed"


def make_samples(
    columns: VdbenchColumns, whole_row: VdbenchRow | None, spread: VdbenchRow | None, largest: VdbenchRow | None, intervals: Sequence[VdbenchRow],
    loops: Mapping[str, int],
) -> Iterator[ParsedSample]:  # fmt: skip
    """Yield the samples of a run's averages; nothing where there are none."""
    if whole_row is None or whole_row.is_empty:
        return
    size_column = "xfer size" if columns.is_files else "bytes i/o"
    block_size = loops.get("xfersize") or _get_fixed_size(size_column, whole_row, intervals)
    threads = loops.get("threads")
    point = _SampleContext(
        whole_row,
        block_size,
        threads if threads and threads <= INT4 else None,
        _make_cpu_note(whole_row),
        whole_row.value("ReqstdOps rate" if columns.is_files else "i/o rate") == 0,
    )
    if columns.is_files:
        yield from _iterate_file_samples(point, spread, largest)
    else:
        yield from _iterate_device_samples(point, columns)


def _get_fixed_size(column: str, row: VdbenchRow, intervals: Sequence[VdbenchRow]) -> int | None:
    """Return the transfer size if the average is the same whole block in every line, else None."""
    sizes = {each_row.values.get(column) for each_row in (row, *intervals)}
    size = read_whole(next(iter(sizes)) or "", INT8) if len(sizes) == 1 else None
    return size if size and size % 512 == 0 else None


def _make_cpu_note(row: VdbenchRow) -> str:
    total = row.values.get("cpu% sys+u") or row.values.get("cpu% total") or row.values.get("cpu% sys+usr")
    return f"CPU {total} % of all cores" if total else ""


def _iterate_device_samples(point: _SampleContext, columns: VdbenchColumns) -> Iterator[ParsedSample]:
    values = point.row.values
    operation = choose_operation(point.row.value("read pct"))
    yield point.make_sample(operation, "iops", values["i/o rate"], "i/o/s", 1)
    speed = next((name for name in values if name.startswith("MB/sec")), "")
    if speed:
        yield point.make_sample(operation, "bandwidth", values[speed], "MB/sec", columns.megabyte)
    for column, metric in (
        ("resp time", "latency_mean"),
        ("resp max", "latency_max"),
        ("resp stddev", "latency_stdev"),
    ):
        if column in values:
            yield point.make_sample(operation, metric, values[column], "ms", 1e6)
    for side in ("read", "write"):
        if operation == "mixed" and f"{side} resp" in values:
            yield point.make_sample(side, "latency_mean", values[f"{side} resp"], "ms", 1e6)
        is_only_side = operation == side and "resp max" not in values
        if f"{side} max" in values and (operation == "mixed" or is_only_side):
            yield point.make_sample(side, "latency_max", values[f"{side} max"], "ms", 1e6)


def _iterate_file_samples(
    point: _SampleContext, spread: VdbenchRow | None, largest: VdbenchRow | None
) -> Iterator[ParsedSample]:
    row = point.row
    sides = [side for side in ("read", "write") if row.value(f"{side} rate")]
    groups = [(side, side, "iops") for side in sides]
    if len(sides) != 1:
        groups.insert(0, ("mixed", "ReqstdOps", "rate"))
    for operation, group, rate in groups:
        yield point.make_sample(operation, rate, row.values[f"{group} rate"], "/s", 1)
        yield point.make_sample(operation, "latency_mean", row.values[f"{group} resp"], "ms", 1e6)
        if operation != "mixed" and f"mb/sec {operation}" in row.values:
            yield point.make_sample(operation, "bandwidth", row.values[f"mb/sec {operation}"], "mb/sec", 1024**2)
        for other, metric in ((spread, "latency_stdev"), (largest, "latency_max")):
            word = other.assign_to(row).get(f"{group} resp") if other else None
            if other and word and read_number(word) is not None:
                yield point.make_sample(operation, metric, word, "ms", 1e6, other.line)


def make_series(
    columns: VdbenchColumns, whole_row: VdbenchRow | None, intervals: Sequence[VdbenchRow], began: float | None
) -> Iterator[ParsedSeries]:
    """Yield the intervals as series."""
    if not intervals or any(isnan(row.at) for row in intervals):
        return
    if began is None:  # no line says when the run began: one interval before its first line
        step = intervals[1].at - intervals[0].at if len(intervals) > 1 else 0.0
        began = intervals[0].at - step
    times = tuple(round(row.at - began, 3) for row in intervals)
    if columns.is_files:
        wanted = [(side, f"{side} rate", f"mb/sec {side}", f"{side} resp") for side in ("read", "write")]
        wanted = [column_names for column_names in wanted if any(row.value(column_names[1]) for row in intervals)]
    else:
        decisive_row = whole_row if whole_row and not whole_row.is_empty else intervals[-1]
        percent = decisive_row.value("read pct")
        speed = next((name for name in columns.names if name.startswith("MB/sec")), "")
        wanted = [(choose_operation(percent), "i/o rate", speed, "resp time")]
    for operation, rate, speed, latency in wanted:
        for column, metric, factor in (
            (rate, "iops", 1.0),
            (speed, "bandwidth", columns.megabyte),
            (latency, "latency_mean", 1e6),
        ):
            is_latency = metric == "latency_mean"
            values = [None if is_latency and row.value(rate) == 0 else row.value(column) for row in intervals]
            numbers = tuple(float("nan") if value is None else round(value * factor, 6) for value in values)
            yield ParsedSeries(operation, metric, 0, "report", times, numbers)
