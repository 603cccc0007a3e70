"""netperf's output, 2.1 to 2.7: the classic tables, omni's (`-O`, `-o`, `-k`), JSON arrays of them.

    MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to lag.hpl.hp.com (15.4.89.214) port 0 AF_INET
    Recv   Send    Send
    Socket Socket  Message  Elapsed
    Size   Size    Size     Time     Throughput
    bytes  bytes   bytes    secs.    10^6bits/sec

     32768  16384  16384    10.00      80.42

One run per banner (`… TEST from … to …`) or per block of `KEY=VALUE`. Streams are `net_send` (MAERTS: `net_receive`;
UDP_STREAM: both, and what got lost between them), requests `net_request` with `rate`. Interim results are a series,
whose `ending at` (UTC seconds) gives the start. A banner without figures is broken.

Units (netlib.c `format_units`, `format_number`): `10^6bits` is decimal, `MBytes` 1024²; `Trans` is per second;
omni's latencies are µs. -1 means not measured. The CPU columns are % of all CPUs of a host, so they are a note and not
`cpu`. Layouts: nettest_bsd.c, nettest_sctp.c (`tput_title`, `cpu_title`), nettest_omni.c (`print_omni_*`).

Oddities
- omni's THROUGHPUT of a test that sends datagrams is what arrived (nettest_omni.c, `send_omni_inner`: "we want what was actually
  received"): `net_receive`. What was sent is LOCAL_SEND_THROUGHPUT, and what interim results count.
- `-v 0` prints the throughput alone; its unit is that of -f. With -c or -C it prints a service demand instead, which is not read.
- A mail wraps banner and CSV header; a CSV with more values than names keeps those that have one, with a warning.
- `!!! WARNING` stands between banner and table when the confidence was not reached: a warning.
- PerfKitBenchmarker keeps the lines (or whole outputs) as JSON strings, a list of them on a line too: the quotes are
  taken off.
- A peer of `(null)` is none; -H names it, also where there is no banner.
- Who chooses omni's selectors may leave THROUGHPUT out (latencies, TRANSACTION_RATE), or its unit: then the rate is missing.
- A table whose banner was left out, or has no hosts, is of what the command above it or the rest of the banner says; requests and
  datagrams say themselves what they are.
- Rows behind words (`no debug: 87380 16384 16384 30.00 41624.72`) below one title are runs with these words as captions.
- Without banner (-P 0) `KEY=VALUE` and the names over CSV tell what it is where they say the direction or a transaction rate, or the
  command line directly above: by the names of -o for CSV, by test, -f, -c and -C for a row of a classic table. Without -f, requests
  are transactions and all else is 10^6bits (netsh.c). Other bare numbers are read as runs of their own only below a row like them.
"""

import re
from collections.abc import Iterator
from itertools import chain, pairwise

from apps.parsers import netperf_command, netperf_omni, netperf_tables
from apps.parsers.finite import positive
from apps.parsers.netperf_test import UNIT, Test, per_second
from apps.parsers.shape import Broken, ParsedFile, ParsedRun, ParseError
from apps.parsers.source_text import SourceText

NAME = "netperf"
TITLE = "netperf"

