"""One JSON document of iperf 3 as a run: sums, streams, intervals. The format is told in `iperf3_json`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from apps.parsers.finite import INT4, epoch, positive, whole
from apps.parsers.iperf_lines import NO_TOTAL, Point
from apps.parsers.json_places import Document, Place, items, member, words
from apps.parsers.shape import ParsedRun, ParsedSample, ParsedSection, ParsedSeries

_NO_FIGURES = "its figures did not arrive"
_SUMS = (("sum_sent", "net_send"), ("sum_received", "net_receive"))
_WORKLOAD = (("blksize", "block_size"), ("duration", "runtime"), ("num_streams", "numjobs"), ("omit", "ramp_time"),
             ("bytes", "io_size"), ("reverse", "reverse"), ("bidir", "bidir"))  # fmt: skip
_END = re.compile(rb'"end"\s{0,8}:\s{0,8}\{')
_PART = re.compile(rb'"(?:sender|receiver|udp)"\s{0,8}:\s{0,8}\{')


@dataclass(frozen=True, slots=True)
class _Sum:
    """Where one direction's figures are: the keys of what was sent, what arrived, and both (old UDP)."""

    section: int
    name: str
    suffix: str
    is_sent_here: bool


@dataclass(frozen=True, slots=True)
class _Part:
    """The figures of one side. `holds_both`: the rate of one side beside the jitter that the other one saw."""

    point: Point
    operation: str
    part: Mapping[str, Any]
    at: int
    holds_both: bool = False


def _object(found: Any) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}


