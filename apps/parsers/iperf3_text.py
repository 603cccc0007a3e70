"""iperf 3's text, 3.0 to 3.21: client and server, `-R`, `--bidir`, `-P`, `-u`, `-V`.

    [  5]   0.00-10.00  sec  53.9 MBytes  45.2 Mbits/sec    0             sender
    [  5]   0.00-10.00  sec  52.0 MBytes  43.6 Mbits/sec                  receiver
    [  6]   0.00-300.03 sec  7.67 GBytes   220 Mbits/sec  0.055 ms  32753/5719589 (0.57%)  receiver
    [  5][TX-C]   0.00-2.00   sec  2.14 GBytes  9.21 Gbits/sec    2             sender

One run per test (a server's log holds many). Lines of the summary are samples: `sender` → `net_send`, `receiver` →
`net_receive`; the lines above are series; `(omitted)` ones are left out. `[SUM]` comes first among the sections;
`--bidir` has sections per direction. Jitter and loss are the receiver's; a sender's line prints zeros for them.

Oddities
- `Bandwidth` became `Bitrate` in 3.2; 3.0 and 3.1 end UDP tests with one line, the client's rate beside the receiver's
  jitter. That line has no `sender`: it is this side's, as the header above tells (`Connecting to host` sends, unless
  `Reverse mode`; a server sends where it prints `Retr` or `Total Datagrams`).
- Where the rule above it is gone, a line without side is of the summary if it adds up two intervals or more. Both sides'
  lines without their words are missing. A line that has lost its id, or a letter, is told.
- 3.0's betas name the sides of the summary on lines of their own, `Sent` and `Received`.
- Excerpts one below the other are tests of their own: a connection, or a heading whose rows begin at 0.00 again.
- A side of 0.00 Bytes beside the other one's bytes never told its figures: missing. Servers of 3.0 and 3.1 end tests of UDP
  with 0.00 Bytes beside the true jitter and loss: they print what was sent, which they do not know. Missing as well.
- Summaries alone, one below the other, are tests of their own: a side of a stream is printed once.
- Clients with titles (-T) that write at the same time are read apart (`iperf3_titles`); the title is the run's caption.
- What a client shows of its server (`Server output:`, --get-server-output) is the same test: the intervals there are series of it.
- That it was stopped stands above a test whose output went into a file with its errors, which are not kept back as that is.
- A test without summary (killed) keeps its intervals and is broken.
- `CPU Utilization` (-V) is of one core (iperf_util.c `cpu_util`); `Time:` is GMT or UTC.
Units: see `iperf_lines`. Formats: iperf_locale.c.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from msgspec.structs import replace

from apps.parsers.finite import INT4, whole
from apps.parsers.iperf3_streams import Test
from apps.parsers.iperf3_titles import by_title
from apps.parsers.iperf_commands import asked, client_of, command, is_of_another
from apps.parsers.iperf_lines import Line, bent, broken_lines, has_reports, lines_of, nearly, report_of
from apps.parsers.shape import Broken, ParsedFile, ParsedRun, ParseError
from apps.parsers.source_text import SourceText

NAME = "iperf3"
TITLE = "iperf 3 text"

_CLIENT = re.compile(r"Connecting to host (\S{1,200}), port ")
_ACCEPTED = re.compile(r"Accepted connection from (\S{1,200}), port ")
_VERSION = re.compile(
    r"^\s*(?:\w{3} \w{3} [ \d]\d [\d:]{8} \d{4} )?iperf (3\.[\w.+-]{1,30})"
)  # behind --timestamps, too
_ASKED = re.compile(
    r"Starting Test: protocol: (\w{1,9}), (\d{1,9}) streams, (\d{1,12}) byte blocks, omitting (\d{1,9}) seconds(?:, (\d{1,9}) second test)?(?=,|\s*$)"
)
_CPU = re.compile(
    r"CPU Utilization: local/(sender|receiver) ([\d.]{1,20})%[^,]{0,60}, remote/(?:sender|receiver) ([\d.]{1,20})%"
)
_TIME = re.compile(r"Time: \w{3}, (\d{1,2}) (\w{3}) (\d{4}) (\d\d):(\d\d):(\d\d) (?:GMT|UTC)")
_STOPPED = ("iperf3: error - ", "iperf3: interrupt - ")
_SIDE = re.compile(r"\s{0,16}(?:Total )?(sent|received)\s*", re.IGNORECASE)
_BELOW = 6  # lines in which the first row stands below its heading
_FAR = 20  # lines behind which somebody else is done
_SIDES = {"sent": "sender", "received": "receiver"}
_STOPPED_SERVER = "interrupt - the server has terminated"
_ERROR = re.compile(r"iperf3: (error - .{1,200}|interrupt - .{1,200})")


def looks_like(text: SourceText) -> float:
    return 1.0 if has_reports(text, 3) else 0.3 if any(word in text.text for word in _STOPPED) else 0.0


def parse(text: SourceText) -> ParsedFile:
    runs: list[ParsedRun] = []
    broken: list[Broken] = []
    for title, part in by_title(text):
        found, told = _read_all(part)
        runs += [replace(run, caption=title) for run in found] if title else found
        broken += told
    if not runs and not broken:
        raise ParseError(
            "no report line of iperf 3 in the text", expected="'[  5]   0.00-10.00  sec  … MBytes  … Mbits/sec'"
        )
    return ParsedFile(tuple(sorted(runs, key=lambda run: run.line or 0)), broken=tuple(broken))


def _read_all(text: SourceText) -> tuple[list[ParsedRun], list[Broken]]:
    """What the lines of one terminal, or of one title, hold."""
    runs: list[ParsedRun] = []
    broken: list[Broken] = []
    damaged: list[int] = []
    for test in _tests(text, damaged):
        if not test.has_reports:
            found = test.problem or text.lines[test.last][:100]
            broken.append(Broken("the test has no results", text.number(test.first), found, "lines of intervals"))
            continue
        run = test.run(text)
        damaged += test.doubtful + [one.index for one in test.without_side()]
        if test.is_servers and runs and not runs[-1].problem:
            runs[-1] = _with_servers(runs[-1], run)
            continue
        runs.append(run)
        if not test.finals:
            found, expected = text.lines[test.last][:100], "a line that ends with sender or receiver"
            broken.append(Broken("the summary is missing", run.last_line, found, expected))
    return runs, broken + broken_lines(text, damaged)


def _with_servers(run: ParsedRun, servers: ParsedRun) -> ParsedRun:
    """A client's run with the intervals that the server saw, whose sums the client has already (--get-server-output)."""
    known = {(one.operation, one.section) for one in run.series}
    is_same = len(run.sections) == len(servers.sections)
    more = tuple(one for one in servers.series if is_same and (one.operation, one.section) not in known)
    return replace(run, series=run.series + more, last_line=servers.last_line)


