"""ioping's JSON (`-J`), versions 1.2 and 1.3.

    "io": {"request": 2, "operation": "read", "size": 4096, "time": 255329, "ignored": false}

An array of objects: one per request (`io`), one per statistic (`stat` with `load`: what was generated, ignored
requests too). Times are ns, `bps` is bytes/s, `timestamp` seconds since 1970 (ioping.c, `json_request` and
`json_statistics`). The last `stat` is the run's; earlier ones (-p) are of periods. Both `read` and `write` requests
mean -G, whose one statistic is `mixed`. Random or sequential is not told. Objects are read one by one, so a file that
is cut off keeps its requests.
"""

import re
from collections.abc import Iterator, Sequence

from apps.parsers.finite import epoch, positive, whole
from apps.parsers.ioping_samples import CUT, LATENCIES, UNITS, Figure, missing, operation, samples
from apps.parsers.json_places import Document, documents, member, words
from apps.parsers.shape import Broken, ParsedFile, ParsedRun, ParsedSeries, ParseError
from apps.parsers.source_text import SourceText

NAME = "ioping json"
TITLE = "ioping JSON"

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
    runs = [_run(group) for group in groups]
    broken = [_cut(one) for one in found if one.value is None]
    broken += [_cut(group[-1]) for group in groups if not _statistics(group)]
    broken += [fault for one in found if one.value is not None for fault in one.faults]
    if not runs and not broken:
        raise ParseError("no JSON of ioping in the text", expected='an object with "timestamp", "target" and "io"')
    return ParsedFile(tuple(runs), broken=tuple(broken))


def _cut(one: Document) -> Broken:
    return Broken(CUT, one.last, "", 'an object with "stat"')


def _groups(found: Sequence[Document]) -> Iterator[list[Document]]:
    """A request whose number does not go up begins another run."""
    group: list[Document] = []
    last = 0
    for one in found:
        number = whole(member(one.value, "io", "request"))
        if number is None and not isinstance(member(one.value, "stat"), dict):
            continue
        if number is not None:
            if number <= last:
                yield group
                group = []
            last = number
        group.append(one)
    yield group


def _statistics(group: Sequence[Document]) -> list[Document]:
    return [one for one in group if isinstance(member(one.value, "stat"), dict)]


def _run(group: Sequence[Document]) -> ParsedRun:
    requests = [one for one in group if isinstance(member(one.value, "io"), dict)]
    statistics = _statistics(group)
    directions = {
        word for one in requests if (word := words(member(one.value, "io", "operation"))) in ("read", "write")
    }
    target = member(group[0].value, "target")
    sizes = {whole(member(one.value, "io", "size")) for one in requests}
    block_size = next(iter(sizes)) if len(sizes) == 1 else None
    began = epoch(member(group[0].value, "timestamp"))
    name, note = operation(next(iter(directions)) if len(directions) == 1 else "mixed", None)
    last = statistics[-1] if statistics else None
    found = (
        samples(name, _figures(last), positive(member(last.value, "stat", "count")), block_size, note) if last else []
    )
    device = f"{words(member(target, 'fstype'))} {words(member(target, 'device'))}".strip()
    return ParsedRun(
        tool="ioping", tool_version="", samples=tuple(found or [missing(name, group[-1].last, block_size, CUT)]),
        series=_series(requests, began), started_at=began,
        ended_at=epoch(member(group[-1].value, "timestamp")), problem="" if last else CUT,
        labels={"device": device} if device else {}, target=words(member(target, "path"), 1000),
        line=group[0].first, last_line=group[-1].last,
    )  # fmt: skip


def _figures(last: Document) -> dict[str, Figure]:
    found = {}
    for key, metric in _KEYS.items():
        place = last.place("stat", key)
        printed = f"{place.printed} {UNITS.get(metric, 'ns')}" if place.printed else ""
        found[metric] = Figure(positive(member(last.value, "stat", key)), printed, place.line)
    return found


def _series(requests: Sequence[Document], began: float | None) -> tuple[ParsedSeries, ...]:
    points: dict[str, list[tuple[float, float]]] = {}
    for one in requests:
        at, took = epoch(member(one.value, "timestamp")), positive(member(one.value, "io", "time"))
        direction = words(member(one.value, "io", "operation"))
        if at is not None and took is not None and began is not None and direction in ("read", "write"):
            points.setdefault(direction, []).append((round(at - began, 6), took))
    return tuple(
        ParsedSeries(f"rand{direction}", "latency_mean", 0, "report", tuple(at for at, _ in found),
                     tuple(took for _, took in found))
        for direction, found in points.items()
    )  # fmt: skip
