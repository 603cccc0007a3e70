"""Parser of fio's JSON and JSON+ reports (`--output-format=json`, `json+`), fio 2.1 to 3.x, also of `--client` (`client_stats`).

One real line, from fio 3.33: `        "bw_bytes" : 118440107,`

    {"fio version": "fio-3.33", "timestamp_ms": 1795266633388, "global options": {"bs": "4k"},
     "jobs": [{"jobname", "groupid", "error", "elapsed": s, "job options": {"rw": "randread"},
               "read": {"io_bytes", "bw_bytes": B/s, "bw": KiB/s, "iops", "runtime": ms, "total_ios",
                        "slat_ns" | "clat_ns" | "lat_ns": {"min", "max", "mean", "stddev", "N",
                                                           "percentile": {"99.000000": ns}, "bins": {"21632": count}}},
               "write": …, "trim": …, "job_runtime": ms, "usr_cpu": %, "sys_cpu": %}]}

Peculiarities:

- With `--status-interval` the file holds one document after another with running totals: the last whole one is the
  result, the earlier ones become
  series. A file can also hold several runs one after another; they are distinguished by jobs, time and totals.
- Error and progress lines may stand before the JSON; `nan` in place of a number is read as missing.
- fio 2.x: latencies in µs under `clat`, `io_bytes` in KiB, whole-number `iops`, no `bw_bytes`; its bins are numbered,
  not in ns, and not read.
- `bw` is KiB/s in all versions; `bw_bytes` came during 3.x and is used where present.
- Percentiles are computed from the bins where there are any, as fio does (`bins.py`), else used as printed.
- fio 3.1 to 3.12 print the percentiles of `lat_percentiles=1` under `clat_ns`, although they are those of `lat_ns`.
- `client_stats` ends with a sum, "All clients", which is not one more job. Global options of several clients: see
  `documents.py`.
- `unified_rw_reporting` leaves only `mixed`, the sum of reads and writes, or adds it to them (`both`).
- `disk_util` is the kernel's own count for each disk: see `disks.py`.
- `sync` holds the latencies of flushes (3.x). Zeros stand for what was not measured.
- CPU: see `samples.compute_cpu`.
- Names and options that can not be read (`"50.0x0000" : 20` is a figure of no percentile, `"bs" : "4xk"` no size) give
  a warning.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

import msgspec

from apps.parsers.core.models import Broken, ParsedFile, ParsedRun, ParsedSample, ParsedSection, ParseError
from apps.parsers.core.source_text import SourceText, decode_for_message, get_ascii_bytes
from apps.parsers.fio.disks import FioDisk, iterate_disk_samples, read_disks
from apps.parsers.fio.engines import apply_engines, iterate_warnings
from apps.parsers.fio.json.documents import FioDocument, JsonDirection, JsonJob, JsonLatency
from apps.parsers.fio.json.doubts import without_repeated_keys
from apps.parsers.fio.json.faults import NoJsonError
from apps.parsers.fio.json.lines import FioLines, LineCounter
from apps.parsers.fio.json.progress import ProgressPoint, is_continued, make_lone_point, make_point, make_series
from apps.parsers.fio.json.sources import PlacedDocument, collect_documents
from apps.parsers.fio.options import UNKNOWN_LOAD, has_lat_percentiles, parse_size
from apps.parsers.fio.quantities import read_version
from apps.parsers.fio.samples import JobSection, describe_error
from apps.parsers.fio.workload import make_workload

_DIRECTIONS = ("read", "write", "trim", "mixed", "sync")
_KINDS = ("clat_ns", "lat_ns", "slat_ns", "clat", "lat", "slat")
_SIZES = ("bs", "size", "filesize", "iodepth", "numjobs")
_SWITCHES = {"0", "1", "true", "false", "yes", "no", ""}
_OTHER = set("%$(-:/*")  # marks of shares, ranges, variables and sums, which are valid without being sizes


def warn_of_options(options: Mapping[str, str]) -> Iterator[str]:
    """Yield a warning for each option with a value that can not be read."""
    for name in _SIZES:
        text = options.get(name, "")
        if (
            text
            and not _OTHER & set(text)
            and any(part.strip() and parse_size(part) is None for part in text.split(","))
        ):
            yield f"its {name} is {text[:40]!r}, which is no number or size; it is taken as not told"
    if (text := options.get("direct", "").strip().lower()) not in _SWITCHES:
        yield f"its direct is {text[:40]!r}, expected 0 or 1; it is taken as not told"


def warn_of_names(job: JsonJob, *, has_bins: bool) -> Iterator[str]:
    """Yield a warning for each percentile or bin whose name is no number; its figures are left out."""
    for part in _DIRECTIONS:
        direction: JsonDirection | None = getattr(job, part)
        for kind in _KINDS if direction is not None and (direction.total_ios or direction.io_bytes) else ():
            latency: JsonLatency | None = getattr(direction, kind)
            if latency is None:
                continue
            if latency.percentile and (strange := _find_strange(latency.percentile, ".")):
                yield f"a percentile of {part} {kind} is called {strange[:40]!r}, expected a number; it is left out"
            if has_bins and latency.bins and (strange := _find_strange(latency.bins, "")):
                yield f"a bin of {part} {kind} is called {strange[:40]!r}, expected ns; the histogram is left out"


def _find_strange(names: Iterable[str], point: str) -> str:
    """Return the first name that is no number; all are checked together first, because there may be hundreds."""
    if "".join(names).replace(point, "").isdecimal():
        return ""
    return next((name or "nothing" for name in names if not name.replace(point, "", 1).isdecimal()), "")


NAME = "fio json"
TITLE = "fio JSON report"

SAME_START_MS = 2500
_LONGEST = 255
_VERSION = re.compile(rb'"fio version"\s*:')
_WORDS = tuple(re.compile(rb'"%s"\s*:' % word) for word in (b"jobname", b"client_stats", b"clat_ns", b"job options"))
_HEAD = b'{"fioversion"'
_UNFIT = re.compile("[\x00\ud800-\udfff]")


def begins(head: bytes) -> bool:
    """Return whether fio's report is the first thing in the file, so that no other format needs to be tried."""
    return head.startswith(b"{") and _VERSION.search(head, 0, 200) is not None


