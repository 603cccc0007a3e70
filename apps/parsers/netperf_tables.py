"""netperf's classic tables: a title over columns, then one or two rows of numbers.

Streams:  receive socket, send socket, message, seconds, throughput [CPU local, remote, service demand local, remote]
UDP:      socket, message, seconds, sent, errors, throughput [CPU, demand] / socket, seconds, received, throughput […]
-v 0:     the throughput, and nothing else; with -c or -C a service demand, which is not read (`6.582 S`)
Requests: send socket, receive socket, request, response, seconds, rate [CPU …] / the remote's sockets
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from apps.parsers import netperf_command
from apps.parsers.finite import number, positive
from apps.parsers.netperf_test import NO_WAY, UNIT, Test, per_second
from apps.parsers.shape import Broken

_TITLE_UNIT = re.compile(rf"{UNIT} {{0,3}}/s(?:ec)?\b")  # 2.4 pads the unit to eight characters
_TPUT_UNIT = re.compile(rf"Time {{1,8}}{UNIT}")
_ALONE = re.compile(r"\s{0,8}(\d{1,12}\.\d\d)\s{0,8}")
_NUMBERS = re.compile(r"^\s*-?\d[\d.\s-]{0,300}$")
_NAMED = re.compile(r"^\s{0,40}(?P<name>[^\W\d][^:\n]{0,60}:)(?P<row>(?:[ \t]{1,40}\d[\d.]{0,20}){5,9})\s{0,40}$")
_MOST_TITLE = 12  # lines

Row = tuple[int, list[str]]


def read(test: Test) -> bool:
    """Whether there were figures."""
    title, rows = _split(test)
    if not rows:
        return _alone(test)
    if "Messages" in title and "Okay" in title:
        return _datagrams(test, title, rows)
    if "Request" in title and "Resp." in title:
        return _requests(test, title, rows[0])
    if test.kind.upper().startswith("UDP"):
        return False  # its title is not whole, and other figures stand where a stream of TCP has them
    return _stream(test, title, rows[0])


def _alone(test: Test) -> bool:
    """The throughput by itself (-v 0); its unit is in the command line only. Service demands have a letter behind."""
    below = next((one for one in test.lines[1:] if one[1].strip() and "Interim" not in one[1]), (0, ""))
    if not test.operation or not (match := _ALONE.fullmatch(below[1])):
        return False
    metric = "rate" if test.operation == "net_request" else "bandwidth"
    unit = netperf_command.unit(test.command, is_request=metric == "rate") if test.command else ""
    if unit:
        _add(test, test.operation, metric if unit == "Trans" else "bandwidth", match[1], unit, below[0])
    else:
        test.add(test.operation, metric, None, match[1], below[0], reason="its unit is not printed")
    return True


def others(test: Test) -> Iterator[Test]:
    """Of a stream, the rows directly below the first one: what a script added with -P 0, one test each."""
    rows = [place for place, (_, text) in enumerate(test.lines) if place and _NUMBERS.match(text)]
    if not rows or not test.operation:
        return
    title, width = test.lines[: rows[0]], len(test.lines[rows[0]][1].split())
    for before, place in pairwise(rows):
        if place != before + 1 or len(test.lines[place][1].split()) != width:
            return
        other = Test(test.kind, test.command, [*title, test.lines[place]], host=test.host, target=test.target)
        if not read(other):
            return
        other.lines = [test.lines[place]]
        yield other


def named(test: Test) -> Iterator[Test]:
    """Rows behind words, one test each: results that somebody put below one title to compare them."""
    found = [(place, match) for place, (_, text) in enumerate(test.lines) if (match := _NAMED.match(text))]
    for place, match in found:
        line = test.lines[place][0]
        other = Test(
            test.kind, test.command, [*test.lines[: found[0][0]][-_MOST_TITLE:], (line, match["row"])],
            host=test.host, target=test.target, has_banner=test.has_banner, caption=match["name"].strip(" :\t"),
        )  # fmt: skip
        if read(other):
            other.lines = [test.lines[place]]
            yield other


def _split(test: Test) -> tuple[str, list[Row]]:
    """The words of the title, and the rows of numbers directly under it."""
    words: list[str] = []
    rows: list[Row] = []
    for line, text in test.lines[1:]:
        if _NUMBERS.match(text) and words:
            values = text.split()
            if all(number(value) is not None for value in values):
                rows.append((line, values))
        elif rows and text.strip():
            break
        elif not text.lstrip().startswith(("!!!", "Interim")):
            words.append(text)
    return "\n".join(words[-12:]), rows[:2]


def _unit(title: str) -> str:
    match = _TITLE_UNIT.search(title)
    return match[1] if match else ""


def _stream(test: Test, title: str, row: Row) -> bool:
    line, values = row
    unit = _unit(title)
    if len(values) < 5 or not unit:
        return False
    if not test.operation:
        test.broken = Broken(NO_WAY, line, " ".join(values)[:100], "a banner, or the command with -t")
        return False
    test.size("receive_buffer", values[0])
    test.size("send_buffer", values[1])
    test.block_size = test.size("block_size", values[2])
    test.set_cpu(values[5:7])
    _add(test, test.operation, "bandwidth", values[4], unit, line)
    return True


def _datagrams(test: Test, title: str, rows: list[Row]) -> bool:
    line, values = rows[0]
    unit = _unit(title)
    if len(values) < 6 or not unit:
        return False
    test.size("send_buffer", values[0])
    test.block_size = test.size("block_size", values[1])
    test.set_cpu(values[6:7])
    _add(test, "net_send", "bandwidth", values[5], unit, line)
    if len(rows) < 2 or len(rows[1][1]) < 4:
        test.add("net_receive", "bandwidth", None, "", line, reason="the receiver's row is missing")
        return True
    line, got = rows[1]
    test.size("receive_buffer", got[0])
    test.set_cpu(got[4:5])
    _add(test, "net_receive", "bandwidth", got[3], unit, line)
    sent, received = positive(values[3]), positive(got[2])
    if sent and received is not None and received <= sent:
        test.add("net_receive", "lost", 1 - received / sent, f"{got[2]} of {values[3]} messages", line)
    return True


def _requests(test: Test, title: str, row: Row) -> bool:
    line, values = row
    if len(values) < 6:
        return False
    for name, word in zip(("send_buffer", "receive_buffer", "request_size", "response_size"), values, strict=False):
        test.size(name, word)
    test.set_cpu(values[6:8])
    tput = _TPUT_UNIT.search(title)
    unit = tput[1] if tput else _unit(title)
    if "Latency" in title and "per tran" in title:
        mean = positive(values[5])
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
        _add(test, "net_request", "bandwidth", values[5], unit, line)
    else:
        _add(test, "net_request", "rate", values[5], "Trans", line)
    return True


def _add(test: Test, operation: str, metric: str, word: str, unit: str, line: int) -> None:
    value = per_second(word, unit)
    test.add(operation, metric, value, f"{word} {unit}/s", line, reason="" if value is not None else "not a number")
