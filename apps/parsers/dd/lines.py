"""The lines that dd prints at its end, of every dd and in every language; described in `format.py`."""

import math
import re
from functools import lru_cache

from msgspec import Struct

_MARKS = "'’‘´`.,\u00a0\u202f\u2009 "
_WHOLE = (  # digits, or groups of three with marks between them, but not the end of a longer or damaged number
    rf"(?<![0-9])(?<![0-9][{_MARKS.rstrip()}])(?<![0-9][A-Za-z])(?:[0-9]{{4,20}}(?![0-9])"
    rf"|(?<![\w./-])[0-9]{{1,3}}(?:[{_MARKS}][0-9]{{3}}){{1,6}}+(?![0-9])|[0-9]{{1,3}}(?![0-9]))"
)
_NUMBER = r"(?:[0-9][0-9.,'’‘´`\u00a0\u202f]{0,30}(?:e[-+]?[0-9]{1,3})?)"
_LETTERS = r"[^\W\d_]"
_S = "[ \u00a0\u202f]"  # blanks; some translations use no-break spaces between number and word
_SECONDS = r"(?P<unit>(?:[sSсС]|c(?=[,)])|秒|초|m(?:ásod)?p|giây|δ)[^\W\d_]{0,11})"
_NO_BYTES = r"(?![kKMGTPE]i?[bB](?![^\W\d_])|[KMG][bB]ytes)"  # "36 KiB written" is another tool's
GNU = re.compile(
    rf"(?P<bytes>{_WHOLE}){_S}?{_NO_BYTES}{_LETTERS}{{1,20}}(?:{_S}?[(（][^()（）]{{1,60}}[)）])?"
    rf"{_LETTERS}{{0,20}}(?:{_S}{_LETTERS}{{1,20}}){{0,3}}[,，、]{_S}?"
    rf"(?P<seconds>{_NUMBER}){_S}?{_SECONDS}\.?[,，、]{_S}{{0,3}}\*{{0,3}}"  # a page in Markdown has the rate in bold
    rf"(?P<rate>{_NUMBER}|{_LETTERS}{{1,20}}|Vô hạn){_S}?(?P<prefix>[kKMGTPE]?)(?P<binary>i?)(?P<base>B?)/(?:mp|{_LETTERS})"
)
BSD = re.compile(
    rf"(?P<bytes>{_WHOLE}){_S}{_NO_BYTES}{_LETTERS}{{1,20}}{_S}(?!received|sent)"
    rf"(?:{_LETTERS}{{1,20}}{_S}){{1,3}}(?P<seconds>{_NUMBER}){_S}{_SECONDS}{_S}"
    rf"\((?P<rate>{_NUMBER}|inf|nan){_S}(?![kKMGT]i?[bB]){_LETTERS}{{1,10}}/{_LETTERS}{{1,10}}\)"
)
ILLUMOS = re.compile(  # N (human) bytes, as illumos prints it, or N bytes (human)
    rf"(?P<bytes>{_WHOLE}){_S}(?:\([0-9.,]{{1,12}}{_S}?[kKMGTPE]?i?B?\){_S}bytes|bytes{_S}\([0-9.,]{{1,12}}{_S}?[kKMGTPE]?i?B?\)){_S}"
    rf"transferred in{_S}(?P<seconds>{_NUMBER}){_S}(?P<unit>secs?|seconds?){_S}"
    rf"\((?P<rate>{_NUMBER}){_S}?(?P<prefix>[kKMGTPE]?)(?P<binary>i?)(?P<base>B?)/s(?:ec)?\)"
)
_PLAIN = (
    re.compile(  # the usual line of GNU dd, in English and with a point; `GNU` reads what it matches in the same way
        r"([0-9]{4,18}) bytes \([^()（）]{1,60}\) copied, (([0-9]{1,9}(?:\.[0-9]{1,9})?) s), "
        r"(([0-9]{1,9}(?:\.[0-9]{1,3})?) ([kMGT]?)B/s)"
    )
)
CUT = re.compile(
    rf"{_WHOLE}{_S}?{_LETTERS}{{1,20}}{_S}?\([0-9][^()]{{1,60}}\){_S}{_LETTERS}{{2,20}}|{_WHOLE} bytes transferred in "
)
BEGUN = re.compile(
    rf"\s*{_WHOLE}{_S}[bBoOбБ]{_LETTERS}{{0,12}}(?:{_S}(?:\([^()]{{0,60}}\)?)?)?\s*$"
)  # directly behind records lines
ENDS_IN_BYTES = re.compile(rf".* {_WHOLE}(?: bytes)?\s*$").match  # behind records, in a paragraph that was re-wrapped
ALONE = re.compile(  # a cut-off result without records lines; only words that no other tool prints
    r"\s*[0-9]{1,19} bytes (?:"
    r"\([0-9][^()]{1,60}\) copied,(?: [0-9][0-9.,e+-]{0,30}(?: s[a-z]{0,6}(?:, ?(?:[0-9.,]{1,12}(?: [kKMGTPE]?B?/?)?)?)?)?)?"
    r"|transferred in [0-9][0-9.,]{0,20}(?: (?:secs?)?| (?:secs|seconds) \([0-9]{0,19}(?: b[a-z]{0,4}/?[a-z]{0,2})?)?)\s*$"
)
RECORDS = re.compile(
    r"(?:(?<![A-Za-z0-9_.,+:-])|(?<=\^C))(?P<full>[0-9]{1,18})\+(?P<part>[0-9]{1,18})[ \u00a0\u202f][^\W\d_]{2}"
)
PLAIN_RECORDS = re.compile(r"([0-9]{1,18})\+([0-9]{1,18}) records (?:in|out)").fullmatch  # the usual line
LONE = re.compile(r"\s*(?:\^C)?[0-9]{1,18}\+[0-9]{1,18} records (?:in|out)\s*$", re.MULTILINE)
_SECONDS_GROUP, _UNIT_GROUP, _RATE_GROUP = 2, 3, 4  # groups of both patterns by number, which is quicker than by name
_DAMAGED = re.compile(r"(?<![^\s(])([0-9]{1,20}[A-Za-z]{1,3}[0-9]{1,20}) bytes(?: \(| transferred in )")
_POWERS = " KMGTPE"
_GREATEST = 2**63