_LONGEST = 8000
_MOST_LINES = 50_000  # of one test: its banner, a line for each interim result, and its table
_BANNER = re.compile(
    r"(?:^|[\s\"])((?:MIGRATED )?(?:TCP|UDP|SCTP|OMNI|XTI TCP|XTI UDP|DLPI CO|DLPI CL|STREAM|DG|LOC_CPU|REM_CPU)"
    r"[\w /|-]{0,50}?) TEST (?:from|to) "
)
_ALONE = re.compile(  # a banner of which somebody left out the hosts
    r"\s{0,16}(?:MIGRATED )?((?:TCP|UDP|SCTP|XTI TCP|XTI UDP|DLPI CO|DLPI CL|STREAM|DG) [A-Z /|-]{2,40}) TEST:?\s{0,16}"
)
_PEER = re.compile(r" to {1,4}(\S{1,200})(?: \(([^)]{0,100})\))?(?: port|\s|$)")
_HOST = re.compile(r" from {1,4}(\S{1,200}) \(([^)]{0,100})\) port")
_TITLE = re.compile(  # of a classic table
    r"^[ \t]{0,40}(?:Recv {1,8}Send {1,8}Send\b|Local ?/ ?Remote\b|Socket {1,8}Message {1,8}Elapsed\b)", re.MULTILINE
)
_INTERIM = re.compile(
    rf"Interim result: {{1,8}}([\d.]{{1,20}}) {UNIT}/s over {{1,4}}([\d.]{{1,20}}) seconds(?: ending at (\d{{1,12}}\.\d{{1,6}}))?\s*$"
)
_COMMAND = re.compile(r"(?:^|[$#>%/] ?|\s)(netperf(?: -[^|;&\"]*)?)$")
_NOBODY = ("0.0.0.0", "::", "::0", "(null)", "")  # noqa: S104 - "any", and what the tool could not name
_WARNING = "Desired confidence was not achieved"


def looks_like(text: SourceText) -> float:
    body = text.text
    if " TEST from " in body or " TEST to " in body:
        return 1.0 if any(" TEST " in line and _BANNER.search(line[:_LONGEST]) for line in text.lines) else 0.0
    if "THROUGHPUT=" in body and "THROUGHPUT_UNITS=" in body:
        return 0.9
    if ("Throughput Units," in body or ",Throughput Units" in body or "Transaction Rate Tran/s" in body) and any(
        netperf_omni.is_header(line) for line in text.lines
    ):
        return 0.9
    if "Elapsed" in body and "bytes" in body and _TITLE.search(body):
        return 0.8
    is_bare = "netperf " in body and (" -o" in body or " -P" in body)
    return 0.9 if is_bare and any(test.figures or test.operation for test in _tests(_lines(text))) else 0.0


def parse(text: SourceText) -> ParsedFile:
    runs: list[ParsedRun] = []
    broken: list[Broken] = []
    warnings: list[str] = []
    for test in _tests(_lines(text)):
        found = _read(test, warnings)
        broken += [
            Broken("an interim result that cannot be read", number, line.strip()[:100])
            for number, line in test.lines
            if "Interim result:" in line and not _INTERIM.search(line)
        ]
        if isinstance(found, Broken) and (several := [other.run() for other in netperf_tables.named(test)]):
            runs += several
            continue
        (broken if isinstance(found, Broken) else runs).append(found)  # type: ignore[arg-type]
        if isinstance(found, ParsedRun) and found.samples[0].operation in ("net_send", "net_receive"):
            runs += [other.run() for other in netperf_tables.others(test)]
        if isinstance(found, ParsedRun):
            runs += [other.run() for other in netperf_omni.others(test)]
    if not runs and not broken:
        raise ParseError("nothing of netperf in the text", expected="a line with '… TEST from … to …'")
    return ParsedFile(tuple(runs), tuple(warnings), tuple(broken))


def _lines(text: SourceText) -> Iterator[tuple[int, str]]:
    """The lines with their numbers. Of blank ones that follow on each other only the first."""
    was_blank = False
    for index, line in enumerate(text.lines):
        is_blank = not line or line.isspace()
        if not (is_blank and was_blank):
            shown = line[:_LONGEST].removesuffix("\\n")  # as a program shows the end of a line
            yield text.number(index), shown.expandtabs()
        was_blank = is_blank