@dataclass(slots=True)
class _Header:
    """What stands above a test and is not yet its own."""

    version: str = ""
    shown: str = ""
    is_servers: bool = False


def _tests(text: SourceText, damaged: list[int]) -> Iterator[Test]:
    """Also adds to `damaged` the indices of lines of which not all can be read."""
    test, head = Test(), _Header()
    for line in lines_of(text, 3):
        if bent(line) is not None or (line.report is None and _is_bent(line.text)):
            damaged.append(line.index)
        elif nearly(line) is not None:
            test.doubtful.append(line.index)
        if _begins_another(test, line, text):
            yield test
            test = Test(is_servers=head.is_servers)
            head.is_servers = False
        head.is_servers = head.is_servers or line.text.endswith("Server output:")
        if found := command(line.text):
            head.shown = found
            continue
        if match := _VERSION.match(line.text):
            head.version = match[1]
            continue
        if _read(test, line) and (head.shown or head.version):
            test.version, test.told = head.version or test.version, test.told | asked(head.shown)
            head = _Header()
        if _is_of_another(str(test.told.get("command", "")), test, line.text):
            test.told = {}
        test.is_ruled = "- - - - -" in line.text or (test.is_ruled and not line.text.strip())
    if test.has_reports or test.problem or test.is_client is not None:
        yield test


