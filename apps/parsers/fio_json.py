"""fio's JSON and JSON+ reports (`--output-format=json`, `json+`), fio 2.1 to 3.x, also `--client` output
(`client_stats`).

One real line, from fio 3.33: `        "bw_bytes" : 118440107,`

    {"fio version": "fio-3.33", "timestamp_ms": 1795266633388, "global options": {"bs": "4k"},
     "jobs": [{"jobname", "groupid", "error", "elapsed": s, "job options": {"rw": "randread"},
               "read": {"io_bytes", "bw_bytes": B/s, "bw": KiB/s, "iops", "runtime": ms, "total_ios",
                        "slat_ns" | "clat_ns" | "lat_ns": {"min", "max", "mean", "stddev", "N",
                                                           "percentile": {"99.000000": ns}, "bins": {"21632": count}}},
               "write": …, "trim": …, "job_runtime": ms, "usr_cpu": %, "sys_cpu": %}]}

Oddities
- With `--status-interval` the file holds one document after another, running totals: the last whole one is the result,
  the earlier ones become series. A file can also hold several runs one after another; they are told apart by jobs, time
  and totals.
- Error and progress lines may stand before the JSON; `nan` in a place where a number belongs is read as missing.
- fio 2.x: latencies in µs under `clat`, `io_bytes` in KiB, whole-number `iops`, no `bw_bytes`; its bins are numbered,
  not in ns, and left alone.
- `bw` is KiB/s in all versions; `bw_bytes` came during 3.x and is used where present.
- Percentiles are taken from the bins where there are any, as fio does (`fio_bins`), else as printed.
- fio 3.1 to 3.12 print the percentiles of `lat_percentiles=1` under `clat_ns`, and those are of `lat_ns`.
- `client_stats` ends with a sum, "All clients", which is not one more job. Whose the global options of several clients
  are: see `fio_clients`.
- `unified_rw_reporting` leaves only `mixed`, the sum of reads and writes, or adds it to them (`both`).
- `disk_util` is the kernel's own count, of each disk: see `fio_disks`.
- `sync` holds the latencies of flushes (3.x). Zeros stand for what was not measured.
- CPU: see `fio_samples.cpu_of`.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain

import msgspec

from apps.parsers.fio_disks import Disk, disks_of, samples_of
from apps.parsers.fio_documents import Document, Job
from apps.parsers.fio_doubts import without_twice
from apps.parsers.fio_faults import NoJsonError
from apps.parsers.fio_found import Found, documents_in
from apps.parsers.fio_lines import LineCount, Lines
from apps.parsers.fio_names import unread_names, unread_options
from apps.parsers.fio_options import UNTOLD, counts_lat
from apps.parsers.fio_progress import ProgressPoint, lone_point_of, point_of, ran_on, series
from apps.parsers.fio_quantities import version_of
from apps.parsers.fio_samples import Section, error_text
from apps.parsers.fio_workload import workload_of
from apps.parsers.shape import Broken, ParsedFile, ParsedRun, ParsedSample, ParsedSection, ParseError
from apps.parsers.source_text import SourceText, plain_bytes, shown

NAME = "fio json"
TITLE = "fio JSON report"

SAME_START_MS = 2500
_LONGEST = 255
_VERSION = re.compile(rb'"fio version"\s*:')
_WORDS = tuple(re.compile(rb'"%s"\s*:' % word) for word in (b"jobname", b"client_stats", b"clat_ns", b"job options"))
_HEAD = b'{"fioversion"'
_UNFIT = re.compile("[\x00\ud800-\udfff]")


def begins(head: bytes) -> bool:
    """Whether fio's report is the first thing in the file: then no other format need be asked."""
    return head.startswith(b"{") and _VERSION.search(head, 0, 200) is not None


def looks_like(text: str | bytes | SourceText) -> float:
    """1 when fio's version line stands there, 0.6 for fio's words without it, 0 otherwise."""
    source = text if isinstance(text, SourceText) else SourceText(text)
    data = plain_bytes(source)
    if _VERSION.search(data):
        return 1.0
    return 0.6 if sum(1 for word in _WORDS if word.search(data)) >= 2 else 0.0


def parse(text: str | bytes | SourceText) -> ParsedFile:
    """Every run in the text. `ParseError` where there is none, or a field is of the wrong type."""
    documents = documents_in(text)
    data, found, broken, warnings = documents.data, documents.found, documents.broken, documents.warnings
    if not found:
        raise broken[0] if broken else _nothing(data)
    groups = _by_run(found)
    twice, count = list[Broken](), LineCount(data)
    runs = [run for group in groups for run in _run(count, group, warnings, twice)]
    if tail := _cut_off(data, found[-1][1], broken, len(groups[-1]) > 1) or _unread_end(data, groups[-1], broken):
        warnings.append(tail)
    return ParsedFile(tuple(runs), tuple(dict.fromkeys(warnings)), (*(one.broken for one in broken), *twice))


