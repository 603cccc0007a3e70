"""Parser of Vdbench's histogram.html, 5.03 and 5.04.

    15:14:55.001 Starting RD=format_for_rd1
    Total of all requested operations since warmup:
      min(ms) <     max(ms)         count       %%    cum%%  '+': Individual%; '+-': Cumulative%

        0.040 <       0.060         8,716   0.7437   0.7452

One run per run definition. It has no samples but histograms of all operations together (`mixed`), or of reads and of
writes where the title says so (Histogram.java). A bin is stored by its upper bound in ns, because a completion lies
within it; the last one (`max`) has none and is stored 1 ns above its lower bound.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from apps.parsers.core.models import Broken, ParsedFile, ParsedHistogram, ParsedRun, ParseError
from apps.parsers.core.numbers import read_non_negative
from apps.parsers.core.source_text import SourceText

NAME = "vdbench histogram"
TITLE = "Vdbench histogram"

_LONGEST = 2000
_START = re.compile(r"\d\d:\d\d:\d\d\.\d{3} Starting RD=([^;<\s]{1,100})")
_HEAD = re.compile(r"min\(ms\) <\s{1,12}max\(ms\)\s{1,12}count")
_BIN = re.compile(
    r"^\s{1,12}(\d{1,12}(?:\.\d{1,3})?) <\s{1,12}(\d{1,12}(?:\.\d{1,3})?|max)\s{1,16}(\d{1,3}(?:[,.\s']?\d{3}){0,5})\s{1,12}\d{1,3}\.\d"
)
_FORM = "min < max, a count and two shares"


def looks_like(text: SourceText) -> float:
    """Return 1 if the text has a histogram of Vdbench, else 0."""
    return 1.0 if "min(ms) <" in text.text and any(_HEAD.search(line[:_LONGEST]) for line in text.lines) else 0.0


def parse(text: SourceText) -> ParsedFile:
    """Parse the histograms of every run definition.

    Raises:
        ParseError: if there is none.
    """
    broken: list[Broken] = []
    runs = [definition.make_run() for definition in _iterate_definitions(text, broken) if any(definition.bins.values())]
    if not runs and "min(ms) <" in text.text:
        return ParsedFile(broken=(Broken("the histogram has no bins", 1, "", "lines of 'min < max count'"),))
    if not runs:
        raise ParseError("no histogram of Vdbench in the text", expected="'min(ms) < max(ms) count'")
    return ParsedFile(tuple(runs), broken=tuple(broken))


@dataclass(slots=True)
class _HistogramDefinition:
    """The histograms of one run definition."""

    name: str
    first: int
    last: int = 0
    bins: dict[str, dict[int, int]] = field(default_factory=dict)  # operation → ns → count

    def make_run(self) -> ParsedRun:
        histograms = tuple(
            ParsedHistogram(operation, "lat", 0, tuple(sorted(bins.items())))
            for operation, bins in self.bins.items()
            if bins
        )
        labels = {"rd": self.name} if self.name else {}
        return ParsedRun(
            tool="vdbench", tool_version="", histograms=histograms, caption=self.name, labels=labels,
            line=self.first, last_line=self.last,
        )  # fmt: skip


def _iterate_definitions(text: SourceText, broken: list[Broken]) -> Iterator[_HistogramDefinition]:
    now = _HistogramDefinition("", 0)
    title, operation = "", ""
    for index, line in enumerate(text.lines):
        if len(line) > _LONGEST:
            continue
        if match := _START.search(line):
            yield now
            now, operation = _HistogramDefinition(match[1], text.number(index)), ""
        elif _HEAD.search(line):
            operation = _choose_operation(title)
            now.bins.setdefault(operation, {}).clear()
        elif operation and (match := _BIN.match(line)) and (edge_and_count := _read_bin(match)):
            now.bins[operation][edge_and_count[0]] = now.bins[operation].get(edge_and_count[0], 0) + edge_and_count[1]
            now.last = text.number(index)
            now.first = now.first or now.last
        elif operation and " < " in line:
            words = " ".join(line.split())[:60]
            broken.append(Broken("a bin cannot be read; the histogram is without it", text.number(index), words, _FORM))
        elif line.strip():
            title, operation = line, ""
    yield now


def _choose_operation(title: str) -> str:
    words = title.lower()
    if "total" in words or "all " in words:
        return "mixed"
    return "read" if "read" in words else "write" if "write" in words else "mixed"


def _read_bin(match: re.Match[str]) -> tuple[int, int] | None:
    edge = read_non_negative(match[1] if match[2] == "max" else match[2])
    digits = re.sub(r"\D", "", match[3])
    return None if edge is None or edge > 1e9 else (round(edge * 1e6) + (match[2] == "max"), int(digits))
