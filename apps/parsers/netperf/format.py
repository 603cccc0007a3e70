"""Parser of netperf's output, 2.1 to 2.7: the classic tables, omni's (`-O`, `-o`, `-k`), JSON arrays of them.

    MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to lag.hpl.hp.com (15.4.89.214) port 0 AF_INET
    Recv   Send    Send
    Socket Socket  Message  Elapsed
    Size   Size    Size     Time     Throughput
    bytes  bytes   bytes    secs.    10^6bits/sec

     32768  16384  16384    10.00      80.42

One run per banner (`… TEST from … to …`) or per block of `KEY=VALUE`. Streams are `net_send` (MAERTS: `net_receive`;
UDP_STREAM: both, and what got lost between them), requests `net_request` with `rate`. Interim results are a series,
whose `ending at` (UTC seconds) gives the start. A banner without figures is broken.

The classic tables have a title over columns, then one or two rows of numbers:

    Streams:  receive socket, send socket, message, seconds, throughput [CPU local, remote, service demand local, remote]
    UDP:      socket, message, seconds, sent, errors, throughput [CPU, demand] / socket, seconds, received, throughput […]
    -v 0:     the throughput, and nothing else; with -c or -C a service demand, which is not read (`6.582 S`)
    Requests: send socket, receive socket, request, response, seconds, rate [CPU …] / the remote's sockets

Units (netlib.c `format_units`, `format_number`): `10^6bits` is decimal, `MBytes` 1024²; `Trans` is per second; omni's
latencies are µs. -1 means not measured. The CPU columns are % of all CPUs of a host, so they become a note and not
`cpu`. Layouts: nettest_bsd.c, nettest_sctp.c (`tput_title`, `cpu_title`), nettest_omni.c (`print_omni_*`).

Peculiarities:

- omni's THROUGHPUT of a test that sends datagrams is what arrived (nettest_omni.c, `send_omni_inner`: "we want what was
  actually received"): `net_receive`. What was sent is LOCAL_SEND_THROUGHPUT, and what interim results count.
- `-v 0` prints only the throughput; its unit is that of -f. With -c or -C it prints a service demand instead, which is
  not read.
- A mail wraps banner and CSV header; of a CSV with more values than names those with a name are read, with a warning.
- `!!! WARNING` stands between banner and table when the confidence was not reached: a warning.
- PerfKitBenchmarker stores the lines (or whole outputs) as JSON strings, also a list of them on a line: the quotes are
  removed.
- A peer of `(null)` is none; -H names it, also where there is no banner.
- With omni's selectors THROUGHPUT (latencies, TRANSACTION_RATE) or its unit may be left out: then the rate is missing.
- A table whose banner was left out, or has no hosts, belongs to the test that the command above it or the rest of the
  banner names; titles of requests and datagrams are specific.
- Rows behind words (`no debug: 87380 16384 16384 30.00 41624.72`) below one title are runs with these words as
  captions.
- A burst (-b N) has one request more than N in flight: `iodepth`. -v 2 prints the mean round trip below the table.
- Rows of a loop without titles may have the words of -B behind them, which are the run's caption.
- Without banner (-P 0) `KEY=VALUE` and the names over CSV suffice where they state the direction or a transaction rate,
  or the command line directly above: by the names of -o for CSV, by test, -f, -c and -C for a row of a classic table.
  Without -f, requests are transactions and all else is 10^6bits (netsh.c). Other bare numbers are read as runs of their
  own only below a row like them.
"""

import re
from collections.abc import Iterator
from itertools import chain, pairwise, starmap

from apps.parsers.core.models import Broken, ParsedFile, ParsedRun, ParseError
from apps.parsers.core.numbers import read_non_negative, read_number
from apps.parsers.core.source_text import SourceText
from apps.parsers.netperf import command as netperf_command
from apps.parsers.netperf import omni
from apps.parsers.netperf.report import NO_WAY, UNIT, NetperfTest, parse_rate

