"""Report lines that iperf 2 and iperf 3 share, and how the two tools are distinguished.

    [  3]  0.0-10.0 sec  45.2 MBytes  12.6 Mbits/sec                    iperf 2 (1 decimal; 4 since 2.1)
    [  5]   0.00-10.00  sec  53.9 MBytes  45.2 Mbits/sec    0   sender  iperf 3 (2 decimals, padded)

Units are the same in all versions of both (iperf 2 stdio.c `kConversion`, `kConversionForBits`; iperf 3 units.c):
`Bytes` are 1024-based, `bits` 1000-based. The `MBytes/sec` of `-f M` is 1024-based, too.

Wikis that read brackets as links remove the id before the lines:

    [  ] local 10.0.0.1 port 48990 connected with 10.0.0.2 port 5001
     0.0-10.0 sec  1.10 GBytes   941 Mbits/sec

Streams that ran at the same time can not be distinguished then, so the lines get an id only where nothing suggests a
second stream (`add_ids`).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from apps.parsers.core.models import Broken, ParsedSample, ParsedSeries
from apps.parsers.core.numbers import read_non_negative
from apps.parsers.core.source_text import SourceText
from apps.parsers.iperf.commands import find_command

_LOST = r"^[ \t]{0,16}(?:\[[ \t]{0,6}\])?[ \t]{0,16}"
_BARE_REPORT = re.compile(
    _LOST + r"(?P<rest>(?P<start>\d{1,9}\.\d{1,6})- ?\d{1,9}\.\d{1,6} {1,6}sec {1,6}"
    r"\d[\d.]{0,20} [KMGTP]?Bytes {1,6}\d[\d.]{0,20} [KMGTP]?(?:bits|Bytes)/sec(?P<behind>.{0,200}))"
)
_BARE_LOCAL = re.compile(_LOST + r"(?P<rest>local \S{1,100} port \d{1,5} connected (?:with|to) )")
_BARE_MESSAGE = re.compile(_LOST + r"(?P<rest>(?:Sent \d{1,18} datagrams|Server Report:))")
_BARE_HEADING = re.compile(
    r"^[ \t]{0,16}(?:\[[ \t]{0,6}(?:ID)?\])?[ \t]{0,16}(?P<rest>Interval {1,12}Transfer {1,12}B)"
)
_HAS_ID = re.compile(
    r"\[ {0,6}(?:SUM|\*?\d{1,6}|FD\d{1,6})(?:-\d{1,6})?\](?:\[[TR]X-[CS]\])? {0,8}(?:\d{1,9}\.\d{1,6}-|local )"
)
_LONGEST_BARE = 1000
_WORDS = ("/sec", "connected", "Sent ", "Server Report:", "Interval")
_SEVERAL = (("local", "local"), ("from 0.0", "from 0.0"))  # directly below each other they belong to two streams


def has_no_ids(text: str) -> bool:
    """Return whether the text has lines of iperf, and none with an id."""
    return "/sec" in text and " sec " in text and not _HAS_ID.search(text)


def add_ids(lines: Sequence[str], text: str) -> Sequence[str]:
    """Return the lines with an id before those of iperf, if none in the text has one; unchanged where that would mix up streams."""
    if not has_no_ids(text):
        return lines
    given = [_add_id(line) for line in lines]
    kinds = [kind or "words" for kind, line in given if kind or line.strip(" \t-")]
    if not any("0" in kind for kind in kinds) or any(pair in _SEVERAL for pair in pairwise(kinds)):
        return lines
    return [text_with_id for _, text_with_id in given]


def _add_id(line: str) -> tuple[str, str]:
    """Return the kind of a line, and the line with an id."""
    if len(line) > _LONGEST_BARE or not any(word in line for word in _WORDS):
        return "", line
    if match := _BARE_REPORT.match(line):
        is_whole = float(match["start"]) == 0 and not match["behind"].rstrip().endswith(("sender", "receiver"))
        return "from 0.0" if is_whole else "later than 0.0", f"[  0] {match['rest']}"
    for kind, pattern, id_ in (
        ("local", _BARE_LOCAL, "[  0]"),
        ("told", _BARE_MESSAGE, "[  0]"),
        ("heading", _BARE_HEADING, "[ ID]"),
    ):
        if match := pattern.match(line):
            return kind, f"{id_} {line[match.start('rest') :]}"
    return "", line


_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
_NUMBER = r"(\d{1,20}(?:\.\d{1,10})?)"
_REPORT = re.compile(
    r"\[ {0,6}(SUM|\*?\d{1,6}|FD\d{1,6})(?:-\d{1,6})?\](?:\[([TR]X-[CS])\])? {1,8}"
    rf"(\d{{1,9}}\.\d{{1,6}})- ?(\d{{1,9}}\.\d{{1,6}})( {{1,6}})sec {{1,6}}{_NUMBER} ([KMGTP]?Bytes|[KMGTP]?bits|\(null\)s) {{1,6}}"
    rf"{_NUMBER} ([KMGTP]?)(bits|Bytes|bi?s|By?t?s)/sec(.*)$"  # 3.0 cuts rate and unit off behind ten characters: 147641 Kbis/sec
)
_LOCAL = re.compile(
    r"\[ {0,6}(\*?\d{1,6})\] local (\S{1,100}) port (\d{1,5}) connected (with|to) (\S{1,100}) port (\d{1,5})(.*)$"
)
_NEEDLE = re.compile(r"\](?:\[[TR]X-[CS]\])? {1,8}\d{1,9}\.\d{1,6}- ?\d{1,9}\.\d{1,6} {1,6}sec {1,6}\d")
_OF_2 = re.compile(r"Client connecting to |Server listening on (?:TCP|UDP)|iperf version 2")
_OF_3 = re.compile(
    r"Starting Test: protocol: |Test Complete\. Summary Results|CPU Utilization: local/|Connecting to host "
    r"|Server listening on \d|Accepted connection from |iperf3|(?:^\s{0,16}| 20\d\d )iperf 3\.|iperf Done"
)
_HAS_SIDE = re.compile(r"/sec[^\n]{0,80} (?:sender|receiver)[ \t]*$", re.MULTILINE)  # only iperf 3 names them
_HEADING_OF_3 = re.compile(r"\] Interval {1,16}Transfer {1,12}B\w{4,8} {1,12}(?:Retr|Total Datagrams)")
_LIKE_REPORT = re.compile(
    r"\[([^\]]{1,12})\](?:\[[^\]]{4}\])? {0,8}[\w.]{1,16}- ?[\w.]{1,16} {0,6}sec {0,6}[\w.]{1,24} [KMGTP]?Bytes"
    r" {0,6}[\w.]{1,24} [KMGTP]?(?:bits|Bytes)/sec"
)
_CUT_REPORT = re.compile(r"\[([^\]]{1,12})\](?:\[[^\]]{4}\])? {0,8}[\d.]{1,16}-[\d. secBytbiKMGTP/]{0,60}$")
_MARKS = tuple(  # parts of a report line; most of them together make a report with a letter too many, or without its id
    re.compile(mark)
    for mark in (
        r"\[[^\]]{1,12}\]", r"\d{1,9}\.\d{1,6}- ?\d{1,9}\.\d{1,6}", r" sec ", r" [KMGTP]?Bytes", r" [KMGTP]?(?:bits|Bytes)/sec"
    )
)  # fmt: skip
_MARKED = 120  # columns in which they are searched
_DAMAGE = re.compile(  # 895K/45(13) is valid
    r"[A-Za-z][\d.]{0,20}\d|\d\.?(?:[A-JLN-Zabcdf-z]|e(?![+-]))|(?<![^\s/])[A-Za-z](?=[\s/]|$)|\[|(?:sender|receiver|omitted\))\S"
)
_LIKE_LOSSES = re.compile(r"^ {1,8}\d{1,12}\.\d{3} \S{1,3} {1,6}-?\d|%")  # behind a rate of UDP
_END = re.compile(  # the end of a report line that a mail wrapped: losses, retransmits, the side
    r"[ \t]{0,40}(?:"
    r"(?:\d{1,18}/[ \t]{0,10}\d{1,18}[ \t]{1,10})?\([^()\s]{1,12}%\)(?:[ \t]{1,40}(?:sender|receiver))?"
    r"|(?:\d{1,9}[ \t]{1,40})?(?:sender|receiver)"
    r")[ \t]{0,40}"
)
_RATE = re.compile(r"[ \t]{0,40}(?:\d[\d.]{0,11} )?[KMGTP]?(?:bits|Bytes)/sec")  # wrapped before it, or before its unit
_SHORT = 80  # most characters of the wrapped end
_REMARK = re.compile(r"[ \t]{1,8}(?:\u2190|<-)")  # an arrow and a remark behind a line
_END_MARKS = re.compile(r"[ \t]{0,40}[|`]{1,8}[ \t]{0,40}$")  # the right border of a box
LONGEST = 4096
NO_UNIT = "its unit is not printed: iperf 3.0 has none above GBytes"
SENDERS = "iperf3 prints only what was sent here; this is the sum of the intervals, which are what arrived"
NO_ARRIVAL = "iperf3 prints only what was sent here, and no interval says what arrived"
NO_TOTAL = "0 bytes in all, where the intervals have some"  # printed by servers of iperf 3.0 and 3.1 after UDP tests
_MOST_BROKEN = 1000

Tool = Literal[0, 2, 3]


@dataclass(frozen=True, slots=True)
class IperfReport:
    """A report line; times in seconds since the test began."""

    index: int
    id: str
    role: str  # iperf 3's TX-C, RX-S… of --bidir
    start: float
    end: float
    moved: float  # bytes
    rate: float  # bytes per second
    printed_moved: str
    printed_rate: str
    rest: str
    decimals: int = 0  # printed decimals of its times
    has_amount: bool = True  # `moved` is 0 where the unit of the bytes is not printed


@dataclass(frozen=True, slots=True)
class ConnectionLine:
    """A line that tells which hosts and ports a stream connects."""

    id: str
    host: str
    port: int
    peer: str
    peer_port: int
    extra: str


@dataclass(frozen=True, slots=True)
class IperfLine:
    """A line that belongs to the tool, with its report or connection."""

    index: int
    text: str
    report: IperfReport | None
    local: ConnectionLine | None


def has_reports(text: SourceText, tool: Tool) -> bool:
    """Return whether the text has report lines of this tool."""
    body = text.text.replace("\xa0", " ")
    return bool(_NEEDLE.search(body) or has_no_ids(body)) and any(line.report for line in iterate_lines(text, tool))


def _replace_no_break_spaces(line: str) -> str:
    """Replace no-break spaces, which mails use for blanks; not in HTML, which repeats the text of a mail."""
    return line.replace("\xa0", " ") if "\xa0" in line and "<" not in line and "&" not in line else line


def iterate_lines(text: SourceText, tool: Tool) -> Iterator[IperfLine]:
    """Yield the lines that belong to this tool: all behind a line that is typical for it, up to one of the other tool."""
    now: Tool = 0
    lines = add_ids(text.lines, text.text)
    default: Tool = 3 if _HAS_SIDE.search(text.text) and not _OF_2.search(text.text) else 2
    for index, line in enumerate(lines):
        if not line or len(line) > LONGEST:
            continue
        line = _restore_line(lines, index)
        report, local = (_read_report(index, line), _read_connection(line)) if "[" in line else (None, None)
        now = _find_tool(line, report, local) or now or (default if report else 0)
        if now == tool:
            yield IperfLine(index, line, report[0] if report else None, local[0] if local else None)


def _restore_line(lines: Sequence[str], index: int) -> str:
    """Return the line as the tool printed it: joined with its end where a mail wrapped it, and without a remark behind it."""
    line, following = _replace_no_break_spaces(lines[index]), _get_following(lines, index)
    if "Bytes" in line and "/sec" not in line and _RATE.match(following) and len(following) <= _SHORT:
        line, following = f"{line.rstrip()} {following.strip()}", _get_following(lines, index + 1)
    if "/sec" in line:
        line = _END_MARKS.sub("", _REMARK.split(line, maxsplit=1)[0].replace("**", ""))
        return (
            f"{line.rstrip()} {following.strip()}" if len(following) <= _SHORT and _END.fullmatch(following) else line
        )
    return _unwrap_connection(line, following) if "] local " in line and not _LOCAL.search(line) else line


def _get_following(lines: Sequence[str], index: int) -> str:
    return _replace_no_break_spaces(lines[index + 1]) if index + 1 < len(lines) else ""


def _unwrap_connection(line: str, following: str) -> str:
    """Return a connection's line with its rest, which a mail put on the next line."""
    whole = f"{line.rstrip()} {following.strip()}" if len(following) <= LONGEST else line
    return whole if _LOCAL.search(whole) else line


