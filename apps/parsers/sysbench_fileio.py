"""sysbench's fileio test, 0.4 to 1.1.

    Operations performed:  6008 Read, 3997 Write, 12800 Other = 22805 Total                       (0.4, 0.5)
    Read 93.875Mb  Written 62.453Mb  Total transferred 156.33Mb  (2.9644Mb/sec)
        writes/s:                     600.89                                                       (1.0)
             read:  IOPS=280.20 4.38 MiB/s (4.59 MB/s)                                             (1.1)

One run per `run`; `prepare` and `cleanup` are not read. Samples: `iops` and `bandwidth` per direction, the rate of
fsync() as operation `sync`, latencies of the one operation or of `mixed` (random r/w). Intervals are series.

Units (sb_options.c `sb_print_value_size`, sb_fileio.c, sb_logger.c; branches 0.4, 0.5, 1.0 and master): all sizes are
1024-based; `Kb`, `Mb`, `Gb` of 0.4 and 0.5 are KiB, MiB, GiB, rounded to 5 digits; `MB/s` in the intervals of 0.4 and
0.5 divides by 1024²; 1.1 prints MiB and, in brackets, MB of 10^6. Latencies are ms, with `ms` behind in 0.4 and 0.5;
before 0.4.9 they were `0.0038s`.

Oddities
- 0.4 and 0.5 print rates for reads and writes together only: of random r/w they are `mixed`, and only `io_bytes` is
  told apart. Later versions print each direction.
- `--report-checkpoints` prints a whole report at each of its seconds and counts anew from there (sysbench.c, `checkpoint`), so
  the last report is of the rest: each is a section of the run.
- An interval's latency is that of the percentile that was asked for: `latency (ms,95%): 1.697`, `response time: 0.345ms (95%)`.
- Latencies count fsync() requests too since 1.0 (an fsync is an event of its own).
- A failed run prints zeros and `min: 18446744073709.55ms`: all its figures are missing.
- A report that was cut out without its banner is read where it counts reads and writes: only random r/w does both.
- The percentile is 95 unless asked otherwise; others than 50, 90, 95 and 99 are labels. 0 prints `percentile stats: disabled`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, pairwise

from apps.parsers.shape import (
    Broken,
    ParsedFile,
    ParsedHistogram,
    ParsedRun,
    ParsedSample,
    ParsedSection,
    ParsedSeries,
    ParseError,
)  # fmt: skip
from apps.parsers.source_text import SourceText
from apps.parsers.sysbench_banner import Banner, asks_otherwise, read_banner
from apps.parsers.sysbench_blocks import END, FIRST, OLD_SPEED, Block, blocks_of, plain
from apps.parsers.sysbench_report import Figure, Report, read_report

NAME = "sysbench fileio"
TITLE = "sysbench fileio"

_FATAL = re.compile(r"(?:FATAL|ALERT): (.{1,300})")
_OWN = ("Extra file open flags:", *FIRST, OLD_SPEED, ": IOPS=", ":  IOPS=", "read, MiB/s:", "written, MiB/s:")
_CHECKPOINT = re.compile(r"\[ {0,8}(\d{1,9})s ?\] Checkpoint report:")
_OF_MEMORY = " ops/sec)"
_RATES = re.compile(r"\s*(?:reads|writes)/s:\s+\d").match  # alone, where somebody left the titles out
_PERCENTILES = ("50", "90", "95", "99")
_FAILED = "sysbench did no request"
_NOT_PRINTED = "not printed"
_DAMAGED = "a line of sysbench's whose figures cannot be read"
_WHOLE = re.compile(
    r"\.\d\d(?:ms)?\s*$|%\): \d{1,12}\.\d{3}\s*$|[^\d.\s]\s*$"
)  # the end of a line of figures: they have two decimals, or words behind
_WITH_SYNCS = "over all events, fsync() too"


@dataclass(frozen=True, slots=True)
class Part:
    """A report of several that one run has."""

    name: str
    line: int
    report: Report


def looks_like(text: SourceText) -> float:
    body = text.text
    if ("Extra file open flags:" in body and "Doing " in body) or (
        "Operations performed:" in body and "Requests/sec executed" in body
    ):
        return 1.0
    is_newest = "fsync: IOPS=" in body and ("sysbench" in body or "Throughput:" in body)
    is_rate = "fsyncs/s:" in body or ("read, MiB/s:" in body and "written, MiB/s:" in body)
    is_old = OLD_SPEED in body and ("Requests/sec executed" in body or "sysbench" in body)
    return 0.9 if is_newest or is_rate or is_old else 0.0


def parse(text: SourceText) -> ParsedFile:
    runs: list[ParsedRun] = []
    broken: list[Broken] = []
    warnings: list[str] = []
    for block in blocks_of(text):
        lines = [(text.number(index), plain(text.lines[index][:2000])) for index in range(block.first, block.end)]
        if _is_test(lines):
            whole = _without_cut(lines, text)
            banner, report = read_banner(whole, block.command, block.is_own), read_report(whole)
            found = _run(whole, block, banner, report, _parts(whole, block, text))
            (broken if isinstance(found, Broken) else runs).append(found)  # type: ignore[arg-type]
            broken += [Broken(_DAMAGED, line, said.strip()[:100]) for line, said in (*banner.damaged, *report.damaged)]
            if isinstance(found, ParsedRun) and (cut := _cut(found, lines, len(whole) < len(lines))):
                broken.append(cut)
            if isinstance(found, ParsedRun) and (beside := _beside(banner, report)):
                warnings.append(f"line {found.line}: {beside}")
    if not runs and not broken:
        raise ParseError("no fileio test of sysbench in the text", expected="'Extra file open flags:' and results")
    return ParsedFile(tuple(runs), broken=tuple(broken), warnings=tuple(warnings))


def _beside(banner: Banner, report: Report) -> str:
    sides = {_side(operation) for operation in banner.operations}
    name = report.counts_beside("read" in sides, "write" in sides)
    return f"{name} are counted in a test that does none: they are not taken" if name else ""


def _is_test(lines: list[tuple[int, str]]) -> bool:
    """Whether the block is a fileio run: `prepare` prints a banner too, and the memory test of 0.4 counts operations."""
    is_other = any(line.startswith("Creating files for the test") or line.endswith(_OF_MEMORY) for _, line in lines)
    return not is_other and any(_RATES(line) or any(word in line for word in _OWN) for _, line in lines)


def _without_cut(lines: list[tuple[int, str]], text: SourceText) -> list[tuple[int, str]]:
    """Without the file's last line where that ends in the middle of a figure, whose digits would say another one."""
    last = next((line for line in reversed(text.lines) if line.strip()), "")
    is_cut = not text.text.endswith(("\n", "\r")) and not _WHOLE.search(last) and not _is_closed(lines)
    return lines[:-1] if is_cut and len(lines) > 1 and lines[-1][1] == plain(last[:2000]) else lines


