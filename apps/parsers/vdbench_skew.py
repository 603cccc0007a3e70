"""Vdbench's skew.html, 5.03 and 5.04: what each slave, host, storage and workload definition did over a whole run.

    15:22:16.020                       i/o   MB/sec   bytes   read     resp     read    write     resp     resp queue
    15:22:16.020 SD:                  rate  1024**2     i/o    pct     time     resp     resp      max   stddev depth
    15:22:16.020 sd1               3435.47    25.56    7800   0.00    0.288    0.000    0.288  406.057    1.437   1.0
    15:22:16.020 Total             6870.94    51.12    7800   0.00    0.288    0.000    0.288  406.057    1.437   2.0

One run per run definition, warm-up left out (SkewReport.java). Section 0 is `Total`, each row a section of its own; a
host's total of its slaves is not read where the hosts have a table. File systems have FwdStats.java's columns under a
name. Columns are read by their two title lines and mean what they mean in `vdbench`; the skew that was asked for and
observed is not read. A run with one slave, host and definition has no table, and a page of only such ones no figures.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from msgspec import structs

from apps.parsers.finite import number
from apps.parsers.shape import Broken, ParsedFile, ParsedRun, ParsedSample, ParsedSection, ParseError
from apps.parsers.source_text import SourceText
from apps.parsers.vdbench_columns import Columns, read_columns
from apps.parsers.vdbench_damaged import TELLING
from apps.parsers.vdbench_definition import SKEW, START, loops, workload
from apps.parsers.vdbench_samples import Row, samples_of

_LONGEST = 4000
_KINDS = ("Slave:", "Host:", "SD:", "WD:", "FSD:", "FWD:")
_TOTAL = "Total"
_TIME = 13  # characters of `15:22:16.020 `


def is_page(text: SourceText) -> bool:
    """Whether there is a table of a skew report, or the page for them without any."""
    return SKEW in text.text or any(_heading(text, index) for index in _headings(text))


def read_page(text: SourceText) -> ParsedFile:
    """Raises `ParseError` for a page without figures."""
    broken: list[Broken] = []
    found = [one for one in _definitions(text, broken) if one.rows]
    if not found and not broken:
        message = "no figures on the page: each run had one slave, one host and one definition"
        raise ParseError(message, expected="a table of SD:, WD:, Host: or Slave:; summary.html has the runs")
    return ParsedFile(tuple(one.run(text) for one in found), broken=tuple(broken))


@dataclass(slots=True)
class _Definition:
    name: str = ""
    told: str = ""
    first: int = -1
    last: int = -1
    tables: list[str] = field(default_factory=list)  # their kinds
    rows: list[tuple[str, str, Columns, Row]] = field(default_factory=list)  # kind, label

    def run(self, text: SourceText) -> ParsedRun:
        ordered = self._sections()
        samples = [
            structs.replace(sample, section=number)
            for number, (_, _, columns, row) in enumerate(ordered)
            for sample in self._samples(columns, row)
        ]
        names = [_TOTAL if label == _TOTAL else f"{kind.removesuffix(':')} {label}" for kind, label, _, _ in ordered]
        return ParsedRun(
            tool="vdbench", tool_version="", samples=tuple(samples), caption=self.name,
            sections=tuple(ParsedSection(number, name) for number, name in enumerate(names)) if len(names) > 1 else (),
            labels={"rd": self.name} if self.name else {}, workload=workload(self.told),
            line=text.number(self.first), last_line=text.number(self.last),
        )  # fmt: skip

    def _samples(self, columns: Columns, row: Row) -> Iterator[ParsedSample]:
        return samples_of(columns, row, None, None, (row,), loops(self.told))

    def _sections(self) -> list[tuple[str, str, Columns, Row]]:
        """The last total is the run's, unless it is that of one host's slaves among several."""
        totals = [row for row in self.rows if row[1] == _TOTAL and not self._is_of_one_host(row[0])]
        return totals[-1:] + [row for row in self.rows if row[1] != _TOTAL]

    def _is_of_one_host(self, kind: str) -> bool:
        return kind == "Slave:" and self.tables.count(kind) > 1


def _definitions(text: SourceText, broken: list[Broken]) -> Iterator[_Definition]:
    now = _Definition()
    kind, columns = "", None
    for index, line in enumerate(text.lines):
        bare = _bare(line[:_LONGEST])
        if match := START.search(line[:_LONGEST]):
            yield now
            now, columns = _Definition(match[2], match[3], index, index), None
        elif found := _heading(text, index):
            kind, columns = bare.split()[0], found
            now.tables.append(kind)
        elif not bare.strip():
            columns = None
        elif columns is not None:
            label, _, rest = bare.partition(" ")
            values = rest.split()
            if len(values) < len(columns.names):
                expected = f"a name and {len(columns.names)} columns"
                broken.append(Broken("a row is not as wide as its title", text.number(index), line[:100], expected))
                continue
            named = dict(zip(columns.names, values, strict=False))
            strange = [word for name, word in named.items() if name in TELLING and number(word) is None]
            if strange:
                message = "what this row did cannot be read"
                broken.append(Broken(message, text.number(index), ", ".join(strange)[:60], "a number"))
                continue
            now.rows.append((kind, label, columns, Row(text.number(index), 0.0, rest, len(line) - len(rest), named)))
            now.first, now.last = (index if now.first < 0 else now.first), index
    yield now


def _headings(text: SourceText) -> Iterator[int]:
    if any(kind in text.text for kind in _KINDS):
        yield from (index for index, line in enumerate(text.lines) if _bare(line[:_LONGEST]).startswith(_KINDS))


def _heading(text: SourceText, index: int) -> Columns | None:
    """The columns of a table whose second title line this is."""
    below = _bare(text.lines[index][:_LONGEST])
    if index == 0 or not below.startswith(_KINDS):
        return None
    above = _bare(text.lines[index - 1][:_LONGEST])
    found = read_columns(f"Jan 01, 1970 {above}", below.partition(":")[2])  # other reports have the date there
    if found is None or found.is_files:
        return found
    return Columns(tuple(name for name in found.names if not name.startswith("skew ")))


def _bare(line: str) -> str:
    """Without the time."""
    is_timed = line[2:3] == ":" and line[5:6] == ":" and line[8:9] == "." and line[:2].isdecimal()
    return line[_TIME:] if is_timed else line