def _find_tool(line: str, report: tuple[IperfReport, Tool] | None, local: tuple[ConnectionLine, Tool] | None) -> Tool:
    if report or local:
        return (report or local or (None, 0))[1]
    if any(
        word in line for word in ("iperf", "onnect", "Server listening", "Starting Test", "Test Complete", "CPU Util")
    ):
        return 2 if _OF_2.search(line) else 3 if _OF_3.search(line) else 2 if find_command(line) else 0
    is_of_3 = "Bitrate" in line or "Reverse mode, remote host" in line
    return 3 if is_of_3 or ("] Interval" in line and _HEADING_OF_3.search(line)) else 0


def read_report(line: str) -> IperfReport | None:
    """Return the report in a line, None where there is none."""
    result = _read_report(0, _replace_no_break_spaces(line)) if len(line) <= LONGEST else None
    return result[0] if result else None


def find_bent(line: IperfLine) -> str | None:
    """Return the id in a report line of which a part can not be read; None for a valid one, and for any other line."""
    if line.report:
        rest = line.report.rest
        is_bent = rest and (_DAMAGE.search(rest) or (_LIKE_LOSSES.search(rest) and read_datagrams(rest) is None))
        return line.report.id if is_bent else None
    match = _LIKE_REPORT.search(line.text) if "/sec" in line.text else _CUT_REPORT.match(line.text)
    return match[1].strip() if match else None