def _is_closed(lines: list[tuple[int, str]]) -> bool:
    return any(END in line for _, line in lines)


def _cut(run: ParsedRun, lines: list[tuple[int, str]], is_shortened: bool) -> Broken | None:
    """What is wrong with a report that lacks its end and some of its figures."""
    is_lacking = is_shortened or any(sample.missing_reason == _NOT_PRINTED for sample in run.samples)
    if _is_closed(lines) or not is_lacking:
        return None
    printed = [line for line in lines if line[1].strip()] or lines
    number, found = next((line for line in printed if line[0] > (run.last_line or 0)), printed[-1])
    return Broken("the report ends before its last figures; what is missing says so", number, found.strip()[:100], END)


def _parts(lines: list[tuple[int, str]], block: Block, text: SourceText) -> list[Part]:
    """The report of each checkpoint and of the rest behind the last one; none where there was no checkpoint."""
    parts: list[Part] = []
    rest = ""
    starts = [text.number(index) for index in block.parts]
    for start, end in pairwise([*starts, (lines[-1][0] + 1) if starts else 0]):
        of_part = [(line, said) for line, said in lines if start <= line < end]
        match = _CHECKPOINT.match(of_part[0][1]) if of_part else None
        parts.append(Part(f"checkpoint at {match[1]} s" if match else rest, start, read_report(of_part)))
        rest = f"after {match[1]} s" if match else ""
    return parts


def _run(
    lines: list[tuple[int, str]], block: Block, banner: Banner, report: Report, parts: list[Part]
) -> ParsedRun | Broken:
    if not banner.operations and _does_both(report):
        banner.operations = ("randread", "randwrite")
        banner.workload["rw"] = "randrw"
    problem = next((match[0][:300] for _, line in lines if (match := _FATAL.search(line))), "")
    if not report.has_results() and not report.intervals:
        found = problem or next((line for _, line in reversed(lines) if line.strip()), "")[:100]
        return Broken("the run has no results", lines[0][0], found, "'Operations performed:' or 'File operations:'")
    if not banner.operations:
        return Broken("the test mode is not printed", lines[0][0], lines[0][1][:100], "'Doing … test'")
    samples = tuple(_samples(banner, report, lines[0][0]))
    if parts:
        told_apart = [_samples(banner, part.report, part.line, place) for place, part in enumerate(parts)]
        samples = tuple(chain.from_iterable(told_apart))
    if not report.has_results():
        problem = problem or "the output ends before its results"
    told = [line for line, text in lines if text.startswith(("Doing ", "[", "FATAL:")) or END in text]
    told += [figure.line for one in (report, *(part.report for part in parts)) for figure in one.figures.values()]
    is_its_own = block.command and not asks_otherwise(block.command, banner)
    workload = banner.workload | ({"command": block.command[:1000]} if is_its_own else {})
    return ParsedRun(
        tool="sysbench", tool_version=block.version,
        sections=tuple(ParsedSection(place, part.name) for place, part in enumerate(parts)), host=block.host if is_its_own else "", samples=samples,
        series=tuple(_series(banner, report)), histograms=_histograms(banner, report, max(0, len(parts) - 1)),
        labels=_labels(report) if not parts else {}, problem=problem, workload=workload,
        line=lines[0][0], last_line=max(told, default=lines[0][0]),
    )  # fmt: skip


