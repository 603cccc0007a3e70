"""Parser of iperf 2's text, 2.0.x to 2.2, also of its enhanced reports (`-e`).

    Client connecting to 10.0.0.2, TCP port 5001
    [  3] local 10.0.0.1 port 48990 connected with 10.0.0.2 port 5001
    [  3]  0.0- 1.0 sec  30.4 MBytes   255 Mbits/sec
    [  3]  0.0-10.0 sec  1.25 MBytes  1.05 Mbits/sec   0.005 ms    0/  893 (0%)                       UDP
    [  1] 0.0000-2.0005 sec  4.18 GBytes  17.9 Gbits/sec  34225/0  10  3836K/243(195) us  9227970     -e

One run per test: what a client connected at once, what a server accepted at once. Intervals are series; the line from
0.0 over the whole time is the sample. `[SUM]` is section 0, streams are sections of their own. A client's lines are
`net_send`, a server's `net_receive`; `[ *1]` (2.1: reverse, full duplex) is the other direction, except for a server
that calls back (-d, -r), whose connection has the star already. Behind `Server Report:` a client shows what the server
received. `[FD1]` and the `[SUM]` of both directions are not read; nor are a server's lines of full duplex, which have
one id (2.0.14 and 2.1).

`[SUM]` does not tell its direction where streams go both ways at once (-d or --full-duplex with -P), so it is found by
adding up the streams:

    [  3]  0.0- 1.0 sec   920 MBytes  7.57 Gbits/sec
    [  5]  0.0- 1.0 sec  1.93 GBytes  16.5 Gbits/sec
    [SUM]  0.0- 1.0 sec  2.83 GBytes  23.8 Gbits/sec      of 3 and 5, which moved as much

Since 2.0.14 the sum is of both directions, as `[FD1]` is for one stream. Where the streams do not tell which, its
figures are missing.

Totals alone, one below the other, are tests of their own where a command or other words stand between them; the command
decides whose lines they are where no header does. So are three or more of one stream, as only one can be the total of
an interval. A single line from 0.0 is no total where a later one of its stream can not be read, where other streams
last longer, or where the command asks for it with -i.

Peculiarities:

- `0.0- 1.0` has a blank inside, and the unit changes from line to line.
- A log without header is read, too. Where nothing tells who sent, the figures are missing (the reason and the tool's
  text stay), with a warning.
- Rows of UDP with jitter and losses are the receiver's, who alone can count them; rows with the number of sent
  datagrams, or with the column `Write/Err` of `-e`, are the sender's.
- The retransmits of `-e` are the column `Rtry`; its RTT becomes a note, because it is the kernel's last value and no
  mean. The `Latency avg/min/max/stdev` of --trip-times is latency_*; NetPwr and PPS are not read. The requests of
  --bounceback (`BB cnt=avg/min/max/stdev`, RPS) are `net_request`.
- A server's report whose rate is `nan` or `inf` is missing. A start is read where -e prints in UTC when the stream
  connected.

Units: see `lines.py`. Formats: iperf 2's Locale.c (2.0.5, 2.2.1) and ReportOutputs.c (2.2.1).
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from apps.parsers.core.models import Broken, ParsedFile, ParsedRun, ParsedSection, ParseError
from apps.parsers.core.numbers import INT8
from apps.parsers.core.source_text import SourceText
from apps.parsers.iperf.commands import find_command, is_interval, is_of_another, read_workload
from apps.parsers.iperf.iperf2_connections import (
    CUT,
    SIDE_UNKNOWN,
    Iperf2Connection,
    Iperf2Header,
    iterate_samples,
    make_connection_series,
    read_start,
)
from apps.parsers.iperf.lines import (
    ConnectionLine,
    IperfLine,
    IperfReport,
    find_bent,
    find_near_report,
    has_reports,
    iterate_lines,
    make_broken,
    read_datagrams,
)

_NEAR = 0.02  # share of the sum's bytes, because each stream's figure has three digits
_SAME_END = 0.5  # share of the sum's seconds, because streams begin and end some tenths apart


def split_by_direction(
    total: Iperf2Connection, streams: Sequence[Iperf2Connection], header: Iperf2Header
) -> list[Iperf2Connection]:
    """Return the sum's lines for each direction; the unchanged connection where the streams go one way."""
    ways: dict[str, list[Iperf2Connection]] = {}
    for connection in streams:
        ways.setdefault(connection.operation(header), []).append(connection)
    if not ways or (len(ways) == 1 and not any(connection.is_both_ways for connection in streams)):
        return [total]
    parts: dict[str, Iperf2Connection] = {}
    for line in total.lines:
        fitting = [way for way, some in ways.items() if way and _is_sum_of(some, line)]
        way = fitting[0] if len(fitting) == 1 else ""
        parts.setdefault(way, Iperf2Connection(total.id, way=way)).lines.append(line)
    if "" in parts and any(_is_sum_of(streams, line) for line in parts[""].lines):
        del parts[""]
    return list(parts.values())


