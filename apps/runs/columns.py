"""The samples of a run column by column, as they travel from the confined child to COPY when thousands of files are read: an object
for each value would cost more than its row.

    columns = columns_of(samples)          # None where they do not fit; then they stay objects
    columns.samples() == samples
"""

from array import array
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from apps.parsers.shape import ParsedSample, ParsedTable

Word = tuple[str, str]  # operation and metric
Key = tuple[int | None, int | None, int | None, int | None]  # file size, block size, threads, depth
# Which sample, and from `quality` on what most samples leave out.
Said = tuple[int, str, str, float | None, float | None, float | None, str, tuple[float, ...]]
SAYS_NOTHING = ("exact", "", None, None, None, "", ())
_NO_LINE = 0
_WIDTHS = (("measure", 2), ("point", 2), ("section", 2), ("value", 8), ("line", 4))


class Columns(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """As many entries in each column as in `printed`. Who made them may be a stranger's work, so they are checked when they come."""

    words: list[Word]  # different ones
    points: list[Key]
    measure: bytes  # places in `words`, uint16
    point: bytes  # places in `points`, uint16
    section: bytes  # int16
    value: bytes  # float64
    line: bytes  # int32; 0: none
    printed: list[str]
    missing: list[int]  # which have no value
    said: list[Said]

    def __post_init__(self) -> None:
        count = len(self.printed)
        for name, width in _WIDTHS:
            if len(getattr(self, name)) != count * width:
                raise ValueError(f"found {len(getattr(self, name))} bytes of {name}, expected {count} × {width}")
        for places, most in ((_uint16(self.measure), len(self.words)), (_uint16(self.point), len(self.points)),
                             (self.missing, count), ([one[0] for one in self.said], count)):  # fmt: skip
            if places and not 0 <= min(places) <= max(places) < most:
                raise ValueError(f"found the place {max(places)}, expected one of {most}")

    def __len__(self) -> int:
        return len(self.printed)

    @property
    def has_values(self) -> bool:
        return len(self.missing) < len(self)

    def samples(self) -> tuple[ParsedSample, ...]:
        said = {place: rest for place, *rest in self.said}
        return tuple(ParsedSample(*one, *said.get(place, ())) for place, one in enumerate(self._plain()))

    def _plain(self) -> Iterator[tuple[Any, ...]]:
        missing = set(self.missing)
        columns = (_uint16(self.measure), _uint16(self.point), array("h", self.section), array("d", self.value),
                   array("i", self.line), self.printed)  # fmt: skip
        for place, (measure, point, section, value, line, printed) in enumerate(zip(*columns, strict=True)):
            known = None if place in missing else value
            yield *self.words[measure], known, section, *self.points[point], printed, line or None


def columns_of(samples: Sequence[ParsedSample]) -> Columns | None:
    """None where a number is of another kind than it should be, or too large for its column."""
    if isinstance(samples, ParsedTable):
        return _of_table(samples)
    words: dict[Word, int] = {}
    points: dict[Key, int] = {}
    values, lines = [one.value for one in samples], [one.line for one in samples]
    said = [(place, *found) for place, one in enumerate(samples) if (found := said_of(one)) != SAYS_NOTHING]
    if not _fit(values, lines, said):
        return None
    try:
        return Columns(
            measure=array("H", [words.setdefault((s.operation, s.metric), len(words)) for s in samples]).tobytes(),
            point=array("H", [
                points.setdefault((s.file_size, s.block_size, s.threads, s.iodepth), len(points)) for s in samples
            ]).tobytes(),
            section=array("h", [one.section for one in samples]).tobytes(),
            value=array("d", [0.0 if one is None else one for one in values]).tobytes(),
            line=array("i", [_NO_LINE if one is None else one for one in lines]).tobytes(),
            printed=[one.printed for one in samples],
            missing=[place for place, one in enumerate(values) if one is None] if None in values else [],
            said=said, words=list(words), points=list(points),
        )  # fmt: skip
    except (OverflowError, TypeError):
        return None


def _of_table(table: ParsedTable) -> Columns | None:
    """Its columns are there already."""
    words: dict[Word, int] = {}
    points: dict[Key, int] = {}
    measures = [words.setdefault((one, table.metric), len(words)) for one in table.operations]
    rows = zip(table.file_sizes, table.block_sizes, strict=True)
    places = [points.setdefault((size, block, None, None), len(points)) for size, block in rows]
    try:
        return Columns(
            measure=array("H", measures * len(places)).tobytes(),
            point=array("H", [place for place in places for _ in measures]).tobytes(),
            section=bytes(2 * len(table)),
            value=array("d", table.values).tobytes(),
            line=array("i", [line for line in table.lines for _ in measures]).tobytes(),
            printed=table.printed, missing=[], said=[], words=list(words), points=list(points),
        )  # fmt: skip
    except OverflowError:
        return None


def _fit(values: Sequence[Any], lines: Sequence[Any], said: Sequence[Said]) -> bool:
    """A whole number where a fraction belongs would be another one on the other side, and a line 0 none."""
    fractions = [*values, *(number for one in said for number in (*one[3:6], *one[7]))]
    return set(map(type, fractions)) <= {float, type(None)} and _NO_LINE not in lines


def said_of(one: ParsedSample) -> tuple[str, str, float | None, float | None, float | None, str, tuple[float, ...]]:
    """How far it can be trusted; `SAYS_NOTHING` of most."""
    return one.quality, one.missing_reason, one.low, one.high, one.cpu, one.note, one.alternatives


def _uint16(column: bytes) -> "array[int]":
    return array("H", column)
