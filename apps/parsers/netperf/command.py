"""netperf's command line, which states what a bare result does not: the peer, the test, and the names of CSV figures.

$ netperf -P 0 -t TCP_RR -H 10.0.0.2 -- -o P50_LATENCY,P99_LATENCY
78,124
"""

import re
from collections.abc import Sequence

from apps.parsers.core.numbers import read_non_negative

_HOST = re.compile(r" -H {0,4}([^\s,]{1,200})")
_TEST = re.compile(r" -t {0,4}(\w{1,40})")
_ASKED = re.compile(r" -t\b")
_NAMES = re.compile(r" -o {0,4}[\"']?([A-Za-z][\w,]{1,2000})[\"']?(?: |$)")
_UNNAMED = re.compile(r" -o(?: {1,4}-|\s*$)")
_TPUT = ("elapsed_time", "throughput", "throughput_units")
_OF_CPU = ("percent_user", "percent_system", "percent_iowait", "percent_irq", "percent_swintr", "method")
_DEFAULT_NAMES = {  # nettest_omni.c, set_output_list_by_test
    "net_request": (
        "lss_size_end",
        "lsr_size_end",
        "rsr_size_end",
        "rss_size_end",
        "request_size",
        "response_size",
        *_TPUT,
    ),
    "net_send": ("lss_size_end", "rsr_size_end", "local_send_size", *_TPUT),
    "net_receive": ("rss_size_end", "lsr_size_end", "remote_send_size", *_TPUT),
}
_CPU_NAMES = (
    "local_cpu_util", *(f"local_cpu_{name}" for name in _OF_CPU),
    "remote_cpu_util", *(f"remote_cpu_{name}" for name in _OF_CPU), "local_sd", "remote_sd", "sd_units",
)  # fmt: skip
_DIRECTIONS = {
    "xmit": "OMNI SEND", "send": "OMNI SEND", "stream": "OMNI SEND", "transmit": "OMNI SEND",
    "recv": "OMNI RECEIVE", "receive": "OMNI RECEIVE", "maerts": "OMNI RECEIVE", "rr": "OMNI RR",
}  # fmt: skip
_DIRECTION = re.compile(r" -d {0,4}[\"']?([A-Za-z|]{1,20})[\"']?(?: |$)")
_BURST = re.compile(r" -b {0,4}(\d{1,6})(?: |$)")
_BRAND = re.compile(r" -B {0,4}(?:\"([^\"]{0,200})\"|'([^']{0,200})'|([^\s\"']{1,200}))")
_WORD = r"(?:\"[^\"]{0,300}\"|'[^']{0,300}'|[^\s;|&\"'<>`]{1,300})"
_COMMAND = re.compile(
    rf"(?:^|[$#>%/] ?|\s)(netperf(?:\s{{1,8}}-{_WORD}(?:\s{{1,8}}{_WORD}){{0,60}})?)\s*(?:$|[;|&<>`]|\\\s*$)"
)
_AFTER = re.compile(r"\s*(?:$|&|;|\|\s*tee\b|2?>)")  # what may stand behind a command that is typed
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
_DEFAULT = "TCP_STREAM"  # netperf's default for -t


def read_peer(command: str) -> str:
    """Return the host of -H, "" where that is a variable."""
    match = _HOST.search(command.partition(" -- ")[0])
    named = match[1].strip("'\"") if match else ""
    return "" if any(letter in named for letter in "$<{*") else named


def read_kind(command: str) -> str:
    """Return the test as the banner names it, "TCP RR"; "" where that is a variable."""
    global_options = command.partition(" -- ")[0]
    match = _TEST.search(global_options)
    word = match[1] if match else "" if _ASKED.search(global_options) else _DEFAULT
    return word.upper().replace("_", " ")


def read_protocol(command: str) -> str:
    """Return the protocol of omni's -T, in small letters; "" where it is not shown."""
    match = _PROTOCOL.search(command.partition(" -- ")[2])
    return match[1].lower() if match else ""


def read_direction(command: str) -> str:
    """Return the test if that, or omni's -d, tells who sends; "" where it does not."""
    own = f" {command.partition(' -- ')[2]} "
    if match := _DIRECTION.search(own):
        kind = _DIRECTIONS.get(match[1].lower(), "OMNI RR" if "|" in match[1] else "")
        return kind if kind != "OMNI RR" or read_kind(command) == "OMNI" else ""  # a stream both ways has no direction
    return "" if _TURNED.search(own) else read_kind(command)