def _nothing(data: bytes) -> ParseError:
    start = re.search(rb"^[ \t\r]*+\{", data, re.MULTILINE)
    expected = 'a whole JSON object with "fio version"'
    if start is None:
        first = shown(data.lstrip()[:80]).split("\n")[0]
        return ParseError("no JSON in the text", line=1, found=first or "nothing", expected=expected)
    line = data.count(b"\n", 0, start.end()) + 1
    last = shown(data.rstrip()[-40:])
    message = "the JSON that begins here is cut off, or is no report of fio"
    return ParseError(message, line=line, found=f"… {last}", expected=expected)


def _cut_off(data: bytes, end: int, broken: list[ParseError], has_history: bool) -> str:
    """What to say of a document that never ends: fio was killed while it wrote. Of one that reports a run whose earlier
    status is there, that is all; else it is a run that is broken, and stays in `broken`.
    """
    match = re.search(rb"(?:^|\r)\{", data[end:], re.MULTILINE)
    if match is None:
        return ""
    start = end + match.end() - 1
    line = data.count(b"\n", 0, start) + 1
    told = "the last document is cut off; the figures are those of the one before it"
    last = next((one for one in broken if one.line == line and isinstance(one, NoJsonError) and one.is_cut_off), None)
    if last is not None and has_history:
        broken.remove(last)
        return f"line {line}: {told}; found {last.found!r}, expected {last.expected}"
    words = data[start : start + 80].split()
    is_fio = b"".join(words).startswith(_HEAD) or _HEAD.startswith(b"".join(words))
    return f"line {line}: {told}" if last is None and is_fio and not broken else ""


def _unread_end(data: bytes, group: Sequence[tuple[Found, ProgressPoint]], broken: Sequence[ParseError]) -> str:
    """What to say where the last status report of a run is there and cannot be read."""
    last = data.count(b"\n", 0, group[-1][0][1]) + 1
    lines = [one.line for one in broken if one.line is not None and one.line > last]
    if not lines or len(group) < 2:
        return ""
    return f"line {lines[-1]}: the last status report cannot be read; the figures are those of the one before it"


def _by_run(found: Sequence[Found]) -> list[list[tuple[Found, ProgressPoint]]]:
    if len(found) == 1:
        return [[(found[0], lone_point_of(found[0][2]))]]
    groups: list[list[tuple[Found, ProgressPoint]]] = []
    for one in found:
        point = point_of(one[2])
        if groups and _continues(groups[-1][-1][1], point):
            groups[-1].append((one, point))
        else:
            groups.append([(one, point)])
    return groups


def _continues(before: ProgressPoint, after: ProgressPoint) -> bool:
    """Whether a document goes on from the one before it, or another run begins."""
    if [job.name for job in before.jobs] != [job.name for job in after.jobs]:
        return False
    if before.elapsed_s is None and after.elapsed_s is None:
        return ran_on(before, after)
    if before.elapsed_s is None or after.elapsed_s is None or after.elapsed_s < before.elapsed_s:
        return False
    began, begun = before.began_ms, after.began_ms
    if began is not None and begun is not None and abs(begun - began) <= SAME_START_MS:
        return True
    # the clock may have been set: totals that only grow are as good
    return after.elapsed_s > before.elapsed_s and all(
        name in new.totals and new.totals[name].io_bytes >= totals.io_bytes
        for old, new in zip(before.jobs, after.jobs, strict=True)
        for name, totals in old.totals.items()
    )


def _run(
    count: LineCount, group: Sequence[tuple[Found, ProgressPoint]], warnings: list[str], broken: list[Broken]
) -> Iterator[ParsedRun]:
    """One run, or none where nothing sound is left of it."""
    start, end, document = group[-1][0]
    if not document.listed:
        broken.append(
            Broken("a report of fio that lists no job", count.line(start), "", "jobs or client_stats with entries")
        )
        return
    history = [point for _, point in group]
    sections, disks, samples = _read(count, group[-1][0])
    if any(section.is_doubtful or section.lines is None for section in sections):
        twice, sound = _sound(count, start, end)
        if twice:
            broken += twice
            if sound is None:
                return
            document = sound
            sections, disks, samples = _read(count, (start, end, sound))
    if disks is None:
        shown_disks = clean(repr(document.disk_util)[:80])
        warnings.append(f"disk_util: found {shown_disks}, expected a list of disks with their counts")
    _warn(sections, warnings)
    began = [point.began_ms for point in history if point.began_ms is not None]
    yield ParsedRun(
        tool="fio",
        tool_version=clean(document.version).removeprefix("fio-"),
        sections=_parsed_sections(sections),
        samples=samples,
        series=tuple(series(history)) if len(history) > 1 else (),
        histograms=tuple(histogram for section in sections for histogram in section.histograms()),
        started_at=max(began) / 1000 if began else None,
        ended_at=document.at_ms / 1000 if document.at_ms is not None else None,
        problem="; ".join(_problem(section) for section in sections if section.job.error),
        workload=workload_of([UNTOLD if section.holds_others() else section.load for section in sections]),
        host=_only([section.job.hostname for section in sections]),
        target=_only([section.load.options.get("filename", "") for section in sections]),
        line=count.line(group[0][0][0]),
        last_line=count.line(end),
    )