def _is_sum_of(streams: Sequence[Iperf2Connection], total: IperfReport) -> bool:
    allowed = (total.end - total.start) * _SAME_END
    moved = 0.0
    for connection in streams:
        same = [line for line in connection.lines if line.start == total.start and abs(line.end - total.end) < allowed]
        if not same:
            return False
        moved += min(same, key=lambda line: abs(line.end - total.end)).moved
    return len(streams) > 1 and abs(moved - total.moved) <= total.moved * _NEAR


CLIENT = re.compile(r"Client connecting to (\S{1,200}), (TCP|UDP) port (\d{1,5})")
SERVER = re.compile(r"Server listening on (TCP|UDP) ports? (\d{1,5})")
ANY_ID = "any"  # stands for the id of a server report where it can not be read
_MOST_STREAMS = 256  # streams that are checked while more of them connect
_SHORT_SHARE = 0.6  # of the longest stream; a shorter line is an interval, and the text is cut off


@dataclass(slots=True)
class Iperf2Test:
    """The connections of one test, and what stands above them."""

    header: Iperf2Header = field(default_factory=Iperf2Header)
    first: int = -1
    last: int = -1
    connections: dict[str, Iperf2Connection] = field(default_factory=dict)
    reported_by_server: str = ""
    has_reports: bool = False
    announced: list[int] = field(default_factory=list)  # lines of the same headers directly above it
    is_damaged: bool = False  # a report line of it can not be read

    def add_line(self, index: int) -> None:
        """Add a line to the range of the test."""
        self.first = index if self.first < 0 else self.first
        self.last = index

    def accepts_connection(self, local: ConnectionLine) -> bool:
        """Return whether a connection line belongs to this test."""
        known = self.connections.get(local.id)
        if known is not None and (known.lines or len(self.connections) == 1):
            return False
        heard = [connection for connection in self.connections.values() if connection.lines]
        if self.is_damaged and not self.has_reports:
            return False
        is_under_way = len(self.connections) < _MOST_STREAMS and not all(connection.whole for connection in heard)
        return not self.has_reports or is_under_way

    def ends_before(self, line: str) -> bool:
        """Return whether this is the header of the next test, also where this one has no results."""
        if CLIENT.search(line):
            is_called_back = bool(self.header.server_port) and any(
                connection.local for connection in self.connections.values()
            )
            return self.has_reports or (bool(self.header.client_port) and not is_called_back)
        return self.has_reports and bool(SERVER.search(line))

    def make_next(self, line: str, command: str) -> "Iperf2Test":
        """Return the test that begins with this client's header: the next one, or the same one for its next stream.

        2.2 prints a header for each stream of -P. `command` is a command since the header above.
        """
        match = CLIENT.search(line)
        is_same = match is not None and (match[1], int(match[3])) == (self.header.host, self.header.client_port)
        goes_on = is_same and not self.connections and not command
        return Iperf2Test(announced=[*self.announced, self.first] if goes_on else [])

    def find_headers_without_stream(self) -> list[int]:
        """Return the lines of headers above that belong to no stream; with --sum-only no stream is shown."""
        streams = {name.lstrip("*") for name in self.connections} - {"SUM"}
        return self.announced[len(streams) - 1 :] if streams else []

    def accepts_report(self, report: IperfReport, text: SourceText) -> bool:
        """Return whether a report belongs to this test.

        Another one begins with a count from 0.0 again; where the line may be the total of the line before, also words
        between them are needed.
        """
        known = self.connections.get(report.id)
        if known is None or not known.lines or self.reported_by_server or report.start or known.is_both_ways:
            return True
        last = known.lines[-1]
        between = text.lines[self.last + 1 : report.index]
        is_apart = last.start == 0 and any(line.strip(" -") and line.lstrip()[0] != "[" for line in between)
        return report.end >= last.end and not is_apart

    def doubt(self, name: str) -> None:
        """Mark a stream of which a line can not be read: a single line above it may be an interval."""
        self.is_damaged = True
        digits = "".join(filter(str.isdigit, name))
        known = [self.connections[digits]] if digits in self.connections else []
        for connection in known if digits else self.connections.values():
            connection.is_doubted = bool(connection.lines)

    def add(self, report: IperfReport) -> None:
        """Add a report to its connection."""
        connection = self.connections.setdefault(report.id, Iperf2Connection(report.id))
        if self.reported_by_server in (report.id, ANY_ID) or self._is_of_server(connection, report):
            connection.server_lines.append(report)
            self.reported_by_server = ""
        else:
            connection.lines.append(report)
            self.has_reports = True
        self.add_line(report.index)

    def _is_of_server(self, connection: Iperf2Connection, report: IperfReport) -> bool:
        """Return whether a line with losses behind a client's lines without them is the server's: only a receiver can count them."""
        if report.start or not connection.lines or not self.header.client_port or connection.id == "SUM":
            return False
        return read_datagrams(report.rest) is not None and read_datagrams(connection.lines[-1].rest) is None

    def split(self) -> list["Iperf2Test"]:
        """Return each line from 0.0 of one stream as a test of its own, if there are more than an interval and its total.

        Such texts hold only the totals of several tests.
        """
        connection = next(iter(self.connections.values()), Iperf2Connection(""))
        if len(self.connections) > 1 or len(connection.lines) < 3 or any(line.start for line in connection.lines):
            return [self]
        tests = [
            replace(self, connections={connection.id: replace(connection, lines=[line])}) for line in connection.lines
        ]
        for test in tests[1:]:
            test.first = test.connections[connection.id].lines[0].index
        for test in tests[:-1]:
            test.last = test.connections[connection.id].lines[0].index
        return tests

    def make_successor(self) -> "Iperf2Test":
        """Return the next test of the same server, whose header is printed once.

        Connections without figures may still be measuring, so they are passed on.
        """
        silent = [
            connection
            for connection in self.connections.values()
            if connection.local and not connection.lines and not connection.server_lines
        ]
        pending = (
            {connection.id: connection for connection in silent[-_MOST_STREAMS:]} if not self.header.client_port else {}
        )
        return Iperf2Test(header=self.header.for_next_test(), connections=pending)

    def find_silent(self) -> list[str]:
        """Return a client's streams without a line beside those that have some; connections to a server may be another test's."""
        under = {
            name.lstrip("*FD")
            for name, connection in self.connections.items()
            if connection.lines or connection.server_lines
        }
        if not self.header.client_port or "SUM" in self.connections:
            return []
        return [
            connection.id
            for connection in self.connections.values()
            if connection.local and connection.id.lstrip("*FD") not in under
        ]

    def make_run(self, text: SourceText) -> ParsedRun:
        """Return the finished run."""
        chosen = self._choose_connections()
        sections = tuple(ParsedSection(number, connection.name) for number, connection in enumerate(chosen))
        longest = max((connection.lines[-1].end for connection in chosen), default=0.0)
        is_bare = all(len(connection.lines) == 1 for connection in chosen)
        for connection in chosen:
            connection.is_doubted |= connection.lines[-1].end < longest * _SHORT_SHARE or (
                is_bare and not connection.is_done and self._is_interval(longest, connection.lines[0].decimals)
            )
            connection.has_sent = connection.has_sent or (
                connection.id == "SUM" and any(each.has_written() for each in chosen)
            )
        local = next((connection.local for connection in chosen if connection.local), None)
        ways = Counter(connection.operation(self.header) for connection in chosen if connection.id != "SUM")
        samples = [
            each
            for number, connection in enumerate(chosen)
            for each in iterate_samples(
                connection, number, ways[connection.operation(self.header)] or 1, self.header, text
            )
        ]
        header = self.header
        return ParsedRun(
            tool="iperf", tool_version="", sections=sections if len(sections) > 1 else (), samples=tuple(samples),
            series=tuple(each for number, connection in enumerate(chosen) for each in make_connection_series(connection, number, header)),
            problem="" if any(connection.whole for connection in chosen) else CUT, workload=header.workload(),
            started_at=read_start(local), host=local.host if local else "", target=header.host or (local.peer if local else ""),
            line=text.number(self.first), last_line=text.number(self.last),
        )  # fmt: skip

    def _choose_connections(self) -> list[Iperf2Connection]:
        """Return the connections with figures, the sums first. Facts about a reversed stream stand on the line of its plain number."""
        known = [
            connection
            for connection in self.connections.values()
            if connection.lines and not connection.id.startswith("FD")
        ]
        streams = [connection for connection in known if connection.id != "SUM"]
        for connection in streams:
            connection.local = connection.local or self._find_local(connection)
        sums = [
            each
            for connection in known
            if connection.id == "SUM"
            for each in split_by_direction(connection, streams, self.header)
        ]
        for connection in sums:
            connection.local = streams[0].local if streams and connection.way is None else None
        return [*sums, *streams]

    def _is_interval(self, end: float, decimals: int) -> bool:
        """Return whether a single line from 0.0 is the first interval of a test that is cut off."""
        return is_interval(str(self.header.settings.get("command", "")), end, decimals)

    def _find_local(self, connection: Iperf2Connection) -> ConnectionLine | None:
        plain = self.connections.get(connection.id.removeprefix("*"))
        return plain.local if plain else None


