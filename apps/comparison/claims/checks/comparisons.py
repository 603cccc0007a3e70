"""Checks that compare numbers: ranking, ratio, threshold, equality."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise

from apps.comparison.claims.checks.amounts import Amount, combined, format_range
from apps.comparison.claims.checks.definition import AnyCheck, Equality, Ranking, RatioCheck, Term, Threshold
from apps.comparison.claims.checks.outcomes import CheckLine, line_of
from apps.comparison.claims.checks.selection import Key
from apps.comparison.claims.checks.terms import Board, NoNumberError, key_words
from apps.core.units import significant

Made = Callable[[Board, Key, str], Iterator[CheckLine]]
_BOUNDS = {"at_least": "at least", "above": "above", "at_most": "at most", "below": "below"}
OPEN = "open: the range lies on both sides"


def on_every_key(board: Board, check: AnyCheck, terms: Sequence[Term], made: Made) -> tuple[list[CheckLine], int]:
    """Make the comparisons and return them with the number of keys that some group lacks."""
    keys, left_out = board.keys(terms, check.per)
    if not keys:
        return [CheckLine("", _why_none(board, check, terms), None)], left_out
    lines = [line for key in keys for line in _at(board, key, key_words(check.per, key, board.labels), made)]
    return [_denied(line) for line in lines] if check.is_denied else lines, left_out


def _at(board: Board, key: Key, at: str, made: Made) -> list[CheckLine]:
    try:
        return list(made(board, key, at))
    except NoNumberError as why:
        return [CheckLine(at, f"not compared: {why}", None)]


def _why_none(board: Board, check: AnyCheck, terms: Sequence[Term]) -> str:
    for term in terms:
        try:
            board.amount(term, (), ())
        except NoNumberError as why:
            return f"nothing to compare: {why}"
    return f"nothing to compare: no {', '.join(check.per)} is in all groups"


def _denied(line: CheckLine) -> CheckLine:
    if line.holds is None:
        return line
    return CheckLine(
        line.at, f"{line.words}; the claim denies it", not line.holds, line.low, line.high, line.unit, line.samples
    )


def ranking(board: Board, check: Ranking) -> tuple[list[CheckLine], int]:
    def made(board: Board, key: Key, at: str) -> Iterator[CheckLine]:
        for pair in pairwise(check.chain):
            yield from _at(board, key, at, partial(_above, check, pair))

    return on_every_key(board, check, check.chain, made)


def _above(check: Ranking, pair: tuple[Term, Term], board: Board, key: Key, at: str) -> Iterator[CheckLine]:
    a, b = (board.amount(term, check.per, key) for term in pair)
    holds = _more(a, b) if check.is_strict else _not(_more(b, a))
    sign = ">" if check.is_strict else "≥"
    yield line_of(at, f"{a.words} {sign} {b.words}{_open(holds)}", holds, _ratio_or_first(a, b))


def _ratio_or_first(a: Amount, b: Amount) -> Amount:
    samples = (*a.samples, *b.samples)
    ratio = combined("quotient", [a, b]) or a
    return Amount(ratio.low, ratio.high, ratio.unit, ratio.words, tuple(dict.fromkeys(samples)))


def ratio(board: Board, check: RatioCheck) -> tuple[list[CheckLine], int]:
    assert check.of is not None
    assert check.over is not None
    of, over = check.of, check.over
    bounds = {name: bound for name in _BOUNDS if (bound := getattr(check, name)) is not None}

    def made(board: Board, key: Key, at: str) -> Iterator[CheckLine]:
        a, b = board.amount(of, check.per, key), board.amount(over, check.per, key)
        ratio = combined("quotient", [a, b])
        if ratio is None:
            raise NoNumberError(f"{b.words} cannot be divided by")
        holds = _all(_bounded(name, ratio, Amount(bound, bound, "", "")) for name, bound in bounds.items())
        wanted = " and ".join(f"{_BOUNDS[name]} {significant(bound)}" for name, bound in bounds.items())
        yield line_of(at, f"{ratio.words}; {wanted}{_open(holds)}", holds, ratio)

    return on_every_key(board, check, [of, over], made)


def threshold(board: Board, check: Threshold) -> tuple[list[CheckLine], int]:
    assert check.of is not None
    of = check.of
    bounds = {name: bound for name in _BOUNDS if (bound := getattr(check, name)) is not None}

    def made(board: Board, key: Key, at: str) -> Iterator[CheckLine]:
        amount = board.amount(of, check.per, key)
        limits = {name: board.amount(bound, check.per, key) for name, bound in bounds.items()}
        holds = _all(_bounded(name, amount, limit) for name, limit in limits.items())
        wanted = " and ".join(f"{_BOUNDS[name]} {limit.words}" for name, limit in limits.items())
        samples = (*amount.samples, *(pk for limit in limits.values() for pk in limit.samples))
        whole = Amount(amount.low, amount.high, amount.unit, amount.words, tuple(dict.fromkeys(samples)))
        yield line_of(at, f"{amount.words}; {wanted}{_open(holds)}", holds, whole)

    return on_every_key(board, check, [of, *bounds.values()], made)


def equality(board: Board, check: Equality) -> tuple[list[CheckLine], int]:
    assert check.of is not None
    assert check.to is not None
    of, to = check.of, check.to

    def made(board: Board, key: Key, at: str) -> Iterator[CheckLine]:
        a, b = board.amount(of, check.per, key), board.amount(to, check.per, key)
        margin = max(check.absolute or 0, (check.relative or 0) * abs(b.high)) * (1 + 1e-9)
        holds = _near(a, b, margin)
        difference = combined("difference", [a, b])
        assert difference is not None
        unit = a.unit or b.unit
        apart = f"{format_range(difference.low, difference.high, unit)} apart"
        yield line_of(at, f"{a.words}, {b.words}: {apart}, {_allowed(check, unit)}{_open(holds)}", holds, difference)

    return on_every_key(board, check, [of, to], made)


def _allowed(check: Equality, unit: str) -> str:
    if check.relative:
        return f"{format_range(check.relative, check.relative, 'fraction')} allowed"
    return f"{format_range(check.absolute, check.absolute, unit)} allowed" if check.absolute else "none allowed"


def _near(a: Amount, b: Amount, margin: float) -> bool | None:
    if max(a.high - b.low, b.high - a.low) <= margin:
        return True
    return None if a.low - b.high <= margin and b.low - a.high <= margin else False


def _more(a: Amount, b: Amount) -> bool | None:
    """Return whether a > b whatever the values in the ranges are, or None where that is open."""
    return True if a.low > b.high else False if a.high <= b.low else None


def _not(holds: bool | None) -> bool | None:
    return None if holds is None else not holds


def _bounded(name: str, amount: Amount, limit: Amount) -> bool | None:
    if name == "above":
        return _more(amount, limit)
    if name == "below":
        return _more(limit, amount)
    return _not(_more(limit, amount)) if name == "at_least" else _not(_more(amount, limit))


def _all(holds: Iterator[bool | None]) -> bool | None:
    every = list(holds)
    return False if False in every else None if None in every else True


def _open(holds: bool | None) -> str:
    return f"; {OPEN}" if holds is None else ""