def _read(count: LineCount, found: Found) -> tuple[list[Section], list[Disk] | None, tuple[ParsedSample, ...]]:
    """The jobs, the disks below them, and the samples of both."""
    start, end, document = found
    sections, disks = _sections(count, start, end, document), disks_of(document.disk_util)
    own = chain.from_iterable(section.samples() for section in sections)
    return sections, disks, (*own, *samples_of(disks or (), Lines(count, start, end)))


def _sound(count: LineCount, start: int, end: int) -> tuple[list[Broken], Document[Job] | None]:
    """The keys that stand twice with different values, and the document without them, where it still is one."""
    whole, twice = without_twice(count.data[start:end], count.line(start))
    if not twice:
        return [], None
    try:
        return twice, msgspec.convert(whole, Document[Job])
    except msgspec.ValidationError:
        return twice, None


def _only(words: Sequence[str]) -> str:
    """What all sections have in common; nothing where they differ."""
    found = set(words)
    return clean(found.pop())[:_LONGEST] if len(found) == 1 else ""


def _sections(count: LineCount, start: int, end: int, document: Document[Job]) -> list[Section]:
    entries = document.entries()
    lines = Lines(count, start, end)
    parts = lines.jobs()
    known = len(parts) == len(document.listed)
    if known:
        kept = {id(job) for job in entries}
        parts = [part for part, job in zip(parts, document.listed, strict=True) if id(job) in kept]
    is_version_2 = _is_version_2(document.version.removeprefix("fio-"), entries)
    may_be_of_lat = (3, 1) <= ((version_of(document.version) or ("", ()))[1])[:2] < (3, 13)
    return [
        Section(
            job,
            load,
            number,
            lines if known else None,
            parts[number] if known else (start, end),
            is_version_2,
            may_be_of_lat and counts_lat(load.options),
        )
        for number, (job, load) in enumerate(zip(entries, document.loads(), strict=True))
    ]


def _is_version_2(version: str, entries: Sequence[Job]) -> bool:
    """Before 2.99 `io_bytes` is KiB; where the version cannot be read, the names of the latencies tell."""
    if version[:1] in ("1", "2", "3") and version[1:2] == ".":
        return version.startswith(("1.", "2.")) and not version.startswith("2.99")
    return any(one is not None and one.clat is not None for job in entries for one in (job.read, job.write, job.trim))


def _parsed_sections(sections: Sequence[Section]) -> tuple[ParsedSection, ...]:
    """Where several clients ran, each with the name of its own among its options."""
    has_hosts = len({section.job.hostname for section in sections} - {""}) > 1
    return tuple(_parsed_section(section, section.job.hostname if has_hosts else "") for section in sections)


def _parsed_section(section: Section, host: str) -> ParsedSection:
    given = {**section.load.options, **({"hostname": host} if host else {})}
    options = {clean(name): clean(value) for name, value in given.items()}
    return ParsedSection(section.number, clean(section.job.jobname), options, section.job.error)


def _problem(section: Section) -> str:
    return f"fio's {clean(section.job.jobname)} ended with {error_text(section.job.error)}"


def _warn(sections: Sequence[Section], warnings: list[str]) -> None:
    for section in sections:
        name = clean(section.job.jobname)
        if not section.load.options:
            warnings.append(f"job {name!r}: no options are printed; block size, depth, and random or not are unknown")
        warnings += [f"job {name!r}: {told}" for told in unread_options(section.load.options)]
        warnings += [f"job {name!r}: {told}" for told in unread_names(section.job, has_bins=not section.is_version_2)]
        if section.load.is_shared:
            other = clean(section.load.options["name"])[:60]
            warnings.append(
                f"job {name!r}: its options are those of {other!r}, for group_reporting made one of both; sizes, depth and pattern are unknown"
            )
        if strangers := section.strangers():
            warnings.append(
                f"job {name!r}: it also moved data by {', '.join(strangers)}, which its rw={section.load.rw} does not; "
                "group_reporting added other jobs to it"
            )


def clean(text: str) -> str:
    """Without the characters that no database text holds."""
    return _UNFIT.sub("\ufffd", text)
