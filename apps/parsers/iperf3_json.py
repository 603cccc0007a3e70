"""iperf 3's JSON (`-J`, `--json-stream`), 3.0 to 3.21.

    {"start": {"connected": [{"local_host", "remote_host", …}], "version": "iperf 3.12", "timestamp": {"timesecs"},
               "test_start": {"protocol": "TCP", "num_streams", "blksize", "duration", "reverse", "bidir"}},
     "intervals": [{"streams": [{"socket", "start", "end", "bits_per_second", "sender"}], "sum": {…}}],
     "end": {"streams": [{"sender": {…}, "receiver": {…}} | {"udp": {…}}], "sum_sent", "sum_received", "sum",
             "cpu_utilization_percent": {"host_total", "remote_total"}}, "error": "…"}

Sums are the samples: what was sent is `net_send`, what arrived `net_receive`; jitter and loss are the receiver's.
Several streams are sections of their own beside the sum; `--bidir` has two sums, of which the reversed is section 1.
Units: `bits_per_second` ÷ 8, `jitter_ms`, `lost_percent` ÷ 100; `timesecs` is UTC seconds. `cpu_utilization_percent` is
the process's CPU time over wall time (iperf_util.c `cpu_util`), so 100 is one core; it goes to the side it is of.

Oddities
- A server's log is one document after another. 3.0 to 3.10 have only `sum` for UDP: the rate is what this side saw. A server
  that sends does not know what arrived since 3.1, and prints zeros for jitter and losses: they are left out.
- A side that never told its figures prints zeros beside the other side's bytes: not measured.
- 3.7 to 3.10 have the sums of `--bidir` twice under the same keys (`iperf3_twice`).
- A server that is stopped while it waits prints a document for the test that did not come: no test.
- With `error` there may be no `end`; what was measured stays. `--json-stream` is one object per line (`event`).
- A document that is cut off is broken.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Any

from apps.parsers.iperf3_document import Test
from apps.parsers.iperf3_twice import named_apart
from apps.parsers.json_places import Document, documents, member
from apps.parsers.json_strangers import told, without_strangers
from apps.parsers.shape import Broken, ParsedFile, ParsedRun, ParseError
from apps.parsers.source_text import SourceText
from apps.parsers.strict_json import Lines

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
    body = text.text
    if '"test_start"' in body and '"cookie"' in body:
        return 1.0
    if '"bits_per_second"' in body and ('"sum_received"' in body or '"intervals"' in body):
        return 1.0
    return 0.9 if '"intervals"' in body and re.search(r'"version"\s{0,8}:\s{0,8}"iperf 3', body) else 0.0


def parse(text: SourceText) -> ParsedFile:
    runs: list[ParsedRun] = []
    broken: list[Broken] = []
    seen, warnings = _seen(text)
    for one, value in _tests(seen):
        if value is None:
            broken.append(_cut(one))
        else:
            run = Test(one, value).run()
            if _is_idle(value, run):
                continue
            if not run.samples and not run.series:
                broken.append(
                    Broken("the test has no results", one.first, run.problem, '"end" with "sum_sent" or "sum"')
                )
            else:
                runs.append(run)
    broken += [fault for one in seen if one.value is not None for fault in one.faults]
    broken += islice(_overlooked(seen[0].lines if seen else Lines.of(text), seen), _MOST_OVERLOOKED)
    if not runs and not broken:
        raise ParseError("no JSON of iperf 3 in the text", expected='an object with "start", "intervals" and "end"')
    return ParsedFile(tuple(runs), tuple(warnings), tuple(sorted(broken, key=lambda each: each.line or 0)))


def _is_idle(value: dict[str, Any], run: ParsedRun) -> bool:
    """Whether a server was stopped while nobody was its client: it prints a document for the test that did not come."""
    has_begun = member(value, "start", "test_start") or member(value, "start", "connected")
    return run.problem.startswith(_STOPPED) and not (has_begun or run.samples or run.series)


def _seen(text: SourceText) -> tuple[list[Document], list[str]]:
    """The documents as they stand there; where one is none, without the lines among them that no JSON holds."""
    seen = list(documents(text, _OPENING))
    lines: Sequence[str] = text.lines
    if any(one.faults for one in seen) and (apart := named_apart(body := "\n".join(lines))) != body:
        lines = apart.split("\n")
        seen = list(documents(text, _OPENING, Lines.of(text, lines)))
    if not (count := _faulty(text, seen)):
        return seen, []
    lines, left_out = without_strangers(lines)
    again = list(documents(text, _OPENING, Lines.of(text, lines))) if left_out else []
    if not again or _faulty(text, again) >= count:
        return seen, []
    return again, told(text, left_out, ((one.first, one.last) for one in again if one.value is not None))


def _faulty(text: SourceText, seen: Sequence[Document]) -> int:
    """How many are no JSON."""
    lines = seen[0].lines if seen else Lines.of(text)
    return sum(1 for one in seen if one.value is None) + sum(
        1 for _ in islice(_overlooked(lines, seen), _MOST_OVERLOOKED)
    )


def _cut(one: Document) -> Broken:
    fault = one.faults[0]
    message = f"the document that begins here is cut off, or is no JSON from line {fault.line} on"
    return Broken(message, one.first, fault.found, "a whole JSON object")


def _overlooked(lines: Lines, seen: Sequence[Document]) -> Iterator[Broken]:
    """Tests whose first words are no JSON, so that they do not even begin as one."""
    known = [one.start for one in seen]
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
            found = document[at : at + 40].split("\n")[0]
            message = f"the document that begins in line {lines.number(start)} is none of JSON here"
            line = lines.number(start + len(document[:at].encode()))
            yield Broken(message, line, found or "the end of the text", "JSON")


def _tests(seen: Sequence[Document]) -> Iterator[tuple[Document, dict[str, Any] | None]]:
    stream: dict[str, Any] = {}
    head: Document | None = None
    for one in seen:
        event = member(one.value, "event")
        if isinstance(event, str):
            if event == "start" and head is not None:
                yield head, stream
            if event == "start" or head is None:
                head, stream = one, {"intervals": []}
            _add_event(stream, event, member(one.value, "data"))
            head.last, head.end = one.last, one.end
        elif one.value is None or isinstance(member(one.value, "start"), dict):
            yield one, one.value
    if head is not None:
        yield head, stream


def _add_event(stream: dict[str, Any], event: str, data: Any) -> None:
    if event == "interval":
        stream["intervals"].append(data)
    else:
        stream[event] = data
