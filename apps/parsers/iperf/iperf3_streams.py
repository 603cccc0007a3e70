"""A test of iperf 3's text: its streams, which side each line is of, and their samples. Described in `iperf3_text.py`."""

import re
from calendar import timegm
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

from apps.parsers.core.models import ParsedRun, ParsedSample, ParsedSection, ParsedSeries
from apps.parsers.core.numbers import read_non_negative
from apps.parsers.core.source_text import SourceText
from apps.parsers.iperf.lines import (
    NO_ARRIVAL,
    NO_TOTAL,
    NO_UNIT,
    SENDERS,
    ConnectionLine,
    IperfReport,
    SamplePosition,
    explain_missing_loss,
    make_series,
    read_datagrams,
)

StreamKey = tuple[str, str]  # role and id

_NO_FIGURES = "its figures did not arrive"
_CUT = "the output ends before the summary"
_SIDE_UNKNOWN = "nothing says which side sent"
_LATE_S = 0.5  # seconds by which a summary may end behind the last interval
_LEAST = 2  # intervals; a single one may also be followed by the next test
_APART = 0.05  # share by which the bytes may differ, because each interval is printed with three digits
_RETRIES = re.compile(r"^ {1,8}(\d{1,18})(?: |$)")
_MONTHS = {
    name: number
    for number, name in enumerate(
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"], 1
    )
}


