"""iperf's command lines as they are shown: after a shell's prompt, after that of Windows, or alone on a line."""

import re

from apps.parsers.finite import INT4, whole

_COMMAND = re.compile(
    r"(?:^\s{0,16}|[$#>%] ?|-- )"
    r"((?:sudo |time )?(?:[\w.~/-]{0,80}/|(?:[A-Za-z]:)?[\w.~\\-]{0,80}\\)?iperf3?(?:\.exe)? -[^|;&]+)"
)
_OPTIONS = {"runtime": re.compile(r" -t ?(\d{1,9})\b"), "numjobs": re.compile(r" -P ?(\d{1,9})\b")}
_PEER = re.compile(r" (?:-\w{0,8}c|--client) {0,4}([^\s-]\S{0,200})")
_CALLS = re.compile(r" (?:-\w{0,8}c|--client)[ =]?[^\s-]")
_SERVES = re.compile(r" (?:-\w{0,8}s|--server)(?: |$)")
_TURNS = re.compile(r" (?:-\w{0,8}[rdRX]\w{0,8}|--(?:dualtest|tradeoff|reverse|full-duplex|bidir))(?: |$)")


def client_of(shown: str) -> bool | None:
    """Whether a command line as shown starts a client, whose lines all say what it sent; None where it does not tell."""
    is_client, is_server = bool(_CALLS.search(shown)), bool(_SERVES.search(shown))
    return None if is_client == is_server or _TURNS.search(shown) else is_client


def command(line: str) -> str:
    match = _COMMAND.search(line) if "iperf" in line else None
    return match[1].strip()[:1000] if match else ""


def asked(shown: str) -> dict[str, str | int | float]:
    """What a command line as shown asked for."""
    told: dict[str, str | int | float] = {"command": shown} if shown else {}
    for name, pattern in _OPTIONS.items():
        if (match := pattern.search(shown)) and (value := whole(match[1], INT4)):
            told[name] = value
    return told


def is_of_another(shown: str, host: str) -> bool:
    """Whether the command names another host than a client's banner, which repeats what was asked for."""
    match = _PEER.search(shown)
    named = match[1].strip("'\"").partition("%")[0] if match else ""
    is_known = bool(named and host) and not any(letter in named for letter in "$<{*")
    return is_known and named.lower() != host.partition("%")[0].lower()
