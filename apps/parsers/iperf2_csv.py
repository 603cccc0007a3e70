"""iperf 2's CSV (`-y C`), 2.0.x to 2.2.

    20240718030119,192.168.0.8,59608,172.16.60.140,5001,3,0.0-10.0,393577800,314824870                          TCP
    20240718030119,172.16.60.140,5001,192.168.0.8,59608,3,0.0-9.8,392785470,320693067,0.114,539,267740,0.201,0  UDP

time, address, port, address, port, id (-1: the sum), interval, bytes, bits/s; a UDP receiver adds jitter (ms), lost,
all, lost %, out of order (Locale.c `reportCSV_bw_format`, `reportCSV_bw_jitter_loss_format`; the CSV numbers are not
scaled). Since 2.1.9 `-e` prints a header line, and `istart,iend` in place of the interval: columns are read by name.

Who measured
- A line with datagrams counted is the receiver's. A UDP sender of 2.1 prints 0.000,0,-1: nothing but its rate is read.
- Else the ports tell: the server's is 5001, or the one that stays the same, or the only one below 32768. 2.0 prints its
  own side first, so a server's port in front means the server's line; 2.1 prints the client first on both sides,
  therefore a client's port in front is read as the client's, `net_send`; what goes the other way in the same test (-d) has the
  hosts the other way round.
- A sum belongs to the way whose streams it adds up; that of both ways, as 2.1 prints it, is not read.
- Where the ports tell nothing, the run is broken.
What a script put behind a line (a load average, a note) is left alone where a blank is before it.
Connections whose intervals overlap are one run. The time stamp has no zone (before 2.1.9), so the run has no start.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from apps.parsers.finite import positive
from apps.parsers.iperf2_csv_rows import Row, is_row, rows_of
from apps.parsers.iperf2_csv_ways import operation_of, server_ports, with_other_ways
from apps.parsers.iperf_lines import Point
from apps.parsers.shape import Broken, ParsedFile, ParsedRun, ParsedSample, ParsedSection, ParsedSeries, ParseError
from apps.parsers.source_text import SourceText

NAME = "iperf2 csv"
TITLE = "iperf 2 CSV"

_EXPECTED = "9 or 14 fields that begin with a time stamp"
_MOST_TOLD = 20
_SHORT = 0.6  # of the longest connection: what lasts less is an interval, and the text ends before the rest
_NEAR = 50  # lines
_COMMAS = 8  # of a line that is not the other side's report
_CUT = "the line over the whole time is missing"


@dataclass(slots=True)
class _Connection:
    rows: list[Row] = field(default_factory=list)
    is_doubted: bool = False  # what it has is an interval, as others last longer, or a line behind cannot be read

    @property
    def whole(self) -> Row | None:
        last = self.rows[-1]
        if self.is_doubted:
            return None
        return last if last.start == 0 and all(row.end <= last.end for row in self.rows) else None

    @property
    def intervals(self) -> list[Row]:
        return self.rows[:-1] if self.whole else self.rows


def looks_like(text: SourceText) -> float:
    if text.text.count(",") < 8:
        return 0.0
    return 1.0 if any(map(is_row, text.lines)) else 0.0


def parse(text: SourceText) -> ParsedFile:
    cut: list[int] = []
    rows = list(rows_of(text, cut))
    broken = [
        Broken("a CSV line of iperf 2 that is cut off or bent", text.number(index), text.lines[index][:100], _EXPECTED)
        for index in cut[:_MOST_TOLD]
    ]
    if more := cut[_MOST_TOLD:]:
        broken.append(Broken(f"{len(more)} more lines like those above", text.number(more[0]), "", _EXPECTED))
    if not rows and any(map(is_row, (text.lines[index] for index in cut))):
        return ParsedFile(broken=tuple(broken))
    if not rows:
        raise ParseError("no CSV line of iperf 2 in the text", expected=_EXPECTED)
    servers = server_ports(rows)
    runs: list[ParsedRun] = []
    for test in _tests(rows):
        _doubt(test, cut, text)
        found = _run(test, servers, text)
        (broken if isinstance(found, Broken) else runs).append(found)  # type: ignore[arg-type]
        if isinstance(found, ParsedRun) and found.problem:
            broken.append(Broken(found.problem, found.last_line, "", "a line from 0.0 over the whole time"))
    return ParsedFile(tuple(runs), broken=tuple(broken))


def _doubt(test: Sequence[_Connection], cut: Sequence[int], text: SourceText) -> None:
    longest = max(one.rows[-1].end for one in test)
    for one in test:
        row = one.rows[-1]
        if len(one.rows) == 1:
            near = cut[bisect_right(cut, row.index) :][:_NEAR]
            behind = (text.lines[index] for index in near if index <= row.index + _NEAR)
            is_bent = any(f",{row.key[1]}," in line and line.count(",") <= _COMMAS for line in behind)
            one.is_doubted = row.end < longest * _SHORT or is_bent


class _Test:
    """Connections that ran together."""

    def __init__(self) -> None:
        self.connections: dict[tuple[str, ...], _Connection] = {}
        self.ends: set[frozenset[str]] = set()
        self.before: Row | None = None
        self.until = -1  # the place of the last row of what has begun

    def takes(self, row: Row, place: int) -> bool:
        """Its own connections until they count from 0 again, what they surround, and what `_belongs`."""
        known = self.connections.get(row.key)
        if known is not None:
            return not (row.start == 0 and row.end < known.rows[-1].end)
        return self.before is None or place <= self.until or self._belongs(row, self.before)

    def _belongs(self, row: Row, before: Row) -> bool:
        """The sum of what ran, the peer's report of it, or a stream of the same time."""
        same_time = before.cells["time"][:14] == row.cells["time"][:14] and abs(before.end - row.end) < 1
        return row.is_sum or row.ends in self.ends or same_time

    def add(self, row: Row, until: int) -> None:
        self.connections.setdefault(row.key, _Connection()).rows.append(row)
        self.ends.add(row.ends)
        self.before, self.until = row, max(self.until, until)


