"""iperf 2's text, 2.0.x to 2.2, also its enhanced reports (`-e`).

    Client connecting to 10.0.0.2, TCP port 5001
    [  3] local 10.0.0.1 port 48990 connected with 10.0.0.2 port 5001
    [  3]  0.0- 1.0 sec  30.4 MBytes   255 Mbits/sec
    [  3]  0.0-10.0 sec  1.25 MBytes  1.05 Mbits/sec   0.005 ms    0/  893 (0%)                       UDP
    [  1] 0.0000-2.0005 sec  4.18 GBytes  17.9 Gbits/sec  34225/0  10  3836K/243(195) us  9227970     -e

One run per test: what a client connected at once, what a server accepted at once. Intervals are series; the line from
0.0 over the whole time is the sample. `[SUM]` is section 0, streams are sections of their own. A client's lines are
`net_send`, a server's `net_receive`; `[ *1]` (2.1: reverse, full duplex) is the other way, but for a server that calls back
(-d, -r), whose connection has the star already. Behind `Server Report:` a client shows what the server received. `[FD1]` and
the `[SUM]` of both directions are not read (`iperf2_sums`); nor are a server's lines of full duplex, which have one id (2.0.14
and 2.1).

Totals alone, one below the other, are tests of their own where a command or somebody's words stand between them; the
command says whose lines they are where no header does; so are three or more of one stream, as only one can be the total
of an interval. A line alone from 0.0 is no total where a later one of its stream cannot be read, where other streams last
longer, or where the command asks for it with -i.

Oddities: `0.0- 1.0` has a blank inside; the unit changes from line to line; a log without header is read too, where
nothing says who sent: the figures are missing then (the reason and the tool's text stay), and a warning says so. Rows
of UDP with jitter and losses are the receiver's, who alone can count them; who tells how many datagrams were sent, or
has the column `Write/Err` of `-e`, sent them.
The retransmits of `-e` are the column `Rtry`, and its RTT is a note: the last one that the kernel told, no mean. The
`Latency avg/min/max/stdev` of --trip-times is latency_*; NetPwr and PPS are not read. The requests of --bounceback
(`BB cnt=avg/min/max/stdev`, RPS) are `net_request`. A server's report whose rate is
`nan` or `inf` is missing.
A start is read where -e prints when the stream connected, in UTC.
Units: see `iperf_lines`. Formats: iperf 2's Locale.c (2.0.5, 2.2.1) and ReportOutputs.c (2.2.1).
"""

import re
from collections.abc import Iterator

from apps.parsers.finite import INT8
from apps.parsers.iperf2_connections import SIDE_UNKNOWN, Connection, Header
from apps.parsers.iperf2_test import ANY, CLIENT, SERVER, Test
from apps.parsers.iperf_commands import asked, command, is_of_another
from apps.parsers.iperf_lines import Line, bent, broken_lines, has_reports, lines_of, nearly
from apps.parsers.shape import Broken, ParsedFile, ParsedRun, ParseError
from apps.parsers.source_text import SourceText

NAME = "iperf2"
TITLE = "iperf 2 text"