def find_near_report(line: IperfLine) -> str | None:
    """Return the id in a line that is almost a report, "" where it has none, None for any other line.

    A value that is no number (`nan`) is not damage, and lines with no-break spaces are skipped, as HTML repeats the
    text of a mail.
    """
    text = line.text
    if line.report or ("Bytes" not in text and "/sec" not in text) or "nan" in text or "inf" in text or "\xa0" in text:
        return None
    matches = [mark.search(text, 0, _MARKED) for mark in _MARKS]
    if matches.count(None) > 1:
        return None
    return matches[0][0].strip("[ ]") if matches[0] else ""


def make_broken(text: SourceText, indices: Sequence[int]) -> list[Broken]:
    """Return the `Broken` for lines that can not be read, up to a thousand."""
    return [
        Broken("a line of iperf's whose figures cannot be read", text.number(index), text.lines[index].strip()[:100])
        for index in indices[:_MOST_BROKEN]
    ]


def _read_report(index: int, line: str) -> tuple[IperfReport, Tool] | None:
    if "/sec" not in line or (match := _REPORT.search(line)) is None:
        return None
    name, role, start, end, gap, moved, moved_unit, rate, rate_unit, unit, rest = match.groups()
    values = [read_non_negative(word) for word in (start, end, moved, rate)]
    if None in values or "/sec" in rest:  # the next line stands behind it
        return None
    begin, until, amount, speed = (value or 0.0 for value in values)
    is_in_bytes, has_amount = unit.startswith("B"), moved_unit.endswith("Bytes")
    per_second = speed * 1024.0 ** _POWERS[rate_unit] if is_in_bytes else speed * 1000.0 ** _POWERS[rate_unit] / 8
    decimals = len(start.partition(".")[2])
    in_bytes = amount * 1024.0 ** _POWERS[moved_unit.removesuffix("Bytes")] if has_amount else 0.0
    report = IperfReport(
        index, name, role or "", begin, until, in_bytes, round(per_second, 6),
        f"{moved} {moved_unit}", f"{rate} {rate_unit}{unit}/sec", rest, decimals, has_amount,
    )  # fmt: skip
    if role or rest.rstrip().endswith(("sender", "receiver", "(omitted)")) or (decimals == 2 and len(gap) > 1):
        return report, 3
    return report, 0 if decimals == 2 else 2