@dataclass(slots=True)
class Iperf3TextTest:
    """One test while its lines are read."""

    is_client: bool | None = None
    is_reverse: bool = False
    is_complete: bool = False  # the line before the summary was read
    is_summary: bool = False
    is_servers: bool = False  # the server's output of the test above, shown with --get-server-output
    is_ruled: bool = False  # the line before was the rule above a summary
    side: str = ""  # side of the summary lines that follow, from a line of its own
    is_udp: bool = False
    sends_by_header: bool = False  # `Retr` or `Total Datagrams` over the intervals
    jitter_by_header: bool = False
    has_heading: bool = False  # the line with Interval and Transfer over the intervals
    target: str = ""
    local: ConnectionLine | None = None
    version: str = ""
    problem: str = ""
    block_size: int | None = None
    started_at: float | None = None
    first: int = -1
    last: int = -1
    settings: dict[str, str | int | float] = field(default_factory=dict)
    cpu: dict[str, float] = field(default_factory=dict)
    doubtful: list[int] = field(default_factory=list)  # indices of lines that are nearly reports
    intervals: dict[StreamKey, list[IperfReport]] = field(default_factory=dict)
    moved: dict[StreamKey, float] = field(default_factory=dict)  # bytes of the intervals
    finals: dict[StreamKey, list[IperfReport]] = field(default_factory=dict)

    @property
    def has_reports(self) -> bool:
        """Return whether a report was read."""
        return bool(self.intervals or self.finals)

    @property
    def was_stopped(self) -> bool:
        """Return whether the test was interrupted; the message stands above its first figures or behind them."""
        return self.problem.startswith("interrupt - ")

    def add_line(self, index: int) -> None:
        """Add a line to the range of the test."""
        self.first = index if self.first < 0 else self.first
        self.last = index

    def add_connection(self, local: ConnectionLine) -> None:
        """Add a connection line."""
        self.local = self.local or local
        self.target = self.target or local.peer

    def read_heading(self, line: str, is_summary: bool) -> None:
        """Read the line with the column names above intervals or a summary."""
        self.is_summary, self.side = is_summary and self.has_reports, ""
        if not self.is_summary:
            self.has_heading = True
            self.jitter_by_header = "Jitter" in line
            self.sends_by_header = "Retr" in line or ("Total Datagrams" in line and not self.jitter_by_header)

    def add(self, report: IperfReport) -> None:
        """Add a report to the intervals or to the summary."""
        rest = report.rest.rstrip()
        if self.side and not rest.endswith(("sender", "receiver")):
            report = replace(report, rest=f"{rest}  {self.side}")
        key = (report.role, report.id)
        if "(omitted)" in rest:
            self.intervals.setdefault(key, [])
        elif self.is_summary or rest.endswith(("sender", "receiver")) or self._is_whole(report):
            self.finals.setdefault(key, []).append(report)
        else:
            self.intervals.setdefault(key, []).append(report)
            self.moved[key] = self.moved.get(key, 0.0) + report.moved

    def is_done_before(self, report: IperfReport) -> bool:
        """Return whether the line belongs to the next test.

        That is an interval behind a summary, one from 0.00 that ends earlier than the last one, or the same side of the
        same stream again.
        """
        if side := _get_side(report):
            return any(_get_side(row) == side for row in self.finals.get((report.role, report.id), ()))
        if report.start or self.is_summary:
            return False
        if self._is_whole(report):
            return len(self.finals.get((report.role, report.id), ())) > 1
        known = self.intervals.get((report.role, report.id))
        return bool(self.finals) or bool(known and report.end <= known[-1].end)

    def _is_whole(self, report: IperfReport) -> bool:
        """Return whether the line adds up the intervals above, which only a summary does.

        UDP's of 3.0 and 3.1 names no side, and the rule above it may be missing.
        """
        key = (report.role, report.id)
        known = self.intervals.get(key, [])
        if len(known) < _LEAST or report.start or abs(report.end - known[-1].end) > _LATE_S:
            return False
        return abs(report.moved - self.moved[key]) <= self.moved[key] * _APART

    def set_cpu(self, local_side: str, local: str, remote: str) -> None:
        """Set the CPU of both sides, as fractions of one core."""
        other = "receiver" if local_side == "sender" else "sender"
        for side, percent in ((local_side, read_non_negative(local)), (other, read_non_negative(remote))):
            if percent:
                self.cpu[side] = round(percent / 100, 6)

    def set_time(self, day: str, month: str, year: str, *clock: str) -> None:
        """Set the start from a line in GMT or UTC."""
        if month in _MONTHS:
            moment = (int(year), _MONTHS[month], int(day), *map(int, clock))
            self.started_at = float(timegm((*moment, 0, 0, 0)))

    def make_run(self, text: SourceText) -> ParsedRun:
        """Return the finished run."""
        keys = sorted(self.intervals.keys() | self.finals.keys(), key=self._order)
        sections = tuple(ParsedSection(number, _make_name(key)) for number, key in enumerate(keys))
        streams = max(Counter(role for role, name in keys if name != "SUM").values(), default=1)
        self.is_udp = any(read_datagrams(row.rest) for rows in self.finals.values() for row in rows)
        samples: list[ParsedSample] = []
        bare = {row.index for row in self.find_without_side()}
        for number, key in enumerate(keys):
            finals = [row for row in self.finals.get(key, []) if row.index not in bare]
            samples += self._iterate_samples(key, finals, SamplePosition(number, streams, self.block_size), text)
        return ParsedRun(
            tool="iperf3", tool_version=self.version, sections=sections if len(sections) > 1 else (),
            samples=tuple(samples), series=tuple(self._iterate_series(keys)), started_at=self.started_at,
            problem=self._describe_problem(), workload=self._make_workload(),
            host=self.local.host if self.local else "", target=self.target,
            line=text.number(self.first), last_line=text.number(self.last),
        )  # fmt: skip

    def _describe_problem(self) -> str:
        if self.finals and self.was_stopped:
            return ""  # it printed what it had measured until then
        return self.problem or ("" if self.finals else _CUT)

    def _order(self, key: StreamKey) -> tuple[bool, int]:
        """Return the sorting key of a stream: the sums first, streams as they were printed."""
        reports = self.intervals.get(key) or self.finals.get(key) or []
        return key[1] != "SUM", min((row.index for row in reports), default=0)

    def _make_workload(self) -> dict[str, str | int | float]:
        workload = dict(self.settings)
        if "protocol" not in workload and self.is_udp:
            workload["protocol"] = "udp"
        if self.is_reverse:
            workload["reverse"] = 1
        return workload

    def _choose_operation(self, role: str) -> str:
        """Return net_send or net_receive for lines that do not name a side; "" where nothing tells."""
        if role:
            return "net_send" if role.startswith("TX") else "net_receive"
        if self.is_client is not None and self.is_client:
            return "net_receive" if self.is_reverse else "net_send"
        if self.sends_by_header or (not self.has_heading and self._sends_by_rows()):
            return "net_send"
        return "net_receive" if self.jitter_by_header or self.is_client is False else ""

    def _sends_by_rows(self) -> bool:
        """Return whether a number stands behind the rates, retransmits or datagrams, which only a sender prints."""
        return any(_RETRIES.match(row.rest) for rows in self.intervals.values() for row in rows[:1])

    def find_without_side(self) -> list[IperfReport]:
        """Return summary lines without a side where others have one, or where TCP's always do: they are cut off."""
        rows = [row for finals in self.finals.values() for row in finals]
        bare = [row for row in rows if not _get_side(row)]
        return bare if len(bare) < len(rows) else [row for row in bare if not row.rest.strip()]

    def _iterate_samples(
        self, key: StreamKey, finals: list[IperfReport], point: SamplePosition, text: SourceText
    ) -> Iterator[ParsedSample]:
        sides = {self._find_side(key, row): row for row in finals}
        if len(sides) > 1:
            sides.pop("", None)
        elif sum(not _get_side(row) for row in finals) > 1:  # lines of both sides, which can not be assigned
            sides = {"": finals[0]}
        if not finals:
            reports = self.intervals.get(key)
            line = text.number(reports[-1].index if reports else self.last)
            yield point.make_sample(
                self._choose_operation(key[0]) or "net_send", "bandwidth", None, "", line, reason=_CUT
            )
        for operation, report in sides.items():
            line = text.number(report.index)
            is_alone = not _get_side(report) and "net_receive" not in sides
            arrives = is_alone and operation == "net_send" and self._choose_operation(key[0]) == "net_receive"
            if reason := self._explain_doubt(key, operation, report, sides.values()):
                yield point.make_sample(
                    operation or "net_send", "bandwidth", None, report.printed_rate, line, reason=reason
                )
            else:
                yield from self._iterate_figures(point, key, operation, report, line)
            if arrives:
                yield self._sum_up_arrivals(point, key, report, text)
            if operation and reason != _NO_FIGURES:
                yield from self._iterate_datagrams(point, operation, report, line, is_alone)

    def _find_side(self, key: StreamKey, row: IperfReport) -> str:
        """Return the operation of a summary line: the side that it names, or that of the test.

        The one line of UDP that names none, of 3.0 and 3.1, has the sender's bytes on either side (iperf_api.c,
        `iperf_print_results`: bytes_sent). A server that receives does not know them and prints 0.
        """
        if side := _get_side(row):
            return side
        is_senders = bool(row.moved) and read_datagrams(row.rest) is not None
        return "net_send" if is_senders else self._choose_operation(key[0])

    def _sum_up_arrivals(
        self, point: SamplePosition, key: StreamKey, report: IperfReport, text: SourceText
    ) -> ParsedSample:
        """Return what arrived, as the intervals of a receiver say; no value where they do not reach to the end."""
        rows = self.intervals.get(key, [])
        covered = sum(row.end - row.start for row in rows)
        is_whole = bool(rows) and max(abs(row_end - report.end) for row_end in (rows[-1].end, covered)) <= _LATE_S
        if not is_whole or not rows[-1].end:
            return point.make_sample("net_receive", "bandwidth", None, "", text.number(report.index), reason=NO_ARRIVAL)
        value, line = self.moved[key] / rows[-1].end, text.number(rows[-1].index)
        note = f"{SENDERS}: {len(rows)} of them"
        return point.make_sample("net_receive", "bandwidth", value, "", line, note=note, quality="approximate")

    def _explain_doubt(
        self, key: StreamKey, operation: str, report: IperfReport, sides: Collection[IperfReport]
    ) -> str:
        """Return why the rate of this line is none; "" where it is valid."""
        if report.has_amount and not report.moved and any(row.moved for row in sides):
            return _NO_FIGURES
        if report.has_amount and not report.moved and self.moved.get(key):
            return NO_TOTAL
        return "" if operation else _SIDE_UNKNOWN

    def _iterate_figures(
        self, point: SamplePosition, key: StreamKey, operation: str, report: IperfReport, line: int
    ) -> Iterator[ParsedSample]:
        is_whole = key[1] == "SUM" or len(self.finals) == 1
        cpu = self.cpu.get("sender" if operation == "net_send" else "receiver") if is_whole and not key[0] else None
        yield point.make_sample(operation, "bandwidth", report.rate, report.printed_rate, line, cpu=cpu)
        amount, reason = (report.moved, "") if report.has_amount else (None, NO_UNIT)
        yield point.make_sample(operation, "io_bytes", amount, report.printed_moved, line, reason=reason)

    def _iterate_datagrams(
        self, point: SamplePosition, operation: str, report: IperfReport, line: int, is_alone: bool
    ) -> Iterator[ParsedSample]:
        """Yield jitter and loss, or the retransmits of TCP."""
        if counts := read_datagrams(report.rest):
            jitter, jitter_text, lost, lost_text = counts
            is_known = self.is_client or bool(jitter or lost)  # a server that sends prints zeros for unknown values
            if operation == "net_receive" or (is_alone and is_known):
                if jitter is not None:
                    yield point.make_sample("net_receive", "jitter", jitter, jitter_text, line)
                reason = explain_missing_loss(lost_text) if lost is None else ""
                if lost is not None or reason:
                    yield point.make_sample("net_receive", "lost", lost, lost_text, line, reason=reason)
        elif (
            operation == "net_send" and (match := _RETRIES.match(report.rest)) and not self.is_udp
        ):  # a single number of UDP is the number of datagrams
            yield point.make_sample(operation, "retransmits", float(match[1]), match[1], line)

    def _iterate_series(self, keys: list[StreamKey]) -> Iterator[ParsedSeries]:
        for number, key in enumerate(keys):
            yield from make_series(self._choose_operation(key[0]) or "net_send", number, self.intervals.get(key, []))


def _get_side(report: IperfReport) -> str:
    rest = report.rest.rstrip()
    return "net_send" if rest.endswith("sender") else "net_receive" if rest.endswith("receiver") else ""


def _make_name(key: StreamKey) -> str:
    role, name = key
    return f"{role} {name if name == 'SUM' else f'stream {name}'}".strip()
