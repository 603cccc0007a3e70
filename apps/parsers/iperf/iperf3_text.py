"""Parser of iperf 3's text, 3.0 to 3.21: client and server, `-R`, `--bidir`, `-P`, `-u`, `-V`.

    [  5]   0.00-10.00  sec  53.9 MBytes  45.2 Mbits/sec    0             sender
    [  5]   0.00-10.00  sec  52.0 MBytes  43.6 Mbits/sec                  receiver
    [  6]   0.00-300.03 sec  7.67 GBytes   220 Mbits/sec  0.055 ms  32753/5719589 (0.57%)  receiver
    [  5][TX-C]   0.00-2.00   sec  2.14 GBytes  9.21 Gbits/sec    2             sender

One run per test (a server's log holds many). Lines of the summary are samples: `sender` → `net_send`, `receiver` →
`net_receive`; the lines above are series; `(omitted)` ones are left out. `[SUM]` comes first among the sections;
`--bidir` has sections per direction. Jitter and loss are the receiver's; a sender's line prints zeros for them.

Peculiarities:

- `Bandwidth` became `Bitrate` in 3.2; 3.0 and 3.1 end UDP tests with one line, the sender's bytes and rate beside the
  receiver's jitter and loss, on either side (iperf_api.c, `iperf_print_results`). It has no `sender`. What arrived at a
  client with -R is summed up from its intervals.
- Other lines without side are this side's, as the header above tells (`Connecting to host` sends, unless `Reverse mode`;
  a server sends where it prints `Retr` or `Total Datagrams`).
- 3.0 cuts rates off behind ten characters (`147641 Kbis/sec`), and has no unit above GBytes (`0.00 (null)s`).
- Where the rule above it is missing, a line without side belongs to the summary if it adds up two intervals or more.
  Lines of both sides without their words are missing. A line that has lost its id, or has a wrong letter, is reported.
- 3.0's betas name the sides of the summary on lines of their own, `Sent` and `Received`.
- Excerpts one below the other are tests of their own: a connection, or a heading whose rows begin at 0.00 again.
- A side of 0.00 Bytes beside the other one's bytes is missing, because its figures never arrived. Servers of 3.0 and
  3.1 end tests of UDP with 0.00 Bytes beside the true jitter and loss: they print what was sent, which they do not
  know. That is missing as well.
- Summaries alone, one below the other, are tests of their own: a side of a stream is printed once.
- Clients with titles (-T) that write at the same time are read separately (`split_by_title`); the title is the run's
  caption.
- The server's output that a client shows (`Server output:`, --get-server-output) belongs to the same test: its
  intervals are series.
- An interruption stands above a test whose output went into a file together with its errors, because the latter are not
  buffered.
- A test without summary (killed) keeps its intervals and is broken.
- `CPU Utilization` (-V) is of one core (iperf_util.c `cpu_util`); `Time:` is GMT or UTC. Units: see `lines.py`.
  Formats: iperf_locale.c.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from msgspec.structs import replace

from apps.parsers.core.models import Broken, ParsedFile, ParsedRun, ParseError
from apps.parsers.core.numbers import INT4, read_whole
from apps.parsers.core.source_text import SourceText
from apps.parsers.iperf.commands import find_command, is_of_another, read_workload, starts_client
from apps.parsers.iperf.iperf3_streams import Iperf3TextTest
from apps.parsers.iperf.lines import (
    IperfLine,
    find_bent,
    find_near_report,
    has_reports,
    iterate_lines,
    make_broken,
    read_report,
)

_TITLED = re.compile(
    r"^(?:.{0,120}?[#$>] )?(?P<title>[^\s\[:<>](?:[^:\[<>\n]{0,60}?[^\s:\[<>])?):  "
    r"(?:\[ {0,4}(?:ID|SUM|\d{1,6})\]|Connecting to host |Accepted connection from |Starting Test: )",
    re.MULTILINE,
)
_MOST_TITLES = 200


def split_by_title(text: SourceText) -> list[tuple[str, SourceText]]:
    """Return (title, its lines with their numbers); [("", text)] where no line has a title.

    Tests of fast links run several clients with titles (-T) that write into one terminal at the same time:

        s1:  [  5]   0.00-1.00   sec  1.62 GBytes  13.9 Gbits/sec    0   1.31 MBytes
        s2:  [  5]   0.00-1.00   sec  1.55 GBytes  13.3 Gbits/sec    0   1.22 MBytes

    iperf 3 puts the title, a colon and two blanks before every line (iperf_api.c, `iperf_printf`).
    """
    if ":  [" not in text.text:
        return [("", text)]
    titles = {match["title"] for line in text.lines if ":  " in line and (match := _TITLED.match(line[:400]))}
    if not titles or len(titles) > _MOST_TITLES:
        return [("", text)]
    parts = text.parts([_find_title(line, titles) for line in text.lines], {"", *titles})
    return [(title, part) for title, part in parts if any(line.strip() for line in part.lines)]


def _find_title(line: str, titles: set[str]) -> tuple[str, int]:
    """Return the line's title, and the index at which the line begins behind it."""
    if match := _TITLED.match(line[:400]):
        return match["title"], match.end("title") + 3
    title = line.partition(":")[0]
    is_titled = title in titles and line.startswith((":  ", ": "), len(title))
    return (title, len(title) + 3) if is_titled or (title in titles and line.rstrip() == f"{title}:") else ("", 0)