def find_command(line: str) -> str:
    """Return the last command of a line that runs netperf, "" where there is none."""
    matches = [match for match in _COMMAND.finditer(line) if _AFTER.match(line, match.end(1)) or line.endswith("\\")]
    return matches[-1][1] if matches else ""


def read_burst(command: str) -> int | None:
    """Return the number of requests sent at first (-b), None where there is none, or a variable."""
    match = _BURST.search(f" {command.partition(' -- ')[2]} ")
    return int(match[1]) if match else None


def read_brand(command: str) -> str:
    """Return the words that -B puts behind a result, "" where there are none."""
    match = _BRAND.search(f" {command.partition(' -- ')[0]}")
    return next((word for word in match.groups() if word), "") if match else ""


def split_brand(command: str, line: str) -> tuple[str, str]:
    """Return a row without the words that -B put behind it, and these words; "" where the command has no -B."""
    if not read_brand(command):
        return line, ""
    words = line.split()
    figures = next((place for place, word in enumerate(words) if read_non_negative(word) is None), len(words))
    return " ".join(words[:figures]), " ".join(words[figures:])


def read_figures(command: str, line: str, operation: str) -> dict[str, str]:
    """Return the cells of a line by the names of -o, in small letters; {} where their number differs, or there are no figures.

    Without names -o has those of its test (nettest_omni.c), which `operation` tells.
    """
    global_options, _, own = command.partition(" -- ")
    match = _NAMES.search(f" {own}")
    names: Sequence[str] = match[1].lower().split(",") if match else ()
    if not match and _UNNAMED.search(f" {own}"):
        names = (*_DEFAULT_NAMES.get(operation, ()), *(_CPU_NAMES if _CPU.search(global_options) else ()))
    cells = [cell.strip() for cell in line.split(",")]
    if not names or len(cells) != len(names) or not any(read_non_negative(cell) is not None for cell in cells):
        return {}
    return dict(zip(names, cells, strict=True))


def make_title(command: str, line: str, below: str) -> str:
    """Return the title that would stand over this row without -P 0 (nettest_bsd.c).

    "" where it is no such row, or where the receiver's row does not follow a sender's of datagrams.
    """
    global_options, _, own = f"{command} ".partition(" -- ")
    words, test = line.split(), read_kind(command)
    if (
        not _UNTITLED.search(global_options)
        or _OMNI.search(f" {own}")
        or any(read_non_negative(word) is None for word in words)
    ):
        return ""
    width, of_cpu = (6, 2 if test == "UDP STREAM" else 4) if test in (*_REQUESTS, "UDP STREAM") else (5, 4)
    if len(words) != width + (of_cpu if _CPU.search(global_options) else 0):
        return ""
    unit_text = read_unit(command, is_request=test in _REQUESTS)
    if unit_text == "Trans":
        return "Socket Request Resp. Elapsed Trans. Rate"
    if not unit_text:
        return ""
    if test in _REQUESTS:
        return f"Socket Request Resp. Elapsed Time {unit_text}/sec"
    if test == "UDP STREAM":
        if not is_second_row(command, below):
            return ""
        return f"Socket Message Elapsed Messages Okay Errors Throughput {unit_text}/sec"
    return f"Recv Send Send Elapsed Time Throughput {unit_text}/sec" if test in _STREAMS else ""


def read_unit(command: str, *, is_request: bool) -> str:
    """Return the unit of the throughput by -f, "" where that is no letter that netperf knows."""
    match = _UNIT.search(command.partition(" -- ")[0])
    letter = match[1] if match else ""
    if is_request and letter in ("", "x"):
        return "Trans"
    return _UNITS.get("" if letter == "x" else letter, "")  # netsh.c: no transactions in a stream


def has_unit(command: str) -> bool:
    """Return whether the command line chooses a unit."""
    return _UNIT.search(command.partition(" -- ")[0]) is not None


def is_quiet(command: str) -> bool:
    """Return whether a throughput is all that netperf prints."""
    global_options = f"{command.partition(' -- ')[0]} "
    return bool(_UNTITLED.search(global_options) and _QUIET.search(global_options)) and not _CPU.search(global_options)


def is_second_row(command: str, line: str) -> bool:
    """Return whether a line is the row of the other side below one of UDP_STREAM or of requests, which has fewer figures."""
    words, test = line.split(), read_kind(command)
    most = {"UDP STREAM": 6}.get(test, 2 if test in _REQUESTS else 0)
    return 0 < len(words) <= most and all(read_non_negative(word) is not None for word in words)