def _is_of_another(shown: str, test: Test, line: str) -> bool:
    """Whether the command line above started another side than the one whose words follow, or called another host."""
    calls = client_of(shown, is_marked=True) if shown else None
    is_other_side = calls is not None and test.is_client is not None and calls != test.is_client
    return is_other_side or (bool(_CLIENT.search(line)) and is_of_another(shown, test.target))


def _begins_another(test: Test, line: Line, text: SourceText) -> bool:
    is_header = _CLIENT.search(line.text) or _ACCEPTED.search(line.text) or "Server listening on" in line.text
    if is_header and test.was_stopped and test.is_client is None:
        return any(
            one.strip(" -") for one in text.lines[test.last + 1 : line.index]
        )  # else only a server's rule is between
    if not test.has_reports and (not test.problem or (test.was_stopped and test.is_client is not None)):
        return bool(is_header) and test.is_client is not None  # nothing came of that one
    if line.report:
        return test.is_done_before(line.report)
    if "[ ID]" in line.text:
        return bool(test.finals) or not (test.is_complete or test.is_ruled or _goes_on(test, line, text))
    if line.local:
        return test.has_reports
    return bool(test.finals if "iperf3: error - " in line.text else is_header)


def _goes_on(test: Test, line: Line, text: SourceText) -> bool:
    """Whether what stands below a heading is still this test's: its summary, or intervals that count on."""
    for below in text.lines[line.index + 1 : line.index + _BELOW]:
        if _SIDE.fullmatch(below):
            return True
        if report := report_of(below):
            return bool(report.start) or report.rest.rstrip().endswith(("sender", "receiver"))
    return True


def _is_bent(line: str) -> bool:
    if "Starting Test: protocol:" in line:
        return not _ASKED.search(line)
    return "CPU Utilization: local/" in line and not _CPU.search(line)


def _read(test: Test, line: Line) -> bool:
    """Whether the line says something of the test."""
    if line.report:
        test.add(line.report)
        test.covers(line.index)
        return True
    if "Reverse mode, remote host" in line.text:  # only a client prints it
        test.is_reverse = test.is_client = True
    if line.local:
        test.connects(line.local)
    elif "[ ID]" in line.text:
        test.header(line.text, is_summary=test.is_ruled or test.is_complete)
    elif (match := _SIDE.fullmatch(line.text)) and test.has_reports:
        test.is_summary, test.side = True, _SIDES[match[1].lower()]
    elif ("iperf Done" in line.text and line.index > test.last + _FAR) or not _read_words(test, line.text):
        return False
    test.covers(line.index)
    return True


def _read_words(test: Test, line: str) -> bool:
    if match := _CLIENT.search(line):
        test.is_client, test.target = True, match[1]
    elif match := _ACCEPTED.search(line):
        test.is_client, test.target = False, match[1]
    elif match := _ASKED.search(line):
        _read_asked(test, match)
    elif match := _CPU.search(line):
        test.set_cpu(match[1], match[2], match[3])
    elif match := _TIME.search(line):
        test.set_time(*match.groups())
    elif match := _ERROR.search(line):
        is_idle = match[1].startswith(_STOPPED_SERVER) and test.is_client is None and not test.has_reports
        test.problem = (
            "" if test.finals or is_idle else match[1]
        )  # a server that is stopped says so behind the last test
    elif "Test Complete. Summary Results" in line:
        test.is_complete = True
    else:
        return "Reverse mode, remote host" in line or "iperf Done" in line or "received out-of-order" in line
    return True


def _read_asked(test: Test, match: re.Match[str]) -> None:
    test.told["protocol"] = match[1].lower()
    for place, name in ((2, "numjobs"), (4, "ramp_time"), (5, "runtime")):
        if match[place] and (value := whole(match[place], INT4)):
            test.told[name] = value
    if block_size := whole(match[3]):
        test.block_size = test.told["block_size"] = block_size
