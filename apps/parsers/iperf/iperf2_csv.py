"""Parser of iperf 2's CSV (`-y C`), 2.0.x to 2.2.

    20240718030119,192.168.0.8,59608,172.16.60.140,5001,3,0.0-10.0,393577800,314824870                          TCP
    20240718030119,172.16.60.140,5001,192.168.0.8,59608,3,0.0-9.8,392785470,320693067,0.114,539,267740,0.201,0  UDP

Columns: time, address, port, address, port, id (-1: the sum), interval, bytes, bits/s; a UDP receiver adds jitter (ms),
lost, all, lost %, out of order (Locale.c `reportCSV_bw_format`, `reportCSV_bw_jitter_loss_format`; the numbers are not
scaled). Since 2.1.9 `-e` prints a header line, and `istart,iend` in place of the interval: columns are read by name.

Who measured:

- A line with datagrams counted is the receiver's. A UDP sender of 2.1 prints 0.000,0,-1: only its rate is read.
- Otherwise the ports decide: the server's is 5001, or the one that stays the same, or the only one below 32768. 2.0
  prints its own side first, so a server's port in front means the server's line; 2.1 prints the client first on both
  sides, therefore a client's port in front is read as the client's, `net_send`. The other direction of the same test
  (-d) has the hosts the other way round.
- A sum belongs to the direction whose streams it adds up; that of both directions, as 2.1 prints it, is not read.
- Where the ports do not decide, the run is broken. Words that a script put behind a line (a load average, a note) are
  ignored behind a blank. Connections whose intervals overlap are one run. The time stamp has no zone (before 2.1.9), so
  the run has no start.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from apps.parsers.core.models import (
    Broken,
    ParsedFile,
    ParsedRun,
    ParsedSample,
    ParsedSection,
    ParsedSeries,
    ParseError,
)
from apps.parsers.core.numbers import read_non_negative, read_number
from apps.parsers.core.source_text import SourceText
from apps.parsers.iperf.lines import SamplePosition, explain_loss

_HEADER = "time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,bytes,speed"
_BASIC = ("time", "srcaddress", "srcport", "dstaddr", "dstport", "transferid", "interval", "bytes", "speed")
_DATAGRAMS = (*_BASIC, "jitter", "errors", "datagrams", "errpercent", "outoforder")
_ROW = re.compile(
    r"^(?:[+-]\d{4}:)?\d{14}(?:\.\d{1,9})?,[^,\s]{0,100},\d{0,5},[^,\s]{0,100},\d{0,5},(?:-?\d{1,9}|SUM),\d"
)
_LIKE_ROW = re.compile(r"^(?:[+-]\d{4}:)?\d{14}(?:\.\d{1,9})?,[\da-fA-F.:]{2,100}(?:,\d{0,5})?(?:,|$)")
_BENT_ROW = re.compile(
    r"^[\w+:.-]{10,40},[\w.:%]{1,100},\w{0,6},[\w.:%]{1,100},\w{0,6},-?\w{1,9},[\w.]{1,16}-[\w.]{1,16},\w{1,20},\w{1,20}(?:,|$)"
)
_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}|[\da-fA-F.]*:[\da-fA-F:.]*(?:%\S{1,20})?|\W{0,9}hidden\W{0,9}|")
_INTERVAL = re.compile(r"(\d{1,9}\.\d{1,6})-(\d{1,9}\.\d{1,6})")
_ADDRESSES = ("srcaddress", "dstaddr")
_FIELD_COMMAS = (len(_BASIC) - 1, len(_DATAGRAMS) - 1)
_LONGEST_ROW = 2000
_FIRST = "2+-1"  # first character of a year, or of a time zone
_LEAST_S = 1.0  # for shorter intervals the decimals of their ends are too coarse
_LEAST_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class CsvRow:
    """A line of the CSV; times in seconds since the test began."""

    index: int
    cells: dict[str, str]
    start: float
    end: float
    rate: float  # bytes per second
    moved: float  # bytes

    @property
    def key(self) -> tuple[str, ...]:
        """Return what all lines of a connection have in common."""
        return tuple(self.cells[name] for name in _BASIC[1:6])

    @property
    def ends(self) -> frozenset[str]:
        """Return both ends as `host:port`."""
        source, destination = self.key[:2], self.key[2:4]
        return frozenset((":".join(source), ":".join(destination)))

    @property
    def is_sum(self) -> bool:
        """Return whether it is the sum of several connections."""
        return self.cells["transferid"] in ("-1", "SUM")

    @property
    def is_consistent(self) -> bool:
        """Return whether the rate agrees with bytes and seconds, so that no digit is missing or added."""
        seconds = self.end - self.start
        return seconds < _LEAST_S or _LEAST_SHARE * self.moved <= self.rate * seconds <= (self.moved + 1) / _LEAST_SHARE

    @property
    def counts_datagrams(self) -> bool:
        """Return whether it has a number of received datagrams."""
        return (read_non_negative(self.cells.get("datagrams", "")) or 0) > 0


def iterate_rows(text: SourceText, cut: list[int] | None = None) -> Iterator[CsvRow]:
    """Yield the rows, and add to `cut` the indices of lines that were rows before they were cut or damaged."""
    header: Sequence[str] = ()
    for index, line in enumerate(text.lines):
        if line.startswith(_HEADER):
            header = line[:_LONGEST_ROW].strip().split(",")
        elif line[:1] in _FIRST and len(line) <= _LONGEST_ROW and _LIKE_ROW.match(line):
            words = line.strip().split(",")
            words[-1], _, remark = words[-1].partition(" ")  # scripts put words behind the line
            names = header if len(words) == len(header) else _DATAGRAMS if len(words) >= len(_DATAGRAMS) else _BASIC
            row = _make_row(index, dict(zip(names, words, strict=False))) if is_row(line) else None
            is_whole = _counts_are_numbers(words) if names is _DATAGRAMS else len(names) >= len(words)
            if row and is_whole and row.is_consistent and (not remark or row.end - row.start >= _LEAST_S):
                yield row
            elif cut is not None:
                cut.append(index)
        elif cut is not None and line.count(",") in _FIELD_COMMAS and _BENT_ROW.match(line[:_LONGEST_ROW]):
            cut.append(index)


def _counts_are_numbers(words: Sequence[str]) -> bool:
    """Return whether jitter, lost and all datagrams are numbers: they tell who received."""
    return all(read_number(word) is not None for word in words[9:12])


def _make_row(index: int, cells: dict[str, str]) -> CsvRow | None:
    match = _INTERVAL.fullmatch(cells.get("interval", ""))
    start, end = (match[1], match[2]) if match else (cells.get("istart", ""), cells.get("iend", ""))
    values = [read_number(word) for word in (start, end, cells.get("speed", ""), cells.get("bytes", ""))]
    if any(value is None or value < 0 for value in values):
        return None
    if not all(_ADDRESS.fullmatch(cells[name]) for name in _ADDRESSES):
        return None
    begin, until, bits, moved = (value or 0.0 for value in values)
    return CsvRow(index, cells, begin, until, bits / 8, moved)


def is_row(line: str) -> bool:
    """Return whether a line is one of iperf 2's CSV."""
    return line[:1] in _FIRST and len(line) <= _LONGEST_ROW and bool(_ROW.match(line))