NAME = "iperf2"
TITLE = "iperf 2 text"

_WINDOW = re.compile(r"(?:TCP window|UDP buffer) size: {1,4}(\d{1,9}(?:\.\d{1,3})?) ([KMG]?)Byte")
_BUFFER = re.compile(r"(?:Write|Read) buffer size: {1,4}(\d{1,9}(?:\.\d{1,3})?) ([KMG]?)Byte")
_DATAGRAM = re.compile(r"^\s{0,16}(?:Sending|Receiving) (\d{1,9}) byte datagrams")
_HEADING = re.compile(  # lines that the patterns above read
    r"(?:TCP window|UDP buffer|Write buffer|Read buffer) size:|^\s{0,16}(?:Sending|Receiving) \S+ byte datagrams"
    r"|^Server listening on (?:TCP|UDP)|^Client connecting to "
)
_SERVER_REPORT = re.compile(r"\[ {0,6}(\S{1,8})\] Server Report:")
_SENT = re.compile(r"\[ {0,6}(\d{1,6})\] (?:Sent \d{1,18} datagrams|WARNING: did not receive ack of last datagram)")
_NO_RATE = re.compile(
    r"\[ {0,6}(\d{1,6})\] {1,8}[\d.]{1,20}- ?[\d.]{1,20} {1,6}sec {1,6}\S{1,40} \S{0,6}Bytes {1,6}(\S{0,20}(?:nan|inf)\S{0,20} \w{0,6}/sec)",
    re.IGNORECASE,
)
_BEGUN = re.compile(r"\[ {0,6}\w{0,6}\]?[\s\d.-]{0,30}\Z")  # a report that is cut off where its figures would begin
_NAMED = 5  # streams
_FACTORS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}


