"""Matching of the runs of two readings of one file, by what was read, by values, by lines and, without lines, by number.

pair_runs([RunPlace(…), …], [RunPlace(…), …])  →  {0: 1, 1: 2}      # a run before them is new
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.parsers.core.models import ParsedSample
from apps.runs.models import Sample
from apps.uploads.file_reader import ReadRun
from apps.uploads.models import UploadedRun
from apps.uploads.run_fields import numbers_of, time_of, told_by

PrintedLabels = frozenset[tuple[str, str]]
Values = frozenset[tuple[Hashable, ...]]
Score = tuple[int, int, int]  # the higher the likelier
_LOOKED_AT = 64  # spans that begin before a line; more of them do not overlap in any file


@dataclass(frozen=True)
class RunPlace:
    """Where a run stands in its file, and what tells it from its neighbours."""

    format: str
    number: int  # among its format's
    digest: str
    lines: frozenset[int] = frozenset()  # that its values were read from
    span: tuple[int, int] | None = None
    values: Values = frozenset()  # with what they are values of
    printed: PrintedLabels = frozenset()  # its machine, path, caption and begin, as printed
    is_chosen: bool = True  # else it takes no place of another format's run

    @property
    def whole(self) -> tuple[int, int] | None:
        """Return the run's first and last line, or None where they are unknown."""
        if self.span or not self.lines:
            return self.span
        return min(self.lines), max(self.lines)


def pair_runs(before: Sequence[RunPlace], now: Sequence[RunPlace]) -> dict[int, int]:
    """Return the index of the run now by the index of the same run before."""
    pairing = _Pairing(before, now)
    pairing.by_digest()
    pairing.by_values()
    for is_likely in (_is_of_its_format, _is_of_another_format):
        pairing.by_lines(is_likely)
        pairing.by_spans(is_likely)
    pairing.by_number()
    return pairing.pairs


def _is_of_its_format(before: RunPlace, now: RunPlace) -> bool:
    return before.format == now.format


def _is_of_another_format(before: RunPlace, now: RunPlace) -> bool:
    return before.format != now.format and now.is_chosen


class _Pairing:
    def __init__(self, before: Sequence[RunPlace], now: Sequence[RunPlace]) -> None:
        self.before, self.now = before, now
        self.pairs: dict[int, int] = {}
        self.taken: set[int] = set()

    def by_digest(self) -> None:
        result = {(item.format, item.digest): place for place, item in reversed(list(enumerate(self.now)))}
        for place, entry in enumerate(self.before):
            self._pair(place, result.get((entry.format, entry.digest)))

    def by_values(self) -> None:
        """Pair runs with the same values at any lines, for lines are counted anew where a text is unpacked in another way."""
        of_values: dict[tuple[str, Values], list[int]] = defaultdict(list)
        for new in self._new():
            of_values[self.now[new].format, self.now[new].values].append(new)
        self._best(
            (self._score(place, new, len(old.lines & self.now[new].lines)), place, new)
            for place in self._old()
            if (old := self.before[place]).values
            for new in of_values[old.format, old.values][:_LOOKED_AT]
        )

    def by_lines(self, is_likely: Callable[[RunPlace, RunPlace], bool]) -> None:
        """Pair runs whose values stand in the same lines."""
        of_line: dict[int, list[int]] = defaultdict(list)
        for new in self._new():
            for line in self.now[new].lines:
                of_line[line].append(new)
        shared = (
            (place, new, count)
            for place in self._old()
            for new, count in Counter(new for line in self.before[place].lines for new in of_line[line]).items()
        )
        self._best(
            (self._score(place, new, count), place, new)
            for place, new, count in shared
            if is_likely(self.before[place], self.now[new])
        )

    def by_spans(self, is_likely: Callable[[RunPlace, RunPlace], bool]) -> None:
        """Pair runs whose ranges of lines overlap."""
        spans = sorted((*span, new) for new in self._new() if (span := self.now[new].whole))
        starts = [first for first, _, _ in spans]
        overlaps = (
            (place, new)
            for place in self._old()
            if (whole := self.before[place].whole)
            for _, last, new in spans[
                max(0, bisect_right(starts, whole[1]) - _LOOKED_AT) : bisect_right(starts, whole[1])
            ]
            if last >= whole[0]
        )
        self._best(
            (self._score(place, new), place, new)
            for place, new in overlaps
            if is_likely(self.before[place], self.now[new])
        )

    def by_number(self) -> None:
        """Pair runs without known lines, first by what is printed about them, then by their number in the file.

        Runs with known lines at two places of a file are different runs, whatever their numbers.
        """
        by_printed: dict[tuple[str, PrintedLabels], list[int]] = defaultdict(list)
        numbered = {(self.now[new].format, self.now[new].number): new for new in self._new()}
        for new in self._new():
            by_printed[self.now[new].format, self.now[new].printed].append(new)
        self._best(
            (self._score(place, new), place, new)
            for place in self._old()
            if (old := self.before[place]).printed
            for new in by_printed[old.format, old.printed][:_LOOKED_AT]
            if self._has_no_lines(place, new)
        )
        for place in self._old():
            same = numbered.get((self.before[place].format, self.before[place].number))
            if same is not None and self._has_no_lines(place, same):
                self._pair(place, same)

    def _has_no_lines(self, place: int, new: int) -> bool:
        return self.before[place].whole is None or self.now[new].whole is None

    def _score(self, place: int, new: int, shared: int = 0) -> Score:
        old, item = self.before[place], self.now[new]
        return shared, len(old.printed & item.printed), -abs(old.number - item.number)

    def _best(self, candidates: Iterable[tuple[Score, int, int]]) -> None:
        for _, place, new in sorted(
            candidates, key=lambda candidate: (candidate[0], -candidate[1], -candidate[2]), reverse=True
        ):
            if place not in self.pairs:
                self._pair(place, new)

    def _pair(self, place: int, new: int | None) -> None:
        if new is not None and new not in self.taken:
            self.pairs[place] = new
            self.taken.add(new)

    def _old(self) -> list[int]:
        return [place for place in range(len(self.before)) if place not in self.pairs]

    def _new(self) -> list[int]:
        return [place for place in range(len(self.now)) if place not in self.taken]