class DdResult(Struct, frozen=True, gc=False):
    """A result line.

    `seconds` is None where the printed time is impossible; `rate` is as printed, in bytes/s, ± `slack` for its
    rounding. `start` is the index in the line at which the result begins.
    """

    bytes: int
    seconds: float | None
    rate: float | None
    slack: float
    rate_text: str
    is_whole_rate: bool  # printed to the byte, which is more precise than bytes / seconds
    is_transcribed: bool
    is_whole_seconds: bool
    start: int
    seconds_text: str


class UnclearResult(Struct, frozen=True, gc=False):
    """A result line that can not be read, and why."""

    message: str
    found: str
    expected: str


def read_result(line: str) -> DdResult | UnclearResult | None:
    """Return the result in a line; an `UnclearResult` where it can not be read, None where the line is no result."""
    if "/" not in line or len(line) > 2000:
        return None
    if plain := _PLAIN.fullmatch(line):
        return _make_plain_result(*plain.groups())
    first, second = (BSD, GNU) if ")" in line[-12:] and "/s" in line[line.rfind("(") :] else (GNU, BSD)
    match = first.search(line) or second.search(line) or (ILLUMOS.search(line) if " transferred in " in line else None)
    if match is None:
        return _find_damaged(line)
    printed, time, _, printed_rate, *prefix = match.groups()
    size, seconds = _parse_bytes(printed), _parse_decimal(time)
    if size is None or size >= _GREATEST or seconds is None:
        unclear = time if seconds is None else printed
        return UnclearResult(
            "a number that is none, or can be read in two ways", unclear, "dd's digits with one decimal mark"
        )
    rate, slack, is_whole = _parse_short_rate(printed_rate, *prefix) if prefix else _parse_whole_rate(printed_rate)
    start, end = match.span()
    rate_text = line[match.start(_RATE_GROUP) : end].rstrip(")")
    seconds_text = line[match.start(_SECONDS_GROUP) : match.end(_UNIT_GROUP)]
    return DdResult(
        size, seconds if 1e-9 <= seconds < 1e12 else None, rate, slack, rate_text, is_whole,
        not printed.isdigit() or _has_marks(printed_rate + time), time.isdigit(), start, seconds_text,
    )  # fmt: skip