_TITLE_UNIT = re.compile(rf"{UNIT} {{0,3}}/s(?:ec)?\b")  # 2.4 pads the unit to eight characters
_TPUT_UNIT = re.compile(rf"Time {{1,8}}{UNIT}")
_THROUGHPUT_ALONE = re.compile(r"\s{0,8}(\d{1,12}\.\d\d)\s{0,8}")
_NUMBERS = re.compile(r"^\s*-?\d[\d.\s-]{0,300}$")
_NAMED = re.compile(r"^\s{0,40}(?P<name>[^\W\d][^:\n]{0,60}:)(?P<row>(?:[ \t]{1,40}\d[\d.]{0,20}){5,9})\s{0,40}$")
_MOST_TITLE = 12  # lines

TableRow = tuple[int, list[str]]


def read_tables(test: NetperfTest) -> bool:
    """Read the figures of a classic table; return whether there were any."""
    title, rows = _split_table(test)
    if not rows:
        return _read_throughput_alone(test)
    if "Messages" in title and "Okay" in title:
        return _read_datagrams(test, title, rows)
    if "Request" in title and "Resp." in title:
        return _read_requests(test, title, rows[0])
    if test.kind.upper().startswith("UDP"):
        return False  # its title is incomplete, and its columns are not those of a TCP stream
    return _read_stream(test, title, rows[0])


def _read_throughput_alone(test: NetperfTest) -> bool:
    """Read a throughput by itself (-v 0), whose unit is in the command line only. Service demands have a letter behind them."""
    below = next(
        (
            numbered_line
            for numbered_line in test.lines[1:]
            if numbered_line[1].strip() and "Interim" not in numbered_line[1]
        ),
        (0, ""),
    )
    if not test.operation or not (match := _THROUGHPUT_ALONE.fullmatch(below[1])):
        return False
    metric = "rate" if test.operation == "net_request" else "bandwidth"
    unit = netperf_command.read_unit(test.command, is_request=metric == "rate") if test.command else ""
    if unit:
        _add_sample(test, test.operation, metric if unit == "Trans" else "bandwidth", match[1], unit, below[0])
    else:
        test.add(test.operation, metric, None, match[1], below[0], reason="its unit is not printed")
    return True


def split_stream_rows(test: NetperfTest) -> Iterator[NetperfTest]:
    """Yield a test for each row of a stream directly below the first one, as scripts add them with -P 0."""
    rows = [place for place, (_, text) in enumerate(test.lines) if place and _NUMBERS.match(text)]
    if not rows or not test.operation:
        return
    title, width = test.lines[: rows[0]], len(test.lines[rows[0]][1].split())
    for before, place in pairwise(rows):
        if place != before + 1 or len(test.lines[place][1].split()) != width:
            return
        other = NetperfTest(test.kind, test.command, [*title, test.lines[place]], host=test.host, target=test.target)
        if not read_tables(other):
            return
        other.lines = [test.lines[place]]
        yield other


def split_named_rows(test: NetperfTest) -> Iterator[NetperfTest]:
    """Yield a test for each row behind words: results that somebody put below one title to compare them."""
    matches = [(place, match) for place, (_, text) in enumerate(test.lines) if (match := _NAMED.match(text))]
    for place, match in matches:
        line = test.lines[place][0]
        other = NetperfTest(
            test.kind, test.command, [*test.lines[: matches[0][0]][-_MOST_TITLE:], (line, match["row"])],
            host=test.host, target=test.target, has_banner=test.has_banner, caption=match["name"].strip(" :\t"),
        )  # fmt: skip
        if read_tables(other):
            other.lines = [test.lines[place]]
            yield other


def _split_table(test: NetperfTest) -> tuple[str, list[TableRow]]:
    """Return the words of the title, and the rows of numbers directly below it."""
    words: list[str] = []
    rows: list[TableRow] = []
    for line, text in test.lines[1:]:
        if _NUMBERS.match(text) and words:
            values = text.split()
            if all(read_number(value) is not None for value in values):
                rows.append((line, values))
        elif rows and text.strip():
            break
        elif not text.lstrip().startswith(("!!!", "Interim")):
            words.append(text)
    return "\n".join(words[-12:]), rows[:2]


def _find_unit(title: str) -> str:
    match = _TITLE_UNIT.search(title)
    return match[1] if match else ""


