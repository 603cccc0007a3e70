"""Parser of what benchmark scripts show of dd: the speed of each of three writes.

    ` I/O Speed(1st run) : 425 MB/s`      bench.sh and similar scripts: dd's own words, decimal units
    `    1st run:    894.55 MiB/s`        nench.sh, below `dd: sequential write speed` or `dd test`: bytes divided by dd's seconds

One run per line. Both scripts write zeros to a new file and have dd flush it (conv=fdatasync), but print neither that
nor the amount, so only the operation `write` is recorded. The average is computed by the script from the lines above
it, and is not read.
"""

import re
from collections.abc import Iterator

from apps.parsers.core.models import Broken, ParsedFile, ParsedRun, ParsedSample, ParseError
from apps.parsers.core.source_text import SourceText

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
    """Return 0.9 if the text has a speed that a script printed, else 0."""
    return 0.9 if next(_iterate_speeds(text), None) else 0.0


def parse(text: SourceText) -> ParsedFile:
    """Parse every speed into a run.

    Raises:
        ParseError: if there is none.
    """
    results = [_make_run(text.number(index), caption, speed.strip()) for index, caption, speed in _iterate_speeds(text)]
    if not results:
        raise ParseError("no speed of dd from a script", expected="'I/O Speed(1st run) : 425 MB/s'")
    return ParsedFile(
        tuple(result for result in results if isinstance(result, ParsedRun)),
        broken=tuple(result for result in results if isinstance(result, Broken)),
    )


def _iterate_speeds(text: SourceText) -> Iterator[tuple[int, str, str]]:
    """Yield (line index, which run, the text behind it)."""
    if " run)" not in text.text and "1st run:" not in text.text:
        return
    heading = -_BELOW - 1
    for index, line in enumerate(text.lines):
        if line.strip() in _HEADINGS:
            heading = index
        elif match := _BENCH.match(line) or (_NENCH.match(line) if index - heading <= _BELOW else None):
            yield index, match[1], match[2]


def _make_run(line: int, caption: str, speed: str) -> ParsedRun | Broken:
    match = _SPEED.fullmatch(speed)
    if match is None:
        return Broken(f"the {caption} shows no speed of dd", line, speed, "a speed such as 425 MB/s")
    value = round(float(match[1]) * _BYTES[match[2]], 6)
    sample = ParsedSample("write", "bandwidth", value, printed=speed, line=line)
    return ParsedRun(
        tool="dd", tool_version="", samples=(sample,), workload={"rw": "write"}, caption=caption, line=line, last_line=line
    )  # fmt: skip
