"""iperf's command lines as they are shown: after a shell's prompt, after that of Windows, or alone on a line."""

import re

from apps.parsers.finite import INT4, whole

_COMMAND = re.compile(
    r"(?:^\s{0,16}|[$#>%\u276f\u03bb] ?|\u279c {1,2}(?:[\w.~/-]{1,60} )?|-- )"  # also as zsh's themes have it
    r"((?:sudo |time )?(?:[\w.~/-]{0,80}/|(?:[A-Za-z]:)?[\w.~\\-]{0,80}\\)?iperf3?(?:\.exe)? -[^|;&]+)"
)
_OPTIONS = {"runtime": re.compile(r" -t ?(\d{1,9})\b"), "numjobs": re.compile(r" -P ?(\d{1,9})\b")}
_AMOUNT = re.compile(r" (?:-n|--num)(?: |=|\d)")
_DEFAULT_S = 10  # how long a test lasts without -t (iperf 2's Settings.cpp)
_EVERY = re.compile(r" -i ?(\d{1,4}(?:\.\d{1,4})?)(?: |$)")
_NEAR = 0.01  # seconds
_USUAL = 1.0  # seconds: -i 1
_PEER = re.compile(r" (?:-\w{0,8}c|--client) {0,4}([^\s-]\S{0,200})")
_CALLS = re.compile(r" (?:-\w{0,8}c|--client)[ =]?[^\s-]")
_SERVES = re.compile(r" (?:-\w{0,8}s|--server)(?: |$)")
_TURNS = re.compile(r" (?:-\w{0,8}[rdRX]\w{0,8}|--(?:dualtest|tradeoff|reverse|full-duplex|bidir))(?: |$)")


def client_of(shown: str, *, is_marked: bool = False) -> bool | None:
    """Whether a command line as shown starts a client, whose lines all say what it sent; None where it does not tell.
    `is_marked`: the line itself says that it goes the other way.
    """
    is_client, is_server = bool(_CALLS.search(shown)), bool(_SERVES.search(shown))
    return None if is_client == is_server or (_TURNS.search(shown) and not is_marked) else is_client


def command(line: str) -> str:
    match = _COMMAND.search(line) if "iperf" in line else None
    return match[1].partition(" #")[0].strip()[:1000] if match else ""  # behind it is what somebody says


def asked(shown: str) -> dict[str, str | int | float]:
    """What a command line as shown asked for."""
    told: dict[str, str | int | float] = {"command": shown} if shown else {}
    for name, pattern in _OPTIONS.items():
        if (match := pattern.search(shown)) and (value := whole(match[1], INT4)):
            told[name] = value
    return told


def is_interval(shown: str, seconds: float, decimals: int) -> bool:
    """Whether a line from 0.0 over this time, alone, is the first one that -i asked for: the test goes on. Without -i iperf 2
    prints but the total, which is short where somebody stopped it. Without a command, `0.0- 1.0` is what people ask for with -i
    and not with -t; more decimals show that the total is not a second sharp.
    """
    if not shown:
        return seconds == _USUAL and decimals == 1
    every, lasts = _EVERY.search(shown), _OPTIONS["runtime"].search(shown)
    if every is None or _AMOUNT.search(shown):
        return False
    return abs(seconds - float(every[1])) < _NEAR and float(every[1]) < (int(lasts[1]) if lasts else _DEFAULT_S)


def is_of_another(shown: str, host: str) -> bool:
    """Whether the command names another host than a client's banner, which repeats what was asked for."""
    match = _PEER.search(shown)
    named = match[1].strip("'\"").partition("%")[0] if match else ""
    is_known = bool(named and host) and not any(letter in named for letter in "$<{*")
    return is_known and named.lower() != host.partition("%")[0].lower()
