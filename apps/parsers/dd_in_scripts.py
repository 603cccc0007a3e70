"""What benchmark scripts show of dd: the speed of each of three writes.

    ` I/O Speed(1st run) : 425 MB/s`      bench.sh and its kin: dd's own words, decimal units
    `    1st run:    894.55 MiB/s`        nench.sh, below `dd: sequential write speed` or `dd test`: bytes by dd's seconds

One run per line. Both scripts write zeros to a new file and have dd flush it (conv=fdatasync), but print neither that nor how much
they write: so only `write` is said. The average is the script's, of the lines above it, and is not read.
"""

import re
from collections.abc import Iterator

from apps.parsers.shape import Broken, ParsedFile, ParsedRun, ParsedSample, ParseError
from apps.parsers.source_text import SourceText

NAME = "dd in scripts"
TITLE = "dd's speeds in bench.sh and nench.sh"

_BENCH = re.compile(r"\s*I/O [Ss]peed ?\(((?:1st|2nd|3rd) run)\) {0,20}:(.{0,60})$")
_NENCH = re.compile(r"\s*((?:1st|2nd|3rd) run):(.{0,60})$")
_HEADINGS = ("dd: sequential write speed", "dd test")
_SPEED = re.compile(r"(\d{1,9}(?:\.\d{1,3})?) ([kMGT]i?B)/s")
_BYTES = {
    f"{prefix}{word}": base**power
    for power, prefix in enumerate("kMGT", 1)
    for word, base in (("B", 1000), ("iB", 1024))
}
_BELOW = 3  # lines under a heading of nench.sh


def looks_like(text: SourceText) -> float:
    return 0.9 if next(_lines(text), None) else 0.0


def parse(text: SourceText) -> ParsedFile:
    found = [_read(text.number(index), caption, shown.strip()) for index, caption, shown in _lines(text)]
    if not found:
        raise ParseError("no speed of dd from a script", expected="'I/O Speed(1st run) : 425 MB/s'")
    return ParsedFile(
        tuple(one for one in found if isinstance(one, ParsedRun)),
        broken=tuple(one for one in found if isinstance(one, Broken)),
    )


def _lines(text: SourceText) -> Iterator[tuple[int, str, str]]:
    """(index, which run, what is shown of it)."""
    if " run)" not in text.text and "1st run:" not in text.text:
        return
    heading = -_BELOW - 1
    for index, line in enumerate(text.lines):
        if line.strip() in _HEADINGS:
            heading = index
        elif match := _BENCH.match(line) or (_NENCH.match(line) if index - heading <= _BELOW else None):
            yield index, match[1], match[2]


def _read(line: int, caption: str, shown: str) -> ParsedRun | Broken:
    match = _SPEED.fullmatch(shown)
    if match is None:
        return Broken(f"the {caption} shows no speed of dd", line, shown, "a speed such as 425 MB/s")
    value = round(float(match[1]) * _BYTES[match[2]], 6)
    sample = ParsedSample("write", "bandwidth", value, printed=shown, line=line)
    return ParsedRun(
        tool="dd", tool_version="", samples=(sample,), workload={"rw": "write"}, caption=caption, line=line, last_line=line
    )  # fmt: skip
