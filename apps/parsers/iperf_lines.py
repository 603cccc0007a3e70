"""The report lines that iperf 2 and iperf 3 share, and how to tell the two tools apart.

    [  3]  0.0-10.0 sec  45.2 MBytes  12.6 Mbits/sec                    iperf 2 (1 decimal; 4 since 2.1)
    [  5]   0.00-10.00  sec  53.9 MBytes  45.2 Mbits/sec    0   sender  iperf 3 (2 decimals, padded)

Units are the same in all versions of both (iperf 2 stdio.c `kConversion`, `kConversionForBits`; iperf 3 units.c):
`Bytes` are 1024-based, `bits` 1000-based. The `MBytes/sec` of `-f M` is 1024-based too.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from apps.parsers.finite import positive
from apps.parsers.iperf_commands import command
from apps.parsers.iperf_without_ids import may_lack_ids, with_ids
from apps.parsers.shape import Broken, ParsedSample, ParsedSeries
from apps.parsers.source_text import SourceText

_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
_NUMBER = r"(\d{1,20}(?:\.\d{1,10})?)"
_REPORT = re.compile(
    r"\[ {0,6}(SUM|\*?\d{1,6}|FD\d{1,6})(?:-\d{1,6})?\](?:\[([TR]X-[CS])\])? {1,8}"
    rf"(\d{{1,9}}\.\d{{1,6}})- ?(\d{{1,9}}\.\d{{1,6}})( {{1,6}})sec {{1,6}}{_NUMBER} ([KMGTP]?)Bytes {{1,6}}"
    rf"{_NUMBER} ([KMGTP]?)(bits|Bytes)/sec(.*)$"
)
_LOCAL = re.compile(
    r"\[ {0,6}(\*?\d{1,6})\] local (\S{1,100}) port (\d{1,5}) connected (with|to) (\S{1,100}) port (\d{1,5})(.*)$"
)
_NEEDLE = re.compile(r"\](?:\[[TR]X-[CS]\])? {1,8}\d{1,9}\.\d{1,6}- ?\d{1,9}\.\d{1,6} {1,6}sec {1,6}\d")
_OF_2 = re.compile(r"Client connecting to |Server listening on (?:TCP|UDP)|iperf version 2")
_OF_3 = re.compile(
    r"Connecting to host |Server listening on \d|Accepted connection from |iperf3|(?:^\s{0,16}| 20\d\d )iperf 3\.|iperf Done"
)
_LIKE_REPORT = re.compile(
    r"\[([^\]]{1,12})\](?:\[[^\]]{4}\])? {0,8}[\w.]{1,16}- ?[\w.]{1,16} {0,6}sec {0,6}[\w.]{1,24} [KMGTP]?Bytes"
    r" {0,6}[\w.]{1,24} [KMGTP]?(?:bits|Bytes)/sec"
)
_CUT_REPORT = re.compile(r"\[([^\]]{1,12})\](?:\[[^\]]{4}\])? {0,8}[\d.]{1,16}-[\d. secBytbiKMGTP/]{0,60}$")
_MARKS = tuple(  # of a report line: four of them are one, with a letter too many, or without its id
    re.compile(mark)
    for mark in (
        r"\[[^\]]{1,12}\]", r"\d{1,9}\.\d{1,6}- ?\d{1,9}\.\d{1,6}", r" sec ", r" [KMGTP]?Bytes", r" [KMGTP]?(?:bits|Bytes)/sec"
    )
)  # fmt: skip
_MARKED = 120  # the columns in which they stand
_BENT = re.compile(  # 895K/45(13) is sound
    r"[A-Za-z][\d.]{0,20}\d|\d\.?(?:[A-JLN-Zabcdf-z]|e(?![+-]))|(?<![^\s/])[A-Za-z](?=[\s/]|$)|\[|(?:sender|receiver|omitted\))\S"
)
_LIKE_LOSSES = re.compile(r"^ {1,8}\d{1,12}\.\d{3} \S{1,3} {1,6}-?\d|%")  # behind a rate of UDP
_END = re.compile(  # of a line of figures that a mail has wrapped: what was lost, retransmits, the side
    r"[ \t]{0,40}(?:"
    r"(?:\d{1,18}/[ \t]{0,10}\d{1,18}[ \t]{1,10})?\([^()\s]{1,12}%\)(?:[ \t]{1,40}(?:sender|receiver))?"
    r"|(?:\d{1,9}[ \t]{1,40})?(?:sender|receiver)"
    r")[ \t]{0,40}"
)
_RATE = re.compile(r"[ \t]{0,40}(?:\d[\d.]{0,11} )?[KMGTP]?(?:bits|Bytes)/sec")  # wrapped before it, or before its unit
_SHORT = 80  # what was wrapped
_SAID = re.compile(r"[ \t]{1,8}(?:\u2190|<-)")  # what somebody says of a line, behind it
_END_MARKS = re.compile(r"[ \t]{0,40}[|`]{1,8}[ \t]{0,40}$")  # of a box
LONGEST = 4096
NO_TOTAL = "0 bytes in all, where the intervals have some"  # servers of iperf 3.0 and 3.1 end tests of UDP so
_MOST_TOLD = 1000

Tool = Literal[0, 2, 3]


@dataclass(frozen=True, slots=True)
class Report:
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
    decimals: int = 0  # of its times


@dataclass(frozen=True, slots=True)
class Local:
    """A connection's line."""

    id: str
    host: str
    port: int
    peer: str
    peer_port: int
    extra: str