def _does_both(report: Report) -> bool:
    """Only random r/w reads and writes in one test, so that a report without its banner says what it is."""
    return any(
        all(_value(report.figures.get(name)) > 0 for name in pair)
        for pair in (
            ("reads", "writes"),
            ("read_bytes", "written_bytes"),
            ("read_count", "write_count"),
            ("read_moved", "write_moved"),
        )
    )


def _labels(report: Report) -> dict[str, str]:
    """Percentiles that somebody asked for and that have no metric of their own."""
    return {
        f"latency, {name[1:]} %": figure.printed
        for name, figure in report.figures.items()
        if name[1:].isdecimal() and name[1:] not in _PERCENTILES
    }


def _samples(banner: Banner, report: Report, first: int, section: int = 0) -> Iterator[ParsedSample]:
    failed = _FAILED if report.counted_nothing() else ""
    for operation, metric, name, note in _wanted(banner, report):
        figure = report.figures.get(name)
        reason = failed or ("" if figure else _NOT_PRINTED)
        yield ParsedSample(
            operation, metric, None if failed or figure is None else figure.value, section, file_size=banner.file_size,
            block_size=banner.block_size, threads=banner.threads, printed=figure.printed if figure else "",
            line=figure.line if figure else first, missing_reason=reason, note=note, quality=_quality(figure),
        )  # fmt: skip


def _quality(figure: Figure | None) -> str:
    """A latency of 0.00 ms, or of 0.0000s, is one below half of its last digit."""
    return "rounded" if figure and not figure.value and figure.printed.endswith(("ms", "0s")) else "exact"


def _wanted(banner: Banner, report: Report) -> Iterator[tuple[str, str, str, str]]:
    """(operation, metric, the figure's name, note) of every sample that this run should have."""
    whole = _whole(banner)
    if report.is_by_direction():
        yield from _by_direction(banner, report)
        note = _WITH_SYNCS if _value(report.figures.get("syncs")) else ""
    else:
        yield whole, "iops", "requests", ""
        yield whole, "bandwidth", "speed", ""
        for operation in banner.operations:
            if (name := f"{_side(operation)}_moved") in report.figures:
                yield operation, "io_bytes", name, ""
        note = ""
    for name, metric in (("min", "latency_min"), ("avg", "latency_mean"), ("max", "latency_max")):
        yield whole, metric, name, note
    for rank in _PERCENTILES:
        if f"p{rank}" in report.figures:
            yield whole, f"latency_p{rank}", f"p{rank}", note


def _by_direction(banner: Banner, report: Report) -> Iterator[tuple[str, str, str, str]]:
    for operation in banner.operations:
        side = _side(operation)
        yield operation, "iops", f"{side}s", ""
        yield operation, "bandwidth", "read_bytes" if side == "read" else "written_bytes", ""
    writes = any(_side(operation) == "write" for operation in banner.operations)
    if "syncs" in report.figures and (writes or report.figures["syncs"].value):
        yield "sync", "rate", "syncs", ""


def _side(operation: str) -> str:
    return "read" if operation.endswith("read") else "write"


def _value(figure: Figure | None) -> float:
    return figure.value if figure else 0.0


def _series(banner: Banner, report: Report) -> Iterator[ParsedSeries]:
    if not report.intervals:
        return
    times = tuple(row[0] for row in report.intervals)
    for operation in banner.operations:
        column = 1 if _side(operation) == "read" else 2
        yield ParsedSeries(operation, "bandwidth", 0, "report", times, tuple(row[column] for row in report.intervals))
    if any(row[3] for row in report.intervals):
        yield ParsedSeries("sync", "rate", 0, "report", times, tuple(row[3] for row in report.intervals))
    for rank in _PERCENTILES:
        if points := [(at, value) for at, of, value in report.latencies if of == rank]:
            ats, values = zip(*points, strict=True)
            yield ParsedSeries(_whole(banner), f"latency_p{rank}", 0, "report", ats, values)


def _whole(banner: Banner) -> str:
    return banner.operations[0] if len(banner.operations) == 1 else "mixed"


def _histograms(banner: Banner, report: Report, section: int) -> tuple[ParsedHistogram, ...]:
    """sysbench prints it above its last report."""
    if not report.buckets:
        return ()
    merged: dict[int, int] = {}
    for bin_ns, count in report.buckets:
        merged[bin_ns] = merged.get(bin_ns, 0) + count
    return (ParsedHistogram(_whole(banner), "lat", section, tuple(sorted(merged.items()))),)