def _read_connection(line: str) -> tuple[ConnectionLine, Tool] | None:
    if "connected" not in line or (match := _LOCAL.search(line)) is None:
        return None
    name, host, port, word, peer, peer_port, extra = match.groups()
    local = ConnectionLine(name, host.partition("%")[0], int(port), peer.partition("%")[0], int(peer_port), extra)
    return local, 2 if word == "with" else 3


@dataclass(frozen=True, slots=True)
class SamplePosition:
    """Where in a run a figure belongs."""

    section: int = 0
    threads: int | None = None
    block_size: int | None = None

    def make_sample(
        self, operation: str, metric: str, value: float | None, printed: str, line: int | None, *,
        reason: str = "", cpu: float | None = None, note: str = "", quality: str = "exact",
    ) -> ParsedSample:  # fmt: skip
        """Make a sample at this position."""
        return ParsedSample(
            operation, metric, value, section=self.section, threads=self.threads, block_size=self.block_size,
            printed=printed[:80], line=line, missing_reason=reason, cpu=cpu, note=note, quality=quality,
        )  # fmt: skip


def make_series(operation: str, section: int, reports: Sequence[IperfReport]) -> list[ParsedSeries]:
    """Return the bandwidth of these intervals as a series; [] where there are none."""
    if not reports:
        return []
    times, values = tuple(report.end for report in reports), tuple(report.rate for report in reports)
    return [ParsedSeries(operation, "bandwidth", section, "report", times, values)]


