"""The streams of an iperf 2 test: which line counts, who sent, and their samples."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from apps.parsers.core.models import ParsedSample, ParsedSeries
from apps.parsers.core.numbers import read_non_negative, read_number
from apps.parsers.core.source_text import SourceText
from apps.parsers.iperf.commands import starts_client
from apps.parsers.iperf.lines import (
    ConnectionLine,
    IperfReport,
    SamplePosition,
    explain_missing_loss,
    make_series,
    read_datagrams,
)

DEFAULT_PORT = 5001  # iperf 2's default (Settings.cpp)
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
_BOUNCES = re.compile(
    r"^ {1,8}\d{1,18}=" + "/".join([r"(\d{1,12}\.\d{1,6})"] * 4) + r" ms(?: |$)"
)  # printed with --bounceback
_BOUNCE_RETRIES = re.compile(r" ms {1,8}(\d{1,9}) {1,8}[\d-]{1,9}[K(]")
_PER_SECOND = re.compile(r" (?:RPS=(\d{1,12}(?:\.\d{1,6})?)|(\d{1,12}(?:\.\d{1,6})?) rps)(?: |$)")
_SINCE = re.compile(r" on (20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}) \((?:UTC|GMT)\)")
_RETRIES = re.compile(r"^ {1,8}\d{1,18}/\d{1,18} {1,16}(\d{1,18})(?! {0,8}pps)(?: |$)")


@dataclass(slots=True)
class Iperf2Header:
    """The lines between dashes above a test."""

    host: str = ""
    protocol: str = ""
    client_port: int = 0
    server_port: int = 0
    block_size: int | None = None
    settings: dict[str, str | int | float] = field(default_factory=dict)

    def for_next_test(self) -> "Iperf2Header":
        """Return the header that also applies to the next test of the same server, which prints it once."""
        if not self.server_port:
            return Iperf2Header()
        return Iperf2Header(
            protocol=self.protocol,
            server_port=self.server_port,
            block_size=self.block_size,
            settings=dict(self.settings),
        )

    def workload(self) -> dict[str, str | int | float]:
        """Return the workload that the header states."""
        workload = dict(self.settings)
        if self.protocol:
            workload["protocol"] = self.protocol
        if self.block_size:
            workload["block_size"] = self.block_size
        return workload


@dataclass(slots=True)
class Iperf2Connection:
    """A stream, or the sum of all, with its report lines."""

    id: str
    local: ConnectionLine | None = None
    lines: list[IperfReport] = field(default_factory=list)
    server_lines: list[IperfReport] = field(default_factory=list)
    unread: tuple[int, str] | None = None  # the line and the rate of a server's report that is no number
    is_doubted: bool = False  # a line of it can not be read
    way: str | None = None  # direction of a sum as its streams show: net_send, net_receive, or "" where they do not
    has_sent: bool = False  # a line states the number of sent datagrams, or that the last one was not acknowledged

    @property
    def name(self) -> str:
        """Return the name of its section."""
        return self.id if self.id == "SUM" else f"stream {self.id}"

    @property
    def is_both_ways(self) -> bool:
        """Return whether it is a server's of --full-duplex: 2.0.14 to 2.1 print the lines of both directions with one id."""
        return bool(self.local and self.local.id.startswith("*") and "(full-duplex)" in self.local.extra)

    @property
    def is_done(self) -> bool:
        """Return whether a message was read that iperf 2 prints behind the last line."""
        return self.has_sent or bool(self.server_lines) or self.unread is not None

    @property
    def whole(self) -> IperfReport | None:
        """Return the line over the whole time: from 0.0, and as long as all before it; None where there is none."""
        if not self.lines or self.lines[-1].start != 0 or (self.is_doubted and len(self.lines) == 1):
            return None
        return self.lines[-1] if all(line.end <= self.lines[-1].end for line in self.lines) else None

    @property
    def intervals(self) -> list[IperfReport]:
        """Return the lines of intervals."""
        return self.lines[:-1] if self.whole else self.lines

    def operation(self, header: Iperf2Header) -> str:
        """Return net_send or net_receive; "" where nothing tells."""
        if self.way is not None:
            return self.way
        if self.is_both_ways:
            return ""
        is_client = self._is_client(header)
        if is_client is None:
            return "net_receive" if self._counts_losses() else "net_send" if self.has_written() else ""
        if (
            is_client and self.local and self.local.id.startswith("*")
        ):  # since 2.0.14 the connection of a server that calls back (-d, -r)
            return "net_send"
        turned = self.id.startswith("*") or bool(self.local and "(reverse)" in self.local.extra)
        return "net_send" if is_client != turned else "net_receive"

    def _counts_losses(self) -> bool:
        """Return whether it has jitter and lost datagrams of UDP, which only the receiver knows."""
        counted = read_datagrams(self.lines[-1].rest) if self.lines else None
        return counted is not None and None not in counted

    def has_written(self) -> bool:
        """Return whether it has what only a sender prints: the number of datagrams, or the column `Write/Err` of `-e`.

        The sum has losses in that column.
        """
        return self.has_sent or (self.id != "SUM" and bool(self.lines and _WRITES.match(self.lines[-1].rest)))

    def _is_client(self, header: Iperf2Header) -> bool | None:
        if bool(header.client_port) != bool(header.server_port):
            is_called = self.local is not None and self.local.port == header.client_port != self.local.peer_port
            return bool(header.client_port) and not is_called  # with -d the server connects back to the same port
        port, peer = (self.local.port, self.local.peer_port) if self.local else (0, 0)
        client, server = (peer == (header.client_port or DEFAULT_PORT)), (port == (header.server_port or DEFAULT_PORT))
        return (
            client
            if client != server
            else starts_client(str(header.settings.get("command", "")), is_marked=self.id.startswith("*"))
        )


