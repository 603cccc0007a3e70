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
- A server's log is one document after another. 3.0 to 3.6 have only `sum` for UDP: the rate is what this side saw.
- A side that never told its figures prints zeros beside the other side's bytes: not measured.
- With `error` there may be no `end`; what was measured stays. `--json-stream` is one object per line (`event`).
- A document that is cut off is broken.
"""

import re
from collections.abc import Iterator
from typing import Any

from apps.parsers.iperf3_document import Test
from apps.parsers.json_places import Document, documents, member
from apps.parsers.shape import Broken, ParsedFile, ParsedRun, ParseError
from apps.parsers.source_text import SourceText

NAME = "iperf3 json"
TITLE = "iperf 3 JSON"

_OPENING = re.compile(
    rb'\{(?=\s{0,80}"(?:(?:start|end)"\s{0,8}:\s{0,8}\{|intervals"\s{0,8}:\s{0,8}\[|(?:title|error|event|extra_data)"\s{0,8}:))'
)


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
    for one, value in _tests(text):
        if value is None:
            broken.append(Broken("the document that begins here is cut off", one.first, "", "a whole JSON object"))
        else:
            run = Test(one, value).run()
            if not run.samples and not run.series:
                broken.append(
                    Broken("the test has no results", one.first, run.problem, '"end" with "sum_sent" or "sum"')
                )
            else:
                runs.append(run)
    if not runs and not broken:
        raise ParseError("no JSON of iperf 3 in the text", expected='an object with "start", "intervals" and "end"')
    return ParsedFile(tuple(runs), broken=tuple(broken))


def _tests(text: SourceText) -> Iterator[tuple[Document, dict[str, Any] | None]]:
    stream: dict[str, Any] = {}
    head: Document | None = None
    for one in documents(text, _OPENING):
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
