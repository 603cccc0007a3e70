"""iperf's command lines as they are shown: behind the prompt of a shell or of Windows, or alone on a line."""

import re

from apps.parsers.core.numbers import INT4, read_whole

_COMMAND = re.compile(
    r"(?:^\s{0,16}|[$#>%\u276f\u03bb] ?|\u279c {1,2}(?:[\w.~/-]{1,60} )?|-- )"  # also the prompts of zsh themes
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


def starts_client(command: str, *, is_marked: bool = False) -> bool | None:
    """Return whether a command line starts a client whose lines all tell what it sent; None where it does not show.

    `is_marked`: the line of the report itself says that it goes the other way.
    """
    is_client, is_server = bool(_CALLS.search(command)), bool(_SERVES.search(command))
    return None if is_client == is_server or (_TURNS.search(command) and not is_marked) else is_client


def find_command(line: str) -> str:
    """Return the iperf command in a line, "" where there is none."""
    match = _COMMAND.search(line) if "iperf" in line else None
    return match[1].partition(" #")[0].strip()[:1000] if match else ""  # a comment may follow


def read_workload(command: str) -> dict[str, str | int | float]:
    """Return what a command line asks for, in fio's words."""
    workload: dict[str, str | int | float] = {"command": command} if command else {}
    for name, pattern in _OPTIONS.items():
        if (match := pattern.search(command)) and (value := read_whole(match[1], INT4)):
            workload[name] = value
    return workload


def is_interval(command: str, seconds: float, decimals: int) -> bool:
    """Return whether a single line from 0.0 over this time is the first interval of -i, so that the test went on.

    Without -i iperf 2 prints only the total, which is short where the test was stopped. Without a command, `0.0- 1.0`
    is typical for -i and not for -t; more decimals show that a total is not exactly a second long.
    """
    if not command:
        return seconds == _USUAL and decimals == 1
    every, lasts = _EVERY.search(command), _OPTIONS["runtime"].search(command)
    if every is None or _AMOUNT.search(command):
        return False
    return abs(seconds - float(every[1])) < _NEAR and float(every[1]) < (int(lasts[1]) if lasts else _DEFAULT_S)


def is_of_another(command: str, host: str) -> bool:
    """Return whether the command names another host than a client's banner, which repeats what was asked for."""
    match = _PEER.search(command)
    named = match[1].strip("'\"").partition("%")[0] if match else ""
    is_known = bool(named and host) and not any(letter in named for letter in "$<{*")
    return is_known and named.lower() != host.partition("%")[0].lower()