def read_start(local: ConnectionLine | None) -> float | None:
    """Return when it connected, where -e says so in UTC, else None: abbreviations of other zones are ambiguous."""
    match = _SINCE.search(local.extra) if local else None
    try:
        return datetime.fromisoformat(f"{match[1]}+00:00").timestamp() if match else None
    except ValueError:
        return None


def iterate_samples(
    connection: Iperf2Connection, section: int, streams: int, header: Iperf2Header, text: SourceText
) -> Iterator[ParsedSample]:
    """Yield the samples of a connection."""
    point = SamplePosition(section, streams, header.block_size)
    operation, whole = connection.operation(header), connection.whole
    if whole is None or not operation:
        is_mixed = connection.way == "" or connection.is_both_ways
        reason = WAY_UNKNOWN if is_mixed else CUT if whole is None else SIDE_UNKNOWN
        printed = whole.printed_rate if whole else ""
        line = text.number((whole or connection.lines[-1]).index)
        yield point.make_sample(operation or "net_send", "bandwidth", None, printed, line, reason=reason)
    else:
        yield from _iterate_report_samples(point, operation, whole, text)
    for report in connection.server_lines[-1:]:
        yield from _iterate_report_samples(point, "net_receive", report, text)
    if connection.unread and not connection.server_lines:
        index, printed = connection.unread
        yield point.make_sample("net_receive", "bandwidth", None, printed, text.number(index), reason=NO_NUMBER)


def _iterate_report_samples(
    point: SamplePosition, operation: str, report: IperfReport, text: SourceText
) -> Iterator[ParsedSample]:
    line = text.number(report.index)
    rtt = _RTT.match(report.rest)
    note = f"RTT {rtt[1]} us at the end" if rtt and operation == "net_send" else ""
    yield point.make_sample(operation, "bandwidth", report.rate, report.printed_rate, line, note=note)
    yield point.make_sample(operation, "io_bytes", report.moved, report.printed_moved, line)
    if counts := read_datagrams(report.rest):
        jitter, jitter_text, lost, lost_text = counts
        if jitter is not None:
            yield point.make_sample(operation, "jitter", jitter, jitter_text, line)
        reason = explain_missing_loss(lost_text) if lost is None else ""
        if lost is not None or reason:
            yield point.make_sample(operation, "lost", lost, lost_text, line, reason=reason)
    elif (match := _RETRIES.match(report.rest)) and (count := read_non_negative(match[1])) is not None:
        yield point.make_sample(operation, "retransmits", count, f"Rtry {match[1]}", line)
    if match := _TRIPS.match(report.rest):
        yield from _iterate_trips(point, operation, match.groups(), line)
    elif match := _BOUNCES.match(report.rest):
        yield from _iterate_bounces(point, operation, match, report.rest, line)


def _iterate_trips(point: SamplePosition, operation: str, words: Sequence[str], line: int) -> Iterator[ParsedSample]:
    """Yield what --trip-times measured.

    Zeros are printed where nothing was timed; values below zero show that the clocks differ, which leaves only the
    spread.
    """
    values = [read_number(word) or 0.0 for word in words]
    for metric, word, value in zip(_LATENCIES, words, values, strict=True):
        reason = "" if any(values) else NOT_TIMED
        if metric != "latency_stdev" and min(values) < 0:
            reason = CLOCKS
        ns = None if reason else round(value * 1e6, 3)
        yield point.make_sample(operation, metric, ns, f"{word} ms", line, reason=reason)


def _iterate_bounces(
    point: SamplePosition, operation: str, match: re.Match[str], rest: str, line: int
) -> Iterator[ParsedSample]:
    """Yield the requests of --bounceback; the retries of one direction stand before them."""
    if retries := _BOUNCE_RETRIES.search(rest):
        yield point.make_sample(operation, "retransmits", float(retries[1]), f"Rtry {retries[1]}", line)
    if rate := _PER_SECOND.search(rest):
        printed = rate[1] or rate[2]
        yield point.make_sample("net_request", "rate", read_non_negative(printed), f"{printed} rps", line)
    yield from _iterate_trips(point, "net_request", match.groups(), line)


def make_connection_series(connection: Iperf2Connection, section: int, header: Iperf2Header) -> list[ParsedSeries]:
    """Return the intervals; those of an unknown side are net_send, like the missing sample."""
    return (
        []
        if connection.way == "" or connection.is_both_ways
        else make_series(connection.operation(header) or "net_send", section, connection.intervals)
    )
