"""Parser of iperf 3's JSON (`-J`, `--json-stream`), 3.0 to 3.21.

    {"start": {"connected": [{"local_host", "remote_host", …}], "version": "iperf 3.12", "timestamp": {"timesecs"},
               "test_start": {"protocol": "TCP", "num_streams", "blksize", "duration", "reverse", "bidir"}},
     "intervals": [{"streams": [{"socket", "start", "end", "bits_per_second", "sender"}], "sum": {…}}],
     "end": {"streams": [{"sender": {…}, "receiver": {…}} | {"udp": {…}}], "sum_sent", "sum_received", "sum",
             "cpu_utilization_percent": {"host_total", "remote_total"}}, "error": "…"}

Sums are the samples: what was sent is `net_send`, what arrived `net_receive`; jitter and loss are the receiver's.
Several streams are sections of their own beside the sum; `--bidir` has two sums, of which the reversed is section 1.
Units: `bits_per_second` ÷ 8, `jitter_ms`, `lost_percent` ÷ 100; `timesecs` is UTC seconds. `cpu_utilization_percent` is
the process's CPU time over wall time (iperf_util.c `cpu_util`), so 100 is one core; it is assigned to its own side.

Peculiarities:

- A server's log is one document after another. 3.0 to 3.10 have only `sum` for UDP: its bytes are those that were sent,
  also where this side received (as are those of a stream's `udp` in all versions), and what arrived is summed up from the
  intervals. A server that sends does not know what arrived since 3.1, and prints zeros for jitter and losses, which are
  left out.
- More datagrams lost than sent (counters went wrong with -O) are no loss.
- A side whose figures never arrived prints zeros beside the other side's bytes: not measured.
- 3.7 to 3.10 have the sums of `--bidir` twice under the same keys (`rename_repeated_sums`).
- A server that is stopped while it waits prints a document without a test.
- With `error` there may be no `end`; what was measured is kept. `--json-stream` is one object per line (`event`).
- A document that is cut off is broken.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any

from apps.parsers.cleanup.json_interruptions import warn_of_interruptions, without_interruptions
from apps.parsers.core.json_places import JsonDocument, JsonPlace, find_documents, get_items, get_member, get_text
from apps.parsers.core.models import (
    Broken,
    ParsedFile,
    ParsedRun,
    ParsedSample,
    ParsedSection,
    ParsedSeries,
    ParseError,
)
from apps.parsers.core.numbers import INT4, read_epoch, read_non_negative, read_number, read_whole
from apps.parsers.core.source_text import SourceText
from apps.parsers.core.strict_json import JsonLines
from apps.parsers.iperf.lines import NO_ARRIVAL, NO_TOTAL, SENDERS, SamplePosition, explain_loss

_SUM = re.compile(r'"(sum(?:_sent|_received)?)"\s{0,8}:\s{0,8}\{[^{}]*\}')
_BESIDE = re.compile(r"[\s,]*")
_REVERSE = "_bidir_reverse"


def rename_repeated_sums(body: str) -> str:
    """Return the text with another name for a sum that is repeated beside one of its name; unchanged where there is none.

    iperf 3.7 to 3.10 print the sums of `--bidir` with the same keys for both directions:

        "end": {…, "sum_sent": {…, "sender": true}, "sum_received": {…}, "sum_sent": {…, "sender": false}, "sum_received": {…}}

    Later versions name the second ones `sum_sent_bidir_reverse` (iperf_api.c, `iperf_print_results`); the same names
    are given here.
    """
    parts: list[str] = []
    seen: set[str] = set()
    behind = copied = 0
    for match in _SUM.finditer(body):
        if not _BESIDE.fullmatch(body, behind, match.start()):
            seen = set()
        if match[1] in seen:
            parts += [body[copied : match.end(1)], _REVERSE]
            copied = match.end(1)
        seen.add(match[1])
        behind = match.end()
    return "".join([*parts, body[copied:]]) if parts else body


_NO_FIGURES = "its figures did not arrive"
_SUMS = (("sum_sent", "net_send"), ("sum_received", "net_receive"))
_WORKLOAD = (("blksize", "block_size"), ("duration", "runtime"), ("num_streams", "numjobs"), ("omit", "ramp_time"),
             ("bytes", "io_size"), ("reverse", "reverse"), ("bidir", "bidir"))  # fmt: skip
_END = re.compile(rb'"end"\s{0,8}:\s{0,8}\{')
_PART = re.compile(rb'"(?:sender|receiver|udp)"\s{0,8}:\s{0,8}\{')


@dataclass(frozen=True, slots=True)
class _DirectionSum:
    """Where one direction's figures are: `suffix` is the end of its keys."""

    section: int
    name: str
    suffix: str
    is_sent_here: bool