_DATAGRAMS = re.compile(
    r"^ {1,8}(?:([\d.]{1,20}) ms {1,6})?(-?\d{1,18}|Unknown)/ {0,10}(-?\d{1,18})(?: (\([^)]{0,20}%\))|(?=\s))"
)
_MOST_DATAGRAMS_LOST = "more datagrams lost than sent"
_FEWER = "a number of lost datagrams below zero"
_UNKNOWN_LOSS = "the receiver does not know how many datagrams were lost while it left the first seconds out"


def read_datagrams(rest: str) -> tuple[float | None, str, float | None, str] | None:
    """Return (jitter in ns, its text, lost as a fraction, its text) behind a report line of UDP; None where there are none."""
    match = _DATAGRAMS.match(rest)
    if match is None or (match[4] is None and match[2] != "Unknown"):
        return None
    total = int(match[3])
    jitter = read_non_negative(match[1]) if match[1] and total else None  # without datagrams there is no jitter
    lost = int(match[2]) if match[2] != "Unknown" else None
    share = lost / total if lost is not None and total > 0 and 0 <= lost <= total else None
    printed = f"{match[2]}/{total} {match[4] or ''}".rstrip()
    return (None if jitter is None else round(jitter * 1e6, 3)), f"{match[1]} ms", share, printed


def explain_loss(lost: float | None, total: float | None) -> str:
    """Return why a number of lost datagrams is none of a total; "" where it can be, and where no datagram was counted."""
    if not total or total < 0:
        return ""
    if lost is None:
        return _UNKNOWN_LOSS
    return _FEWER if lost < 0 else _MOST_DATAGRAMS_LOST if lost > total else ""


def explain_missing_loss(printed: str) -> str:
    """Return why the loss printed as `12/10 (120%)` is none; "" where no datagram was counted."""
    lost, _, total = printed.partition(" ")[0].partition("/")
    return explain_loss(None if lost == "Unknown" else int(lost), int(total))