def _read_stream(test: NetperfTest, title: str, row: TableRow) -> bool:
    line, values = row
    unit = _find_unit(title)
    if len(values) < 5 or not unit:
        return False
    if not test.operation:
        test.broken = Broken(NO_WAY, line, " ".join(values)[:100], "a banner, or the command with -t")
        return False
    test.read_size("receive_buffer", values[0])
    test.read_size("send_buffer", values[1])
    test.block_size = test.read_size("block_size", values[2])
    test.set_cpu(values[5:7])
    _add_sample(test, test.operation, "bandwidth", values[4], unit, line)
    return True


def _read_datagrams(test: NetperfTest, title: str, rows: list[TableRow]) -> bool:
    line, values = rows[0]
    unit = _find_unit(title)
    if len(values) < 6 or not unit:
        return False
    test.read_size("send_buffer", values[0])
    test.block_size = test.read_size("block_size", values[1])
    test.set_cpu(values[6:7])
    _add_sample(test, "net_send", "bandwidth", values[5], unit, line)
    if len(rows) < 2 or len(rows[1][1]) < 4:
        test.add("net_receive", "bandwidth", None, "", line, reason="the receiver's row is missing")
        return True
    line, got = rows[1]
    test.read_size("receive_buffer", got[0])
    test.set_cpu(got[4:5])
    _add_sample(test, "net_receive", "bandwidth", got[3], unit, line)
    sent, received = read_non_negative(values[3]), read_non_negative(got[2])
    if sent and received is not None and received <= sent:
        test.add("net_receive", "lost", 1 - received / sent, f"{got[2]} of {values[3]} messages", line)
    return True


def _read_requests(test: NetperfTest, title: str, row: TableRow) -> bool:
    line, values = row
    if len(values) < 6:
        return False
    for name, word in zip(("send_buffer", "receive_buffer", "request_size", "response_size"), values, strict=False):
        test.read_size(name, word)
    test.set_cpu(values[6:8])
    tput = _TPUT_UNIT.search(title)
    unit = tput[1] if tput else _find_unit(title)
    if "Latency" in title and "per tran" in title:
        mean = read_non_negative(values[5])
        reason = "" if mean is not None else "not a number"
        test.add(
            "net_request",
            "latency_mean",
            None if mean is None else mean * 1e3,
            f"{values[5]} usecs",
            line,
            reason=reason,
        )
    elif unit and unit != "Trans":
        _add_sample(test, "net_request", "bandwidth", values[5], unit, line)
    else:
        _add_sample(test, "net_request", "rate", values[5], "Trans", line)
    _read_round_trip(test)
    return True


def _read_round_trip(test: NetperfTest) -> None:
    """Read what -v 2 prints below the table: the mean round trip in µs, and the rate where the table has a bandwidth."""
    heading = next((place for place, (_, text) in enumerate(test.lines) if _ROUND_TRIP.match(text)), None)
    if heading is None:
        return
    for number, text in test.lines[heading + 1 : heading + 5]:
        words = text.split()
        if len(words) < 6 or any(read_non_negative(word) is None for word in words):
            continue
        known = {sample.metric for sample in test.samples}
        if "rate" not in known:
            _add_sample(test, "net_request", "rate", words[5], "Trans", number)
        if "latency_mean" not in known and (mean := read_non_negative(words[4])) is not None:
            test.add("net_request", "latency_mean", round(mean * 1e3, 6), f"{words[4]} usec/Tran", number)
        return


def _add_sample(test: NetperfTest, operation: str, metric: str, word: str, unit: str, line: int) -> None:
    value = parse_rate(word, unit)
    test.add(operation, metric, value, f"{word} {unit}/s", line, reason="" if value is not None else "not a number")


NAME = "netperf"
TITLE = "netperf"

