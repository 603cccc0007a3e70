"""Parser of sysbench's fileio test, 0.4 to 1.1.

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

Peculiarities:

- 0.4 and 0.5 print rates for reads and writes together only: for random r/w they are `mixed`, and only `io_bytes` is
  separate. Later versions print each direction.
- `--report-checkpoints` prints a whole report at each of its seconds and counts anew from there (sysbench.c,
  `checkpoint`), so the last report is of the rest: each is a section of the run.
- An interval's latency is that of the chosen percentile: `latency (ms,95%): 1.697`, `response time: 0.345ms (95%)`.
- Latencies include fsync() requests since 1.0 (an fsync is an event of its own).
- A failed run prints zeros and `min: 18446744073709.55ms`: all its figures are missing.
- A report that was cut out without its banner is read where it counts reads and writes: only random r/w does both.
- Some 1.1 count writes and fsync() in asynchronous mode as reads, and print 0 for both; others only the bytes
  (sb_fileio.c, `file_wait`, before August 2017). What cannot be told apart is missing.
- The percentile is 95 unless chosen otherwise; others than 50, 90, 95 and 99 become labels. 0 prints `percentile stats:
  disabled`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, pairwise

from apps.parsers.core.models import (
    Broken,
    ParsedFile,
    ParsedHistogram,
    ParsedRun,
    ParsedSample,
    ParsedSection,
    ParsedSeries,
    ParseError,
)  # fmt: skip
from apps.parsers.core.prompts import find_prompt_host
from apps.parsers.core.source_text import SourceText
from apps.parsers.sysbench.banner import SysbenchBanner, is_of_another_test, read_banner
from apps.parsers.sysbench.report import SysbenchFigure, SysbenchReport, read_report

_START = re.compile(r"sysbench v?(\d[\w.-]{0,40})[: ]")
_INDENTED = re.compile(
    r" {1,16}(?:sysbench v?\d|Running the test with|Number of threads:|Extra file open flags:|\d{1,9} files, |\S{1,20} total file size|"
    r"Block size |Read/Write ratio for|Periodic FSYNC|Calling fsync\(\)|Using \w+ (?:mmaped )?I/O mode|Doing |Creating files for|"
    r"Initializ|\[ {0,8}\d|FATAL:|ALERT:)"
)
_COMMAND = re.compile(r"(?:^\s*|[$#>%] {0,8}|`)((?:sudo |time )?(?:[\w.~/-]{0,80}/)?sysbench [^|;&`]+)")
_AROUND = re.compile(r"\s(?:prepare|cleanup|help)\b")  # commands before and after a run, which print no figures
_HEAD = re.compile(  # lines that stand once above the figures of a run
    r"(?P<flags>Extra file open flags:)|(?P<files>\d{1,9} files, \S{1,20} each)|(?P<size>\S{1,20} total file size)"
    r"|(?P<block>Block size \S)|(?P<mode>Doing .{1,40} test\s*$)"
)
_ONCE = (
    "Operations performed:",
    "File operations:",
    "Throughput:",
    "reads/s:",
    "read, MiB/s:",
)
FIRST = _ONCE[:2]  # the first lines of a run's figures
OLD_SPEED = "Total transferred "
END = "execution time (avg/stddev):"  # the last line of a report
CHECKPOINT = "] Checkpoint report:"  # stands before the figures since the last checkpoint
_DISTANCE = 6  # lines between the version and the options


@dataclass(slots=True)
class SysbenchBlock:
    """The lines of one run, and the command that was typed for it.

    `is_own`: no other report stands between the command line and this one. A report without a command of its own may
    have had other sizes.
    """

    first: int
    end: int  # index behind its last line
    version: str
    command: str
    host: str  # from the prompt before the command
    is_own: bool
    parts: list[int] = field(
        default_factory=list
    )  # indices of the reports of its checkpoints, and of the one behind them
    is_owed: bool = False  # whether the report behind the last checkpoint is still to come


def strip_indent(line: str) -> str:
    """Return a line of sysbench at the margin, where a mail has it indented."""
    return line.lstrip(" ") if line.startswith(" ") and _INDENTED.match(line) else line


def find_blocks(text: SourceText) -> Iterator[SysbenchBlock]:
    """Yield the blocks of a text."""
    starts = list(_find_starts(text))
    ends = [start.first for start in starts[1:]] + [len(text.lines)]
    for block, end in zip(starts, ends, strict=False):
        begun = block.parts[-1] if block.parts else block.first
        closed = (index + 1 for index in range(begun, end) if END in text.lines[index])
        block.end = next(closed, end)
        yield block


def _find_starts(text: SourceText) -> Iterator[SysbenchBlock]:
    command, host, is_own, is_closed = "", "", True, False
    before: int | None = None
    seen: set[str] = set()  # words that stand once in a run
    run: SysbenchBlock | None = None
    for index, printed in enumerate(text.lines):
        if not printed:
            continue
        line = strip_indent(printed)
        own = _find_unique_word(line)
        is_first = own in _HEAD.groupindex or own in FIRST
        is_closed = is_closed or own in seen or (is_first and not seen <= _HEAD.groupindex.keys())
        if "sysbench" in line and ("--" in line or " run" in line) and (match := _COMMAND.search(line[:2000])):
            if " run" in match[1] or not _AROUND.search(match[1]):
                command, host, is_own = match[1], find_prompt_host(line, match.start() + 1), True
        elif match := _START.match(line[:200]):
            yield (run := SysbenchBlock(index, index, match[1], command, host, is_own))
            command, host, before, is_closed, seen = "", "", index, False, set()
        elif run and _is_part(run, line, own if is_closed else ""):
            run.parts.append(index)
            is_closed, seen = False, set()
        elif _begins_bare(text, index, before, is_closed):
            yield (run := SysbenchBlock(index, index, "", command, host, is_own))
            before, is_own, is_closed, seen = index, False, False, set()
        elif END in line:
            is_closed = True
        seen |= {own} - {""}


def _is_part(run: SysbenchBlock, line: str, own: str) -> bool:
    """Return whether the report of a checkpoint begins, or, behind such ones, the report of the rest."""
    if CHECKPOINT in line:
        run.is_owed = True
        return True
    if not run.is_owed or not own or own in _HEAD.groupindex:
        return False
    run.is_owed = False
    return True


def _find_unique_word(line: str) -> str:
    """Return which of the words that stand once in a run a line has; of 0.4 also `Read 629Mb  Written 419Mb  Total transferred …`."""
    words = line.lstrip()
    if head := _HEAD.match(words):
        return head.lastgroup or ""
    own = next((word for word in _ONCE if words.startswith(word)), "")
    return own or (OLD_SPEED if words.startswith("Read ") and OLD_SPEED in words else "")


def _begins_bare(text: SourceText, index: int, before: int | None, is_closed: bool) -> bool:
    """Return whether a run begins here without its version line, which stands directly above the options."""
    line = strip_indent(text.lines[index])
    if before is None or is_closed:
        return line.startswith("Running the test with") or bool(_find_unique_word(line))
    return line.startswith("Running the test with") and index - before > _DISTANCE


NAME = "sysbench fileio"
TITLE = "sysbench fileio"

_FATAL = re.compile(r"(?:FATAL|ALERT): (.{1,300})")
_OWN = ("Extra file open flags:", *FIRST, OLD_SPEED, ": IOPS=", ":  IOPS=", "read, MiB/s:", "written, MiB/s:")
_CHECKPOINT = re.compile(r"\[ {0,8}(\d{1,9})s ?\] Checkpoint report:")
_OF_MEMORY = " ops/sec)"
_RATES = re.compile(r"\s*(?:reads|writes)/s:\s+\d").match  # may stand without the titles
_BYTES_AS_READS = "this sysbench added the bytes that were written to those that were read: they cannot be told apart"
_PERCENTILES = ("50", "90", "95", "99")
_COUNTS = ("reads", "writes", "syncs", "read_bytes", "written_bytes")
_FAILED = "sysbench did no request"
_COUNTED_AS_READS = "this sysbench counted what was written, and each fsync(), as reads: they cannot be told apart"
_NOT_PRINTED = "not printed"
_DAMAGED = "a line of sysbench's whose figures cannot be read"
_WHOLE = re.compile(
    r"\.\d\d(?:ms)?\s*$|%\): \d{1,12}\.\d{3}\s*$|[^\d.\s]\s*$"
)  # the end of a complete line: two decimals, or words
_WITH_SYNCS = "over all events, fsync() too"


@dataclass(frozen=True, slots=True)
class CheckpointReport:
    """One of several reports of a run."""

    name: str
    line: int
    report: SysbenchReport


def looks_like(text: SourceText) -> float:
    """Return how sure it is that the text has a fileio test of sysbench, by its typical lines."""
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
    """Parse every run in the text.

    Raises:
        ParseError: if there is none.
    """
    runs: list[ParsedRun] = []
    broken: list[Broken] = []
    warnings: list[str] = []
    for block in find_blocks(text):
        lines = [
            (text.number(index), strip_indent(text.lines[index][:2000])) for index in range(block.first, block.end)
        ]
        if _is_test(lines):
            whole = _drop_cut_line(lines, text)
            banner, report = read_banner(whole, block.command, block.is_own), read_report(whole)
            result = _make_run(whole, block, banner, report, _read_parts(whole, block, text))
            (broken if isinstance(result, Broken) else runs).append(result)  # type: ignore[arg-type]
            broken += [
                Broken(_DAMAGED, line, printed.strip()[:100]) for line, printed in (*banner.damaged, *report.damaged)
            ]
            if isinstance(result, ParsedRun) and (cut := _find_cut(result, lines, len(whole) < len(lines))):
                broken.append(cut)
            if isinstance(result, ParsedRun) and (beside := _describe_beside(banner, report)):
                warnings.append(f"line {_find_beside_line(report) or result.line}: {beside}")
    if not runs and not broken:
        raise ParseError("no fileio test of sysbench in the text", expected="'Extra file open flags:' and results")
    return ParsedFile(tuple(runs), broken=tuple(broken), warnings=tuple(warnings))


def _describe_beside(banner: SysbenchBanner, report: SysbenchReport) -> str:
    sides = {_get_side(operation) for operation in banner.operations}
    name = report.counts_beside("read" in sides, "write" in sides)
    return f"{name} are counted in a test that does none: they are not taken" if name else ""


def _find_beside_line(report: SysbenchReport) -> int:
    """Return the line of the reads that were counted, 0 where only intervals have them."""
    figure = report.figures.get("reads") or report.figures.get("read_bytes")
    return figure.line if figure and figure.value else 0


def _explain_uncounted(banner: SysbenchBanner, report: SysbenchReport, name: str) -> str:
    """Return why a figure of a test that writes is none: 1.1 counts in asynchronous mode some of it as reads; "" elsewhere."""
    sides = {_get_side(operation) for operation in banner.operations}
    if "write" not in sides:
        return ""
    is_known = sides == {"write"} or banner.workload.get("ioengine") == "libaio"
    if name in _COUNTS and is_known and report.counts_only_reads():
        return _COUNTED_AS_READS
    is_of_bytes = name in ("read_bytes", "written_bytes") and report.adds_written_to_read(banner.block_size)
    return _BYTES_AS_READS if is_of_bytes else ""


def _is_test(lines: list[tuple[int, str]]) -> bool:
    """Return whether the block is a fileio run: `prepare` prints a banner, too, and the memory test of 0.4 counts operations."""
    is_other = any(line.startswith("Creating files for the test") or line.endswith(_OF_MEMORY) for _, line in lines)
    return not is_other and any(_RATES(line) or any(word in line for word in _OWN) for _, line in lines)


def _drop_cut_line(lines: list[tuple[int, str]], text: SourceText) -> list[tuple[int, str]]:
    """Return the lines without the file's last one if that ends in the middle of a figure, whose digits would state another value."""
    last = next((line for line in reversed(text.lines) if line.strip()), "")
    is_cut = not text.text.endswith(("\n", "\r")) and not _WHOLE.search(last) and not _is_closed(lines)
    return lines[:-1] if is_cut and len(lines) > 1 and lines[-1][1] == strip_indent(last[:2000]) else lines