NAME = "iperf3"
TITLE = "iperf 3 text"

_CLIENT = re.compile(r"Connecting to host (\S{1,200}), port ")
_ACCEPTED = re.compile(r"Accepted connection from (\S{1,200}), port ")
_VERSION = re.compile(
    r"^\s*(?:\w{3} \w{3} [ \d]\d [\d:]{8} \d{4} )?iperf (3\.[\w.+-]{1,30})"
)  # with --timestamps a time stands before it
_SETTINGS = re.compile(
    r"Starting Test: protocol: (\w{1,9}), (\d{1,9}) streams, (\d{1,12}) byte blocks, omitting (\d{1,9}) seconds(?:, (\d{1,9}) second test)?(?=,|\s*$)"
)
_CPU = re.compile(
    r"CPU Utilization: local/(sender|receiver) ([\d.]{1,20})%[^,]{0,60}, remote/(?:sender|receiver) ([\d.]{1,20})%"
)
_TIME = re.compile(r"Time: \w{3}, (\d{1,2}) (\w{3}) (\d{4}) (\d\d):(\d\d):(\d\d) (?:GMT|UTC)")
_STOPPED = ("iperf3: error - ", "iperf3: interrupt - ")
_SIDE = re.compile(r"\s{0,16}(?:Total )?(sent|received)\s*", re.IGNORECASE)
_BELOW = 6  # lines below a heading in which the first row stands
_FAR = 20  # lines behind which "iperf Done" belongs to something else
_SIDES = {"sent": "sender", "received": "receiver"}
_STOPPED_SERVER = "interrupt - the server has terminated"
_ERROR = re.compile(r"iperf3: (error - .{1,200}|interrupt - .{1,200})")


def looks_like(text: SourceText) -> float:
    """Return 1 if the text has report lines of iperf 3, 0.3 for one of its messages, else 0."""
    return 1.0 if has_reports(text, 3) else 0.3 if any(word in text.text for word in _STOPPED) else 0.0


def parse(text: SourceText) -> ParsedFile:
    """Parse every test in the text into a run.

    Raises:
        ParseError: if there is none.
    """
    runs: list[ParsedRun] = []
    broken: list[Broken] = []
    for title, part in split_by_title(text):
        title_runs, title_broken = _read_all(part)
        runs += [replace(run, caption=title) for run in title_runs] if title else title_runs
        broken += title_broken
    if not runs and not broken:
        raise ParseError(
            "no report line of iperf 3 in the text", expected="'[  5]   0.00-10.00  sec  … MBytes  … Mbits/sec'"
        )
    return ParsedFile(tuple(sorted(runs, key=lambda run: run.line or 0)), broken=tuple(broken))


def _read_all(text: SourceText) -> tuple[list[ParsedRun], list[Broken]]:
    """Return the runs and broken places in the lines of one terminal, or of one title."""
    runs: list[ParsedRun] = []
    broken: list[Broken] = []
    damaged: list[int] = []
    for test in _iterate_tests(text, damaged):
        if not test.has_reports:
            excerpt = test.problem or text.lines[test.last][:100]
            broken.append(Broken("the test has no results", text.number(test.first), excerpt, "lines of intervals"))
            continue
        run = test.make_run(text)
        damaged += test.doubtful + [report.index for report in test.find_without_side()]
        if test.is_servers and runs and not runs[-1].problem:
            runs[-1] = _add_server_intervals(runs[-1], run)
            continue
        runs.append(run)
        if not test.finals:
            excerpt, expected = text.lines[test.last][:100], "a line that ends with sender or receiver"
            broken.append(Broken("the summary is missing", run.last_line, excerpt, expected))
    return runs, broken + make_broken(text, damaged)


def _add_server_intervals(run: ParsedRun, servers: ParsedRun) -> ParsedRun:
    """Return a client's run with the intervals that the server saw; the client already has the sums (--get-server-output)."""
    known = {(item.operation, item.section) for item in run.series}
    is_same = len(run.sections) == len(servers.sections)
    more = tuple(item for item in servers.series if is_same and (item.operation, item.section) not in known)
    return replace(run, series=run.series + more, last_line=servers.last_line)


@dataclass(slots=True)
class _PendingHeader:
    """What stands above a test that has not begun."""

    version: str = ""
    command: str = ""
    is_servers: bool = False