def _tests(lines: Iterator[tuple[int, str]]) -> Iterator[Test]:
    test: Test | None = None
    command = asked = alone = ""
    interim: list[tuple[int, str]] = []  # of -D, below a command whose figures are bare
    for (number, line), (_, below) in pairwise(chain(lines, [(0, "")])):
        key = netperf_omni.key_of(line) if "=" in line else ""
        begun, alone = _begun(test, command, number, line, key, alone), _alone(line, alone)
        if begun is not None:
            if test is not None:
                yield test
            test, command, asked = begun, "", ""
        elif "netperf" in line and (match := _COMMAND.search(line.rstrip())):
            if test is not None:
                yield test
            test, command, asked, interim = None, match[1], match[1], []
        elif asked and test is None and _INTERIM.match(line) and len(interim) < _MOST_LINES:
            interim.append((number, line))
        elif asked and line.strip():  # directly below the command, or below figures of it
            found = _bare(asked, number, line, below)
            if found is not None and test is not None:
                yield test
            if found is not None and found.lines:
                found.lines += interim
            interim = []
            goes_on = found is not None or (test is not None and netperf_command.is_second_row(asked, line))
            test, command, asked = found or test, "" if found else command, asked if goes_on else ""
        if test is not None and len(test.lines) < _MOST_LINES:
            test.lines.append((number, line))
            test.keys |= {key} - {""}
    if test is not None:
        yield test


def _alone(line: str, before: str) -> str:
    """The test that a banner without hosts names, up to the table right below it."""
    if " TEST" in line and (match := _ALONE.fullmatch(line[:_LONGEST])):
        return match[1]
    return "" if line.strip() else before


def _begun(test: Test | None, command: str, number: int, line: str, key: str, alone: str) -> Test | None:
    """The test that begins with this line. `alone`: what the banner directly above it says."""
    if " TEST " in line and (match := _BANNER.search(line)):
        return Test(match[1].removeprefix("MIGRATED "), command)
    if test is not None and key in test.keys and test.keys.intersection(netperf_omni.FIGURES):
        return Test(test.kind, "")  # without banners, a key that comes again begins the next test
    if test is None and key in netperf_omni.BEGINNINGS:
        return Test(netperf_command.direction(command) if command else "", command)
    if test is None and not command and netperf_omni.is_header(line):
        return Test("", "", [(number, "")], has_banner=False)
    is_free = test is None or not test.has_banner or alone
    return _untitled(command, alone, number, line) if is_free and _TITLE.match(line) else None


def _untitled(command: str, alone: str, number: int, title: str) -> Test:
    """A table whose banner somebody left out: the command says what it is of, or what is left of the banner, if anything does."""
    kind = alone or (netperf_command.kind(command) if command else "")
    test = Test(kind, command, [(number, "")], has_banner=False)
    if "Recv" in title and test.operation == "net_request":
        test.kind = ""  # which is another test's command
    return test


def _bare(asked: str, number: int, line: str, below: str) -> Test | None:
    """Figures that stand by themselves, and which the command says what they are; with the line below them."""
    kind = netperf_command.kind(asked)
    if found := netperf_command.figures(asked, line):
        return Test(kind, asked, figures=found)
    if netperf_command.is_quiet(asked) and positive(line.strip()) is not None:
        return Test(kind, asked, [(number, "")], has_banner=False)
    if title := netperf_command.title(asked, line, below):
        return Test(kind, asked, [(number, ""), (number, title)], has_banner=False)
    return None


def _read(test: Test, warnings: list[str]) -> ParsedRun | Broken:
    head = " ".join(line.strip() for _, line in test.lines[:3])
    for pattern, attribute in ((_HOST, "host"), (_PEER, "target")):
        if test.kind and not test.figures and (match := pattern.search(head)):
            setattr(test, attribute, next((name for name in (match[1], match[2] or "") if name not in _NOBODY), ""))
    test.target = test.target or netperf_command.peer(test.command)
    for number, line in test.lines:
        if _WARNING in line:
            warnings.append(f"line {number}: {_WARNING.lower()}")
        if "Interim" in line and (match := _INTERIM.search(line)):
            rate, over = per_second(match[1], match[2]), positive(match[3])
            if rate is not None and over:
                test.interim(rate, over, positive(match[4] or ""), number)
    if not netperf_omni.read(test, warnings) and not netperf_tables.read(test):
        last = next((line for _, line in reversed(test.lines) if line.strip()), "")
        return test.broken or Broken(
            "the test has no figures", test.lines[0][0], last.strip()[:100], "a row of numbers"
        )
    return test.run()