def _find_damaged(line: str) -> UnclearResult | None:
    """Return an `UnclearResult` for a result whose bytes have a letter among their digits."""
    match = _DAMAGED.search(line) if " copied, " in line or " transferred in " in line else None
    return match and UnclearResult("a number that is none", match[1], "dd's digits")


def _make_plain_result(size: str, seconds_text: str, time: str, rate_text: str, rate: str, prefix: str) -> DdResult:
    seconds = float(time)
    return DdResult(
        int(size), seconds if seconds >= 1e-9 else None, *_parse_short_rate(rate, prefix, "", "B")[:2], rate_text,
        False, False, time.isdigit(), 0, seconds_text,
    )  # fmt: skip


def _parse_bytes(text: str) -> int | None:
    """Parse a number of bytes: it is whole, so any mark in it separates thousands, and all marks must be the same."""
    if text.isdigit():
        return int(text)
    marks = {letter for letter in text if not letter.isdigit()}
    return int("".join(letter for letter in text if letter.isdigit())) if len(marks) < 2 else None


_THOUSANDS = re.compile(r"[0-9]{1,3}(?:(['’‘´`\u00a0\u202f])[0-9]{3})(?:\1[0-9]{3})*(?:[.,][0-9]+)?")
_DECIMAL = re.compile(r"[0-9]+(?:[.,][0-9]+)?(?:e[-+]?[0-9]{1,3})?")


def _has_marks(text: str) -> bool:
    return not text.replace(".", "").isalnum() and any(mark in text for mark in "'’‘´`\u00a0\u202f")


def _parse_decimal(text: str) -> float | None:
    """Parse a number with a decimal point or comma; None where it has both.

    dd prints no thousands separators, so a single comma is a decimal comma.
    """
    if text.isascii() and text.replace(".", "", 1).isdigit():
        return float(text)
    text = text.rstrip(".,")
    if not _DECIMAL.fullmatch(text):
        if not _THOUSANDS.fullmatch(text):
            return None
        text = "".join(letter for letter in text if letter not in "'’‘´`\u00a0\u202f")
    value = float(text.replace(",", "."))
    return value if math.isfinite(value) else None


PrintedRate = tuple[float | None, float, bool]  # bytes/s, the largest rounding error, whether it is to the byte


def _parse_whole_rate(text: str) -> PrintedRate:
    if text.isdigit() and len(text) < 19:
        return float(text), 0.5, True
    digits = "".join(letter for letter in text if letter.isdigit())
    is_plain = _THOUSANDS.fullmatch(text) or text.isdigit()
    return (float(digits), 0.5, True) if is_plain and len(digits) < 19 else (None, 0.0, False)


@lru_cache(maxsize=4096)  # rates have two or three digits and a prefix, so the same ones repeat in a log
def _parse_short_rate(text: str, prefix: str, binary: str, unit: str) -> PrintedRate:
    value = _parse_decimal(text) if text[:1].isdigit() else None
    if value is None:
        return None, 0.0, False
    base = 1024 if binary or not unit else 1000  # toybox: "1.1 G/s", of 1024
    factor = float(base ** _POWERS.find(prefix.upper() or " "))
    decimals = len(text.replace(",", ".").partition(".")[2])
    return value * factor, 0.51 * factor * 10.0**-decimals, False


def is_near(result: DdResult, rate: float) -> bool:
    """Return whether the printed rate is the computed one, rounded. Busybox counts its "MB" 1024 × 1024."""
    if result.rate is None or result.seconds is None:
        return True
    difference = abs(result.rate - rate)
    if difference <= result.slack:
        return True
    time_slack = rate * _get_time_slack(result) / result.seconds
    if difference <= result.slack + time_slack + rate * 1e-6:
        return True
    return not result.is_whole_rate and any(
        abs(result.rate * scale - rate) <= result.slack * scale + time_slack for scale in _BINARY
    )


_DIGITS = re.compile(r"[0-9]*(?:[.,]([0-9]*))?(?:e([-+]?[0-9]{1,3}))?")
_BINARY = tuple((1024 / 1000) ** power for power in (1, 2, 3, 4))


def _get_time_slack(result: DdResult) -> float:
    """Return half of the last digit of the printed seconds."""
    digits = _DIGITS.match(result.seconds_text)
    decimals, power = (digits[1] or "", digits[2] or 0) if digits else ("", 0)
    return 0.51 * 10.0 ** (int(power) - len(decimals))