def _is_closed(lines: list[tuple[int, str]]) -> bool:
    return any(END in line for _, line in lines)


def _find_cut(run: ParsedRun, lines: list[tuple[int, str]], is_shortened: bool) -> Broken | None:
    """Return the `Broken` for a report that lacks its end and some of its figures, None for any other."""
    is_lacking = is_shortened or any(sample.missing_reason == _NOT_PRINTED for sample in run.samples)
    if _is_closed(lines) or not is_lacking:
        return None
    printed = [line for line in lines if line[1].strip()] or lines
    number, line = next((line for line in printed if line[0] > (run.last_line or 0)), printed[-1])
    return Broken("the report ends before its last figures; what is missing says so", number, line.strip()[:100], END)


def _read_parts(lines: list[tuple[int, str]], block: SysbenchBlock, text: SourceText) -> list[CheckpointReport]:
    """Read the report of each checkpoint and of the rest behind the last one; [] where there was no checkpoint."""
    parts: list[CheckpointReport] = []
    rest = ""
    starts = [text.number(index) for index in block.parts]
    for start, end in pairwise([*starts, (lines[-1][0] + 1) if starts else 0]):
        of_part = [(line, printed) for line, printed in lines if start <= line < end]
        match = _CHECKPOINT.match(of_part[0][1]) if of_part else None
        parts.append(CheckpointReport(f"checkpoint at {match[1]} s" if match else rest, start, read_report(of_part)))
        rest = f"after {match[1]} s" if match else ""
    return parts


