"""Parser of ioping's JSON (`-J`), versions 1.2 and 1.3.

    "io": {"request": 2, "operation": "read", "size": 4096, "time": 255329, "ignored": false}

An array of objects for each run: one per request (`io`), one per statistic (`stat` with `load`: what was generated,
ignored requests included). Times are ns, `bps` is bytes/s, `timestamp` seconds since 1970 (ioping.c, `json_request` and
`json_statistics`). The last `stat` is the run's, the ones before it are of periods (-p, -P). Both `read` and `write`
requests mean -G, whose one statistic is `mixed`.

Random or sequential is not stated, nor, where the requests are left out (-q, -R), whether they are reads: then the
command line above decides, or the figures are `mixed` with a note and a warning, and the run began its own time before
its statistics. Objects are read one by one, so a file that is cut off keeps its requests.
"""

import re
from collections.abc import Iterator, Sequence
from math import nan

from apps.parsers.core.json_places import JsonDocument, find_documents, get_member, get_text
from apps.parsers.core.models import Broken, ParsedFile, ParsedRun, ParsedSeries, ParseError
from apps.parsers.core.numbers import read_epoch, read_non_negative, read_whole
from apps.parsers.core.source_text import SourceText
from apps.parsers.ioping import units as ioping_units
from apps.parsers.ioping.samples import (
    CUT,
    LATENCIES,
    PERIODS,
    UNITS,
    PrintedFigure,
    choose_operation,
    make_missing,
    make_samples,
)

NAME = "ioping json"
TITLE = "ioping JSON"

_UNKNOWN_DIRECTION = (
    "whether ioping read or wrote is not printed, as its requests are not, and its command line is not shown"
)
_LONGEST = 4096
_MOST_ABOVE, _MOST_BLANKS = 3, 80
_OPENING = re.compile(rb'\{(?=\s{0,80}"timestamp"\s{0,8}:)')
_KEYS = {"iops": "iops", "bps": "bandwidth", "size": "io_bytes",
         **dict(zip(("min", "avg", "max", "mdev"), LATENCIES, strict=True))}  # fmt: skip


def looks_like(text: SourceText) -> float:
    """Return 1 if the text has JSON of ioping, else 0."""
    body = text.text
    if '"timestamp"' not in body or '"target"' not in body:
        return 0.0
    return 1.0 if '"fstype"' in body and ('"ignored"' in body or '"mdev"' in body) else 0.0


def parse(text: SourceText) -> ParsedFile:
    """Parse every run in the text.

    Raises:
        ParseError: if there is none.
    """
    documents = list(find_documents(text, _OPENING))
    groups = [group for group in _group_documents(documents) if group]
    runs = [_make_run(group, _find_command(text, group[0].first)) for group in groups]
    broken = [_make_cut(document) for document in documents if document.value is None]
    broken += [_make_cut(group[-1]) for group in groups if not _get_statistics(group)]
    broken += [fault for document in documents if document.value is not None for fault in document.faults]
    if not runs and not broken:
        raise ParseError("no JSON of ioping in the text", expected='an object with "timestamp", "target" and "io"')
    unsure = [f"line {run.line}: {_UNKNOWN_DIRECTION}" for run in runs if run.samples[0].note == _UNKNOWN_DIRECTION]
    return ParsedFile(tuple(runs), tuple(unsure), tuple(broken))


def _find_command(text: SourceText, line: int) -> str:
    """Return the ioping command directly above a line, "" where there is none."""
    above = next(
        (
            line_above
            for line_above in reversed(text.lines[max(0, line - 1 - _MOST_ABOVE) : line - 1])
            if line_above.strip()
        ),
        "",
    )
    match = ioping_units.find_command(above[:_LONGEST])
    return match[1].strip() if match else ""


def _make_cut(document: JsonDocument) -> Broken:
    return Broken(CUT, document.last, "", 'an object with "stat"')


def _group_documents(documents: Sequence[JsonDocument]) -> Iterator[list[JsonDocument]]:
    """Yield the documents of each run: another array begins another run, and so does a request whose number does not increase."""
    group: list[JsonDocument] = []
    last = 0
    for document in documents:
        number = read_whole(get_member(document.value, "io", "request"))
        if number is None and not isinstance(get_member(document.value, "stat"), dict):
            continue
        if document.lines.data[max(0, document.start - _MOST_BLANKS) : document.start].rstrip().endswith(b"["):
            yield group
            group, last = [], 0
        if number is not None:
            if number <= last:
                yield group
                group = []
            last = number
        group.append(document)
    yield group


def _get_statistics(group: Sequence[JsonDocument]) -> list[JsonDocument]:
    return [document for document in group if isinstance(get_member(document.value, "stat"), dict)]


