"""What netperf's command line says of a result that does not: the peer, the test, and the names of bare CSV figures.

$ netperf -P 0 -t TCP_RR -H 10.0.0.2 -- -o P50_LATENCY,P99_LATENCY
78,124
"""

import re

from apps.parsers.finite import positive

_HOST = re.compile(r" -H {0,4}([^\s,]{1,200})")
_TEST = re.compile(r" -t {0,4}(\w{1,40})")
_ASKED = re.compile(r" -t\b")
_NAMES = re.compile(r" -o {0,4}([A-Za-z][\w,]{1,2000})(?: |$)")
_UNTITLED = re.compile(r" -P {0,4}0(?: |$)")
_QUIET = re.compile(r" -v {0,4}0(?: |$)")
_UNIT = re.compile(r" -f {0,4}(\S{1,40})")
_UNITS = {
    "": "10^6bits",
    "g": "10^9bits",
    "m": "10^6bits",
    "k": "10^3bits",
    "G": "GBytes",
    "M": "MBytes",
    "K": "KBytes",
}
_STREAMS, _REQUESTS = ("TCP STREAM", "TCP MAERTS", "TCP SENDFILE"), ("TCP RR", "TCP CRR", "TCP CC", "UDP RR")
_TURNED = re.compile(r"(?:^|\s)-d")
_OMNI = re.compile(r" -[oOk]")
_CPU = re.compile(r" -[cC]\b")
_PROTOCOL = re.compile(r"(?:^|\s)-T {0,4}(\w{1,12})")
_DEFAULT = "TCP_STREAM"  # netperf's, where -t is not given


def peer(command: str) -> str:
    """The host of -H; empty where that is a variable."""
    match = _HOST.search(command.partition(" -- ")[0])
    named = match[1].strip("'\"") if match else ""
    return "" if any(letter in named for letter in "$<{*") else named


def kind(command: str) -> str:
    """As the banner has it: "TCP RR"; empty where that is a variable."""
    asked = command.partition(" -- ")[0]
    match = _TEST.search(asked)
    word = match[1] if match else "" if _ASKED.search(asked) else _DEFAULT
    return word.upper().replace("_", " ")


def protocol(command: str) -> str:
    """Of omni's -T, in small letters; empty where it is not shown."""
    match = _PROTOCOL.search(command.partition(" -- ")[2])
    return match[1].lower() if match else ""


def direction(command: str) -> str:
    """`kind`, where that alone says who sends: empty where an option of omni's turns the test round."""
    return "" if _TURNED.search(command.partition(" -- ")[2]) else kind(command)


def figures(command: str, line: str) -> dict[str, str]:
    """The cells of a line by the names that -o asked for, in small letters; empty where they are not as many, or no figures."""
    match = _NAMES.search(f" {command.partition(' -- ')[2]}")
    names = match[1].lower().split(",") if match else []
    cells = [cell.strip() for cell in line.split(",")]
    if not names or len(cells) != len(names) or not any(positive(cell) is not None for cell in cells):
        return {}
    return dict(zip(names, cells, strict=True))


def title(command: str, line: str, below: str) -> str:
    """What would stand over the columns of this row, had -P 0 not left it out (nettest_bsd.c); empty where it is no such row,
    or the receiver's is not below a sender's of datagrams.
    """
    asked, _, own = f"{command} ".partition(" -- ")
    words, test = line.split(), kind(command)
    if not _UNTITLED.search(asked) or _OMNI.search(f" {own}") or any(positive(word) is None for word in words):
        return ""
    width, of_cpu = (6, 2 if test == "UDP STREAM" else 4) if test in (*_REQUESTS, "UDP STREAM") else (5, 4)
    if len(words) != width + (of_cpu if _CPU.search(asked) else 0):
        return ""
    shown = unit(command, is_request=test in _REQUESTS)
    if shown == "Trans":
        return "Socket Request Resp. Elapsed Trans. Rate"
    if not shown:
        return ""
    if test in _REQUESTS:
        return f"Socket Request Resp. Elapsed Time {shown}/sec"
    if test == "UDP STREAM":
        if not is_second_row(command, below):
            return ""
        return f"Socket Message Elapsed Messages Okay Errors Throughput {shown}/sec"
    return f"Recv Send Send Elapsed Time Throughput {shown}/sec" if test in _STREAMS else ""


def unit(command: str, *, is_request: bool) -> str:
    """Of the throughput, by -f; empty where that is no letter that netperf knows."""
    match = _UNIT.search(command.partition(" -- ")[0])
    letter = match[1] if match else ""
    if is_request and letter in ("", "x"):
        return "Trans"
    return _UNITS.get("" if letter == "x" else letter, "")  # netsh.c: no transactions in a stream


def is_quiet(command: str) -> bool:
    """Whether a throughput is all that netperf prints."""
    asked = f"{command.partition(' -- ')[0]} "
    return bool(_UNTITLED.search(asked) and _QUIET.search(asked)) and not _CPU.search(asked)


def is_second_row(command: str, line: str) -> bool:
    """The row of the other side below one of UDP_STREAM or of requests, which has fewer figures."""
    words, test = line.split(), kind(command)
    most = {"UDP STREAM": 6}.get(test, 2 if test in _REQUESTS else 0)
    return 0 < len(words) <= most and all(positive(word) is not None for word in words)