def _make_run(
    lines: list[tuple[int, str]],
    block: SysbenchBlock,
    banner: SysbenchBanner,
    report: SysbenchReport,
    parts: list[CheckpointReport],
) -> ParsedRun | Broken:
    if not banner.operations and _does_both(report):
        banner.operations = ("randread", "randwrite")
        banner.workload["rw"] = "randrw"
    problem = next((match[0][:300] for _, line in lines if (match := _FATAL.search(line))), "")
    if not report.has_results() and not report.intervals:
        excerpt = problem or next((line for _, line in reversed(lines) if line.strip()), "")[:100]
        return Broken("the run has no results", lines[0][0], excerpt, "'Operations performed:' or 'File operations:'")
    if not banner.operations:
        return Broken("the test mode is not printed", lines[0][0], lines[0][1][:100], "'Doing … test'")
    samples = tuple(_iterate_samples(banner, report, lines[0][0]))
    if parts:
        by_part = [_iterate_samples(banner, part.report, part.line, place) for place, part in enumerate(parts)]
        samples = tuple(chain.from_iterable(by_part))
    if not report.has_results():
        problem = problem or "the output ends before its results"
    lines_read = [line for line, text in lines if text.startswith(("Doing ", "[", "FATAL:")) or END in text]
    lines_read += [
        figure.line
        for each_report in (report, *(part.report for part in parts))
        for figure in each_report.figures.values()
    ]
    is_its_own = block.command and not is_of_another_test(block.command, banner)
    workload = banner.workload | ({"command": block.command[:1000]} if is_its_own else {})
    return ParsedRun(
        tool="sysbench", tool_version=block.version,
        sections=tuple(ParsedSection(place, part.name) for place, part in enumerate(parts)), host=block.host if is_its_own else "", samples=samples,
        series=tuple(_iterate_series(banner, report)), histograms=_make_histograms(banner, report, max(0, len(parts) - 1)),
        labels=_make_labels(report) if not parts else {}, problem=problem, workload=workload,
        line=lines[0][0], last_line=max(lines_read, default=lines[0][0]),
    )  # fmt: skip


