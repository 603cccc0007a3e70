"""Checks of monotony along an axis, of a figure in prose against a table, and of sets."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from apps.comparison.claims.checks.amounts import Amount, format_range
from apps.comparison.claims.checks.comparisons import OPEN, on_every_key
from apps.comparison.claims.checks.definition import Meaning, Members, Monotony, Quoted, Sets, TextAgainstTable
from apps.comparison.claims.checks.outcomes import CheckLine, line_of
from apps.comparison.claims.checks.selection import Key, chosen, dimension
from apps.comparison.claims.checks.terms import Board, NoNumberError, key_words
from apps.comparison.claims.checks.unit_meanings import meanings_of
from apps.comparison.labels import label_of
from apps.core.units import significant


def monotony(board: Board, check: Monotony) -> tuple[list[CheckLine], int]:
    """Make one comparison for each step along the axis."""
    assert check.of is not None
    of, wide = check.of, [*check.per, check.along]

    def made(board: Board, key: Key, at: str) -> Iterator[CheckLine]:
        places = [place for place in board.keys([of], wide)[0] if place[:-1] == key and place[-1] is not None]
        known = [(place, amount) for place in places if (amount := _or_none(board, check, wide, place))]
        if len(known) < 2:
            raise NoNumberError(f"{len(known)} value along {label_of(check.along)}, expected 2 or more")
        for (here, a), (there, b) in pairwise(known):
            step = " → ".join(key_words([check.along], end[-1:], board.labels) for end in (here, there))
            yield _step(check, " · ".join(filter(None, [at, step])), a, b)

    return on_every_key(board, check, [of], made)


def _or_none(board: Board, check: Monotony, wide: Sequence[str], place: Key) -> Amount | None:
    assert check.of is not None
    try:
        return board.amount(check.of, wide, place)
    except NoNumberError:
        return None


def _step(check: Monotony, at: str, a: Amount, b: Amount) -> CheckLine:
    first, second = (a, b) if check.direction == "rising" else (b, a)
    slack = 1 - check.slack
    holds = True if second.low >= first.high * slack else False if second.high < first.low * slack else None
    verb = OPEN if holds is None else check.direction if holds else f"not {check.direction}"
    samples = tuple(dict.fromkeys((*a.samples, *b.samples)))
    change = Amount(b.low - a.high, b.high - a.low, a.unit, "", samples)
    return line_of(
        at, f"{format_range(a.low, a.high, a.unit)} → {format_range(b.low, b.high, b.unit)}: {verb}", holds, change
    )


def text_against_table(board: Board, check: TextAgainstTable) -> tuple[list[CheckLine], int]:
    assert check.quoted is not None
    assert check.of is not None
    quoted, of = check.quoted, check.of
    within = check.within if check.within is not None else half_a_step(quoted)
    meanings = check.meanings or meanings_of(quoted.unit)

    def made(board: Board, key: Key, at: str) -> Iterator[CheckLine]:
        yield _read(quoted, board.amount(of, check.per, key), within, meanings, at)

    return on_every_key(board, check, [of], made)


def half_a_step(quoted: Quoted) -> float:
    """Return half a unit of the last digit: 44 means 43.5 to 44.5, 1.4 means 1.35 to 1.45."""
    decimals = len(repr(quoted.value).partition(".")[2]) if isinstance(quoted.value, float) else 0
    return 0.5 * 10.0 ** -(0 if float(quoted.value).is_integer() else decimals)


def _read(quoted: Quoted, amount: Amount, within: float, meanings: Sequence[Meaning], at: str) -> CheckLine:
    fitting = [
        meaning for meaning in meanings if abs(_nearest(quoted, amount, meaning) - quoted.value) <= within * (1 + 1e-9)
    ]
    tried = ", ".join(f"{significant(_nearest(quoted, amount, meaning), 4)} as {meaning.name}" for meaning in meanings)
    result = f"it fits as {' and as '.join(one.name for one in fitting)}" if fitting else "no meaning of the unit fits"
    text = f"text “{quoted.text or f'{quoted.value} {quoted.unit}'}”"
    return line_of(
        at, f"{text}, {amount.words}: {tried}; {significant(within)} apart at most: {result}", bool(fitting), amount
    )


def _nearest(quoted: Quoted, amount: Amount, meaning: Meaning) -> float:
    """Return what the quoted figure would have to be, in its own unit; of a range the nearest value."""
    low, high = amount.low / meaning.factor, amount.high / meaning.factor
    return min(max(float(quoted.value), low), high)


def sets(board: Board, check: Sets) -> tuple[list[CheckLine], int]:
    every = [_members(board, named_set) for named_set in check.sets]
    if missing := [named_set.name for named_set, values in zip(check.sets, every, strict=True) if not values]:
        return [CheckLine("", f"not compared: nobody says what is in {', '.join(missing)}", None)], 0
    lines = list(_SETS[check.relation](check, every))
    return [_deny(line) for line in lines] if check.is_denied else lines, 0


def _deny(line: CheckLine) -> CheckLine:
    return CheckLine(line.at, f"{line.words}; the claim denies it", not line.holds)


def _members(board: Board, members: Members) -> list[str]:
    names = list(members.values)
    if members.taken is not None:
        for reading in chosen(members.taken, board.readings):
            value = dimension(reading, members.taken.take)
            names += [
                str(member) for member in (value if isinstance(value, list | tuple) else [value]) if member is not None
            ]
    return list(dict.fromkeys(names))


def _disjoint(check: Sets, every: Sequence[Sequence[str]]) -> Iterator[CheckLine]:
    """Yield the one comparison that says that no member is in two sets."""
    whose: dict[str, list[str]] = {}
    for definition, values in zip(check.sets, every, strict=True):
        for value in values:
            whose.setdefault(value, []).append(definition.name)
    shared = [f"{value} is in {' and in '.join(names)}" for value, names in whose.items() if len(names) > 1]
    yield CheckLine("", "; ".join(shared) or f"none of the {len(whose)} is in two", not shared)


def _equal(check: Sets, every: Sequence[Sequence[str]]) -> Iterator[CheckLine]:
    for other, values in zip(check.sets[1:], every[1:], strict=True):
        odd = sorted(set(every[0]) ^ set(values))
        yield CheckLine(
            f"{check.sets[0].name} and {other.name}", f"only in one: {', '.join(odd)}" if odd else "the same", not odd
        )


def _subset(check: Sets, every: Sequence[Sequence[str]]) -> Iterator[CheckLine]:
    lacking = [value for value in every[0] if value not in every[1]]
    words = f"not in it: {', '.join(lacking)}" if lacking else f"all {len(every[0])} are in it"
    yield CheckLine(f"{check.sets[0].name} in {check.sets[1].name}", words, not lacking)


def _count(check: Sets, every: Sequence[Sequence[str]]) -> Iterator[CheckLine]:
    for definition, values in zip(check.sets, every, strict=True):
        words = f"{len(values)} ({', '.join(values)}), said to be {check.count}"
        yield CheckLine(definition.name, words, len(values) == check.count, len(values), len(values))


_SETS = {"disjoint": _disjoint, "equal": _equal, "subset": _subset, "count": _count}
