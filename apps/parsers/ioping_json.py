"""ioping's JSON (`-J`), versions 1.2 and 1.3.

    "io": {"request": 2, "operation": "read", "size": 4096, "time": 255329, "ignored": false}

An array of objects for each run: one per request (`io`), one per statistic (`stat` with `load`: what was generated, ignored
requests too). Times are ns, `bps` is bytes/s, `timestamp` seconds since 1970 (ioping.c, `json_request` and
`json_statistics`). The last `stat` is the run's, the ones before it are of periods (-p, -P). Both `read` and `write`
requests mean -G, whose one statistic is `mixed`. Random or sequential is not told, nor, where the requests are left out
(-q, -R), whether they are reads: then the command line above says it, or the figures stand as `mixed` with a note and a
warning, and the run began its own time before its statistics. Objects are read one by one, so a file that is cut off keeps
its requests.
"""

import re
from collections.abc import Iterator, Sequence
from math import nan

from apps.parsers import ioping_units
from apps.parsers.finite import epoch, positive, whole
from apps.parsers.ioping_samples import CUT, LATENCIES, PERIODS, UNITS, Figure, missing, operation, samples
from apps.parsers.json_places import Document, documents, member, words
from apps.parsers.shape import Broken, ParsedFile, ParsedRun, ParsedSeries, ParseError
from apps.parsers.source_text import SourceText

NAME = "ioping json"
TITLE = "ioping JSON"

_UNTOLD = "whether ioping read or wrote is not printed, as its requests are not, and its command line is not shown"
_LONGEST = 4096
_MOST_ABOVE, _MOST_BLANKS = 3, 80
_OPENING = re.compile(rb'\{(?=\s{0,80}"timestamp"\s{0,8}:)')
_KEYS = {"iops": "iops", "bps": "bandwidth", "size": "io_bytes",
         **dict(zip(("min", "avg", "max", "mdev"), LATENCIES, strict=True))}  # fmt: skip


def looks_like(text: SourceText) -> float:
    body = text.text
    if '"timestamp"' not in body or '"target"' not in body:
        return 0.0
    return 1.0 if '"fstype"' in body and ('"ignored"' in body or '"mdev"' in body) else 0.0


def parse(text: SourceText) -> ParsedFile:
    found = list(documents(text, _OPENING))
    groups = [group for group in _groups(found) if group]
    runs = [_run(group, _command(text, group[0].first)) for group in groups]
    broken = [_cut(one) for one in found if one.value is None]
    broken += [_cut(group[-1]) for group in groups if not _statistics(group)]
    broken += [fault for one in found if one.value is not None for fault in one.faults]
    if not runs and not broken:
        raise ParseError("no JSON of ioping in the text", expected='an object with "timestamp", "target" and "io"')
    unsure = [f"line {run.line}: {_UNTOLD}" for run in runs if run.samples[0].note == _UNTOLD]
    return ParsedFile(tuple(runs), tuple(unsure), tuple(broken))


def _command(text: SourceText, line: int) -> str:
    """What was typed directly above."""
    above = next((one for one in reversed(text.lines[max(0, line - 1 - _MOST_ABOVE) : line - 1]) if one.strip()), "")
    match = ioping_units.command_in(above[:_LONGEST])
    return match[1].strip() if match else ""


def _cut(one: Document) -> Broken:
    return Broken(CUT, one.last, "", 'an object with "stat"')


def _groups(found: Sequence[Document]) -> Iterator[list[Document]]:
    """Another array begins another run, and so does a request whose number does not go up."""
    group: list[Document] = []
    last = 0
    for one in found:
        number = whole(member(one.value, "io", "request"))
        if number is None and not isinstance(member(one.value, "stat"), dict):
            continue
        if one.lines.data[max(0, one.start - _MOST_BLANKS) : one.start].rstrip().endswith(b"["):
            yield group
            group, last = [], 0
        if number is not None:
            if number <= last:
                yield group
                group = []
            last = number
        group.append(one)
    yield group


def _statistics(group: Sequence[Document]) -> list[Document]:
    return [one for one in group if isinstance(member(one.value, "stat"), dict)]