def _does_both(report: SysbenchReport) -> bool:
    """Return whether it reads and writes, which only random r/w does, so that a report without its banner is recognised."""
    return any(
        all(_get_value(report.figures.get(name)) > 0 for name in pair)
        for pair in (
            ("reads", "writes"),
            ("read_bytes", "written_bytes"),
            ("read_count", "write_count"),
            ("read_moved", "write_moved"),
        )
    )


def _make_labels(report: SysbenchReport) -> dict[str, str]:
    """Return percentiles that were chosen and have no metric of their own."""
    return {
        f"latency, {name[1:]} %": figure.printed
        for name, figure in report.figures.items()
        if name[1:].isdecimal() and name[1:] not in _PERCENTILES
    }


def _iterate_samples(
    banner: SysbenchBanner, report: SysbenchReport, first: int, section: int = 0
) -> Iterator[ParsedSample]:
    failed = _FAILED if report.counted_nothing() else ""
    for operation, metric, name, note in _iterate_wanted(banner, report):
        figure = report.figures.get(name)
        reason = failed or ("" if figure else _NOT_PRINTED) or _explain_uncounted(banner, report, name)
        yield ParsedSample(
            operation, metric, None if reason or figure is None else figure.value, section, file_size=banner.file_size,
            block_size=banner.block_size, threads=banner.threads, printed=figure.printed if figure else "",
            line=figure.line if figure else first, missing_reason=reason, note=note, quality=_get_quality(figure),
        )  # fmt: skip