def looks_like(text: str | bytes | SourceText) -> float:
    """Return 1 if fio's version line is there, 0.6 for fio's keys without it, 0 otherwise."""
    source = text if isinstance(text, SourceText) else SourceText(text)
    data = get_ascii_bytes(source)
    if _VERSION.search(data):
        return 1.0
    return 0.6 if sum(1 for word in _WORDS if word.search(data)) >= 2 else 0.0


def parse(text: str | bytes | SourceText) -> ParsedFile:
    """Parse every run in the text.

    Raises:
        ParseError: if there is none, or if a field has the wrong type.
    """
    documents = collect_documents(text)
    data, entries, broken, warnings = documents.data, documents.entries, documents.broken, documents.warnings
    if not entries:
        raise broken[0] if broken else _make_nothing_error(data)
    groups = _group_by_run(entries)
    repeated, count = list[Broken](), LineCounter(data)
    runs = [run for group in groups for run in _make_runs(count, group, warnings, repeated)]
    if tail := _report_cut_off(data, entries[-1][1], broken, len(groups[-1]) > 1) or _report_unread_end(
        data, groups[-1], broken
    ):
        warnings.append(tail)
    warnings += chain.from_iterable(map(iterate_warnings, runs))
    return ParsedFile(
        tuple(map(apply_engines, runs)),
        tuple(dict.fromkeys(warnings)),
        (*(error.broken for error in broken), *repeated),
    )


def _make_nothing_error(data: bytes) -> ParseError:
    start = re.search(rb"^[ \t\r]*+\{", data, re.MULTILINE)
    expected = 'a whole JSON object with "fio version"'
    if start is None:
        first = decode_for_message(data.lstrip()[:80]).split("\n")[0]
        return ParseError("no JSON in the text", line=1, found=first or "nothing", expected=expected)
    line = data.count(b"\n", 0, start.end()) + 1
    last = decode_for_message(data.rstrip()[-40:])
    message = "the JSON that begins here is cut off, or is no report of fio"
    return ParseError(message, line=line, found=f"… {last}", expected=expected)


def _report_cut_off(data: bytes, end: int, broken: list[ParseError], has_history: bool) -> str:
    """Return the warning for a document that never ends because fio was killed while writing, "" where there is none.

    If an earlier status of the same run is there, the cut-off document is removed from `broken`; otherwise it is a
    broken run and stays.
    """
    match = re.search(rb"(?:^|\r)\{", data[end:], re.MULTILINE)
    if match is None:
        return ""
    start = end + match.end() - 1
    line = data.count(b"\n", 0, start) + 1
    remark = "the last document is cut off; the figures are those of the one before it"
    last = next(
        (error for error in broken if error.line == line and isinstance(error, NoJsonError) and error.is_cut_off), None
    )
    if last is not None and has_history:
        broken.remove(last)
        return f"line {line}: {remark}; found {last.found!r}, expected {last.expected}"
    words = data[start : start + 80].split()
    is_fio = b"".join(words).startswith(_HEAD) or _HEAD.startswith(b"".join(words))
    return f"line {line}: {remark}" if last is None and is_fio and not broken else ""


