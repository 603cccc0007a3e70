"""Which run of a new reading is which run of the one before, by what identifies it: what was read of it, its values, its lines in
the file, and its number there only where lines are not known. Pure.

paired([Place(…), …], [Place(…), …])  →  {0: 1, 1: 2}      # a run before them is newly found
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

Told = frozenset[tuple[str, str]]
Values = frozenset[tuple[Hashable, ...]]
Score = tuple[int, int, int]  # the higher the likelier
_LOOKED_AT = 64  # spans that begin before a line; more of them do not overlap in any file


@dataclass(frozen=True)
class Place:
    """Where a run stands in its file, and what tells it from its neighbours."""

    format: str
    number: int  # among its format's
    digest: str
    lines: frozenset[int] = frozenset()  # that its values were read from
    span: tuple[int, int] | None = None
    values: Values = frozenset()  # with what they are values of
    told: Told = frozenset()  # its machine, path, caption and begin, as printed
    is_chosen: bool = True  # else it takes no place of another format's run

    @property
    def whole(self) -> tuple[int, int] | None:
        """Its first and its last line, where they are known."""
        if self.span or not self.lines:
            return self.span
        return min(self.lines), max(self.lines)


def paired(before: Sequence[Place], now: Sequence[Place]) -> dict[int, int]:
    """Place among those before → place among those now."""
    pairing = _Pairing(before, now)
    pairing.by_digest()
    pairing.by_values()
    for is_likely in (_is_of_its_format, _is_of_another_format):
        pairing.by_lines(is_likely)
        pairing.by_spans(is_likely)
    pairing.by_number()
    return pairing.pairs


def _is_of_its_format(before: Place, now: Place) -> bool:
    return before.format == now.format


def _is_of_another_format(before: Place, now: Place) -> bool:
    return before.format != now.format and now.is_chosen


class _Pairing:
    def __init__(self, before: Sequence[Place], now: Sequence[Place]) -> None:
        self.before, self.now = before, now
        self.pairs: dict[int, int] = {}
        self.taken: set[int] = set()

    def by_digest(self) -> None:
        found = {(one.format, one.digest): place for place, one in reversed(list(enumerate(self.now)))}
        for place, one in enumerate(self.before):
            self._pair(place, found.get((one.format, one.digest)))

    def by_values(self) -> None:
        """Those whose values are the same, wherever they stand: lines are counted otherwise where a text is unpacked otherwise."""
        of_values: dict[tuple[str, Values], list[int]] = defaultdict(list)
        for new in self._new():
            of_values[self.now[new].format, self.now[new].values].append(new)
        self._best(
            (self._score(place, new, len(old.lines & self.now[new].lines)), place, new)
            for place in self._old()
            if (old := self.before[place]).values
            for new in of_values[old.format, old.values][:_LOOKED_AT]
        )

    def by_lines(self, is_likely: Callable[[Place, Place], bool]) -> None:
        """Those whose values stand in the same lines."""
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

    def by_spans(self, is_likely: Callable[[Place, Place], bool]) -> None:
        """Those whose stretches of lines overlap."""
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
        """Only where lines are not known: those of two places in the file are two runs, whatever their numbers. What is printed
        beside a run says more than its number.
        """
        of_told: dict[tuple[str, Told], list[int]] = defaultdict(list)
        numbered = {(self.now[new].format, self.now[new].number): new for new in self._new()}
        for new in self._new():
            of_told[self.now[new].format, self.now[new].told].append(new)
        self._best(
            (self._score(place, new), place, new)
            for place in self._old()
            if (old := self.before[place]).told
            for new in of_told[old.format, old.told][:_LOOKED_AT]
            if self._has_no_lines(place, new)
        )
        for place in self._old():
            same = numbered.get((self.before[place].format, self.before[place].number))
            if same is not None and self._has_no_lines(place, same):
                self._pair(place, same)

    def _has_no_lines(self, place: int, new: int) -> bool:
        return self.before[place].whole is None or self.now[new].whole is None

    def _score(self, place: int, new: int, shared: int = 0) -> Score:
        old, one = self.before[place], self.now[new]
        return shared, len(old.told & one.told), -abs(old.number - one.number)

    def _best(self, candidates: Iterable[tuple[Score, int, int]]) -> None:
        for _, place, new in sorted(candidates, key=lambda one: (one[0], -one[1], -one[2]), reverse=True):
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