def _iterate_tests(text: SourceText, damaged: list[int]) -> Iterator[Iperf3TextTest]:
    """Yield the tests, and add to `damaged` the indices of lines of which a part can not be read."""
    test, head = Iperf3TextTest(), _PendingHeader()
    for line in iterate_lines(text, 3):
        if find_bent(line) is not None or (line.report is None and _is_bent(line.text)):
            damaged.append(line.index)
        elif find_near_report(line) is not None:
            test.doubtful.append(line.index)
        if _begins_another(test, line, text):
            yield test
            test = Iperf3TextTest(is_servers=head.is_servers)
            head.is_servers = False
        head.is_servers = head.is_servers or line.text.endswith("Server output:")
        if command := find_command(line.text):
            head.command = command
            continue
        if match := _VERSION.match(line.text):
            head.version = match[1]
            continue
        if _read_line(test, line) and (head.command or head.version):
            test.version, test.settings = head.version or test.version, test.settings | read_workload(head.command)
            head = _PendingHeader()
        if _is_of_another(str(test.settings.get("command", "")), test, line.text):
            test.settings = {}
        test.is_ruled = "- - - - -" in line.text or (test.is_ruled and not line.text.strip())
    if test.has_reports or test.problem or test.is_client is not None:
        yield test


def _is_of_another(command: str, test: Iperf3TextTest, line: str) -> bool:
    """Return whether the command line above started another side than the one whose lines follow, or called another host."""
    calls = starts_client(command, is_marked=True) if command else None
    is_other_side = calls is not None and test.is_client is not None and calls != test.is_client
    return is_other_side or (bool(_CLIENT.search(line)) and is_of_another(command, test.target))


def _begins_another(test: Iperf3TextTest, line: IperfLine, text: SourceText) -> bool:
    is_header = _CLIENT.search(line.text) or _ACCEPTED.search(line.text) or "Server listening on" in line.text
    if is_header and test.was_stopped and test.is_client is None:
        return any(
            line_between.strip(" -") for line_between in text.lines[test.last + 1 : line.index]
        )  # only a server's rule stands between
    if not test.has_reports and (not test.problem or (test.was_stopped and test.is_client is not None)):
        return bool(is_header) and test.is_client is not None  # the test before has no results
    if line.report:
        return test.is_done_before(line.report)
    if "[ ID]" in line.text:
        return bool(test.finals) or not (test.is_complete or test.is_ruled or _is_continued(test, line, text))
    if line.local:
        return test.has_reports
    return bool(test.finals if "iperf3: error - " in line.text else is_header)


def _is_continued(test: Iperf3TextTest, line: IperfLine, text: SourceText) -> bool:
    """Return whether what stands below a heading belongs to this test: its summary, or intervals that count on."""
    for below in text.lines[line.index + 1 : line.index + _BELOW]:
        if _SIDE.fullmatch(below):
            return True
        if report := read_report(below):
            return bool(report.start) or report.rest.rstrip().endswith(("sender", "receiver"))
    return True


def _is_bent(line: str) -> bool:
    if "Starting Test: protocol:" in line:
        return not _SETTINGS.search(line)
    return "CPU Utilization: local/" in line and not _CPU.search(line)


def _read_line(test: Iperf3TextTest, line: IperfLine) -> bool:
    """Read a line that says something of the test; return whether it does."""
    if line.report:
        test.add(line.report)
        test.add_line(line.index)
        return True
    if "Reverse mode, remote host" in line.text:  # printed by clients only
        test.is_reverse = test.is_client = True
    if line.local:
        test.add_connection(line.local)
    elif "[ ID]" in line.text:
        test.read_heading(line.text, is_summary=test.is_ruled or test.is_complete)
    elif (match := _SIDE.fullmatch(line.text)) and test.has_reports:
        test.is_summary, test.side = True, _SIDES[match[1].lower()]
    elif ("iperf Done" in line.text and line.index > test.last + _FAR) or not _read_words(test, line.text):
        return False
    test.add_line(line.index)
    return True


def _read_words(test: Iperf3TextTest, line: str) -> bool:
    if match := _CLIENT.search(line):
        test.is_client, test.target = True, match[1]
    elif match := _ACCEPTED.search(line):
        test.is_client, test.target = False, match[1]
    elif match := _SETTINGS.search(line):
        _read_settings(test, match)
    elif match := _CPU.search(line):
        test.set_cpu(match[1], match[2], match[3])
    elif match := _TIME.search(line):
        test.set_time(*match.groups())
    elif match := _ERROR.search(line):
        is_idle = match[1].startswith(_STOPPED_SERVER) and test.is_client is None and not test.has_reports
        test.problem = (
            "" if test.finals or is_idle else match[1]
        )  # a server that is stopped prints it behind the last test
    elif "Test Complete. Summary Results" in line:
        test.is_complete = True
    else:
        return "Reverse mode, remote host" in line or "iperf Done" in line or "received out-of-order" in line
    return True


def _read_settings(test: Iperf3TextTest, match: re.Match[str]) -> None:
    test.settings["protocol"] = match[1].lower()
    for place, name in ((2, "numjobs"), (4, "ramp_time"), (5, "runtime")):
        if match[place] and (value := read_whole(match[place], INT4)):
            test.settings[name] = value
    if block_size := read_whole(match[3]):
        test.block_size = test.settings["block_size"] = block_size