_DEFAULT_PORT, _FIRST_EPHEMERAL = "5001", 32768
_OTHER = {"net_send": "net_receive", "net_receive": "net_send"}
_ROUNDED = 0.01  # share of a sum's bytes


def find_server_ports(rows: Sequence[CsvRow]) -> set[str]:
    """Return `host:port` of the ends that several connections have in common: only a server's stays the same."""
    pairs = {row.ends for row in rows if not row.is_sum}
    counted: dict[str, int] = {}
    for end in (end for pair in pairs for end in pair):
        counted[end] = counted.get(end, 0) + 1
    return {end for end, count in counted.items() if count > 1}


def find_operation(row: CsvRow, servers: set[str]) -> str:
    """Return net_send or net_receive, "" where the ports do not decide."""
    if row.counts_datagrams:
        return "net_receive"
    if "datagrams" in row.cells and row.cells["datagrams"].startswith("-"):
        return "net_send"
    here, there = ":".join(row.key[:2]), ":".join(row.key[2:4])
    for is_server in (
        lambda end: end.endswith(f":{_DEFAULT_PORT}"),
        lambda end: end in servers,
        lambda end: 0 < int(end.rpartition(":")[2] or 0) < _FIRST_EPHEMERAL,
    ):
        if is_server(here) != is_server(there):
            return "net_receive" if is_server(here) else "net_send"
    return ""