_LONGEST = 8000
_MOST_LINES = 50_000  # lines of one test: its banner, a line for each interim result, and its table
_BANNER = re.compile(
    r"(?:^|[\s\"])((?:MIGRATED )?(?:TCP|UDP|SCTP|OMNI|XTI TCP|XTI UDP|DLPI CO|DLPI CL|STREAM|DG|LOC_CPU|REM_CPU)"
    r"[\w /|-]{0,50}?) TEST (?:from|to) "
)
_ALONE = re.compile(  # a banner without the hosts
    r"\s{0,16}(?:MIGRATED )?((?:TCP|UDP|SCTP|XTI TCP|XTI UDP|DLPI CO|DLPI CL|STREAM|DG) [A-Z /|-]{2,40}) TEST:?\s{0,16}"
)
_PEER = re.compile(r" to {1,4}(\S{1,200})(?: \(([^)]{0,100})\))?(?: port|\s|$)")
_HOST = re.compile(r" from {1,4}(\S{1,200}) \(([^)]{0,100})\) port")
_TITLE = re.compile(  # title of a classic table
    r"^[ \t]{0,40}(?:Recv {1,8}Send {1,8}Send\b|Local ?/ ?Remote\b|Socket {1,8}Message {1,8}Elapsed\b)", re.MULTILINE
)
_INTERIM = re.compile(
    rf"Interim result: {{1,8}}([\d.]{{1,20}}) {UNIT}/s over {{1,4}}([\d.]{{1,20}}) seconds(?: ending at (\d{{1,12}}\.\d{{1,6}}))?\s*$"
)
_SHELL_WORDS = re.compile(  # what stands around commands of a loop, and between them and their output
    r"\s*(?:(?:do|done|then|fi|else|wait|esac|[})]|&)\s*[;&]?|(?:for|while|until|if)\b.{0,200}|sleep \S{1,20}|\[\d{1,3}\]\S?\s.{0,200}"
    r"|(?:>\s*)?-- .{0,200}|echo\b.{0,200}|[\w./-]{1,60} [^<>\n]{0,200}> ?[\w./-]{1,100})\s*$"
)
_BURST = re.compile(r" : first burst (\d{1,6})\b")
_ROUND_TRIP = re.compile(r"\s*Alignment {1,16}Offset {1,16}RoundTrip {1,8}Trans {1,8}Throughput")
_NO_SERVER = re.compile(
    r"establish[ _]control(?:: are you sure there is a netserver listening| could not establish the control connection).{0,200}"
)
_WORDS_OF_KEYS = ("THROUGHPUT", "_LATENCY=", "TRANSACTION_RATE=", "NETPERF_INTERIM_RESULT")
_ENDED = "the output ends before its result"
_NOBODY = ("0.0.0.0", "::", "::0", "(null)", "")  # noqa: S104 - addresses for "any", and hosts that the tool could not name
_WARNING = "Desired confidence was not achieved"


def looks_like(text: SourceText) -> float:
    """Return how sure it is that the text has a test of netperf, by its banner, keys, titles or command."""
    body = text.text
    if " TEST from " in body or " TEST to " in body:
        return 1.0 if any(" TEST " in line and _BANNER.search(line[:_LONGEST]) for line in text.lines) else 0.0
    if any(word in body for word in _WORDS_OF_KEYS) and omni.HAS_KEY.search(body):
        return 0.9
    if "establish" in body and _NO_SERVER.search(body):
        return 0.9
    if ("Throughput Units," in body or ",Throughput Units" in body or "Transaction Rate Tran/s" in body) and any(
        omni.is_header(line) for line in text.lines
    ):
        return 0.9
    if "Elapsed" in body and "bytes" in body and _TITLE.search(body):
        return 0.8
    if body.count("Throughput") > 1 and "Units" in body and any(starmap(omni.is_column_title, pairwise(text.lines))):
        return 0.9
    is_bare = "netperf " in body and (" -o" in body or " -P" in body or "-O" in body)
    return (
        0.9 if is_bare and any(test.figures or test.operation for test in _iterate_tests(_iterate_lines(text))) else 0.0
    )


def parse(text: SourceText) -> ParsedFile:
    """Parse every test in the text into a run.

    Raises:
        ParseError: if there is none.
    """
    runs: list[ParsedRun] = []
    broken = _find_unreached(text)
    warnings: list[str] = []
    for test in _iterate_tests(_iterate_lines(text)):
        result = _read_test(test, warnings)
        broken += [
            Broken("an interim result that cannot be read", number, line.strip()[:100])
            for number, line in test.lines
            if "Interim result:" in line and not _INTERIM.search(line)
        ]
        if isinstance(result, Broken) and (several := [other.make_run() for other in split_named_rows(test)]):
            runs += several
            continue
        (broken if isinstance(result, Broken) else runs).append(result)  # type: ignore[arg-type]
        if isinstance(result, ParsedRun) and result.samples[0].operation in ("net_send", "net_receive"):
            runs += [other.make_run() for other in split_stream_rows(test)]
        if isinstance(result, ParsedRun):
            runs += [other.make_run() for other in omni.split_rows(test)]
    if not runs and not broken:
        raise ParseError("nothing of netperf in the text", expected="a line with '… TEST from … to …'")
    return ParsedFile(tuple(runs), tuple(warnings), tuple(broken))