@dataclass(frozen=True, slots=True)
class _SideFigures:
    """The figures of one side. `holds_both`: the rate of one side beside the jitter that the other one saw."""

    point: SamplePosition
    operation: str
    part: Mapping[str, object]
    at: int
    holds_both: bool = False


def _get_object(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


class Iperf3JsonTest:
    """One JSON document as a test: sums, streams, intervals."""

    def __init__(self, document: JsonDocument, value: Mapping[str, object]) -> None:
        self.document, self.value = document, value
        self._by_socket: dict[int | None, list[object]] | None = None  # see `_get_intervals`
        self.settings = _get_object(get_member(value, "start", "test_start"))
        self.end = _get_object(get_member(value, "end"))
        self.is_client = isinstance(get_member(value, "start", "connecting_to"), dict)
        self.is_udp = get_text(get_member(self.settings, "protocol")).upper() == "UDP"
        self.is_bidir = bool(read_whole(get_member(self.settings, "bidir"))) or any(
            str(key).endswith("_bidir_reverse") for key in self.end
        )
        reverse = bool(read_whole(get_member(self.settings, "reverse")))
        self.is_sender = self.is_client != reverse
        ends = document.positions(_END, document.start)
        self.end_at = ends[0] if ends else document.start
        self.parts_at = document.positions(_PART, self.end_at)
        self.streams = [stream for stream in get_items(get_member(self.end, "streams")) if isinstance(stream, dict)]
        self.sums = [_DirectionSum(0, "sum", "", self.is_sender)]
        if self.is_bidir:
            self.sums = [
                _DirectionSum(0, "sum", "", self.is_client),
                _DirectionSum(1, "reverse sum", "_bidir_reverse", not self.is_client),
            ]

    def make_run(self) -> ParsedRun:
        """Return the test as a run."""
        start = get_member(self.value, "start")
        connected = next(iter(get_items(get_member(start, "connected"))), None)
        peer = get_member(start, "connecting_to", "host") or get_member(start, "accepted_connection", "host")
        sections = self._make_sections()
        return ParsedRun(
            tool="iperf3", tool_version=get_text(get_member(start, "version")).removeprefix("iperf "),
            sections=sections if len(sections) > 1 else (), samples=tuple(self._iterate_samples()),
            series=tuple(self._iterate_series()), started_at=self._read_started_at(), problem=get_text(get_member(self.value, "error"), 300),
            workload=self._make_workload(), host=get_text(get_member(connected, "local_host")),
            target=get_text(peer) or get_text(get_member(connected, "remote_host")),
            caption=get_text(get_member(self.value, "title"), 200), line=self.document.first, last_line=self.document.last,
        )  # fmt: skip

    def _read_started_at(self) -> float | None:
        stamp = get_member(self.value, "start", "timestamp")
        exact = read_non_negative(get_member(stamp, "timemillisecs"))
        return read_epoch(exact / 1000 if exact is not None else get_member(stamp, "timesecs"))

    def _make_workload(self) -> dict[str, str | int | float]:
        workload: dict[str, str | int | float] = {}
        if protocol := get_text(get_member(self.settings, "protocol")).lower():
            workload["protocol"] = protocol
        for key, name in _WORKLOAD:
            if value := read_whole(get_member(self.settings, key)):
                workload[name] = value
        if window := read_whole(get_member(self.value, "start", "sock_bufsize")):
            workload["window_size"] = window
        if congestion := get_text(get_member(self.end, "sender_tcp_congestion")):
            workload["congestion"] = congestion
        return workload

    def _has_streams(self) -> bool:
        return len(self.streams) > len(self.sums)

    def _make_sections(self) -> tuple[ParsedSection, ...]:
        named = [ParsedSection(item.section, item.name) for item in self.sums]
        if self._has_streams():
            named += [
                ParsedSection(len(self.sums) + place, f"stream {_get_socket(item)}")
                for place, item in enumerate(self.streams)
            ]
        return tuple(named)

    def _make_point(self, section: int) -> SamplePosition:
        settings = self.settings
        return SamplePosition(
            section,
            read_whole(get_member(settings, "num_streams"), INT4),
            read_whole(get_member(settings, "blksize")) or None,
        )

    def _iterate_samples(self) -> Iterator[ParsedSample]:
        for total in self.sums:
            yield from self._iterate_sum(total)
        if self._has_streams():
            places = iter(self.parts_at)
            for place, stream in enumerate(self.streams):
                yield from self._iterate_stream(self._make_point(len(self.sums) + place), stream, places)

    def _iterate_sum(self, direction: _DirectionSum) -> Iterator[ParsedSample]:
        point, is_reported = self._make_point(direction.section), False
        parts = [(f"{key}{direction.suffix}", operation) for key, operation in _SUMS]
        moved = [read_non_negative(get_member(self.end, key, "bytes")) or 0 for key, _ in parts]
        for key, operation in parts:
            part = get_member(self.end, key)
            if isinstance(part, dict):
                is_reported, cpu = True, self._get_cpu(operation)
                yield from self._iterate_side(
                    _SideFigures(point, operation, part, self._find_offset(key)), any(moved), cpu
                )
        key = f"sum{direction.suffix}"
        total = get_member(self.end, key)
        if not is_reported and isinstance(total, dict):
            knows = self.is_client or not direction.is_sent_here or bool(read_non_negative(total.get("jitter_ms")))
            parts_of_sum = [get_member(interval, key) for interval in get_items(self.value.get("intervals"))]
            yield from self._iterate_senders(
                point, total, self._find_offset(key), parts_of_sum, direction.is_sent_here, knows
            )

    def _iterate_senders(
        self,
        point: SamplePosition,
        part: Mapping[str, object],
        at: int,
        intervals: Sequence[object],
        sends: bool,
        knows: bool,
    ) -> Iterator[ParsedSample]:
        """Yield the figures of an object that holds what was sent, beside the jitter and loss that the receiver saw.

        `sum` (alone, up to 3.10) and a stream's `udp` (of all versions) are such objects on either side (iperf_api.c,
        `iperf_print_results`: total_sent, bytes_sent). What arrived is in the intervals of a side that receives, which
        is this one unless it `sends`. A server that receives does not know what was sent, and has 0 there.
        """
        has_sent = bool(read_non_negative(part.get("bytes")))
        operation = "net_send" if sends or has_sent else "net_receive"
        if not sends and has_sent:
            yield self._sum_up_arrivals(point, intervals, at)
        cpu = self._get_cpu(operation) if not point.section else None
        yield from self._iterate_side(_SideFigures(point, operation, part, at, knows), False, cpu)

    def _sum_up_arrivals(self, point: SamplePosition, intervals: Sequence[object], at: int) -> ParsedSample:
        """Return the bandwidth of what arrived, as the intervals say."""
        parts = [part for part in intervals if isinstance(part, dict) and part.get("omitted") is not True]
        amounts = [read_non_negative(part.get("bytes")) for part in parts]
        seconds = [read_non_negative(part.get("seconds")) for part in parts]
        line = self.document.lines.number(at)
        if not parts or None in amounts or None in seconds or not sum(second or 0.0 for second in seconds):
            return point.make_sample("net_receive", "bandwidth", None, "", line, reason=NO_ARRIVAL)
        moved, took = sum(amount or 0.0 for amount in amounts), sum(second or 0.0 for second in seconds)
        note = f"{SENDERS}: {moved:.0f} bytes in {len(parts)} of them"
        return point.make_sample("net_receive", "bandwidth", moved / took, "", line, note=note)

    def _iterate_stream(
        self, point: SamplePosition, stream: Mapping[str, object], places: Iterator[int]
    ) -> Iterator[ParsedSample]:
        for key, part in stream.items():
            if key not in ("sender", "receiver", "udp") or not isinstance(part, dict):
                continue
            at = next(places, self.end_at)
            if key == "udp":
                flag = part.get("sender")
                sends = flag if isinstance(flag, bool) else self.is_sender
                intervals = self._get_intervals().get(_get_socket(stream), [])
                yield from self._iterate_senders(point, part, at, intervals, sends, self.is_client or not sends)
                continue
            operation, other_key = ("net_send", "receiver") if key == "sender" else ("net_receive", "sender")
            is_other_reported = bool(get_member(stream, other_key, "bytes"))
            yield from self._iterate_side(_SideFigures(point, operation, part, at), is_other_reported, None)

    def _iterate_side(
        self, figures: _SideFigures, is_other_reported: bool, cpu: float | None
    ) -> Iterator[ParsedSample]:
        moved = read_non_negative(figures.part.get("bytes"))
        if not moved and is_other_reported:
            line = self.document.lines.number(figures.at)
            yield figures.point.make_sample(figures.operation, "bandwidth", None, "", line, reason=_NO_FIGURES)
            return
        if not moved and figures.holds_both and self._has_moved():
            line = self._find_place(figures, "bytes").line
            yield figures.point.make_sample(figures.operation, "bandwidth", None, "", line, reason=NO_TOTAL)
            yield from self._iterate_datagrams(figures)
            return
        bits = read_non_negative(figures.part.get("bits_per_second"))
        where = self._find_place(figures, "bits_per_second")
        reason, value = ("not printed as a number", None) if bits is None else ("", bits / 8)
        printed = f"{where.printed} bits/s" if where.printed else ""
        yield figures.point.make_sample(
            figures.operation, "bandwidth", value, printed, where.line, reason=reason, cpu=cpu
        )
        if moved is not None:
            where = self._find_place(figures, "bytes")
            yield figures.point.make_sample(figures.operation, "io_bytes", moved, f"{where.printed} bytes", where.line)
        if (
            count := read_non_negative(figures.part.get("retransmits"))
        ) is not None and figures.operation == "net_send":
            where = self._find_place(figures, "retransmits")
            yield figures.point.make_sample(figures.operation, "retransmits", count, where.printed, where.line)
        if figures.operation == "net_receive" or figures.holds_both:
            yield from self._iterate_datagrams(figures)

    def _has_moved(self) -> bool:
        return any(
            read_non_negative(get_member(interval, "sum", "bytes"))
            for interval in get_items(self.value.get("intervals"))
        )

    def _iterate_datagrams(self, figures: _SideFigures) -> Iterator[ParsedSample]:
        """Yield jitter and loss: only a receiver sees them, also where the rate beside them is the sender's."""
        for name, metric, factor, unit in (("jitter_ms", "jitter", 1e6, "ms"), ("lost_percent", "lost", 0.01, "%")):
            value = read_number(figures.part.get(name))
            if value is not None and read_non_negative(figures.part.get("packets")):
                where = self._find_place(figures, name)
                printed, reason = f"{where.printed} {unit}", explain_loss(value, 100.0) if metric == "lost" else ""
                if not reason and value < 0:
                    continue
                known = None if reason else round(value * factor, 15)
                yield figures.point.make_sample("net_receive", metric, known, printed, where.line, reason=reason)

    def _get_cpu(self, operation: str) -> float | None:
        if self.is_bidir:
            return None
        side = "host" if (operation == "net_send") == self.is_sender else "remote"
        percent = read_non_negative(get_member(self.end, "cpu_utilization_percent", f"{side}_total"))
        return percent / 100 if percent else None

    def _find_offset(self, key: str) -> int:
        return max(self.end_at, self.document.position(key, self.end_at))

    def _find_place(self, figures: _SideFigures, key: str) -> JsonPlace:
        return self.document.place(key, behind=figures.at)

    def _iterate_series(self) -> Iterator[ParsedSeries]:
        intervals = [item for item in get_items(self.value.get("intervals")) if isinstance(item, dict)]
        for item in self.sums:
            parts = [get_member(interval, f"sum{item.suffix}") for interval in intervals]
            yield from self._iterate_points(parts, item.section, item.is_sent_here)
        if self._has_streams():
            by_socket = self._get_intervals()
            for place, stream in enumerate(self.streams):
                yield from self._iterate_points(
                    by_socket.get(_get_socket(stream), []), len(self.sums) + place, self.is_sender
                )

    def _get_intervals(self) -> dict[int | None, list[object]]:
        """Return the intervals of each stream, by its socket."""
        if self._by_socket is None:
            self._by_socket = {}
            intervals = [item for item in get_items(self.value.get("intervals")) if isinstance(item, dict)]
            for part in (part for interval in intervals for part in get_items(interval.get("streams"))):
                self._by_socket.setdefault(read_whole(get_member(part, "socket")), []).append(part)
        return self._by_socket

    def _iterate_points(self, parts: list[object], section: int, sends: bool) -> Iterator[ParsedSeries]:
        points = []
        for part in parts:
            end, bits = (
                read_non_negative(get_member(part, "end")),
                read_non_negative(get_member(part, "bits_per_second")),
            )
            if end is not None and bits is not None and get_member(part, "omitted") is not True:
                points.append((end, bits / 8))
        if points:
            is_sender = get_member(next(part for part in parts if isinstance(part, dict)), "sender")
            operation = "net_send" if (is_sender if isinstance(is_sender, bool) else sends) else "net_receive"
            times, values = zip(*points, strict=True)
            yield ParsedSeries(operation, "bandwidth", section, "report", times, values)


def _get_socket(stream: Mapping[str, object]) -> int | None:
    sockets = (read_whole(get_member(stream, key, "socket")) for key in ("sender", "receiver", "udp"))
    return next((socket for socket in sockets if socket is not None), None)


NAME = "iperf3 json"
TITLE = "iperf 3 JSON"

_OPENING = re.compile(
    rb'\{(?=\s{0,80}"(?:(?:start|end)"\s{0,8}:\s{0,8}\{|intervals"\s{0,8}:\s{0,8}\[|(?:title|error|event|extra_data)"\s{0,8}:))'
)
_MOST_OVERLOOKED = 100
_STOPPED = "interrupt - the server has terminated"
_TOP = re.compile(rb"^\{", re.MULTILINE)
_OWN = re.compile(rb'"(?:test_start|accepted_connection|connecting_to|intervals|sum_sent|sum_received)"')


def looks_like(text: SourceText) -> float:
    """Return how sure it is that the text has JSON of iperf 3, by its typical keys."""
    body = text.text
    if '"test_start"' in body and '"cookie"' in body:
        return 1.0
    if '"bits_per_second"' in body and ('"sum_received"' in body or '"intervals"' in body):
        return 1.0
    return 0.9 if '"intervals"' in body and re.search(r'"version"\s{0,8}:\s{0,8}"iperf 3', body) else 0.0


def parse(text: SourceText) -> ParsedFile:
    """Parse every test in the text into a run.

    Raises:
        ParseError: if there is none.
    """
    runs: list[ParsedRun] = []
    broken: list[Broken] = []
    documents, warnings = _collect_documents(text)
    for document, value in _iterate_tests(documents):
        if value is None:
            broken.append(_make_cut(document))
        else:
            run = Iperf3JsonTest(document, value).make_run()
            if _is_idle(value, run):
                continue
            if not run.samples and not run.series:
                broken.append(
                    Broken("the test has no results", document.first, run.problem, '"end" with "sum_sent" or "sum"')
                )
            else:
                runs.append(run)
    broken += [fault for document in documents if document.value is not None for fault in document.faults]
    broken += islice(
        _find_overlooked(documents[0].lines if documents else JsonLines.of(text), documents), _MOST_OVERLOOKED
    )
    if not runs and not broken:
        raise ParseError("no JSON of iperf 3 in the text", expected='an object with "start", "intervals" and "end"')
    return ParsedFile(tuple(runs), tuple(warnings), tuple(sorted(broken, key=lambda each: each.line or 0)))


def _is_idle(value: dict[str, object], run: ParsedRun) -> bool:
    """Return whether a server was stopped while it had no client: it prints a document without a test."""
    has_begun = get_member(value, "start", "test_start") or get_member(value, "start", "connected")
    return run.problem.startswith(_STOPPED) and not (has_begun or run.samples or run.series)


def _collect_documents(text: SourceText) -> tuple[list[JsonDocument], list[str]]:
    """Return the documents and warnings; where one is no JSON, without the lines inside them that no JSON holds."""
    documents = list(find_documents(text, _OPENING))
    lines: Sequence[str] = text.lines
    if (
        any(document.faults for document in documents)
        and (renamed := rename_repeated_sums(body := "\n".join(lines))) != body
    ):
        lines = renamed.split("\n")
        documents = list(find_documents(text, _OPENING, JsonLines.of(text, lines)))
    if not (count := _count_faulty(text, documents)):
        return documents, []
    lines, left_out = without_interruptions(lines)
    again = list(find_documents(text, _OPENING, JsonLines.of(text, lines))) if left_out else []
    if not again or _count_faulty(text, again) >= count:
        return documents, []
    return again, warn_of_interruptions(
        text, left_out, ((document.first, document.last) for document in again if document.value is not None)
    )


def _count_faulty(text: SourceText, documents: Sequence[JsonDocument]) -> int:
    """Return how many documents are no JSON."""
    lines = documents[0].lines if documents else JsonLines.of(text)
    return sum(1 for document in documents if document.value is None) + sum(
        1 for _ in islice(_find_overlooked(lines, documents), _MOST_OVERLOOKED)
    )


def _make_cut(document: JsonDocument) -> Broken:
    fault = document.faults[0]
    message = f"the document that begins here is cut off, or is no JSON from line {fault.line} on"
    return Broken(message, document.first, fault.found, "a whole JSON object")


def _find_overlooked(lines: JsonLines, documents: Sequence[JsonDocument]) -> Iterator[Broken]:
    """Yield a `Broken` for tests whose first words are no JSON, so that they do not begin as a document."""
    known = [known_document.start for known_document in documents]
    starts = [match.start() for match in _TOP.finditer(lines.data)]
    for start, behind in pairwise([*starts, len(lines.data)]):
        place = bisect_left(known, start)
        if (place < len(known) and known[place] < behind) or not _OWN.search(lines.data, start, behind):
            continue
        document = lines.data[start:behind].decode("utf-8", "replace")
        try:
            json.loads(document)
        except RecursionError:
            continue
        except ValueError as error:
            at = getattr(error, "pos", 0)
            excerpt = document[at : at + 40].split("\n")[0]
            message = f"the document that begins in line {lines.number(start)} is none of JSON here"
            line = lines.number(start + len(document[:at].encode()))
            yield Broken(message, line, excerpt or "the end of the text", "JSON")


def _iterate_tests(documents: Sequence[JsonDocument]) -> Iterator[tuple[JsonDocument, dict[str, Any] | None]]:
    stream: dict[str, Any] = {}
    head: JsonDocument | None = None
    for document in documents:
        event = get_member(document.value, "event")
        if isinstance(event, str):
            if event == "start" and head is not None:
                yield head, stream
            if event == "start" or head is None:
                head, stream = document, {"intervals": []}
            _add_event(stream, event, get_member(document.value, "data"))
            head.last, head.end = document.last, document.end
        elif document.value is None or isinstance(get_member(document.value, "start"), dict):
            yield document, document.value
    if head is not None:
        yield head, stream


def _add_event(stream: dict[str, Any], event: str, data: object) -> None:
    if event == "interval":
        stream["intervals"].append(data)
    else:
        stream[event] = data
