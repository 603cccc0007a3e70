"""Lines of fio's normal report behind a name, as grep prints those of several files, or whoever compares runs:

old.1.log:  write: IOPS=122k, BW=478MiB/s (501MB/s)(14.0GiB/30001msec)
old.1.log:   clat (usec): min=43, max=9120, avg=240.10, stdev=160.50
"""

import re

from apps.parsers.fio_text_cuts import whole
from apps.parsers.fio_text_lines import Reader
from apps.parsers.fio_text_spreads import spread_of
from apps.parsers.fio_text_told import Told

_RATES = re.compile(  # of several blanks the first one ends the name, or each would be tried
    r"\s*(?P<name>[^\s|].{0,120}?)(?:(?<!\s)[ \t]|:)\s*(?P<rest>(?:read|write|trim|mixed)\s*:\s*(?:io=|IOPS=))"
)
_SPREAD = re.compile(
    r"\s*(?P<name>[^\s|=][^|=]{0,120}?)[ \t:]\s{0,16}(?P<rest>(?:slat|clat|lat|sync) {1,4}\([num]sec\)\s*:\s*min=|iops\s*: min="
    r"|bw \(\s*[KkM]i?(?:B|bit)\s*/s\)\s*:\s*min=|cpu\s*:\s*usr=)"
)
_OTHER_WORDS = re.compile(r"\s*(?P<name>[\w-][^|]{0,80}?)[^\w=|]IOPS=\s{0,8}[\d.]{1,20}\w?,?\s{1,8}BW=")
_AROUND = " \t:+-/*#"


def rates(line: str) -> tuple[str, str] | None:
    """The name, and the line of a direction behind it."""
    return _split(_RATES.match(line), line)


def spread(line: str) -> tuple[str, str] | None:
    """The name, and the spread behind it of what stands in another line of the same name."""
    return _split(_SPREAD.match(line), line) if "min=" in line or "usr=" in line else None


def other(line: str) -> str:
    """The words before rates that are no direction's: nobody knows what they count."""
    match = _OTHER_WORDS.match(line)
    return match["name"].strip(_AROUND) if match else ""


def _split(match: re.Match[str] | None, line: str) -> tuple[str, str] | None:
    return (match["name"].strip(_AROUND), line[match.start("rest") :]) if match else None


class Named:
    """The reports whose lines stand behind names: of each name the last one, and the lines that came before its rates."""

    def __init__(self) -> None:
        self.readers: dict[str, Reader] = {}
        self.waiting: dict[str, list[tuple[str, int]]] = {}

    def begin(self, name: str, reader: Reader, told: Told) -> None:
        self.readers[name] = reader
        for line, number in self.waiting.pop(name, ()):
            self.add(name, line, number, told)

    def end(self, name: str) -> None:
        """What comes below under this name is of rates that could not be read."""
        self.readers.pop(name, None)

    def add(self, name: str, line: str, number: int, told: Told) -> bool:
        reader = self.readers.get(name)
        sound, expected = whole(line, "")
        if (
            reader is None or not spread_of(reader, sound, number)[1]
        ):  # the next report of this name has it above its rates
            self.waiting.setdefault(name, []).append((line, number))
            return False
        if expected:
            told.cut(number, line, expected)
        told.take(reader.faults)
        reader.faults = []
        return True

    def finish(self, told: Told) -> None:
        for name, lines in self.waiting.items():
            for line, number in lines:
                told.tell("figures behind a name whose rates are not there", number, line, f"{name[:60]}: read: IOPS=")