STORED = (
    "measure__operation", "measure__metric", "section", "point__file_size", "point__block_size", "point__threads",
    "point__iodepth", "value",
)  # fmt: skip
_TELLING = ("machine", "path", "caption")


def key_of(sample: ParsedSample) -> tuple[object, ...]:
    """Return what a sample is a value of: the columns of `STORED` without the value."""
    return (
        sample.operation,
        sample.metric,
        sample.section,
        sample.file_size,
        sample.block_size,
        sample.threads,
        sample.iodepth,
    )


def places_found(runs: Sequence[ReadRun]) -> list[RunPlace]:
    return [_found(run, number) for run, number in zip(runs, numbers_of(runs), strict=True)]


def _found(reading: ReadRun, number: int) -> RunPlace:
    run = reading.run
    lines = frozenset(sample.line for sample in reading.samples if sample.line is not None)
    span = (run.line, run.last_line or run.line) if run.line is not None else None
    values = frozenset((*key_of(sample), sample.value) for sample in reading.samples)
    reported = _told(told_by(run), time_of(run.started_at))
    return RunPlace(reading.format, number, reading.digest, lines, span, values, reported, reading.is_chosen)


def places_kept(rows: Sequence[UploadedRun], found_again: Collection[str]) -> list[RunPlace]:
    """Return the places of saved runs.

    Args:
        found_again: Digests of the new reading; runs with these need no look at their samples.
    """
    again = set(found_again)
    lines: dict[int, set[int]] = defaultdict(set)
    values: dict[int, set[tuple[Any, ...]]] = defaultdict(set)
    changed = [row.run_id for row in rows if row.digest not in again]
    if changed:
        for run, line, *value in Sample.objects.filter(run__in=changed).values_list("run_id", "source_line", *STORED):
            values[run].add(tuple(value))
            if line is not None:
                lines[run].add(line)
    return [
        RunPlace(
            row.format, row.number, row.digest, frozenset(lines[row.run_id]), values=frozenset(values[row.run_id]),
            printed=_told(row.run.labels, row.run.started_at),
        )
        for row in rows
    ]  # fmt: skip


def _told(labels: dict[str, str], started_at: datetime | None) -> PrintedLabels:
    reported = {(name, labels[name]) for name in _TELLING if labels.get(name)}
    return frozenset(reported | ({("began", started_at.isoformat())} if started_at else set()))
