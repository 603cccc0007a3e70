"""The streams of an iperf 2 test: which line counts, who sent, and their samples."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from apps.parsers.finite import number, positive
from apps.parsers.iperf_commands import client_of
from apps.parsers.iperf_lines import Local, Point, Report, datagrams, series
from apps.parsers.shape import ParsedSample, ParsedSeries
from apps.parsers.source_text import SourceText

DEFAULT_PORT = 5001  # iperf 2's (Settings.cpp); its clients connect to it unless told otherwise
CUT = "the line over the whole time is missing"
NO_NUMBER = "the server's report is no number"
NOT_TIMED = "no packet was timed"
CLOCKS = "the clocks of the two hosts are not together"
SIDE_UNKNOWN = "nothing says whether this is the client's or the server's output"
WAY_UNKNOWN = "nothing says which direction this is of"
_WRITES = re.compile(r"^ {1,8}\d{1,18}/\d{1,18}(?:/\d{1,18})? {1,16}\d{1,18}(?: |$)")
_RTT = re.compile(
    r"^ {1,8}\d{1,18}/\d{1,18} {1,16}\d{1,18} {1,16}(?:-?\d{1,18}[KMG]?(?:\(\d{1,18}\))?/){1,2}(\d{1,18})(?:\(\d{1,18}\))? us(?: |$)"
)
_TRIPS = re.compile(
    r"^ {1,8}(?:[\d.]{1,20} ms {1,6}\d{1,18}/ {0,10}\d{1,18} \([^)]{0,20}%\) {1,8})?"
    + "/".join([r" {0,4}(-?\d{1,12}\.\d{1,6})"] * 4)
    + " ms(?: |$)"
)
_LATENCIES = ("latency_mean", "latency_min", "latency_max", "latency_stdev")  # in the order of the columns
_BOUNCES = re.compile(r"^ {1,8}\d{1,18}=" + "/".join([r"(\d{1,12}\.\d{1,6})"] * 4) + r" ms(?: |$)")  # of --bounceback
_BOUNCE_RETRIES = re.compile(r" ms {1,8}(\d{1,9}) {1,8}[\d-]{1,9}[K(]")
_PER_SECOND = re.compile(r" (?:RPS=(\d{1,12}(?:\.\d{1,6})?)|(\d{1,12}(?:\.\d{1,6})?) rps)(?: |$)")
_SINCE = re.compile(r" on (20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}) \((?:UTC|GMT)\)")
_RETRIES = re.compile(r"^ {1,8}\d{1,18}/\d{1,18} {1,16}(\d{1,18})(?! {0,8}pps)(?: |$)")


@dataclass(slots=True)
class Header:
    """The lines between dashes."""

    host: str = ""
    protocol: str = ""
    client_port: int = 0
    server_port: int = 0
    block_size: int | None = None
    told: dict[str, str | int | float] = field(default_factory=dict)

    def of_server(self) -> "Header":
        if not self.server_port:
            return Header()
        return Header(
            protocol=self.protocol, server_port=self.server_port, block_size=self.block_size, told=dict(self.told)
        )

    def workload(self) -> dict[str, str | int | float]:
        told = dict(self.told)
        if self.protocol:
            told["protocol"] = self.protocol
        if self.block_size:
            told["block_size"] = self.block_size
        return told


@dataclass(slots=True)
class Connection:
    id: str
    local: Local | None = None
    lines: list[Report] = field(default_factory=list)
    server_lines: list[Report] = field(default_factory=list)
    unread: tuple[int, str] | None = None  # the line and the rate of a server's report that is no number
    is_doubted: bool = False  # a line of it cannot be read
    way: str | None = None  # of a sum that only its streams can tell: net_send, net_receive, or "" where they do not
    has_sent: bool = False  # a line says how many datagrams were sent, or that nobody confirmed the last one

    @property
    def name(self) -> str:
        return self.id if self.id == "SUM" else f"stream {self.id}"

    @property
    def is_both_ways(self) -> bool:
        """A server's of --full-duplex: 2.0.14 to 2.1 print the lines of both directions with the same id."""
        return bool(self.local and self.local.id.startswith("*") and "(full-duplex)" in self.local.extra)

    @property
    def is_done(self) -> bool:
        """Whether something says so that iperf 2 prints behind the last line."""
        return self.has_sent or bool(self.server_lines) or self.unread is not None

    @property
    def whole(self) -> Report | None:
        """The line over the whole time: from 0.0, and as long as all before it."""
        if not self.lines or self.lines[-1].start != 0 or (self.is_doubted and len(self.lines) == 1):
            return None
        return self.lines[-1] if all(one.end <= self.lines[-1].end for one in self.lines) else None

    @property
    def intervals(self) -> list[Report]:
        return self.lines[:-1] if self.whole else self.lines

    def operation(self, header: Header) -> str:
        """net_send or net_receive; empty where nothing tells."""
        if self.way is not None:
            return self.way
        if self.is_both_ways:
            return ""
        is_client = self._is_client(header)
        if is_client is None:
            return "net_receive" if self._counts_losses() else "net_send" if self.has_written() else ""
        if (
            is_client and self.local and self.local.id.startswith("*")
        ):  # a server that calls back (-d, -r), since 2.0.14
            return "net_send"
        turned = self.id.startswith("*") or bool(self.local and "(reverse)" in self.local.extra)
        return "net_send" if is_client != turned else "net_receive"

    def _counts_losses(self) -> bool:
        """UDP's jitter and lost datagrams, which only who receives them knows."""
        counted = datagrams(self.lines[-1].rest) if self.lines else None
        return counted is not None and None not in counted

    def has_written(self) -> bool:
        """Only who sends prints these: how many datagrams, and the column `Write/Err` of `-e` (a sum has losses there too)."""
        return self.has_sent or (self.id != "SUM" and bool(self.lines and _WRITES.match(self.lines[-1].rest)))

    def _is_client(self, header: Header) -> bool | None:
        if bool(header.client_port) != bool(header.server_port):
            is_called = self.local is not None and self.local.port == header.client_port != self.local.peer_port
            return bool(header.client_port) and not is_called  # with -d the server connects back to the same port
        port, peer = (self.local.port, self.local.peer_port) if self.local else (0, 0)
        client, server = (peer == (header.client_port or DEFAULT_PORT)), (port == (header.server_port or DEFAULT_PORT))
        return (
            client
            if client != server
            else client_of(str(header.told.get("command", "")), is_marked=self.id.startswith("*"))
        )