def _report_unread_end(
    data: bytes, group: Sequence[tuple[PlacedDocument, ProgressPoint]], broken: Sequence[ParseError]
) -> str:
    """Return the warning for a run whose last status report can not be read, "" for any other."""
    last = data.count(b"\n", 0, group[-1][0][1]) + 1
    lines = [error.line for error in broken if error.line is not None and error.line > last]
    if not lines or len(group) < 2:
        return ""
    return f"line {lines[-1]}: the last status report cannot be read; the figures are those of the one before it"


def _group_by_run(entries: Sequence[PlacedDocument]) -> list[list[tuple[PlacedDocument, ProgressPoint]]]:
    if len(entries) == 1:
        return [[(entries[0], make_lone_point(entries[0][2]))]]
    groups: list[list[tuple[PlacedDocument, ProgressPoint]]] = []
    for entry in entries:
        point = make_point(entry[2])
        if groups and _continues(groups[-1][-1][1], point):
            groups[-1].append((entry, point))
        else:
            groups.append([(entry, point)])
    return groups


def _continues(before: ProgressPoint, after: ProgressPoint) -> bool:
    """Return whether a document belongs to the run of the one before it."""
    if [job.name for job in before.jobs] != [job.name for job in after.jobs]:
        return False
    if before.elapsed_s is None and after.elapsed_s is None:
        return is_continued(before, after)
    if before.elapsed_s is None or after.elapsed_s is None or after.elapsed_s < before.elapsed_s:
        return False
    began, begun = before.began_ms, after.began_ms
    if began is not None and begun is not None and abs(begun - began) <= SAME_START_MS:
        return True
    # the clock may have been set; totals that only grow show the same
    return after.elapsed_s > before.elapsed_s and all(
        name in new.totals and new.totals[name].io_bytes >= totals.io_bytes
        for old, new in zip(before.jobs, after.jobs, strict=True)
        for name, totals in old.totals.items()
    )


def _make_runs(
    count: LineCounter, group: Sequence[tuple[PlacedDocument, ProgressPoint]], warnings: list[str], broken: list[Broken]
) -> Iterator[ParsedRun]:
    """Yield one run, or none where nothing valid is left of it."""
    start, end, document = group[-1][0]
    if not document.listed:
        broken.append(
            Broken("a report of fio that lists no job", count.line(start), "", "jobs or client_stats with entries")
        )
        return
    history = [point for _, point in group]
    sections, disks, samples = _read_document(count, group[-1][0])
    if any(section.is_doubtful or section.lines is None for section in sections):
        repeated, sound = _read_without_repeated_keys(count, start, end)
        if repeated:
            broken += repeated
            if sound is None:
                return
            document = sound
            sections, disks, samples = _read_document(count, (start, end, sound))
    if disks is None:
        shown_disks = clean(repr(document.disk_util)[:80])
        warnings.append(f"disk_util: found {shown_disks}, expected a list of disks with their counts")
    _add_warnings(sections, warnings)
    began = [point.began_ms for point in history if point.began_ms is not None]
    yield ParsedRun(
        tool="fio",
        tool_version=clean(document.version).removeprefix("fio-"),
        sections=_make_parsed_sections(sections),
        samples=samples,
        series=tuple(make_series(history)) if len(history) > 1 else (),
        histograms=tuple(histogram for section in sections for histogram in section.histograms()),
        started_at=max(began) / 1000 if began else None,
        ended_at=document.at_ms / 1000 if document.at_ms is not None else None,
        problem="; ".join(_describe_problem(section) for section in sections if section.job.error),
        workload=make_workload([UNKNOWN_LOAD if section.holds_others() else section.load for section in sections]),
        host=_get_common([section.job.hostname for section in sections]),
        target=_get_common([section.load.options.get("filename", "") for section in sections]),
        line=count.line(group[0][0][0]),
        last_line=count.line(end),
    )