def correct_directions(rows: Sequence[CsvRow], operations: Sequence[str]) -> list[str]:
    """Return the operations of a test's last lines, corrected where streams go both ways.

    Since 2.0.14 the source of the data stands in front: where the ports give the same for two streams whose hosts are
    swapped (-d), the second goes the other way. A sum of both directions belongs to neither: "".
    """
    streams = [place for place, row in enumerate(rows) if not row.is_sum]
    result = list(operations)
    for place in streams[1:]:
        if _is_turned(rows[streams[0]], rows[place]) and result[place] == result[streams[0]]:
            result[place] = _OTHER[result[place]]
    sent = [place for place in streams if not rows[place].counts_datagrams]
    ways = {result[place] for place in sent}
    for place, row in enumerate(rows):
        if row.is_sum and len(ways) > 1:
            moved = {way: sum(rows[stream].moved for stream in sent if result[stream] == way) for way in sorted(ways)}
            fitting = [way for way, amount in moved.items() if abs(amount - row.moved) <= row.moved * _ROUNDED]
            result[place] = fitting[0] if len(fitting) == 1 else ""
    return result


def _is_turned(head: CsvRow, row: CsvRow) -> bool:
    source, destination = head.key[0], head.key[2]
    return (row.key[0], row.key[2]) == (destination, source) and source != destination and "datagrams" not in row.cells


NAME = "iperf2 csv"
TITLE = "iperf 2 CSV"

_EXPECTED = "9 or 14 fields that begin with a time stamp"
_MOST_BROKEN = 20
_SHORT = 0.6  # of the longest connection; a shorter line is an interval, and the text is cut off
_NEAR = 50  # lines
_COMMAS = 8  # most commas of a line that is not the other side's report
_CUT = "the line over the whole time is missing"


@dataclass(slots=True)
class _CsvConnection:
    rows: list[CsvRow] = field(default_factory=list)
    is_doubted: bool = False  # its only line may be an interval: others last longer, or a later line can not be read

    @property
    def whole(self) -> CsvRow | None:
        last = self.rows[-1]
        if self.is_doubted:
            return None
        return last if last.start == 0 and all(row.end <= last.end for row in self.rows) else None

    @property
    def intervals(self) -> list[CsvRow]:
        return self.rows[:-1] if self.whole else self.rows


def looks_like(text: SourceText) -> float:
    """Return 1 if the text has a line of iperf 2's CSV, else 0."""
    if text.text.count(",") < 8:
        return 0.0
    return 1.0 if any(map(is_row, text.lines)) else 0.0