def _find_unreached(text: SourceText) -> list[Broken]:
    """Return a `Broken` for each netperf that did not reach its server, which prints two lines and no test."""
    if "establish" not in text.text:
        return []
    matches = [(index, match) for index, line in enumerate(text.lines) if (match := _NO_SERVER.search(line[:_LONGEST]))]
    first = [
        (index, match) for place, (index, match) in enumerate(matches) if not place or matches[place - 1][0] < index - 1
    ]
    return [
        Broken("netperf did not reach its server", text.number(index), match[0][:100], "a test's banner and figures")
        for index, match in first
    ]


def _iterate_lines(text: SourceText) -> Iterator[tuple[int, str]]:
    """Yield the lines with their numbers; of consecutive blank ones only the first."""
    was_blank, begun = False, ""  # `begun`: a command that goes on in the next line
    for index, line in enumerate(text.lines):
        is_blank = not line or line.isspace()
        if line.endswith("\\") and (begun or "netperf" in line) and len(begun) < _LONGEST:
            begun += line[:_LONGEST].removesuffix("\\")
            continue
        if not (is_blank and was_blank):
            cleaned = begun + line[:_LONGEST].removesuffix("\\n")  # an escaped line end of a program's string
            yield text.number(index), cleaned.expandtabs()
        was_blank, begun = is_blank, ""


def _iterate_tests(lines: Iterator[tuple[int, str]]) -> Iterator[NetperfTest]:
    test: NetperfTest | None = None
    command = typed = alone = ""
    rivals: list[str] = []  # commands that were typed together with the last one
    interim: list[tuple[int, str]] = []  # lines of -D, below a command whose figures are bare
    for (number, line), (_, below) in pairwise(chain(lines, [(0, "")])):
        key = omni.find_key(line) if "=" in line else ""
        begun, alone = _begin_test(test, command, number, line, key, alone, below), _find_alone(line, alone)
        if begun is not None:
            if test is not None:
                yield test
            test, command, typed, rivals = begun, "", "", []
        elif "netperf" in line and (last_command := netperf_command.find_command(line.rstrip())):
            if test is not None:
                yield test
            rivals = [typed, *rivals] if typed and test is None else []
            test, command, typed, interim = None, last_command, last_command, []
        elif typed and test is None and _INTERIM.match(line) and len(interim) < _MOST_LINES:
            interim.append((number, line))
        elif typed and line.strip() and not _SHELL_WORDS.match(line):  # below the command, or below its figures
            bare = _make_bare([typed, *rivals], number, line, below)
            if bare is not None and test is not None:
                yield test
            if bare is not None and bare.lines:
                bare.lines += interim
            interim = []
            goes_on = bare is not None or (test is not None and netperf_command.is_second_row(typed, line))
            test, command, typed = bare or test, "" if bare else command, typed if goes_on else ""
        if test is not None and len(test.lines) < _MOST_LINES:
            test.lines.append((number, test.row or line))
            test.row = ""
            test.keys |= {key} - {""}
    if test is not None:
        yield test


def _find_alone(line: str, before: str) -> str:
    """Return the test that a banner without hosts names, up to the table directly below it."""
    if " TEST" in line and (match := _ALONE.fullmatch(line[:_LONGEST])):
        return match[1]
    return "" if line.strip() else before