def _read_document(
    count: LineCounter, entry: PlacedDocument
) -> tuple[list[JobSection], list[FioDisk] | None, tuple[ParsedSample, ...]]:
    """Return the jobs, the disks below them, and the samples of both."""
    start, end, document = entry
    sections, disks = _make_sections(count, start, end, document), read_disks(document.disk_util)
    own = chain.from_iterable(section.samples() for section in sections)
    return sections, disks, (*own, *iterate_disk_samples(disks or (), FioLines(count, start, end)))


def _read_without_repeated_keys(
    count: LineCounter, start: int, end: int
) -> tuple[list[Broken], FioDocument[JsonJob] | None]:
    """Return the repeated keys with different values, and the document without them, where it still is one."""
    whole, repeated = without_repeated_keys(count.data[start:end], count.line(start))
    if not repeated:
        return [], None
    try:
        return repeated, msgspec.convert(whole, FioDocument[JsonJob])
    except msgspec.ValidationError:
        return repeated, None


def _get_common(words: Sequence[str]) -> str:
    """Return the word that all sections have in common, "" where they differ."""
    different = set(words)
    return clean(different.pop())[:_LONGEST] if len(different) == 1 else ""


def _make_sections(count: LineCounter, start: int, end: int, document: FioDocument[JsonJob]) -> list[JobSection]:
    entries = document.get_entries()
    lines = FioLines(count, start, end)
    parts = lines.jobs()
    known = len(parts) == len(document.listed)
    if known:
        ids = {id(job) for job in entries}
        parts = [part for part, job in zip(parts, document.listed, strict=True) if id(job) in ids]
    is_version_2 = _is_version_2(document.version.removeprefix("fio-"), entries)
    may_be_of_lat = (3, 1) <= ((read_version(document.version) or ("", ()))[1])[:2] < (3, 13)
    return [
        JobSection(
            job,
            load,
            number,
            lines if known else None,
            parts[number] if known else (start, end),
            is_version_2,
            may_be_of_lat and has_lat_percentiles(load.options),
        )
        for number, (job, load) in enumerate(zip(entries, document.make_loads(), strict=True))
    ]


def _is_version_2(version: str, entries: Sequence[JsonJob]) -> bool:
    """Return whether `io_bytes` is KiB, as before 2.99; without a readable version the names of the latencies decide."""
    if version[:1] in ("1", "2", "3") and version[1:2] == ".":
        return version.startswith(("1.", "2.")) and not version.startswith("2.99")
    return any(
        direction is not None and direction.clat is not None
        for job in entries
        for direction in (job.read, job.write, job.trim)
    )


def _make_parsed_sections(sections: Sequence[JobSection]) -> tuple[ParsedSection, ...]:
    """Return the sections of the run; those of several clients have the host name among their options."""
    has_hosts = len({section.job.hostname for section in sections} - {""}) > 1
    return tuple(_make_parsed_section(section, section.job.hostname if has_hosts else "") for section in sections)


def _make_parsed_section(section: JobSection, host: str) -> ParsedSection:
    given = {**section.load.options, **({"hostname": host} if host else {})}
    options = {clean(name): clean(value) for name, value in given.items()}
    return ParsedSection(section.number, clean(section.job.jobname), options, section.job.error, section.job.groupid)


def _describe_problem(section: JobSection) -> str:
    return f"fio's {clean(section.job.jobname)} ended with {describe_error(section.job.error)}"


def _add_warnings(sections: Sequence[JobSection], warnings: list[str]) -> None:
    for section in sections:
        name = clean(section.job.jobname)
        if not section.load.options:
            warnings.append(f"job {name!r}: no options are printed; block size, depth, and random or not are unknown")
        warnings += [f"job {name!r}: {warning}" for warning in warn_of_options(section.load.options)]
        warnings += [
            f"job {name!r}: {warning}" for warning in warn_of_names(section.job, has_bins=not section.is_version_2)
        ]
        if section.load.is_shared:
            other = clean(section.load.options["name"])[:60]
            warnings.append(
                f"job {name!r}: its options are those of {other!r}, for group_reporting made one of both; sizes, depth and pattern are unknown"
            )
        if foreign := section.find_foreign_directions():
            warnings.append(
                f"job {name!r}: it also moved data by {', '.join(foreign)}, which its rw={section.load.rw} does not; "
                "group_reporting added other jobs to it"
            )


def clean(text: str) -> str:
    """Replace the characters that PostgreSQL's text type does not hold."""
    return _UNFIT.sub("\ufffd", text)
