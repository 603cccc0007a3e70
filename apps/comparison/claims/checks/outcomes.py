"""The outcome of a check: its comparisons, and the state and verdict that follow from them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from apps.comparison.claims.checks.amounts import Amount

HOLDS, PARTLY, FAILS, NO_DATA = "holds", "partly", "fails", "no data"
SUPPORTED, CONTRADICTED, NOT_SHOWN, NOT_CHECKABLE = "supported", "contradicted", "not shown", "not checkable"
# `not shown` is of claims about a question alone: the data have an answer, which leaves the claim open.
VERDICTS = (SUPPORTED, PARTLY, CONTRADICTED, NOT_SHOWN, NOT_CHECKABLE)


@dataclass(frozen=True, slots=True)
class CheckLine:
    """One comparison. `holds` is None where it could not be made, or where a range leaves it open; `words` say why.

    `low` and `high` bound its number (a ratio, a difference, a value) in `unit`; None where there is none.
    """

    at: str
    words: str
    holds: bool | None
    low: float | None = None
    high: float | None = None
    unit: str = ""
    samples: tuple[int, ...] = ()


def line_of(at: str, words: str, holds: bool | None, amount: Amount) -> CheckLine:
    return CheckLine(at, words, holds, amount.low, amount.high, amount.unit, amount.samples)


@dataclass(frozen=True)
class CheckOutcome:
    """`left_out`: what some groups have and others lack, and is therefore not compared."""

    kind: str
    sentence: str
    lines: Sequence[CheckLine]
    left_out: int = 0
    name: str = ""
    state: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "state", state_of([line.holds for line in self.lines]))

    @property
    def holding(self) -> int:
        return sum(line.holds is True for line in self.lines)

    @property
    def made(self) -> int:
        return sum(line.holds is not None for line in self.lines)


def state_of(holds: Sequence[bool | None]) -> str:
    made = [hold for hold in holds if hold is not None]
    if not made:
        return NO_DATA
    return HOLDS if all(made) else PARTLY if any(made) else FAILS


def verdict_of(states: Sequence[str]) -> str:
    """Return the verdict from the states of all checks, by the rule in the package's docstring."""
    if all(state == NO_DATA for state in states):
        return NOT_CHECKABLE
    if all(state == HOLDS for state in states):
        return SUPPORTED
    return CONTRADICTED if all(state in (FAILS, NO_DATA) for state in states) else PARTLY