def began(local: Local | None) -> float | None:
    """When it connected, where -e says so in UTC: other zones' letters are not theirs alone."""
    match = _SINCE.search(local.extra) if local else None
    try:
        return datetime.fromisoformat(f"{match[1]}+00:00").timestamp() if match else None
    except ValueError:
        return None


def samples_of(one: Connection, section: int, streams: int, header: Header, text: SourceText) -> Iterator[ParsedSample]:
    point = Point(section, streams, header.block_size)
    operation, whole = one.operation(header), one.whole
    if whole is None or not operation:
        is_mixed = one.way == "" or one.is_both_ways
        reason = WAY_UNKNOWN if is_mixed else CUT if whole is None else SIDE_UNKNOWN
        printed = whole.printed_rate if whole else ""
        line = text.number((whole or one.lines[-1]).index)
        yield point.sample(operation or "net_send", "bandwidth", None, printed, line, reason=reason)
    else:
        yield from _samples(point, operation, whole, text)
    for report in one.server_lines[-1:]:
        yield from _samples(point, "net_receive", report, text)
    if one.unread and not one.server_lines:
        index, printed = one.unread
        yield point.sample("net_receive", "bandwidth", None, printed, text.number(index), reason=NO_NUMBER)


def _samples(point: Point, operation: str, report: Report, text: SourceText) -> Iterator[ParsedSample]:
    line = text.number(report.index)
    rtt = _RTT.match(report.rest)
    note = f"RTT {rtt[1]} us at the end" if rtt and operation == "net_send" else ""
    yield point.sample(operation, "bandwidth", report.rate, report.printed_rate, line, note=note)
    yield point.sample(operation, "io_bytes", report.moved, report.printed_moved, line)
    if found := datagrams(report.rest):
        jitter, jitter_text, lost, lost_text = found
        if jitter is not None:
            yield point.sample(operation, "jitter", jitter, jitter_text, line)
        if lost is not None:
            yield point.sample(operation, "lost", lost, lost_text, line)
    elif (match := _RETRIES.match(report.rest)) and (count := positive(match[1])) is not None:
        yield point.sample(operation, "retransmits", count, f"Rtry {match[1]}", line)
    if match := _TRIPS.match(report.rest):
        yield from _trips(point, operation, match.groups(), line)
    elif match := _BOUNCES.match(report.rest):
        yield from _bounces(point, operation, match, report.rest, line)


def _trips(point: Point, operation: str, words: Sequence[str], line: int) -> Iterator[ParsedSample]:
    """What --trip-times measured. Nothing timed prints zeros; below zero the clocks differ, which leaves only the spread."""
    values = [number(word) or 0.0 for word in words]
    for metric, word, value in zip(_LATENCIES, words, values, strict=True):
        reason = "" if any(values) else NOT_TIMED
        if metric != "latency_stdev" and min(values) < 0:
            reason = CLOCKS
        ns = None if reason else round(value * 1e6, 3)
        yield point.sample(operation, metric, ns, f"{word} ms", line, reason=reason)


def _bounces(point: Point, operation: str, match: re.Match[str], rest: str, line: int) -> Iterator[ParsedSample]:
    """Requests of --bounceback: what went one way stands before them."""
    if retries := _BOUNCE_RETRIES.search(rest):
        yield point.sample(operation, "retransmits", float(retries[1]), f"Rtry {retries[1]}", line)
    if found := _PER_SECOND.search(rest):
        printed = found[1] or found[2]
        yield point.sample("net_request", "rate", positive(printed), f"{printed} rps", line)
    yield from _trips(point, "net_request", match.groups(), line)


def series_of(one: Connection, section: int, header: Header) -> list[ParsedSeries]:
    """The intervals; of a side that nobody names they are net_send like the missing sample."""
    return (
        [] if one.way == "" or one.is_both_ways else series(one.operation(header) or "net_send", section, one.intervals)
    )
