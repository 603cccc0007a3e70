"""iperf 2's text, 2.0.x to 2.2, also its enhanced reports (`-e`).

    Client connecting to 10.0.0.2, TCP port 5001
    [  3] local 10.0.0.1 port 48990 connected with 10.0.0.2 port 5001
    [  3]  0.0- 1.0 sec  30.4 MBytes   255 Mbits/sec
    [  3]  0.0-10.0 sec  1.25 MBytes  1.05 Mbits/sec   0.005 ms    0/  893 (0%)                       UDP
    [  1] 0.0000-2.0005 sec  4.18 GBytes  17.9 Gbits/sec  34225/0  10  3836K/243(195) us  9227970     -e

One run per test: what a client connected at once, what a server accepted at once. Intervals are series; the line from
0.0 over the whole time is the sample. `[SUM]` is section 0, streams are sections of their own. A client's lines are
`net_send`, a server's `net_receive`; `[ *1]` (2.1: reverse, full duplex) is the other way. Behind `Server Report:` a
client shows what the server received. `[FD1]`, the sum of both directions, is not read.

Oddities: `0.0- 1.0` has a blank inside; the unit changes from line to line; a log without header is read too, where
nothing says who sent: the figures are missing then (the reason and the tool's text stay), and a warning says so. Rows
of UDP with jitter and losses are the receiver's, who alone can count them; who tells how many datagrams were sent, or
has the column `Write/Err` of `-e`, sent them.
The retransmits of `-e` are the column `Rtry`, and its RTT is a note: the last one that the kernel told, no mean. The
`Latency avg/min/max/stdev` of --trip-times is latency_*; NetPwr and PPS are not read. A server's report whose rate is
`nan` or `inf` is missing.
Units: see `iperf_lines`. Formats: iperf 2's Locale.c (2.0.5, 2.2.1) and ReportOutputs.c (2.2.1).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from apps.parsers.finite import INT8
from apps.parsers.iperf2_connections import CUT, SIDE_UNKNOWN, Connection, Header, samples_of, series_of
from apps.parsers.iperf_commands import asked, command, is_of_another
from apps.parsers.iperf_lines import Line, Local, Report, has_reports, lines_of
from apps.parsers.shape import Broken, ParsedFile, ParsedRun, ParsedSection, ParseError
from apps.parsers.source_text import SourceText

NAME = "iperf2"
TITLE = "iperf 2 text"

_CLIENT = re.compile(r"Client connecting to (\S{1,200}), (TCP|UDP) port (\d{1,5})")
_SERVER = re.compile(r"Server listening on (TCP|UDP) ports? (\d{1,5})")
_WINDOW = re.compile(r"(?:TCP window|UDP buffer) size: {1,4}(\d{1,9}(?:\.\d{1,3})?) ([KMG]?)Byte")
_BUFFER = re.compile(r"(?:Write|Read) buffer size: {1,4}(\d{1,9}(?:\.\d{1,3})?) ([KMG]?)Byte")
_DATAGRAM = re.compile(r"^\s{0,16}(?:Sending|Receiving) (\d{1,9}) byte datagrams")
_SERVER_REPORT = re.compile(r"\[ {0,6}(\d{1,6})\] Server Report:")
_SENT = re.compile(r"\[ {0,6}(\d{1,6})\] (?:Sent \d{1,18} datagrams|WARNING: did not receive ack of last datagram)")
_NO_RATE = re.compile(
    r"\[ {0,6}(\d{1,6})\] {1,8}[\d.]{1,20}- ?[\d.]{1,20} {1,6}sec {1,6}\S{1,40} \S{0,6}Bytes {1,6}(\S{0,20}(?:nan|inf)\S{0,20} \w{0,6}/sec)",
    re.IGNORECASE,
)
_MOST = 256  # streams that a server is asked about while more of them connect
_FACTORS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}


def looks_like(text: SourceText) -> float:
    return 1.0 if has_reports(text, 2) else 0.0


def parse(text: SourceText) -> ParsedFile:
    runs: list[ParsedRun] = []
    broken: list[Broken] = []
    warnings: list[str] = []
    for test in _tests(text):
        if not test.has_reports:
            expected = "a report from 0.0 over the whole time"
            broken.append(
                Broken("the test has no results", text.number(test.first), text.lines[test.last][:100], expected)
            )
            continue
        run = test.run(text)
        if any(sample.missing_reason == SIDE_UNKNOWN for sample in run.samples):
            warnings.append(f"line {run.line}: {SIDE_UNKNOWN}; the intervals are kept as net_send")
        if run.problem:
            last = text.lines[test.last][:100]
            broken.append(Broken(run.problem, run.last_line, last, "a report from 0.0 over the whole time"))
        runs.append(run)
    if not runs:
        raise ParseError(
            "no report line of iperf 2 in the text", expected="'[  3]  0.0-10.0 sec  … MBytes  … Mbits/sec'"
        )
    return ParsedFile(tuple(runs), tuple(warnings), tuple(broken))


@dataclass(slots=True)
class _Test:
    """The connections of one test, and what stands above them."""

    header: Header = field(default_factory=Header)
    first: int = -1
    last: int = -1
    connections: dict[str, Connection] = field(default_factory=dict)
    reported_by_server: str = ""
    has_reports: bool = False

    def covers(self, index: int) -> None:
        self.first = index if self.first < 0 else self.first
        self.last = index

    def goes_on_with(self, local: Local) -> bool:
        known = self.connections.get(local.id)
        if known is not None and (known.lines or len(self.connections) == 1):
            return False
        heard = [one for one in self.connections.values() if one.lines]
        is_under_way = len(self.connections) < _MOST and not all(one.whole for one in heard)
        return not self.has_reports or is_under_way

    def ends_before(self, line: str) -> bool:
        """Whether this is the header of the next test, be it that nothing came of this one."""
        if _CLIENT.search(line):
            return self.has_reports or bool(self.header.client_port)
        return self.has_reports and bool(_SERVER.search(line))

    def takes(self, report: Report) -> bool:
        """False where this line begins another test: a count from 0.0 again."""
        known = self.connections.get(report.id)
        if known is None or not known.lines or self.reported_by_server:
            return True
        return not (report.start == 0 and report.end < known.lines[-1].end)

    def add(self, report: Report) -> None:
        one = self.connections.setdefault(report.id, Connection(report.id))
        if self.reported_by_server == report.id:
            one.server_lines.append(report)
            self.reported_by_server = ""
        else:
            one.lines.append(report)
            self.has_reports = True
        self.covers(report.index)

    def successor(self) -> "_Test":
        """The next test of the same server: its header is printed once. Who connected and has no figures may still be
        measuring, or is nobody's client at all.
        """
        silent = [one for one in self.connections.values() if one.local and not one.lines and not one.server_lines]
        kept = {one.id: one for one in silent[-_MOST:]} if not self.header.client_port else {}
        return _Test(header=self.header.of_server(), connections=kept)

    def run(self, text: SourceText) -> ParsedRun:
        shown = [one for one in self.connections.values() if one.lines and not one.id.startswith("FD")]
        shown.sort(key=lambda one: one.id != "SUM")
        sections = tuple(ParsedSection(number, one.name) for number, one in enumerate(shown))
        for one in shown:  # a reversed stream's facts stand on the line of its plain number
            one.local = one.local or self._local(one)
            one.has_sent = one.has_sent or (one.id == "SUM" and any(each.has_written() for each in shown))
        local = next((one.local for one in shown if one.local), None)
        streams = max(1, sum(1 for one in shown if one.id != "SUM" and not one.id.startswith("*")))
        samples = [
            each for number, one in enumerate(shown) for each in samples_of(one, number, streams, self.header, text)
        ]
        header = self.header
        return ParsedRun(
            tool="iperf", tool_version="", sections=sections if len(sections) > 1 else (), samples=tuple(samples),
            series=tuple(each for number, one in enumerate(shown) for each in series_of(one, number, header)),
            problem="" if any(one.whole for one in shown) else CUT, workload=header.workload(),
            host=local.host if local else "", target=header.host or (local.peer if local else ""),
            line=text.number(self.first), last_line=text.number(self.last),
        )  # fmt: skip

    def _local(self, one: Connection) -> Local | None:
        plain = self.connections.get(one.id.removeprefix("*"))
        if plain is None and one.id == "SUM":
            known = [each for each in self.connections.values() if each.local]
            plain = next((each for each in known if each.lines), known[0] if known else None)
        return plain.local if plain else None


def _tests(text: SourceText) -> Iterator[_Test]:
    test, shown = _Test(), ""
    for line in lines_of(text, 2):
        if line.report and not test.takes(line.report):
            yield test
            test = test.successor()
        elif line.local and test.connections and not test.goes_on_with(line.local):
            if test.has_reports:
                yield test
            test = test.successor()
        elif test.ends_before(line.text):
            yield test
            test = _Test()
        if found := command(line.text):
            shown = found
        elif _read(test, line) and shown:
            test.header.told |= asked("" if is_of_another(shown, test.header.host) else shown)
            shown = ""
    if test.has_reports or test.header.client_port:
        yield test


def _read(test: _Test, line: Line) -> bool:
    """Whether the line says something of the test."""
    if line.report:
        test.add(line.report)
    elif line.local:
        test.connections.setdefault(line.local.id, Connection(line.local.id)).local = line.local
        test.covers(line.index)
    elif match := _SERVER_REPORT.search(line.text):
        test.reported_by_server = match[1]
        test.covers(line.index)
    elif test.reported_by_server and (match := _NO_RATE.search(line.text)) and match[1] == test.reported_by_server:
        test.connections.setdefault(match[1], Connection(match[1])).unread = (line.index, match[2])
        test.reported_by_server = ""
        test.covers(line.index)
    elif (match := _SENT.search(line.text)) and match[1] in test.connections:
        test.connections[match[1]].has_sent = True
    elif _read_header(test.header, line.text):
        test.covers(line.index)
    else:
        return False
    return True


def _read_header(header: Header, line: str) -> bool:
    if match := _CLIENT.search(line):
        host = "" if "*" in match[1] else match[1]  # (**hidden**), with --hide-ips
        header.host, header.protocol, header.client_port = host, match[2].lower(), int(match[3])
    elif match := _SERVER.search(line):
        header.protocol, header.server_port = match[1].lower(), int(match[2])
    elif match := _WINDOW.search(line):
        header.told["window_size"] = _bytes(match)
    elif match := _BUFFER.search(line):
        header.block_size = _bytes(match)
    elif match := _DATAGRAM.search(line):
        header.block_size = int(match[1])
    else:
        return False
    return True


def _bytes(match: re.Match[str]) -> int:
    return min(round(float(match[1]) * _FACTORS[match[2]]), INT8)