@dataclass(frozen=True, slots=True)
class Line:
    index: int
    text: str
    report: Report | None
    local: Local | None


def has_reports(text: SourceText, tool: Tool) -> bool:
    body = text.text.replace("\xa0", " ")
    return bool(_NEEDLE.search(body) or may_lack_ids(body)) and any(line.report for line in lines_of(text, tool))


def _blanks(line: str) -> str:
    """With blanks for those that do not break, which mails have in their place; not in HTML, which says again what a mail says."""
    return line.replace("\xa0", " ") if "\xa0" in line and "<" not in line and "&" not in line else line


def lines_of(text: SourceText, tool: Tool) -> Iterator[Line]:
    """The lines that belong to this tool: what stands behind a word of one of them is its own until the other's."""
    now: Tool = 0
    lines = with_ids(text.lines, text.text)
    for index, line in enumerate(lines):
        if not line or len(line) > LONGEST:
            continue
        line = _said(lines, index)
        report, local = (_report(index, line), _local(line)) if "[" in line else (None, None)
        now = _tool(line, report, local) or now or (2 if report else 0)
        if now == tool:
            yield Line(index, line, report[0] if report else None, local[0] if local else None)


def _said(lines: Sequence[str], index: int) -> str:
    """The line as the tool printed it: with its end where a mail has wrapped it, without what somebody says of it."""
    line, following = _blanks(lines[index]), _following(lines, index)
    if "Bytes" in line and "/sec" not in line and _RATE.match(following) and len(following) <= _SHORT:
        line, following = f"{line.rstrip()} {following.strip()}", _following(lines, index + 1)
    if "/sec" in line:
        line = _END_MARKS.sub("", _SAID.split(line, maxsplit=1)[0].replace("**", ""))
        return (
            f"{line.rstrip()} {following.strip()}" if len(following) <= _SHORT and _END.fullmatch(following) else line
        )
    return _unwrapped(line, following) if "] local " in line and not _LOCAL.search(line) else line


def _following(lines: Sequence[str], index: int) -> str:
    return _blanks(lines[index + 1]) if index + 1 < len(lines) else ""


def _unwrapped(line: str, following: str) -> str:
    """A connection's line with its rest, which a mail has put on the next one."""
    whole = f"{line.rstrip()} {following.strip()}" if len(following) <= LONGEST else line
    return whole if _LOCAL.search(whole) else line


def _tool(line: str, report: tuple[Report, Tool] | None, local: tuple[Local, Tool] | None) -> Tool:
    if report or local:
        return (report or local or (None, 0))[1]
    if "iperf" in line or "onnect" in line or "Server listening" in line:
        return 2 if _OF_2.search(line) else 3 if _OF_3.search(line) else 2 if command(line) else 0
    return 3 if "Bitrate" in line or "Reverse mode, remote host" in line else 0


def report_of(line: str) -> Report | None:
    found = _report(0, _blanks(line)) if len(line) <= LONGEST else None
    return found[0] if found else None