def _run(group: Sequence[Document], command: str) -> ParsedRun:
    requests = [one for one in group if isinstance(member(one.value, "io"), dict)]
    last, periods = _split(_statistics(group))
    target = member(group[0].value, "target")
    block_size = _block_size(requests, last)
    began = _began(group[0])
    name, note = _operation(requests, command)
    found = (
        samples(name, _figures(last), positive(member(last.value, "stat", "count")), block_size, note) if last else []
    )
    device = f"{words(member(target, 'fstype'))} {words(member(target, 'device'))}".strip()
    reason = CUT if not periods else PERIODS
    return ParsedRun(
        tool="ioping", tool_version="", samples=tuple(found or [missing(name, group[-1].last, block_size, reason)]),
        series=(*_series(requests, began, name), *_of_periods(periods, began, name, with_latency=not requests)), started_at=began,
        ended_at=epoch(member(group[-1].value, "timestamp")), problem="" if last else reason,
        labels={"device": device} if device else {}, target=words(member(target, "path"), 1000),
        workload=ioping_units.workload(command) if command else {}, line=group[0].first, last_line=group[-1].last,
    )  # fmt: skip


def _began(first: Document) -> float | None:
    """A request has the time at which it was made, statistics that at which they were printed."""
    at, took = epoch(member(first.value, "timestamp")), positive(member(first.value, "load", "time"))
    if isinstance(member(first.value, "io"), dict) or at is None:
        return at
    return None if took is None else epoch(round(at - took / 1e9, 6))


def _split(statistics: Sequence[Document]) -> tuple[Document | None, Sequence[Document]]:
    """The statistics of the whole run, and those of its periods."""
    counts = [positive(member(one.value, "load", "count")) or 0 for one in statistics]
    if len(counts) > 1 and not _is_closed(statistics[-1]) and sum(counts[:-1]) >= counts[-1]:
        return None, statistics
    return (statistics[-1], statistics[:-1]) if statistics else (None, ())


def _is_closed(last: Document) -> bool:
    """Whether it is the last one of its array: ioping ends that with the statistics of the whole run."""
    return last.lines.data[last.end : last.end + _MOST_BLANKS].lstrip().startswith(b"]")


def _operation(requests: Sequence[Document], command: str) -> tuple[str, str]:
    options = ioping_units.options(command) if command else None
    directions = {
        word for one in requests if (word := words(member(one.value, "io", "operation"))) in ("read", "write")
    }
    if directions:
        return operation(next(iter(directions)) if len(directions) == 1 else "mixed", options)
    if options is None:
        return "mixed", _UNTOLD
    return operation("mixed" if "G" in options else "write" if "W" in options else "read", options)


def _block_size(requests: Sequence[Document], last: Document | None) -> int | None:
    """Of the requests; where they are left out, what was moved shared out."""
    sizes = {whole(member(one.value, "io", "size")) for one in requests}
    if sizes:
        return next(iter(sizes)) if len(sizes) == 1 else None
    moved, count = (whole(member(last.value, "stat", key)) if last else None for key in ("size", "count"))
    return moved // count if moved and count and moved % count == 0 else None


def _of_periods(
    periods: Sequence[Document], began: float | None, name: str, *, with_latency: bool
) -> Iterator[ParsedSeries]:
    """The latency only where the requests, which are a series of it, are left out."""
    placed = [
        (round(at - began, 6), one)
        for one in periods
        if began is not None and (at := epoch(member(one.value, "timestamp"))) is not None
    ]
    for key, metric in (("iops", "iops"), ("bps", "bandwidth"), ("avg", "latency_mean")):
        if placed and (with_latency or metric != "latency_mean"):
            yield ParsedSeries(
                name, metric, 0, "report", tuple(at for at, _ in placed), tuple(_of(one, key) for _, one in placed)
            )


def _of(period: Document, key: str) -> float:
    """Not a number where no request of the period counted."""
    value = positive(member(period.value, "stat", key)) if positive(member(period.value, "stat", "count")) else None
    return nan if value is None else value


def _figures(last: Document) -> dict[str, Figure]:
    found = {}
    for key, metric in _KEYS.items():
        place = last.place("stat", key)
        printed = f"{place.printed} {UNITS.get(metric, 'ns')}" if place.printed else ""
        found[metric] = Figure(positive(member(last.value, "stat", key)), printed, place.line)
    return found


def _series(requests: Sequence[Document], began: float | None, name: str) -> tuple[ParsedSeries, ...]:
    points: dict[str, list[tuple[float, float]]] = {}
    for one in requests:
        at, took = epoch(member(one.value, "timestamp")), positive(member(one.value, "io", "time"))
        direction = words(member(one.value, "io", "operation"))
        if at is not None and took is not None and began is not None and direction in ("read", "write"):
            points.setdefault(direction, []).append((round(at - began, 6), took))
    return tuple(
        ParsedSeries(name if len(points) == 1 else f"rand{direction}", "latency_mean", 0, "report", tuple(at for at, _ in found),
                     tuple(took for _, took in found))
        for direction, found in points.items()
    )  # fmt: skip