def _make_run(group: Sequence[JsonDocument], command: str) -> ParsedRun:
    requests = [document for document in group if isinstance(get_member(document.value, "io"), dict)]
    last, periods = _split_total(_get_statistics(group))
    target = get_member(group[0].value, "target")
    block_size = _find_block_size(requests, last)
    began = _find_start(group[0])
    name, note = _find_operation(requests, command)
    samples = (
        make_samples(
            name, _make_figures(last), read_non_negative(get_member(last.value, "stat", "count")), block_size, note
        )
        if last
        else []
    )
    device = f"{get_text(get_member(target, 'fstype'))} {get_text(get_member(target, 'device'))}".strip()
    reason = CUT if not periods else PERIODS
    return ParsedRun(
        tool="ioping", tool_version="", samples=tuple(samples or [make_missing(name, group[-1].last, block_size, reason)]),
        series=(*_make_request_series(requests, began, name),
                *_iterate_period_series(periods, began, name, with_latency=not requests)), started_at=began,
        ended_at=read_epoch(get_member(group[-1].value, "timestamp")), problem="" if last else reason,
        labels={"device": device} if device else {}, target=get_text(get_member(target, "path"), 1000),
        workload=ioping_units.read_workload(command) if command else {}, line=group[0].first, last_line=group[-1].last,
    )  # fmt: skip


def _find_start(first: JsonDocument) -> float | None:
    """Return when the run began: a request has the time at which it was made, statistics that at which they were printed."""
    at, took = (
        read_epoch(get_member(first.value, "timestamp")),
        read_non_negative(get_member(first.value, "load", "time")),
    )
    if isinstance(get_member(first.value, "io"), dict) or at is None:
        return at
    return None if took is None else read_epoch(round(at - took / 1e9, 6))


def _split_total(statistics: Sequence[JsonDocument]) -> tuple[JsonDocument | None, Sequence[JsonDocument]]:
    """Return the statistics of the whole run, if there are any, and those of its periods."""
    counts = [read_non_negative(get_member(document.value, "load", "count")) or 0 for document in statistics]
    if len(counts) > 1 and not _is_closed(statistics[-1]) and sum(counts[:-1]) >= counts[-1]:
        return None, statistics
    return (statistics[-1], statistics[:-1]) if statistics else (None, ())


def _is_closed(last: JsonDocument) -> bool:
    """Return whether it is the last one of its array, which ioping ends with the statistics of the whole run."""
    return last.lines.data[last.end : last.end + _MOST_BLANKS].lstrip().startswith(b"]")


def _find_operation(requests: Sequence[JsonDocument], command: str) -> tuple[str, str]:
    options = ioping_units.read_options(command) if command else None
    directions = {
        word
        for document in requests
        if (word := get_text(get_member(document.value, "io", "operation"))) in ("read", "write")
    }
    if directions:
        return choose_operation(next(iter(directions)) if len(directions) == 1 else "mixed", options)
    if options is None:
        return "mixed", _UNKNOWN_DIRECTION
    return choose_operation("mixed" if "G" in options else "write" if "W" in options else "read", options)


def _find_block_size(requests: Sequence[JsonDocument], last: JsonDocument | None) -> int | None:
    """Return the block size of the requests; where they are left out, the moved bytes ÷ requests."""
    sizes = {read_whole(get_member(document.value, "io", "size")) for document in requests}
    if sizes:
        return next(iter(sizes)) if len(sizes) == 1 else None
    moved, count = (read_whole(get_member(last.value, "stat", key)) if last else None for key in ("size", "count"))
    return moved // count if moved and count and moved % count == 0 else None


def _iterate_period_series(
    periods: Sequence[JsonDocument], began: float | None, name: str, *, with_latency: bool
) -> Iterator[ParsedSeries]:
    """Yield the periods as series; the latency only where the requests, which are a series of it, are left out."""
    placed = [
        (round(at - began, 6), period)
        for period in periods
        if began is not None and (at := read_epoch(get_member(period.value, "timestamp"))) is not None
    ]
    for key, metric in (("iops", "iops"), ("bps", "bandwidth"), ("avg", "latency_mean")):
        if placed and (with_latency or metric != "latency_mean"):
            yield ParsedSeries(
                name,
                metric,
                0,
                "report",
                tuple(at for at, _ in placed),
                tuple(_get_value(period, key) for _, period in placed),
            )


def _get_value(period: JsonDocument, key: str) -> float:
    """Return a value of a period, NaN where none of its requests counted."""
    value = (
        read_non_negative(get_member(period.value, "stat", key))
        if read_non_negative(get_member(period.value, "stat", "count"))
        else None
    )
    return nan if value is None else value


def _make_figures(last: JsonDocument) -> dict[str, PrintedFigure]:
    figures = {}
    for key, metric in _KEYS.items():
        place = last.place("stat", key)
        printed = f"{place.printed} {UNITS.get(metric, 'ns')}" if place.printed else ""
        figures[metric] = PrintedFigure(read_non_negative(get_member(last.value, "stat", key)), printed, place.line)
    return figures


def _make_request_series(requests: Sequence[JsonDocument], began: float | None, name: str) -> tuple[ParsedSeries, ...]:
    points: dict[str, list[tuple[float, float]]] = {}
    for request in requests:
        at, took = (
            read_epoch(get_member(request.value, "timestamp")),
            read_non_negative(get_member(request.value, "io", "time")),
        )
        direction = get_text(get_member(request.value, "io", "operation"))
        if at is not None and took is not None and began is not None and direction in ("read", "write"):
            points.setdefault(direction, []).append((round(at - began, 6), took))
    return tuple(
        ParsedSeries(name if len(points) == 1 else f"rand{direction}", "latency_mean", 0, "report", tuple(at for at, _ in pairs),
                     tuple(took for _, took in pairs))
        for direction, pairs in points.items()
    )  # fmt: skip