def _tests(rows: Sequence[Row]) -> Iterator[list[_Connection]]:
    last = {row.key: place for place, row in enumerate(rows)}
    test = _Test()
    for place, row in enumerate(rows):
        if not test.takes(row, place):
            yield list(test.connections.values())
            test = _Test()
        goes_on = last[row.key] > place and rows[place + 1].key != row.key
        test.add(row, last[row.key] if goes_on else place)
    yield list(test.connections.values())


def _run(test: Sequence[_Connection], servers: set[str], text: SourceText) -> ParsedRun | Broken:
    ordered = sorted(test, key=lambda one: not one.rows[0].is_sum)
    first = min(one.rows[0].index for one in ordered)
    operations = [operation_of(one.rows[-1], servers) for one in ordered]
    known = [operation for operation in operations if operation]
    if not known:
        return Broken("nothing says who sent", text.number(first), text.lines[first][:120], "a server's port")
    operations = [operation or known[0] for operation in operations]  # the sum has no ports
    operations = with_other_ways([one.rows[-1] for one in ordered], operations)
    both = [one for one, operation in zip(ordered, operations, strict=True) if not operation]
    ordered, operations = [one for one in ordered if one not in both], [each for each in operations if each]
    sections = _sections(ordered, operations)
    streams = Counter(way for one, way in zip(ordered, operations, strict=True) if not one.rows[0].is_sum)
    names = {section: _name(one) for one, section in zip(ordered, sections, strict=True)}
    samples = [
        sample for one, section, operation in zip(ordered, sections, operations, strict=True)
        for sample in _samples(one, Point(section, streams[operation] or len(ordered)), operation, text)
    ]  # fmt: skip
    head = next((one.rows[0] for one in ordered if not one.rows[0].is_sum), ordered[0].rows[0])
    is_udp = any("datagrams" in one.rows[-1].cells for one in ordered)
    return ParsedRun(
        tool="iperf", tool_version="", samples=tuple(samples),
        sections=tuple(ParsedSection(section, names[section]) for section in sorted(names)) if len(names) > 1 else (),
        series=tuple(_series(ordered, sections, operations)), host=head.key[0], target=head.key[2],
        problem="" if any(one.whole for one in ordered) else _CUT, workload={"protocol": "udp"} if is_udp else {},
        line=text.number(first), last_line=text.number(max(one.rows[-1].index for one in ordered)),
    )  # fmt: skip


def _sections(ordered: Sequence[_Connection], operations: Sequence[str]) -> list[int]:
    """A stream and the server's report of it share a section; everything else has one of its own."""
    sections: list[int] = []
    taken: dict[frozenset[str], tuple[int, set[str]]] = {}
    count = 0
    for one, operation in zip(ordered, operations, strict=True):
        ends = one.rows[0].ends
        if ends in taken and not one.rows[0].is_sum and operation not in taken[ends][1]:
            taken[ends][1].add(operation)
        else:
            taken[ends], count = (count, {operation}), count + 1
        sections.append(taken[ends][0])
    return sections


def _name(one: _Connection) -> str:
    return "SUM" if one.rows[0].is_sum else f"stream {one.rows[0].cells['transferid']}"


def _samples(one: _Connection, point: Point, operation: str, text: SourceText) -> Iterator[ParsedSample]:
    row = one.whole
    if row is None:
        yield point.sample(operation, "bandwidth", None, "", text.number(one.rows[-1].index), reason=_CUT)
        return
    line, cells = text.number(row.index), row.cells
    yield point.sample(operation, "bandwidth", row.rate, f"{cells['speed']} bits/s", line)
    yield point.sample(operation, "io_bytes", row.moved, f"{cells['bytes']} bytes", line)
    if row.counts_datagrams:
        lost, total = positive(cells.get("errors", "")), positive(cells["datagrams"])
        if (jitter := positive(cells.get("jitter", ""))) is not None:
            yield point.sample(operation, "jitter", round(jitter * 1e6, 3), f"{cells['jitter']} ms", line)
        if lost is not None and total and lost <= total:
            yield point.sample(operation, "lost", lost / total, f"{cells['errors']},{cells['datagrams']}", line)
    elif (count := positive(cells.get("tcpretry", ""))) is not None:
        yield point.sample(operation, "retransmits", count, cells["tcpretry"], line)


def _series(
    ordered: Sequence[_Connection], sections: Sequence[int], operations: Sequence[str]
) -> Iterator[ParsedSeries]:
    for one, section, operation in zip(ordered, sections, operations, strict=True):
        if rows := one.intervals:
            times, rates = tuple(row.end for row in rows), tuple(row.rate for row in rows)
            yield ParsedSeries(operation, "bandwidth", section, "report", times, rates)
