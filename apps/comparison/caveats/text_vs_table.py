"""A figure in a report's prose that disagrees with its table.

What the prose says of a sample is known in two ways: by a claim that holds a quoted figure against that one sample
(`Quote`; its figure may be the value or a dimension of the point, such as the number of jobs), or as a sample of its own
that was read from the text. Such a one is held against a table's row of the same configuration at the same point, and
against none from which anything known of it differs.

A figure agrees that fits in units of 1000 or of 1024, in bits or in bytes. One that fits only as 1000 times 1024 bytes
does not: no unit means that.
"""

from collections.abc import Iterator, Sequence

from apps.comparison.caveats.printed_units import printed_rate
from apps.comparison.caveats.rule import CaveatRule
from apps.comparison.claims.checks.definition import Meaning
from apps.comparison.claims.checks.selection import dimension
from apps.comparison.claims.checks.unit_meanings import meanings_of
from apps.comparison.labels import label_of, text_of
from apps.comparison.readings import POINT, Quote, Reading
from apps.core.quantities import quantity
from apps.core.units import significant
from apps.runs.metrics import METRICS

PROSE = "read_from_text"
_NO_UNIT = " of 1"  # MB of 1000 KiB


def quoted(reading: Reading) -> str | None:
    return "; ".join(filter(None, (_against(quote, reading) for quote in reading.quotes))) or None


def _against(quote: Quote, reading: Reading) -> str:
    value = reading.value if quote.take == "value" else dimension(reading, quote.take)
    meanings = [meaning for meaning in meanings_of(quote.unit) if _NO_UNIT not in meaning.name]
    if not isinstance(value, int | float) or not meanings or any(_fits(quote, value, meaning) for meaning in meanings):
        return ""
    line = f", line {quote.line}" if quote.line else ""
    if quote.take != "value":
        sums = f"{quote.value:g} ÷ {value:g} = {significant(quote.value / value)} ×" if value else ""
        return f"text “{quote.text}”{line}, table {label_of(quote.take)} {text_of(quote.take, value)}: {sums}"
    unit = METRICS[reading.metric].unit
    text = f"text “{quote.text}”{line}, table “{reading.printed}”"
    return f"{text}: {_sums(quote.value * meanings[0].factor, value, unit, f'{quote.value:g} {quote.unit}')}"


def _fits(quote: Quote, value: float, meaning: Meaning) -> bool:
    return abs(value / meaning.factor - quote.value) <= quote.within * (1 + 1e-9)


def _sums(amount: float, value: float, unit: str, figure: str) -> str:
    times = f" = {significant(amount / value)} ×" if value else ""
    printed = printed_rate(figure)
    meant = next(printed.other_units(value), "") if printed else ""
    fits = f"; it fits where the unit means {meant}" if meant else ""
    return f"{quantity(amount, unit)} ÷ {quantity(value, unit)}{times}{fits}"


def beside_a_row(readings: Sequence[Reading]) -> str | None:
    """Compare samples read from running text with rows of a table."""
    rates = [
        reading
        for reading in readings
        if reading.metric == "bandwidth" and reading.origin == "published" and reading.value
    ]
    rows = [rate for rate in rates if rate.quality != PROSE]
    sentences = [sentence for rate in rates if rate.quality == PROSE for sentence in _disagreements(rate, rows)]
    return "; ".join(sentences) or None


def _disagreements(prose: Reading, rows: Sequence[Reading]) -> Iterator[str]:
    """Yield figures in prose that no row rounds to; of several rows one that agrees is enough."""
    alike = [row for row in rows if _is_of_the_same(prose, row)]
    amount, printed = prose.value or 0.0, printed_rate(prose.printed)
    step = amount / printed.number * printed.step if printed and printed.number else 0.0
    nearest = min(alike, key=lambda reading: abs((reading.value or 0.0) - amount), default=None)
    value = nearest.value if nearest else None
    if nearest and value and abs(amount - value) > max(step, 1e-9 * amount):
        yield f"text “{prose.printed}”, table “{nearest.printed}”: {_sums(amount, value, 'B/s', prose.printed)}"


def _is_of_the_same(prose: Reading, row: Reading) -> bool:
    """Return whether nothing is known to differ: neither operation, nor point, nor a fact of the run."""
    if prose.operation != row.operation or any(_differ(prose, row, name) for name in POINT):
        return False
    return prose.run == row.run or not any(_differ(prose, row, name) for name in prose.facts.keys() & row.facts.keys())


def _differ(reading: Reading, other: Reading, name: str) -> bool:
    ours, theirs = reading.of(name), other.of(name)
    return ours is not None and theirs is not None and ours != theirs


RULE = CaveatRule(
    name="text_vs_table",
    title="Text and table disagree",
    text="The report says one figure in its sentences and another in its table.",
    of_reading=quoted,
    of_cell=beside_a_row,
)
