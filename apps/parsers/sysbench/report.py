"""The figures of one fileio block of sysbench: what each version prints, in base units, each with its text and line."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import nan

from apps.parsers.core.numbers import INT8, read_non_negative

MIB = 1024**2
_UNITS = {"": 1, "K": 1024, "M": MIB, "G": 1024**3, "T": 1024**4, "P": 1024**5}
_SIZE = r"([\d.]{1,20}(?:e\+\d{1,2})?)([KMGTP]?)i?[bB]"
_NUMBER = r"([\d.]{1,40})"
_TIME = r"(?:ms|(?<=\.\d{4})s)"  # 0.4 before 0.4.9 prints seconds
_END = r"(?![^\s,;|)])"  # ends a figure; a letter behind it shows that the figure is damaged

_OLD_TOTAL = re.compile(
    r"Operations performed:\s+(\d{1,20}) [Rr]eads?, (\d{1,20}) [Ww]rites?, (\d{1,20}) Other = (\d{1,20}) Total"
)
_OLD_BYTES = re.compile(rf"Read {_SIZE} {{1,2}}Written {_SIZE} {{1,2}}Total transferred {_SIZE} {{1,2}}\({_SIZE}/sec\)")
_OLD_RATE = re.compile(rf"^\s*{_NUMBER} Requests/sec executed")
_NEW = {
    "reads": re.compile(rf"^\s*reads/s:\s+({_NUMBER}){_END}"),
    "writes": re.compile(rf"^\s*writes/s:\s+({_NUMBER}){_END}"),
    "syncs": re.compile(rf"^\s*fsyncs/s:\s+({_NUMBER}){_END}"),
    "read_bytes": re.compile(rf"^\s*read(?:, |-)MiB/s:\s+({_NUMBER}){_END}"),  # a script of centminmod prints a hyphen
    "written_bytes": re.compile(rf"^\s*written(?:, |-)MiB/s:\s+({_NUMBER}){_END}"),
    "min": re.compile(rf"^\s*min:\s+({_NUMBER}{_TIME}?)\s*$"),
    "avg": re.compile(rf"^\s*avg:\s+({_NUMBER}{_TIME}?)\s*$"),
    "max": re.compile(rf"^\s*max:\s+({_NUMBER}{_TIME}?)\s*$"),
    "events": re.compile(rf"^\s*total number of events:\s+((\d{{1,20}})){_END}"),
    "elapsed": re.compile(rf"^\s*(?:total time|time elapsed):\s+({_NUMBER}s){_END}"),
}
_PRINTED_UNITS = {"reads": " reads/s", "writes": " writes/s", "syncs": " fsyncs/s", "read_bytes": " MiB/s",
          "written_bytes": " MiB/s", "min": " ms", "avg": " ms", "max": " ms"}  # fmt: skip
_FACTORS = {"read_bytes": MIB, "written_bytes": MIB, "min": 1e6, "avg": 1e6, "max": 1e6, "elapsed": 1e9}
_NEWEST = re.compile(rf"^\s*(read|write|fsync):\s+IOPS=({_NUMBER})(?: ({_NUMBER} MiB/s){_END}|\s*$)")
_NEWEST_NAMES = {"read": ("reads", "read_bytes"), "write": ("writes", "written_bytes"), "fsync": ("syncs", "")}
_PERCENTILE = re.compile(
    rf"^\s*(?:approx\.\s+(\d{{1,3}}) percentile|(\d{{1,3}})th(?: percentile)?):\s+({_NUMBER}{_TIME}?){_END}"
)
_INTERVAL = re.compile(
    rf"^\[\s*{_NUMBER}\s?s\s?\] reads: {_NUMBER} Mi?B/s writes: {_NUMBER} Mi?B/s fsyncs: {_NUMBER}/s ([^\[]*)$"
)
_OF_INTERVAL = re.compile(  # "response time" since 0.5, "latency" since 1.0
    rf"latency \(ms, ?(\d{{1,3}})%\): {_NUMBER}\s*$|response time: {_NUMBER}ms \((\d{{1,3}})%\)\s*$"
)
_BUCKET = re.compile(rf"^\s+{_NUMBER} \|\**\s+(\d{{1,18}})\s*$")
_DAMAGED = re.compile(  # beginnings of lines that are typical for sysbench and have a figure
    r"\s*(?:(?:reads|writes|fsyncs)/s:|(?:read|written), MiB/s:|(?:read|write|fsync): +IOPS=|(?:min|avg|max):|total number of events:"
    r"|\S{1,12} percentile:|approx\. +\S{1,12} percentile:|Operations performed:|Read \S{1,20} +Written |\S{1,20} Requests/sec executed"
    r"|\[ {0,8}\S{1,12} ?s ?\] reads:|\S{1,20} \|[* ]{20})"
)


@dataclass(frozen=True, slots=True)
class SysbenchFigure:
    """A value in base units, its text and its line."""

    value: float
    printed: str
    line: int


@dataclass(slots=True)
class SysbenchReport:
    """The figures of one report."""

    figures: dict[str, SysbenchFigure] = field(default_factory=dict)
    intervals: list[tuple[float, float, float, float]] = field(default_factory=list)  # s, B/s read, B/s written, 1/s
    latencies: list[tuple[float, str, float]] = field(default_factory=list)  # s, the percentile, ns
    buckets: list[tuple[int, int]] = field(default_factory=list)  # ns, count
    damaged: list[tuple[int, str]] = field(default_factory=list)  # line, what stands there

    def has_results(self) -> bool:
        """Return whether there are figures of the whole run."""
        return bool(
            self.figures.keys() & {"operations", "reads", "writes", "requests", "speed", "read_bytes", "written_bytes"}
        )

    def is_by_direction(self) -> bool:
        """Return whether reads and writes are separate, as since 1.0."""
        return bool(self.figures.keys() & {"reads", "writes", "read_bytes", "written_bytes"})

    def counts_beside(self, reads: bool, writes: bool) -> str:
        """Return the direction that is counted although the test does not have it: sysbench 1.1 counts asynchronous writes as reads."""
        beside = [(name, place) for name, place, has in (("reads", 1, reads), ("writes", 2, writes)) if not has]
        for name, place in beside:
            figures = (self.figures.get(key) for key in (name, "read_bytes" if name == "reads" else "written_bytes"))
            if any(row[place] for row in self.intervals) or any(figure.value for figure in figures if figure):
                return name
        return ""

    def counts_only_reads(self) -> bool:
        """Return whether reads were counted and neither a write nor an fsync()."""
        others = ("writes", "written_bytes", "syncs")
        reads = any(self.figures[name].value for name in ("reads", "read_bytes") if name in self.figures)
        others_counted = any(self.figures[name].value for name in others if name in self.figures)
        is_in_intervals = any(row[1] for row in self.intervals) and not any(row[2] or row[3] for row in self.intervals)
        return (reads and not others_counted) or (not self.has_results() and is_in_intervals)

    def adds_written_to_read(self, block_size: int | None) -> bool:
        """Return whether requests wrote and no byte did, beside bytes that were read; below 0.01 MiB/s it is a matter of rounding."""
        values = [
            self.figures[name].value if name in self.figures else -1
            for name in ("writes", "written_bytes", "read_bytes")
        ]
        writes, written, read = values
        return writes * (block_size or 1024) >= MIB / 100 and written == 0 and read > 0

    def counted_nothing(self) -> bool:
        """Return whether no request was done, so that every figure is a zero that was not measured."""
        events = self.figures.get("events")
        counted = [
            self.figures[name].value
            for name in ("operations", "reads", "writes", "syncs", "read_bytes", "written_bytes")
            if name in self.figures
        ]
        return bool(events is not None and events.value == 0) or (bool(counted) and not any(counted))


def parse_size(number: str, unit: str) -> float | None:
    """Return bytes, None where it is no number."""
    value = read_non_negative(number)
    return None if value is None else value * _UNITS[unit]


def parse_whole_size(number: str, unit: str) -> int | None:
    """Return a positive whole number of bytes, None where it is none."""
    value = parse_size(number, unit)
    return round(value) if value is not None and 0 < value <= INT8 else None


def read_report(lines: Sequence[tuple[int, str]]) -> SysbenchReport:
    """Read the figures of lines, given as (number in the file, text)."""
    report = SysbenchReport()
    for line, text in lines:
        is_read = False
        for name, value, printed in _iterate_figures(text):
            if value is not None:
                report.figures.setdefault(name, SysbenchFigure(value, printed, line))
                is_read = True
        is_glued = is_read and text.count(":") > 1  # the next line was joined to it
        if is_glued or (not is_read and not _read_row(report, text) and _DAMAGED.match(text)):
            report.damaged.append((line, text))
    return report


def _read_row(report: SysbenchReport, text: str) -> bool:
    """Read a line of an interval or of a histogram; return whether it is one."""
    if match := _INTERVAL.match(text):
        values = [read_non_negative(word) for word in match.groups()[:4]]
        if None in values:
            return False
        at, read, written, syncs = (value or 0.0 for value in values)
        report.intervals.append((at, read * MIB, written * MIB, syncs))
        if (tail := _OF_INTERVAL.match(match[5])) and (took := read_non_negative(tail[2] or tail[3])) is not None:
            is_measured = read or written or syncs
            report.latencies.append((at, tail[1] or tail[4], round(took * 1e6, 6) if is_measured else nan))
    elif "|" in text and (match := _BUCKET.match(text)) and (value := read_non_negative(match[1])) is not None:
        report.buckets.append((round(value * 1e6), int(match[2])))
    else:
        return False
    return True


def _iterate_figures(text: str) -> Iterator[tuple[str, float | None, str]]:
    if ":" not in text and "(" not in text and "Requests" not in text:
        return
    for name, pattern in _NEW.items():
        if match := pattern.match(text):
            value, factor = read_non_negative(match[2]), _FACTORS.get(name, 1)
            yield (
                name,
                None if value is None else round(value * _get_factor(match[1], factor), 6),
                _add_unit(match[1], name),
            )
            return
    if match := _NEWEST.match(text):
        rate, speed = _NEWEST_NAMES[match[1]]
        yield rate, read_non_negative(match[3]), f"IOPS={match[2]}"
        if speed and match[5]:
            value = read_non_negative(match[5])
            yield speed, None if value is None else value * MIB, match[4]
    elif match := _PERCENTILE.match(text):
        value = read_non_negative(match[4])
        value = None if value is None else round(value * _get_factor(match[3], 1e6), 6)
        yield f"p{match[1] or match[2]}", value, _add_unit(match[3], "avg")
    else:
        yield from _iterate_old_figures(text)


def _get_factor(printed: str, factor: float) -> float:
    """Return the factor to ns for a time in seconds, as in `0.0038s`, else `factor`."""
    return 1e9 if printed.endswith("s") and not printed.endswith("ms") else factor


def _add_unit(printed: str, name: str) -> str:
    """Return the text with the unit that 1.0 prints in front of the number, or in the title."""
    return printed if printed[-1].isalpha() else printed + _PRINTED_UNITS.get(name, "")


def _iterate_old_figures(text: str) -> Iterator[tuple[str, float | None, str]]:
    if match := _OLD_TOTAL.search(text):
        for name, word, label in zip(("read_count", "write_count", "other_count", "operations"), match.groups(),
                                     ("Read", "Write", "Other", "Total"), strict=True):  # fmt: skip
            yield name, read_non_negative(word), f"{word} {label}"
    elif match := _OLD_BYTES.search(text):
        words = match.groups()
        for place, name in enumerate(("read_moved", "write_moved", "moved", "speed")):
            number, unit = words[2 * place : 2 * place + 2]
            yield name, parse_size(number, unit), f"{number}{unit}b" + ("/sec" if name == "speed" else "")
    elif match := _OLD_RATE.match(text):
        yield "requests", read_non_negative(match[1]), f"{match[1]} Requests/sec"