_WINDOW = re.compile(r"(?:TCP window|UDP buffer) size: {1,4}(\d{1,9}(?:\.\d{1,3})?) ([KMG]?)Byte")
_BUFFER = re.compile(r"(?:Write|Read) buffer size: {1,4}(\d{1,9}(?:\.\d{1,3})?) ([KMG]?)Byte")
_DATAGRAM = re.compile(r"^\s{0,16}(?:Sending|Receiving) (\d{1,9}) byte datagrams")
_HEADING = re.compile(  # each is read by a pattern above
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
    return 1.0 if has_reports(text, 2) else 0.0


def parse(text: SourceText) -> ParsedFile:
    runs: list[ParsedRun] = []
    broken: list[Broken] = []
    warnings: list[str] = []
    damaged: list[int] = []
    unknown: list[int | None] = []
    for test in (each for one in _tests(text, damaged) for each in one.apart()):
        if not test.has_reports:
            broken += [_without_results(text, index) for index in test.announced]
            broken.append(_without_results(text, test.first, text.lines[test.last]))
            continue
        run = test.run(text)
        broken += [_without_results(text, index) for index in test.announced_in_vain()]
        unknown += [run.line] if any(sample.missing_reason == SIDE_UNKNOWN for sample in run.samples) else []
        if silent := test.silent():
            warnings.append(
                f"line {run.line}: {_listed(silent)} connected, and no line says how fast: the text may be cut off"
            )
        if run.problem:
            last = text.lines[test.last][:100]
            broken.append(Broken(run.problem, run.last_line, last, "a report from 0.0 over the whole time"))
        runs.append(run)
    if unknown:
        others = f" and {len(unknown) - 1} other tests" if len(unknown) > 1 else ""
        warnings.append(f"line {unknown[0]}{others}: {SIDE_UNKNOWN}; the intervals are kept as net_send")
    broken += broken_lines(text, damaged)
    if not runs:
        raise ParseError(
            "no report line of iperf 2 in the text", expected="'[  3]  0.0-10.0 sec  … MBytes  … Mbits/sec'"
        )
    return ParsedFile(tuple(runs), tuple(warnings), tuple(broken))


def _without_results(text: SourceText, index: int, found: str = "") -> Broken:
    found = (found or text.lines[index])[:100]
    return Broken("the test has no results", text.number(index), found, "a report from 0.0 over the whole time")


def _listed(streams: list[str]) -> str:
    names = f"{', '.join(streams[:_NAMED])}{' …' if len(streams) > _NAMED else ''}"
    return f"{len(streams)} other stream{'s' * (len(streams) > 1)} ({names})"


def _tests(text: SourceText, damaged: list[int]) -> Iterator[Test]:
    """Also adds to `damaged` the indices of lines of which not all can be read."""
    test, shown = Test(), ""
    for line in lines_of(text, 2):
        found = command(line.text)
        if found and test.has_reports:  # nothing above it is of the next test
            yield test
            test = Test()
        if line.report and not test.takes(line.report, text):
            yield test
            test = test.successor()
        elif line.local and test.connections and not test.goes_on_with(line.local):
            if test.has_reports:
                yield test
            test = test.successor()
        elif test.ends_before(line.text):
            following = test.before_header(line.text, shown)
            if not following.announced:
                yield test
            test = following
        shown, is_read = (found, True) if found else (shown, _read(test, line))
        if is_read and shown and not found:
            test.header.told |= asked("" if is_of_another(shown, test.header.host) else shown)
            shown = ""
        if _is_damaged(test, line, is_read):
            damaged.append(line.index)
    if text.lines and _BEGUN.match(text.lines[-1]):
        test.doubt("")
    if test.has_reports or test.header.client_port:
        yield test


def _is_damaged(test: Test, line: Line, is_read: bool) -> bool:
    """Whether not all of the line can be read; then what stands alone above it is doubted."""
    name = bent(line)
    name = nearly(line) if name is None else name
    if name is not None and not is_read:
        test.doubt(name)
    return name is not None or _is_bent_heading(line, is_read)


def _is_bent_heading(line: Line, is_read: bool) -> bool:
    """Whether a line above the figures says nothing that can be read, or has the next one behind it."""
    found = _HEADING.findall(line.text) if not line.report else []
    return len(found) > is_read


def _read(test: Test, line: Line) -> bool:
    """Whether the line says something of the test."""
    if line.report:
        test.add(line.report)
    elif line.local:
        test.connections.setdefault(line.local.id, Connection(line.local.id)).local = line.local
        test.covers(line.index)
    elif match := _SERVER_REPORT.search(line.text):
        test.reported_by_server = match[1] if match[1].isdigit() else ANY
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
    if match := CLIENT.search(line):
        host = "" if "*" in match[1] else match[1]  # (**hidden**), with --hide-ips
        header.host, header.protocol, header.client_port = host, match[2].lower(), int(match[3])
    elif match := SERVER.search(line):
        header.protocol, header.server_port = match[1].lower(), int(match[2])
    elif "size: -1.00 Byte" in line:
        pass  # the system did not say it
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