def looks_like(text: SourceText) -> float:
    """Return 1 if the text has report lines of iperf 2, else 0."""
    return 1.0 if has_reports(text, 2) else 0.0


def parse(text: SourceText) -> ParsedFile:
    """Parse every test in the text into a run.

    Raises:
        ParseError: if there is no report line.
    """
    runs: list[ParsedRun] = []
    broken: list[Broken] = []
    warnings: list[str] = []
    damaged: list[int] = []
    unknown: list[int | None] = []
    for test in (each for test_group in _iterate_tests(text, damaged) for each in test_group.split()):
        if not test.has_reports:
            broken += [_make_without_results(text, index) for index in test.announced]
            broken.append(_make_without_results(text, test.first, text.lines[test.last]))
            continue
        run = test.make_run(text)
        broken += [_make_without_results(text, index) for index in test.find_headers_without_stream()]
        unknown += [run.line] if any(sample.missing_reason == SIDE_UNKNOWN for sample in run.samples) else []
        if silent := test.find_silent():
            warnings.append(
                f"line {run.line}: {_list_streams(silent)} connected, and no line says how fast: the text may be cut off"
            )
        if run.problem:
            last = text.lines[test.last][:100]
            broken.append(Broken(run.problem, run.last_line, last, "a report from 0.0 over the whole time"))
        runs.append(run)
    if unknown:
        others = f" and {len(unknown) - 1} other tests" if len(unknown) > 1 else ""
        warnings.append(f"line {unknown[0]}{others}: {SIDE_UNKNOWN}; the intervals are kept as net_send")
    broken += make_broken(text, damaged)
    if not runs:
        raise ParseError(
            "no report line of iperf 2 in the text", expected="'[  3]  0.0-10.0 sec  … MBytes  … Mbits/sec'"
        )
    return ParsedFile(tuple(runs), tuple(warnings), tuple(broken))