def parse(text: SourceText) -> ParsedFile:
    """Parse every test in the text into a run.

    Raises:
        ParseError: if there is no line of the CSV.
    """
    cut: list[int] = []
    rows = list(iterate_rows(text, cut))
    broken = [
        Broken("a CSV line of iperf 2 that is cut off or bent", text.number(index), text.lines[index][:100], _EXPECTED)
        for index in cut[:_MOST_BROKEN]
    ]
    if more := cut[_MOST_BROKEN:]:
        broken.append(Broken(f"{len(more)} more lines like those above", text.number(more[0]), "", _EXPECTED))
    if not rows and any(map(is_row, (text.lines[index] for index in cut))):
        return ParsedFile(broken=tuple(broken))
    if not rows:
        raise ParseError("no CSV line of iperf 2 in the text", expected=_EXPECTED)
    servers = find_server_ports(rows)
    runs: list[ParsedRun] = []
    for test in _group_tests(rows):
        _mark_doubted(test, cut, text)
        result = _make_run(test, servers, text)
        (broken if isinstance(result, Broken) else runs).append(result)  # type: ignore[arg-type]
        if isinstance(result, ParsedRun) and result.problem:
            broken.append(Broken(result.problem, result.last_line, "", "a line from 0.0 over the whole time"))
    return ParsedFile(tuple(runs), broken=tuple(broken))


def _mark_doubted(test: Sequence[_CsvConnection], cut: Sequence[int], text: SourceText) -> None:
    longest = max(connection.rows[-1].end for connection in test)
    for connection in test:
        row = connection.rows[-1]
        if len(connection.rows) == 1:
            near = cut[bisect_right(cut, row.index) :][:_NEAR]
            behind = (text.lines[index] for index in near if index <= row.index + _NEAR)
            is_bent = any(f",{row.key[1]}," in line and line.count(",") <= _COMMAS for line in behind)
            connection.is_doubted = row.end < longest * _SHORT or is_bent


class _CsvTest:
    """Connections that ran together."""

    def __init__(self) -> None:
        self.connections: dict[tuple[str, ...], _CsvConnection] = {}
        self.ends: set[frozenset[str]] = set()
        self.before: CsvRow | None = None
        self.until = -1  # index of the last row of its connections

    def accepts(self, row: CsvRow, place: int) -> bool:
        """Return whether a row belongs to this test.

        That are rows of its own connections until they count from 0 again, rows between them, and what `_belongs`.
        """
        known = self.connections.get(row.key)
        if known is not None:
            return not (row.start == 0 and row.end < known.rows[-1].end)
        return self.before is None or place <= self.until or self._belongs(row, self.before)

    def _belongs(self, row: CsvRow, before: CsvRow) -> bool:
        """Return whether a row is the sum of what ran, the peer's report of it, or a stream of the same time."""
        same_time = before.cells["time"][:14] == row.cells["time"][:14] and abs(before.end - row.end) < 1
        return row.is_sum or row.ends in self.ends or same_time

    def add(self, row: CsvRow, until: int) -> None:
        self.connections.setdefault(row.key, _CsvConnection()).rows.append(row)
        self.ends.add(row.ends)
        self.before, self.until = row, max(self.until, until)


def _group_tests(rows: Sequence[CsvRow]) -> Iterator[list[_CsvConnection]]:
    last = {row.key: place for place, row in enumerate(rows)}
    test = _CsvTest()
    for place, row in enumerate(rows):
        if not test.accepts(row, place):
            yield list(test.connections.values())
            test = _CsvTest()
        goes_on = last[row.key] > place and rows[place + 1].key != row.key
        test.add(row, last[row.key] if goes_on else place)
    yield list(test.connections.values())