class Test:
    def __init__(self, document: Document, value: Mapping[str, Any]) -> None:
        self.document, self.value = document, value
        self.asked = _object(member(value, "start", "test_start"))
        self.end = _object(member(value, "end"))
        self.is_client = isinstance(member(value, "start", "connecting_to"), dict)
        self.is_udp = words(member(self.asked, "protocol")).upper() == "UDP"
        self.is_bidir = bool(whole(member(self.asked, "bidir"))) or any(
            str(key).endswith("_bidir_reverse") for key in self.end
        )
        reverse = bool(whole(member(self.asked, "reverse")))
        self.is_sender = self.is_client != reverse
        ends = document.positions(_END, document.start)
        self.end_at = ends[0] if ends else document.start
        self.parts_at = document.positions(_PART, self.end_at)
        self.streams = [one for one in items(member(self.end, "streams")) if isinstance(one, dict)]
        self.sums = [_Sum(0, "sum", "", self.is_sender)]
        if self.is_bidir:
            self.sums = [
                _Sum(0, "sum", "", self.is_client),
                _Sum(1, "reverse sum", "_bidir_reverse", not self.is_client),
            ]

    def run(self) -> ParsedRun:
        start = member(self.value, "start")
        connected = next(iter(items(member(start, "connected"))), None)
        peer = member(start, "connecting_to", "host") or member(start, "accepted_connection", "host")
        sections = self._sections()
        return ParsedRun(
            tool="iperf3", tool_version=words(member(start, "version")).removeprefix("iperf "),
            sections=sections if len(sections) > 1 else (), samples=tuple(self._samples()),
            series=tuple(self._series()), started_at=self._started_at(), problem=words(member(self.value, "error"), 300),
            workload=self._workload(), host=words(member(connected, "local_host")),
            target=words(peer) or words(member(connected, "remote_host")),
            caption=words(member(self.value, "title"), 200), line=self.document.first, last_line=self.document.last,
        )  # fmt: skip

    def _started_at(self) -> float | None:
        stamp = member(self.value, "start", "timestamp")
        exact = positive(member(stamp, "timemillisecs"))
        return epoch(exact / 1000 if exact is not None else member(stamp, "timesecs"))

    def _workload(self) -> dict[str, str | int | float]:
        told: dict[str, str | int | float] = {}
        if protocol := words(member(self.asked, "protocol")).lower():
            told["protocol"] = protocol
        for key, name in _WORKLOAD:
            if value := whole(member(self.asked, key)):
                told[name] = value
        if window := whole(member(self.value, "start", "sock_bufsize")):
            told["window_size"] = window
        if congestion := words(member(self.end, "sender_tcp_congestion")):
            told["congestion"] = congestion
        return told

    def _has_streams(self) -> bool:
        return len(self.streams) > len(self.sums)

    def _sections(self) -> tuple[ParsedSection, ...]:
        named = [ParsedSection(one.section, one.name) for one in self.sums]
        if self._has_streams():
            named += [
                ParsedSection(len(self.sums) + place, f"stream {_socket(one)}")
                for place, one in enumerate(self.streams)
            ]
        return tuple(named)

    def _point(self, section: int) -> Point:
        asked = self.asked
        return Point(section, whole(member(asked, "num_streams"), INT4), whole(member(asked, "blksize")) or None)

    def _samples(self) -> Iterator[ParsedSample]:
        for one in self.sums:
            yield from self._of_sum(one)
        if self._has_streams():
            places = iter(self.parts_at)
            for place, stream in enumerate(self.streams):
                yield from self._of_stream(self._point(len(self.sums) + place), stream, places)

    def _of_sum(self, one: _Sum) -> Iterator[ParsedSample]:
        point, told = self._point(one.section), False
        parts = [(f"{key}{one.suffix}", operation) for key, operation in _SUMS]
        moved = [positive(member(self.end, key, "bytes")) or 0 for key, _ in parts]
        for key, operation in parts:
            part = member(self.end, key)
            if isinstance(part, dict):
                told, cpu = True, self._cpu(operation)
                yield from self._of_part(_Part(point, operation, part, self._at(key)), any(moved), cpu)
        key = f"sum{one.suffix}"
        total = member(self.end, key)
        if not told and isinstance(total, dict):
            operation = "net_send" if one.is_sent_here else "net_receive"
            knows = self.is_client or not one.is_sent_here or bool(positive(total.get("jitter_ms")))
            yield from self._of_part(_Part(point, operation, total, self._at(key), knows), False, self._cpu(operation))

    def _of_stream(self, point: Point, stream: Mapping[str, Any], places: Iterator[int]) -> Iterator[ParsedSample]:
        for key, part in stream.items():
            if key not in ("sender", "receiver", "udp") or not isinstance(part, dict):
                continue
            sends = part.get("sender") if isinstance(part.get("sender"), bool) else self.is_sender
            operation = {"sender": "net_send", "receiver": "net_receive"}.get(key) or (
                "net_send" if sends else "net_receive"
            )
            other = member(stream, "sender" if key == "receiver" else "receiver", "bytes")
            at = next(places, self.end_at)
            yield from self._of_part(
                _Part(point, operation, part, at, key == "udp" and (self.is_client or not sends)), bool(other), None
            )

    def _of_part(self, one: _Part, is_other_told: bool, cpu: float | None) -> Iterator[ParsedSample]:
        moved = positive(one.part.get("bytes"))
        if not moved and is_other_told:
            line = self.document.lines.number(one.at)
            yield one.point.sample(one.operation, "bandwidth", None, "", line, reason=_NO_FIGURES)
            return
        if not moved and one.holds_both and self._has_moved():
            line = self._place(one, "bytes").line
            yield one.point.sample(one.operation, "bandwidth", None, "", line, reason=NO_TOTAL)
            yield from self._datagrams(one)
            return
        bits = positive(one.part.get("bits_per_second"))
        where = self._place(one, "bits_per_second")
        reason, value = ("not printed as a number", None) if bits is None else ("", bits / 8)
        printed = f"{where.printed} bits/s" if where.printed else ""
        yield one.point.sample(one.operation, "bandwidth", value, printed, where.line, reason=reason, cpu=cpu)
        if moved is not None:
            where = self._place(one, "bytes")
            yield one.point.sample(one.operation, "io_bytes", moved, f"{where.printed} bytes", where.line)
        if (count := positive(one.part.get("retransmits"))) is not None and one.operation == "net_send":
            where = self._place(one, "retransmits")
            yield one.point.sample(one.operation, "retransmits", count, where.printed, where.line)
        if one.operation == "net_receive" or one.holds_both:
            yield from self._datagrams(one)

    def _has_moved(self) -> bool:
        return any(positive(member(interval, "sum", "bytes")) for interval in items(self.value.get("intervals")))

    def _datagrams(self, one: _Part) -> Iterator[ParsedSample]:
        """Jitter and loss: only a receiver sees them, also where the rate beside them is the sender's."""
        for name, metric, factor, unit in (("jitter_ms", "jitter", 1e6, "ms"), ("lost_percent", "lost", 0.01, "%")):
            value = positive(one.part.get(name))
            if value is not None and positive(one.part.get("packets")):
                where = self._place(one, name)
                printed = f"{where.printed} {unit}"
                yield one.point.sample("net_receive", metric, round(value * factor, 15), printed, where.line)

    def _cpu(self, operation: str) -> float | None:
        if self.is_bidir:
            return None
        side = "host" if (operation == "net_send") == self.is_sender else "remote"
        percent = positive(member(self.end, "cpu_utilization_percent", f"{side}_total"))
        return percent / 100 if percent else None

    def _at(self, key: str) -> int:
        return max(self.end_at, self.document.position(key, self.end_at))

    def _place(self, one: _Part, key: str) -> Place:
        return self.document.place(key, behind=one.at)

    def _series(self) -> Iterator[ParsedSeries]:
        intervals = [one for one in items(self.value.get("intervals")) if isinstance(one, dict)]
        for one in self.sums:
            parts = [member(interval, f"sum{one.suffix}") for interval in intervals]
            yield from self._of_points(parts, one.section, one.is_sent_here)
        if self._has_streams():
            streams = [part for interval in intervals for part in items(interval.get("streams"))]
            by_socket: dict[int | None, list[Any]] = {}
            for part in streams:
                by_socket.setdefault(whole(member(part, "socket")), []).append(part)
            for place, stream in enumerate(self.streams):
                yield from self._of_points(by_socket.get(_socket(stream), []), len(self.sums) + place, self.is_sender)

    def _of_points(self, parts: list[Any], section: int, sends: bool) -> Iterator[ParsedSeries]:
        points = []
        for part in parts:
            end, bits = positive(member(part, "end")), positive(member(part, "bits_per_second"))
            if end is not None and bits is not None and member(part, "omitted") is not True:
                points.append((end, bits / 8))
        if points:
            told = member(next(part for part in parts if isinstance(part, dict)), "sender")
            operation = "net_send" if (told if isinstance(told, bool) else sends) else "net_receive"
            times, values = zip(*points, strict=True)
            yield ParsedSeries(operation, "bandwidth", section, "report", times, values)


def _socket(stream: Mapping[str, Any]) -> int | None:
    found = (whole(member(stream, key, "socket")) for key in ("sender", "receiver", "udp"))
    return next((socket for socket in found if socket is not None), None)