def _get_quality(figure: SysbenchFigure | None) -> str:
    """Return the quality: a latency of 0.00 ms, or of 0.0000s, is one below half of its last digit."""
    return "rounded" if figure and not figure.value and figure.printed.endswith(("ms", "0s")) else "exact"


def _iterate_wanted(banner: SysbenchBanner, report: SysbenchReport) -> Iterator[tuple[str, str, str, str]]:
    """Yield (operation, metric, name of the figure, note) of every sample that this run should have."""
    whole = _get_whole(banner)
    if report.is_by_direction():
        yield from _iterate_by_direction(banner, report)
        note = _WITH_SYNCS if _get_value(report.figures.get("syncs")) else ""
    else:
        yield whole, "iops", "requests", ""
        yield whole, "bandwidth", "speed", ""
        for operation in banner.operations:
            if (name := f"{_get_side(operation)}_moved") in report.figures:
                yield operation, "io_bytes", name, ""
        note = ""
    for name, metric in (("min", "latency_min"), ("avg", "latency_mean"), ("max", "latency_max")):
        yield whole, metric, name, note
    for rank in _PERCENTILES:
        if f"p{rank}" in report.figures:
            yield whole, f"latency_p{rank}", f"p{rank}", note


def _iterate_by_direction(banner: SysbenchBanner, report: SysbenchReport) -> Iterator[tuple[str, str, str, str]]:
    for operation in banner.operations:
        side = _get_side(operation)
        yield operation, "iops", f"{side}s", ""
        yield operation, "bandwidth", "read_bytes" if side == "read" else "written_bytes", ""
    writes = any(_get_side(operation) == "write" for operation in banner.operations)
    is_configured = not banner.file_size or not {"fsync", "end_fsync"}.isdisjoint(banner.workload)
    if "syncs" in report.figures and ((writes and is_configured) or report.figures["syncs"].value):
        yield "sync", "rate", "syncs", ""


def _get_side(operation: str) -> str:
    return "read" if operation.endswith("read") else "write"


def _get_value(figure: SysbenchFigure | None) -> float:
    return figure.value if figure else 0.0


def _iterate_series(banner: SysbenchBanner, report: SysbenchReport) -> Iterator[ParsedSeries]:
    if not report.intervals:
        return
    times = tuple(row[0] for row in report.intervals)
    counted = () if _explain_uncounted(banner, report, "written_bytes") else banner.operations
    for operation in counted:
        column = 1 if _get_side(operation) == "read" else 2
        yield ParsedSeries(operation, "bandwidth", 0, "report", times, tuple(row[column] for row in report.intervals))
    if any(row[3] for row in report.intervals):
        yield ParsedSeries("sync", "rate", 0, "report", times, tuple(row[3] for row in report.intervals))
    for rank in _PERCENTILES:
        if points := [(at, value) for at, of, value in report.latencies if of == rank]:
            ats, values = zip(*points, strict=True)
            yield ParsedSeries(_get_whole(banner), f"latency_p{rank}", 0, "report", ats, values)


def _get_whole(banner: SysbenchBanner) -> str:
    return banner.operations[0] if len(banner.operations) == 1 else "mixed"


def _make_histograms(banner: SysbenchBanner, report: SysbenchReport, section: int) -> tuple[ParsedHistogram, ...]:
    """Return the histogram that sysbench prints above its last report."""
    if not report.buckets:
        return ()
    merged: dict[int, int] = {}
    for bin_ns, count in report.buckets:
        merged[bin_ns] = merged.get(bin_ns, 0) + count
    return (ParsedHistogram(_get_whole(banner), "lat", section, tuple(sorted(merged.items()))),)