def _make_without_results(text: SourceText, index: int, excerpt: str = "") -> Broken:
    excerpt = (excerpt or text.lines[index])[:100]
    return Broken("the test has no results", text.number(index), excerpt, "a report from 0.0 over the whole time")


def _list_streams(streams: list[str]) -> str:
    names = f"{', '.join(streams[:_NAMED])}{' …' if len(streams) > _NAMED else ''}"
    return f"{len(streams)} other stream{'s' * (len(streams) > 1)} ({names})"


def _iterate_tests(text: SourceText, damaged: list[int]) -> Iterator[Iperf2Test]:
    """Yield the tests, and add to `damaged` the indices of lines of which a part can not be read."""
    test, pending_command = Iperf2Test(), ""
    for line in iterate_lines(text, 2):
        found_command = find_command(line.text)
        if found_command and test.has_reports:  # nothing above it is of the next test
            yield test
            test = Iperf2Test()
        if line.report and not test.accepts_report(line.report, text):
            yield test
            test = test.make_successor()
        elif line.local and test.connections and not test.accepts_connection(line.local):
            if test.has_reports:
                yield test
            test = test.make_successor()
        elif test.ends_before(line.text):
            following = test.make_next(line.text, pending_command)
            if not following.announced:
                yield test
            test = following
        pending_command, is_read = (found_command, True) if found_command else (pending_command, _read_line(test, line))
        if is_read and pending_command and not found_command:
            test.header.settings |= read_workload(
                "" if is_of_another(pending_command, test.header.host) else pending_command
            )
            pending_command = ""
        if _is_damaged(test, line, is_read):
            damaged.append(line.index)
    if text.lines and _BEGUN.match(text.lines[-1]):
        test.doubt("")
    if test.has_reports or test.header.client_port:
        yield test


def _is_damaged(test: Iperf2Test, line: IperfLine, is_read: bool) -> bool:
    """Return whether a part of the line can not be read; a single line above it is doubted then."""
    name = find_bent(line)
    name = find_near_report(line) if name is None else name
    if name is not None and not is_read:
        test.doubt(name)
    return name is not None or _is_bent_heading(line, is_read)


def _is_bent_heading(line: IperfLine, is_read: bool) -> bool:
    """Return whether a line above the figures can not be read, or has the next one behind it."""
    headings = _HEADING.findall(line.text) if not line.report else []
    return len(headings) > is_read


def _read_line(test: Iperf2Test, line: IperfLine) -> bool:
    """Read a line that says something of the test; return whether it does."""
    if line.report:
        test.add(line.report)
    elif line.local:
        test.connections.setdefault(line.local.id, Iperf2Connection(line.local.id)).local = line.local
        test.add_line(line.index)
    elif match := _SERVER_REPORT.search(line.text):
        test.reported_by_server = match[1] if match[1].isdigit() else ANY_ID
        test.add_line(line.index)
    elif test.reported_by_server and (match := _NO_RATE.search(line.text)) and match[1] == test.reported_by_server:
        test.connections.setdefault(match[1], Iperf2Connection(match[1])).unread = (line.index, match[2])
        test.reported_by_server = ""
        test.add_line(line.index)
    elif (match := _SENT.search(line.text)) and match[1] in test.connections:
        test.connections[match[1]].has_sent = True
    elif _read_header(test.header, line.text):
        test.add_line(line.index)
    else:
        return False
    return True


def _read_header(header: Iperf2Header, line: str) -> bool:
    if match := CLIENT.search(line):
        host = "" if "*" in match[1] else match[1]  # (**hidden**), with --hide-ips
        header.host, header.protocol, header.client_port = host, match[2].lower(), int(match[3])
    elif match := SERVER.search(line):
        header.protocol, header.server_port = match[1].lower(), int(match[2])
    elif "size: -1.00 Byte" in line:
        pass  # the system did not report a size
    elif match := _WINDOW.search(line):
        header.settings["window_size"] = _read_bytes(match)
    elif match := _BUFFER.search(line):
        header.block_size = _read_bytes(match)
    elif match := _DATAGRAM.search(line):
        header.block_size = int(match[1])
    else:
        return False
    return True


def _read_bytes(match: re.Match[str]) -> int:
    return min(round(float(match[1]) * _FACTORS[match[2]]), INT8)
