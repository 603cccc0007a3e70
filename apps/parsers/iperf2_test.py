"""A test of iperf 2 as its lines are read: the connections of one test, and what stands above them. See `iperf2_text`."""

import re
from collections import Counter
from dataclasses import dataclass, field, replace

from apps.parsers.iperf2_connections import CUT, Connection, Header, began, samples_of, series_of
from apps.parsers.iperf2_sums import by_way
from apps.parsers.iperf_commands import is_interval
from apps.parsers.iperf_lines import Local, Report, datagrams
from apps.parsers.shape import ParsedRun, ParsedSection
from apps.parsers.source_text import SourceText

CLIENT = re.compile(r"Client connecting to (\S{1,200}), (TCP|UDP) port (\d{1,5})")
SERVER = re.compile(r"Server listening on (TCP|UDP) ports? (\d{1,5})")
ANY = "any"  # whose report the server's is, where its id cannot be read
_MOST = 256  # streams that a server is asked about while more of them connect
_SHORT = 0.6  # of the longest stream: what lasts less is an interval, and the text ends before the rest


@dataclass(slots=True)
class Test:
    """The connections of one test, and what stands above them."""

    header: Header = field(default_factory=Header)
    first: int = -1
    last: int = -1
    connections: dict[str, Connection] = field(default_factory=dict)
    reported_by_server: str = ""
    has_reports: bool = False
    announced: list[int] = field(default_factory=list)  # the headers like its own right above it
    is_damaged: bool = False  # a report line of it cannot be read

    def covers(self, index: int) -> None:
        self.first = index if self.first < 0 else self.first
        self.last = index

    def goes_on_with(self, local: Local) -> bool:
        known = self.connections.get(local.id)
        if known is not None and (known.lines or len(self.connections) == 1):
            return False
        heard = [one for one in self.connections.values() if one.lines]
        if self.is_damaged and not self.has_reports:
            return False
        is_under_way = len(self.connections) < _MOST and not all(one.whole for one in heard)
        return not self.has_reports or is_under_way

    def ends_before(self, line: str) -> bool:
        """Whether this is the header of the next test, be it that nothing came of this one."""
        if CLIENT.search(line):
            is_called_back = bool(self.header.server_port) and any(one.local for one in self.connections.values())
            return self.has_reports or (bool(self.header.client_port) and not is_called_back)
        return self.has_reports and bool(SERVER.search(line))

    def before_header(self, line: str, shown: str) -> "Test":
        """What begins with this client's header: the next test, or the same one, for its next stream (2.2 prints a header for each
        of -P). `shown`: a command since the header above.
        """
        match = CLIENT.search(line)
        is_same = match is not None and (match[1], int(match[3])) == (self.header.host, self.header.client_port)
        goes_on = is_same and not self.connections and not shown
        return Test(announced=[*self.announced, self.first] if goes_on else [])

    def announced_in_vain(self) -> list[int]:
        """The headers above that are of no stream; --sum-only shows none of them."""
        streams = {name.lstrip("*") for name in self.connections} - {"SUM"}
        return self.announced[len(streams) - 1 :] if streams else []

    def takes(self, report: Report, text: SourceText) -> bool:
        """False where this line begins another test: a count from 0.0 again, and what somebody wrote above it says so too
        where it may be the total of the line before.
        """
        known = self.connections.get(report.id)
        if known is None or not known.lines or self.reported_by_server or report.start or known.is_both_ways:
            return True
        last = known.lines[-1]
        between = text.lines[self.last + 1 : report.index]
        is_apart = last.start == 0 and any(line.strip(" -") and line.lstrip()[0] != "[" for line in between)
        return report.end >= last.end and not is_apart

    def doubt(self, name: str) -> None:
        """A line of this stream cannot be read: what stands alone above it may be an interval."""
        self.is_damaged = True
        digits = "".join(filter(str.isdigit, name))
        known = [self.connections[digits]] if digits in self.connections else []
        for one in known if digits else self.connections.values():
            one.is_doubted = bool(one.lines)

    def add(self, report: Report) -> None:
        one = self.connections.setdefault(report.id, Connection(report.id))
        if self.reported_by_server in (report.id, ANY) or self._is_of_server(one, report):
            one.server_lines.append(report)
            self.reported_by_server = ""
        else:
            one.lines.append(report)
            self.has_reports = True
        self.covers(report.index)

    def _is_of_server(self, one: Connection, report: Report) -> bool:
        """Losses behind lines of a client that has none: only who receives can count them."""
        if report.start or not one.lines or not self.header.client_port or one.id == "SUM":
            return False
        return datagrams(report.rest) is not None and datagrams(one.lines[-1].rest) is None

    def apart(self) -> list["Test"]:
        """Each line from 0.0 of one stream as a test of its own, where there are more than an interval and its total: somebody kept
        the totals alone.
        """
        one = next(iter(self.connections.values()), Connection(""))
        if len(self.connections) > 1 or len(one.lines) < 3 or any(line.start for line in one.lines):
            return [self]
        found = [replace(self, connections={one.id: replace(one, lines=[line])}) for line in one.lines]
        for test in found[1:]:
            test.first = test.connections[one.id].lines[0].index
        for test in found[:-1]:
            test.last = test.connections[one.id].lines[0].index
        return found

    def successor(self) -> "Test":
        """The next test of the same server: its header is printed once. Who connected and has no figures may still be
        measuring, or is nobody's client at all.
        """
        silent = [one for one in self.connections.values() if one.local and not one.lines and not one.server_lines]
        kept = {one.id: one for one in silent[-_MOST:]} if not self.header.client_port else {}
        return Test(header=self.header.of_server(), connections=kept)

    def silent(self) -> list[str]:
        """A client's streams without a line beside those that have some; who connects to a server may be another test's."""
        under = {name.lstrip("*FD") for name, one in self.connections.items() if one.lines or one.server_lines}
        if not self.header.client_port or "SUM" in self.connections:
            return []
        return [one.id for one in self.connections.values() if one.local and one.id.lstrip("*FD") not in under]

    def run(self, text: SourceText) -> ParsedRun:
        shown = self._shown()
        sections = tuple(ParsedSection(number, one.name) for number, one in enumerate(shown))
        longest = max((one.lines[-1].end for one in shown), default=0.0)
        is_bare = all(len(one.lines) == 1 for one in shown)
        for one in shown:
            one.is_doubted |= one.lines[-1].end < longest * _SHORT or (
                is_bare and not one.is_done and self._is_interval(longest, one.lines[0].decimals)
            )
            one.has_sent = one.has_sent or (one.id == "SUM" and any(each.has_written() for each in shown))
        local = next((one.local for one in shown if one.local), None)
        ways = Counter(one.operation(self.header) for one in shown if one.id != "SUM")
        samples = [
            each
            for number, one in enumerate(shown)
            for each in samples_of(one, number, ways[one.operation(self.header)] or 1, self.header, text)
        ]
        header = self.header
        return ParsedRun(
            tool="iperf", tool_version="", sections=sections if len(sections) > 1 else (), samples=tuple(samples),
            series=tuple(each for number, one in enumerate(shown) for each in series_of(one, number, header)),
            problem="" if any(one.whole for one in shown) else CUT, workload=header.workload(),
            started_at=began(local), host=local.host if local else "", target=header.host or (local.peer if local else ""),
            line=text.number(self.first), last_line=text.number(self.last),
        )  # fmt: skip

    def _shown(self) -> list[Connection]:
        """What has figures, the sums first. A reversed stream's facts stand on the line of its plain number."""
        known = [one for one in self.connections.values() if one.lines and not one.id.startswith("FD")]
        streams = [one for one in known if one.id != "SUM"]
        for one in streams:
            one.local = one.local or self._local(one)
        sums = [each for one in known if one.id == "SUM" for each in by_way(one, streams, self.header)]
        for one in sums:
            one.local = streams[0].local if streams and one.way is None else None
        return [*sums, *streams]

    def _is_interval(self, end: float, decimals: int) -> bool:
        """Whether a line from 0.0, alone, is the first interval of a test of which all else is cut off."""
        return is_interval(str(self.header.told.get("command", "")), end, decimals)

    def _local(self, one: Connection) -> Local | None:
        plain = self.connections.get(one.id.removeprefix("*"))
        return plain.local if plain else None