def _begin_test(
    test: NetperfTest | None, command: str, number: int, line: str, key: str, alone: str, below: str
) -> NetperfTest | None:
    """Return the test that begins with this line, None where none does. `alone` is the test named by the banner directly above."""
    if " TEST " in line and (match := _BANNER.search(line)):
        return NetperfTest(match[1].removeprefix("MIGRATED "), command)
    if test is not None and key in test.keys and test.keys.intersection(omni.FIGURES):
        return NetperfTest(test.kind, "")  # without banners, a repeated key begins the next test
    if test is None and (key in omni.BEGINNINGS or key.startswith("NETPERF_INTERIM_RESULT[")):
        return NetperfTest(netperf_command.read_direction(command) if command else "", command)
    if test is None and (omni.is_header(line) or omni.is_column_title(line, below)):
        kind = netperf_command.read_direction(command) if command else ""
        return NetperfTest(kind, command, [(number, "")], has_banner=False)
    is_free = test is None or not test.has_banner or alone
    return _make_untitled(command, alone, number, line) if is_free and _TITLE.match(line) else None


def _make_untitled(command: str, alone: str, number: int, title: str) -> NetperfTest:
    """Return the test of a table without banner, named by the command or the rest of the banner, if either names it."""
    kind = alone or (netperf_command.read_kind(command) if command else "")
    test = NetperfTest(kind, command, [(number, "")], has_banner=False)
    if "Recv" in title and test.operation == "net_request":
        test.kind = ""  # the command is that of another test
    return test


def _make_bare(typed: list[str], number: int, line: str, below: str) -> NetperfTest | None:
    """Return the test of bare figures, if the commands above state what they are; `below` is the next line."""
    command = _choose_command(typed, line)
    if not command:
        return None
    row, brand = netperf_command.split_brand(command, line)
    kind = netperf_command.read_direction(command) or netperf_command.read_kind(command)
    test = NetperfTest(kind, command, caption=brand)
    if cells := netperf_command.read_figures(command, line, test.operation):
        test.figures = cells
        test.kind = "OMNI" if cells.get("direction") else kind  # the row itself tells who sent
        return test
    test.has_banner, test.row = False, row if brand else ""
    if netperf_command.is_quiet(command) and read_non_negative(row.strip()) is not None:
        test.lines = [(number, "")]
        return test
    if title := netperf_command.make_title(command, row, below):
        test.lines = [(number, ""), (number, title)]
        return test
    return None


def _choose_command(typed: list[str], line: str) -> str:
    """Return the one of several commands that printed a bare row; "" where nothing tells.

    -B repeats its words behind the row, and a row with a column of directions says itself who sent.
    """
    kinds = {netperf_command.read_direction(command) or command for command in typed}
    if len(kinds) == 1 or all("direction" in command.lower() for command in typed):
        return typed[0]
    brands = {command: netperf_command.read_brand(command) for command in typed}
    branded = [command for command, brand in brands.items() if brand and line.rstrip().endswith(f" {brand}")]
    return branded[0] if len(branded) == 1 else ""


def _read_test(test: NetperfTest, warnings: list[str]) -> ParsedRun | Broken:
    head = " ".join(line.strip() for _, line in test.lines[:3])
    for pattern, attribute in ((_HOST, "host"), (_PEER, "target")):
        if test.kind and not test.figures and (match := pattern.search(head)):
            setattr(test, attribute, next((name for name in (match[1], match[2] or "") if name not in _NOBODY), ""))
    test.target = test.target or netperf_command.read_peer(test.command)
    if test.operation in ("net_request", ""):
        burst = _BURST.search(" ".join(line for _, line in test.lines[:3]))
        test.set_burst(int(burst[1]) if burst else netperf_command.read_burst(test.command))
    for number, line in test.lines:
        if _WARNING in line:
            warnings.append(f"line {number}: {_WARNING.lower()}")
        if "Interim" in line and (match := _INTERIM.search(line)):
            rate, over = parse_rate(match[1], match[2]), read_non_negative(match[3])
            if rate is not None and over:
                test.add_interim(rate, over, read_non_negative(match[4] or ""), number)
    is_read = omni.read_omni(test, warnings) or read_tables(test)
    if not is_read and test.has_interim and test.operation and test.broken is None:
        test.problem = _ENDED
        metric = "rate" if test.operation == "net_request" else "bandwidth"
        test.add(test.operation, metric, None, "", test.last, reason=_ENDED)
        return test.make_run()
    if not is_read:
        last = next((line for _, line in reversed(test.lines) if line.strip()), "")
        return test.broken or Broken(
            "the test has no figures", test.lines[0][0], last.strip()[:100], "a row of numbers"
        )
    return test.make_run()