def _make_run(test: Sequence[_CsvConnection], servers: set[str], text: SourceText) -> ParsedRun | Broken:
    ordered = sorted(test, key=lambda connection: not connection.rows[0].is_sum)
    first = min(connection.rows[0].index for connection in ordered)
    operations = [find_operation(connection.rows[-1], servers) for connection in ordered]
    known = [operation for operation in operations if operation]
    if not known:
        return Broken("nothing says who sent", text.number(first), text.lines[first][:120], "a server's port")
    operations = [operation or known[0] for operation in operations]  # for the sum, which has no ports
    operations = correct_directions([connection.rows[-1] for connection in ordered], operations)
    both = [connection for connection, operation in zip(ordered, operations, strict=True) if not operation]
    ordered, operations = (
        [connection for connection in ordered if connection not in both],
        [each for each in operations if each],
    )
    sections = _number_sections(ordered, operations)
    streams = Counter(way for connection, way in zip(ordered, operations, strict=True) if not connection.rows[0].is_sum)
    names = {section: _make_name(connection) for connection, section in zip(ordered, sections, strict=True)}
    samples = [
        sample for connection, section, operation in zip(ordered, sections, operations, strict=True)
        for sample in _iterate_samples(connection, SamplePosition(section, streams[operation] or len(ordered)), operation, text)
    ]  # fmt: skip
    head = next((connection.rows[0] for connection in ordered if not connection.rows[0].is_sum), ordered[0].rows[0])
    is_udp = any("datagrams" in connection.rows[-1].cells for connection in ordered)
    return ParsedRun(
        tool="iperf", tool_version="", samples=tuple(samples),
        sections=tuple(ParsedSection(section, names[section]) for section in sorted(names)) if len(names) > 1 else (),
        series=tuple(_iterate_series(ordered, sections, operations)), host=head.key[0], target=head.key[2],
        problem="" if any(connection.whole for connection in ordered) else _CUT, workload={"protocol": "udp"} if is_udp else {},
        line=text.number(first), last_line=text.number(max(connection.rows[-1].index for connection in ordered)),
    )  # fmt: skip


def _number_sections(ordered: Sequence[_CsvConnection], operations: Sequence[str]) -> list[int]:
    """Return a section for each connection; a stream and the server's report of it share one."""
    sections: list[int] = []
    taken: dict[frozenset[str], tuple[int, set[str]]] = {}
    count = 0
    for connection, operation in zip(ordered, operations, strict=True):
        ends = connection.rows[0].ends
        if ends in taken and not connection.rows[0].is_sum and operation not in taken[ends][1]:
            taken[ends][1].add(operation)
        else:
            taken[ends], count = (count, {operation}), count + 1
        sections.append(taken[ends][0])
    return sections


def _make_name(connection: _CsvConnection) -> str:
    return "SUM" if connection.rows[0].is_sum else f"stream {connection.rows[0].cells['transferid']}"


def _iterate_samples(
    connection: _CsvConnection, point: SamplePosition, operation: str, text: SourceText
) -> Iterator[ParsedSample]:
    row = connection.whole
    if row is None:
        yield point.make_sample(operation, "bandwidth", None, "", text.number(connection.rows[-1].index), reason=_CUT)
        return
    line, cells = text.number(row.index), row.cells
    yield point.make_sample(operation, "bandwidth", row.rate, f"{cells['speed']} bits/s", line)
    yield point.make_sample(operation, "io_bytes", row.moved, f"{cells['bytes']} bytes", line)
    if row.counts_datagrams:
        lost, total = read_non_negative(cells.get("errors", "")), read_non_negative(cells["datagrams"])
        if (jitter := read_non_negative(cells.get("jitter", ""))) is not None:
            yield point.make_sample(operation, "jitter", round(jitter * 1e6, 3), f"{cells['jitter']} ms", line)
        if lost is not None and total:
            reason = explain_loss(lost, total)
            share, printed = None if reason else lost / total, f"{cells['errors']},{cells['datagrams']}"
            yield point.make_sample(operation, "lost", share, printed, line, reason=reason)
    elif (count := read_non_negative(cells.get("tcpretry", ""))) is not None:
        yield point.make_sample(operation, "retransmits", count, cells["tcpretry"], line)


def _iterate_series(
    ordered: Sequence[_CsvConnection], sections: Sequence[int], operations: Sequence[str]
) -> Iterator[ParsedSeries]:
    for connection, section, operation in zip(ordered, sections, operations, strict=True):
        if rows := connection.intervals:
            times, rates = tuple(row.end for row in rows), tuple(row.rate for row in rows)
            yield ParsedSeries(operation, "bandwidth", section, "report", times, rates)
