"""A test of iperf 3's text: its streams, which side each line is of, and their samples. See `iperf3_text`."""

import re
from calendar import timegm
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

from apps.parsers.finite import positive
from apps.parsers.iperf_lines import NO_TOTAL, Local, Point, Report, datagrams, series
from apps.parsers.shape import ParsedRun, ParsedSample, ParsedSection, ParsedSeries
from apps.parsers.source_text import SourceText

Key = tuple[str, str]  # role and id

_NO_FIGURES = "its figures did not arrive"
_CUT = "the output ends before the summary"
_SIDE_UNKNOWN = "nothing says which side sent"
_LATE_S = 0.5  # what a summary's line may end behind the last interval
_LEAST = 2  # intervals: one alone may as well be the next test's that begins alike
_APART = 0.05  # what its bytes may differ from theirs: of each interval three digits are printed
_RETRIES = re.compile(r"^ {1,8}(\d{1,18})(?: |$)")
_MONTHS = {
    name: number
    for number, name in enumerate(
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"], 1
    )
}


@dataclass(slots=True)
class Test:
    is_client: bool | None = None
    is_reverse: bool = False
    is_complete: bool = False  # the words before the summary have been seen
    is_summary: bool = False
    is_servers: bool = False  # what a client shows with --get-server-output: the other side's view of the test above
    is_ruled: bool = False  # the line before was the rule above a summary
    side: str = ""  # of the summary's lines below, as a line of its own said
    is_udp: bool = False
    sends_by_header: bool = False  # `Retr` or `Total Datagrams` over the intervals
    jitter_by_header: bool = False
    has_heading: bool = False  # the line with Interval and Transfer over the intervals
    target: str = ""
    local: Local | None = None
    version: str = ""
    problem: str = ""
    block_size: int | None = None
    started_at: float | None = None
    first: int = -1
    last: int = -1
    told: dict[str, str | int | float] = field(default_factory=dict)
    cpu: dict[str, float] = field(default_factory=dict)
    doubtful: list[int] = field(default_factory=list)  # the indices of lines that are nearly reports
    intervals: dict[Key, list[Report]] = field(default_factory=dict)
    moved: dict[Key, float] = field(default_factory=dict)  # bytes, of the intervals
    finals: dict[Key, list[Report]] = field(default_factory=dict)

    @property
    def has_reports(self) -> bool:
        return bool(self.intervals or self.finals)

    @property
    def was_stopped(self) -> bool:
        """Whether somebody stopped it, as stands above its first figures or behind them."""
        return self.problem.startswith("interrupt - ")

    def covers(self, index: int) -> None:
        self.first = index if self.first < 0 else self.first
        self.last = index

    def connects(self, local: Local) -> None:
        self.local = self.local or local
        self.target = self.target or local.peer

    def header(self, line: str, is_summary: bool) -> None:
        self.is_summary, self.side = is_summary and self.has_reports, ""
        if not self.is_summary:
            self.has_heading = True
            self.jitter_by_header = "Jitter" in line
            self.sends_by_header = "Retr" in line or ("Total Datagrams" in line and not self.jitter_by_header)

    def add(self, report: Report) -> None:
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

    def is_done_before(self, report: Report) -> bool:
        """Whether the line is of the next test: an interval behind a summary, or from 0.00 to earlier than the last one; the
        same side of the same stream once more.
        """
        if side := _side_of(report):
            return any(_side_of(one) == side for one in self.finals.get((report.role, report.id), ()))
        if report.start or self.is_summary:
            return False
        if self._is_whole(report):
            return len(self.finals.get((report.role, report.id), ())) > 1
        known = self.intervals.get((report.role, report.id))
        return bool(self.finals) or bool(known and report.end <= known[-1].end)

    def _is_whole(self, report: Report) -> bool:
        """Whether it adds up the intervals above, which only a summary does; UDP's of 3.0 and 3.1 names no side, and
        the rule above it may be gone.
        """
        key = (report.role, report.id)
        known = self.intervals.get(key, [])
        if len(known) < _LEAST or report.start or abs(report.end - known[-1].end) > _LATE_S:
            return False
        return abs(report.moved - self.moved[key]) <= self.moved[key] * _APART

    def set_cpu(self, local_side: str, local: str, remote: str) -> None:
        other = "receiver" if local_side == "sender" else "sender"
        for side, percent in ((local_side, positive(local)), (other, positive(remote))):
            if percent:
                self.cpu[side] = round(percent / 100, 6)

    def set_time(self, day: str, month: str, year: str, *clock: str) -> None:
        if month in _MONTHS:
            moment = (int(year), _MONTHS[month], int(day), *map(int, clock))
            self.started_at = float(timegm((*moment, 0, 0, 0)))

    def run(self, text: SourceText) -> ParsedRun:
        keys = sorted(self.intervals.keys() | self.finals.keys(), key=self._order)
        sections = tuple(ParsedSection(number, _name(key)) for number, key in enumerate(keys))
        streams = max(Counter(role for role, name in keys if name != "SUM").values(), default=1)
        self.is_udp = any(datagrams(one.rest) for found in self.finals.values() for one in found)
        samples: list[ParsedSample] = []
        bare = {one.index for one in self.without_side()}
        for number, key in enumerate(keys):
            finals = [one for one in self.finals.get(key, []) if one.index not in bare]
            samples += self._samples(key, finals, Point(number, streams, self.block_size), text)
        return ParsedRun(
            tool="iperf3", tool_version=self.version, sections=sections if len(sections) > 1 else (),
            samples=tuple(samples), series=tuple(self._series(keys)), started_at=self.started_at,
            problem=self._problem(), workload=self._workload(),
            host=self.local.host if self.local else "", target=self.target,
            line=text.number(self.first), last_line=text.number(self.last),
        )  # fmt: skip

    def _problem(self) -> str:
        if self.finals and self.was_stopped:
            return ""  # what it measured until then is told
        return self.problem or ("" if self.finals else _CUT)

    def _order(self, key: Key) -> tuple[bool, int]:
        """The sums first; streams as they were printed."""
        reports = self.intervals.get(key) or self.finals.get(key) or []
        return key[1] != "SUM", min((one.index for one in reports), default=0)

    def _workload(self) -> dict[str, str | int | float]:
        told = dict(self.told)
        if "protocol" not in told and self.is_udp:
            told["protocol"] = "udp"
        if self.is_reverse:
            told["reverse"] = 1
        return told

    def _side(self, role: str) -> str:
        """net_send or net_receive of the lines that do not name one; empty where nothing tells."""
        if role:
            return "net_send" if role.startswith("TX") else "net_receive"
        if self.is_client is not None and self.is_client:
            return "net_receive" if self.is_reverse else "net_send"
        if self.sends_by_header or (not self.has_heading and self._sends_by_rows()):
            return "net_send"
        return "net_receive" if self.jitter_by_header or self.is_client is False else ""

    def _sends_by_rows(self) -> bool:
        """Only who sends prints a number behind the rate: retransmits, or datagrams."""
        return any(_RETRIES.match(one.rest) for found in self.intervals.values() for one in found[:1])

    def without_side(self) -> list[Report]:
        """Lines of a summary that say no side where others do, or where TCP's always do: they are cut off."""
        found = [one for finals in self.finals.values() for one in finals]
        bare = [one for one in found if not _side_of(one)]
        return bare if len(bare) < len(found) else [one for one in bare if not one.rest.strip()]

    def _samples(self, key: Key, finals: list[Report], point: Point, text: SourceText) -> Iterator[ParsedSample]:
        sides = {_side_of(one) or self._side(key[0]): one for one in finals}
        if len(sides) > 1:
            sides.pop("", None)
        elif sum(not _side_of(one) for one in finals) > 1:  # the two sides' lines, and nothing says whose each is
            sides = {"": finals[0]}
        if not finals:
            reports = self.intervals.get(key)
            line = text.number(reports[-1].index if reports else self.last)
            yield point.sample(self._side(key[0]) or "net_send", "bandwidth", None, "", line, reason=_CUT)
        for operation, report in sides.items():
            line = text.number(report.index)
            is_alone = not _side_of(report) and "net_receive" not in sides
            if reason := self._doubt(key, operation, report, sides.values()):
                yield point.sample(operation or "net_send", "bandwidth", None, report.printed_rate, line, reason=reason)
            else:
                yield from self._figures(point, key, operation, report, line)
            if operation and reason != _NO_FIGURES:
                yield from self._datagrams(point, operation, report, line, is_alone)

    def _doubt(self, key: Key, operation: str, report: Report, sides: Collection[Report]) -> str:
        """Why the rate of this line is none; "" where it is one."""
        if not report.moved and any(one.moved for one in sides):
            return _NO_FIGURES
        if not report.moved and self.moved.get(key):
            return NO_TOTAL
        return "" if operation else _SIDE_UNKNOWN

    def _figures(self, point: Point, key: Key, operation: str, report: Report, line: int) -> Iterator[ParsedSample]:
        is_whole = key[1] == "SUM" or len(self.finals) == 1
        cpu = self.cpu.get("sender" if operation == "net_send" else "receiver") if is_whole and not key[0] else None
        yield point.sample(operation, "bandwidth", report.rate, report.printed_rate, line, cpu=cpu)
        yield point.sample(operation, "io_bytes", report.moved, report.printed_moved, line)

    def _datagrams(
        self, point: Point, operation: str, report: Report, line: int, is_alone: bool
    ) -> Iterator[ParsedSample]:
        """Jitter and loss, or what TCP sent again."""
        if found := datagrams(report.rest):
            jitter, jitter_text, lost, lost_text = found
            is_told = self.is_client or bool(
                jitter or lost
            )  # a server that sends prints zeros for what it does not know
            if operation == "net_receive" or (is_alone and is_told):
                if jitter is not None:
                    yield point.sample("net_receive", "jitter", jitter, jitter_text, line)
                if lost is not None:
                    yield point.sample("net_receive", "lost", lost, lost_text, line)
        elif (
            operation == "net_send" and (match := _RETRIES.match(report.rest)) and not self.is_udp
        ):  # a bare number of UDP counts datagrams
            yield point.sample(operation, "retransmits", float(match[1]), match[1], line)

    def _series(self, keys: list[Key]) -> Iterator[ParsedSeries]:
        for number, key in enumerate(keys):
            yield from series(self._side(key[0]) or "net_send", number, self.intervals.get(key, []))


def _side_of(report: Report) -> str:
    rest = report.rest.rstrip()
    return "net_send" if rest.endswith("sender") else "net_receive" if rest.endswith("receiver") else ""


def _name(key: Key) -> str:
    role, name = key
    return f"{role} {name if name == 'SUM' else f'stream {name}'}".strip()
