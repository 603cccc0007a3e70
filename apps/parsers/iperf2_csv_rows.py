"""The lines of iperf 2's CSV, told by their names. The format is told in `iperf2_csv`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from apps.parsers.finite import number, positive
from apps.parsers.source_text import SourceText

_HEADER = "time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,bytes,speed"
_BASIC = ("time", "srcaddress", "srcport", "dstaddr", "dstport", "transferid", "interval", "bytes", "speed")
_DATAGRAMS = (*_BASIC, "jitter", "errors", "datagrams", "errpercent", "outoforder")
_ROW = re.compile(
    r"^(?:[+-]\d{4}:)?\d{14}(?:\.\d{1,9})?,[^,\s]{0,100},\d{0,5},[^,\s]{0,100},\d{0,5},(?:-?\d{1,9}|SUM),\d"
)
_LIKE_ROW = re.compile(r"^(?:[+-]\d{4}:)?\d{14}(?:\.\d{1,9})?,[\da-fA-F.:]{2,100}(?:,\d{0,5})?(?:,|$)")
_BENT_ROW = re.compile(
    r"^[\w+:.-]{10,40},[\w.:%]{1,100},\w{0,6},[\w.:%]{1,100},\w{0,6},-?\w{1,9},[\w.]{1,16}-[\w.]{1,16},\w{1,20},\w{1,20}(?:,|$)"
)
_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}|[\da-fA-F.]*:[\da-fA-F:.]*(?:%\S{1,20})?|\W{0,9}hidden\W{0,9}|")
_INTERVAL = re.compile(r"(\d{1,9}\.\d{1,6})-(\d{1,9}\.\d{1,6})")
_ADDRESSES = ("srcaddress", "dstaddr")
_COMMAS = (len(_BASIC) - 1, len(_DATAGRAMS) - 1)
_LONGEST = 2000
_FIRST = "2+-1"  # of a year, or of a time zone
_LEAST_S = 1.0  # in shorter intervals, the decimals of their ends say too little
_LEAST_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Row:
    index: int
    cells: dict[str, str]
    start: float
    end: float
    rate: float  # B/s
    moved: float

    @property
    def key(self) -> tuple[str, ...]:
        return tuple(self.cells[name] for name in _BASIC[1:6])

    @property
    def ends(self) -> frozenset[str]:
        one, other = self.key[:2], self.key[2:4]
        return frozenset((":".join(one), ":".join(other)))

    @property
    def is_sum(self) -> bool:
        return self.cells["transferid"] in ("-1", "SUM")

    @property
    def is_consistent(self) -> bool:
        """Whether the rate has all its digits and no more, as the bytes and seconds tell: with one less it would be a tenth."""
        seconds = self.end - self.start
        return seconds < _LEAST_S or _LEAST_SHARE * self.moved <= self.rate * seconds <= (self.moved + 1) / _LEAST_SHARE

    @property
    def counts_datagrams(self) -> bool:
        return (positive(self.cells.get("datagrams", "")) or 0) > 0


def rows_of(text: SourceText, cut: list[int] | None = None) -> Iterator[Row]:
    """Also adds to `cut` the indices of lines that were rows before something cut or bent them."""
    header: Sequence[str] = ()
    for index, line in enumerate(text.lines):
        if line.startswith(_HEADER):
            header = line[:_LONGEST].strip().split(",")
        elif line[:1] in _FIRST and len(line) <= _LONGEST and _LIKE_ROW.match(line):
            words = line.strip().split(",")
            words[-1], _, said = words[-1].partition(" ")  # what a script put behind the line
            names = header if len(words) == len(header) else _DATAGRAMS if len(words) >= len(_DATAGRAMS) else _BASIC
            row = _row(index, dict(zip(names, words, strict=False))) if is_row(line) else None
            is_whole = _counts_are_numbers(words) if names is _DATAGRAMS else len(names) >= len(words)
            if row and is_whole and row.is_consistent and (not said or row.end - row.start >= _LEAST_S):
                yield row
            elif cut is not None:
                cut.append(index)
        elif cut is not None and line.count(",") in _COMMAS and _BENT_ROW.match(line[:_LONGEST]):
            cut.append(index)


def _counts_are_numbers(words: Sequence[str]) -> bool:
    """Jitter, lost and all datagrams: they tell who received."""
    return all(number(word) is not None for word in words[9:12])


def _row(index: int, cells: dict[str, str]) -> Row | None:
    match = _INTERVAL.fullmatch(cells.get("interval", ""))
    start, end = (match[1], match[2]) if match else (cells.get("istart", ""), cells.get("iend", ""))
    values = [number(word) for word in (start, end, cells.get("speed", ""), cells.get("bytes", ""))]
    if any(value is None or value < 0 for value in values):
        return None
    if not all(_ADDRESS.fullmatch(cells[name]) for name in _ADDRESSES):
        return None
    begin, until, bits, moved = (value or 0.0 for value in values)
    return Row(index, cells, begin, until, bits / 8, moved)


def is_row(line: str) -> bool:
    return line[:1] in _FIRST and len(line) <= _LONGEST and bool(_ROW.match(line))
