"""Lines of fio's normal report behind a name, as grep prints those of several files, or as people compare runs.

old.1.log:  write: IOPS=122k, BW=478MiB/s (501MB/s)(14.0GiB/30001msec)
old.1.log:   clat (usec): min=43, max=9120, avg=240.10, stdev=160.50
"""

import re

from apps.parsers.fio.text.cuts import read_whole
from apps.parsers.fio.text.lines import LineReader
from apps.parsers.fio.text.spreads import read_spread
from apps.parsers.fio.text.warnings import ReportMessages

_RATES = re.compile(  # the name ends at the first of several blanks, so that not each is tried
    r"\s*(?P<name>[^\s|].{0,120}?)(?:(?<!\s)[ \t]|:)\s*(?P<rest>(?:read|write|trim|mixed)\s*:\s*(?:io=|IOPS=))"
)
_SPREAD = re.compile(
    r"\s*(?P<name>[^\s|=][^|=]{0,120}?)[ \t:]\s{0,16}(?P<rest>(?:slat|clat|lat|sync) {1,4}\([num]sec\)\s*:\s*min=|iops\s*: min="
    r"|bw \(\s*[KkM]i?(?:B|bit)\s*/s\)\s*:\s*min=|cpu\s*:\s*usr=)"
)
_OTHER_WORDS = re.compile(r"\s*(?P<name>[\w-][^|]{0,80}?)[^\w=|]IOPS=\s{0,8}[\d.]{1,20}\w?,?\s{1,8}BW=")
_AROUND = " \t:+-/*#"


def split_rates(line: str) -> tuple[str, str] | None:
    """Return the name, and the line of a direction behind it; None for any other line."""
    return _split_name(_RATES.match(line), line)


def split_spread(line: str) -> tuple[str, str] | None:
    """Return the name, and the spread behind it; None for any other line."""
    return _split_name(_SPREAD.match(line), line) if "min=" in line or "usr=" in line else None


def find_other_words(line: str) -> str:
    """Return the words before rates that are no direction's, so that it is unknown what they count; "" for any other line."""
    match = _OTHER_WORDS.match(line)
    return match["name"].strip(_AROUND) if match else ""


def _split_name(match: re.Match[str] | None, line: str) -> tuple[str, str] | None:
    return (match["name"].strip(_AROUND), line[match.start("rest") :]) if match else None


class NamedReports:
    """The reports whose lines begin with names: the last one for each name, and the lines that came before its rates."""

    def __init__(self) -> None:
        self.readers: dict[str, LineReader] = {}
        self.waiting: dict[str, list[tuple[str, int]]] = {}

    def begin(self, name: str, reader: LineReader, messages: ReportMessages) -> None:
        """Begin the report of a name."""
        self.readers[name] = reader
        for line, number in self.waiting.pop(name, ()):
            self.add(name, line, number, messages)

    def end(self, name: str) -> None:
        """Remove the report of a name, because what follows belongs to rates that could not be read."""
        self.readers.pop(name, None)

    def add(self, name: str, line: str, number: int, messages: ReportMessages) -> bool:
        """Read a spread of a named report; return whether it belongs to the current one."""
        reader = self.readers.get(name)
        sound, expected = read_whole(line, "")
        if (
            reader is None or not read_spread(reader, sound, number)[1]
        ):  # it belongs to the next report of this name, whose rates follow
            self.waiting.setdefault(name, []).append((line, number))
            return False
        if expected:
            messages.warn_of_cut(number, line, expected)
        messages.extend_broken(reader.faults)
        reader.faults = []
        return True

    def finish(self, messages: ReportMessages) -> None:
        """Report the lines that belong to no rates as broken."""
        for name, lines in self.waiting.items():
            for line, number in lines:
                messages.add_broken(
                    "figures behind a name whose rates are not there", number, line, f"{name[:60]}: read: IOPS="
                )