def bent(line: Line) -> str | None:
    """The id in a report line of which not all can be read; None of a sound one, and of any other line."""
    if line.report:
        rest = line.report.rest
        is_bent = rest and (_BENT.search(rest) or (_LIKE_LOSSES.search(rest) and datagrams(rest) is None))
        return line.report.id if is_bent else None
    match = _LIKE_REPORT.search(line.text) if "/sec" in line.text else _CUT_REPORT.match(line.text)
    return match[1].strip() if match else None


def nearly(line: Line) -> str | None:
    """The id in a line that is almost one of a report, empty where it has none. What is no number is not damaged, and a blank
    that does not break is left where HTML says a mail over again.
    """
    text = line.text
    if line.report or ("Bytes" not in text and "/sec" not in text) or "nan" in text or "inf" in text or "\xa0" in text:
        return None
    found = [mark.search(text, 0, _MARKED) for mark in _MARKS]
    if found.count(None) > 1:
        return None
    return found[0][0].strip("[ ]") if found[0] else ""


def broken_lines(text: SourceText, indices: Sequence[int]) -> list[Broken]:
    """What is to be told of lines that cannot be read, up to a thousand."""
    return [
        Broken("a line of iperf's whose figures cannot be read", text.number(index), text.lines[index].strip()[:100])
        for index in indices[:_MOST_TOLD]
    ]


def _report(index: int, line: str) -> tuple[Report, Tool] | None:
    if "/sec" not in line or (match := _REPORT.search(line)) is None:
        return None
    name, role, start, end, gap, moved, moved_unit, rate, rate_unit, unit, rest = match.groups()
    values = [positive(word) for word in (start, end, moved, rate)]
    if None in values or "/sec" in rest:  # the next line stands behind it
        return None
    begin, until, amount, speed = (value or 0.0 for value in values)
    per_second = speed * 1024.0 ** _POWERS[rate_unit] if unit == "Bytes" else speed * 1000.0 ** _POWERS[rate_unit] / 8
    decimals = len(start.partition(".")[2])
    report = Report(
        index, name, role or "", begin, until, amount * 1024.0 ** _POWERS[moved_unit], round(per_second, 6),
        f"{moved} {moved_unit}Bytes", f"{rate} {rate_unit}{unit}/sec", rest, decimals,
    )  # fmt: skip
    if role or rest.rstrip().endswith(("sender", "receiver", "(omitted)")) or (decimals == 2 and len(gap) > 1):
        return report, 3
    return report, 0 if decimals == 2 else 2


def _local(line: str) -> tuple[Local, Tool] | None:
    if "connected" not in line or (match := _LOCAL.search(line)) is None:
        return None
    name, host, port, word, peer, peer_port, extra = match.groups()
    local = Local(name, host.partition("%")[0], int(port), peer.partition("%")[0], int(peer_port), extra)
    return local, 2 if word == "with" else 3


@dataclass(frozen=True, slots=True)
class Point:
    """Where in a run a figure belongs."""

    section: int = 0
    threads: int | None = None
    block_size: int | None = None

    def sample(
        self, operation: str, metric: str, value: float | None, printed: str, line: int | None, *,
        reason: str = "", cpu: float | None = None, note: str = "",
    ) -> ParsedSample:  # fmt: skip
        return ParsedSample(
            operation, metric, value, section=self.section, threads=self.threads, block_size=self.block_size,
            printed=printed[:80], line=line, missing_reason=reason, cpu=cpu, note=note,
        )  # fmt: skip


def series(operation: str, section: int, reports: Sequence[Report]) -> list[ParsedSeries]:
    if not reports:
        return []
    times, values = tuple(one.end for one in reports), tuple(one.rate for one in reports)
    return [ParsedSeries(operation, "bandwidth", section, "report", times, values)]


_DATAGRAMS = re.compile(r"^ {1,8}(?:([\d.]{1,20}) ms {1,6})?(-?\d{1,18})/ {0,10}(-?\d{1,18}) (\([^)]{0,20}%\))")


def datagrams(rest: str) -> tuple[float | None, str, float | None, str] | None:
    """(jitter in ns, its text, lost as a fraction, its text) behind a report line of UDP; None where there are none."""
    match = _DATAGRAMS.match(rest)
    if match is None:
        return None
    lost, total = int(match[2]), int(match[3])
    jitter = positive(match[1]) if match[1] and total else None  # of none there is none
    share = lost / total if total > 0 and 0 <= lost <= total else None
    return (None if jitter is None else round(jitter * 1e6, 3)), f"{match[1]} ms", share, f"{lost}/{total} {match[4]}"
