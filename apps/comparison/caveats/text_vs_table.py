"""A figure in a report's prose that disagrees with its table.

What the prose says of a sample is known in two ways: by a claim that holds a quoted figure against that one sample
(`Quote`; its figure may be the value or a dimension of the point, such as the number of jobs), or as a sample of its own
that was read from the text. Such a one is held against a table's row of the same configuration at the same point, and
against none from which anything known of it differs.

A figure agrees that fits in units of 1000 or of 1024, in bits or in bytes. One that fits only as 1000 times 1024 bytes
does not: no unit means that.
"""

from collections.abc import Iterator, Sequence

from apps.comparison.caveats.printed import printed_rate
from apps.comparison.caveats.rule import Rule
from apps.comparison.claims.form import Meaning
from apps.comparison.claims.meanings import meanings_of
from apps.comparison.claims.selection import dimension
from apps.comparison.readings import POINT, Quote, Reading
from apps.comparison.words import label_of, text_of
from apps.lib.quantities import quantity
from apps.lib.units import significant
from apps.runs.metrics import METRICS

PROSE = "read_from_text"
_NO_UNIT = " of 1"  # MB of 1000 KiB


def quoted(reading: Reading) -> str | None:
    return "; ".join(filter(None, (_against(quote, reading) for quote in reading.quotes))) or None


def _against(quote: Quote, reading: Reading) -> str:
    found = reading.value if quote.take == "value" else dimension(reading, quote.take)
    meanings = [one for one in meanings_of(quote.unit) if _NO_UNIT not in one.name]
    if not isinstance(found, int | float) or not meanings or any(_fits(quote, found, one) for one in meanings):
        return ""
    line = f", line {quote.line}" if quote.line else ""
    if quote.take != "value":
        sums = f"{quote.value:g} ÷ {found:g} = {significant(quote.value / found)} ×" if found else ""
        return f"text “{quote.text}”{line}, table {label_of(quote.take)} {text_of(quote.take, found)}: {sums}"
    unit = METRICS[reading.metric].unit
    told = f"text “{quote.text}”{line}, table “{reading.printed}”"
    return f"{told}: {_sums(quote.value * meanings[0].factor, found, unit, f'{quote.value:g} {quote.unit}')}"


def _fits(quote: Quote, found: float, meaning: Meaning) -> bool:
    return abs(found / meaning.factor - quote.value) <= quote.within * (1 + 1e-9)


def _sums(said: float, value: float, unit: str, figure: str) -> str:
    times = f" = {significant(said / value)} ×" if value else ""
    printed = printed_rate(figure)
    meant = next(printed.other_units(value), "") if printed else ""
    fits = f"; it fits where the unit means {meant}" if meant else ""
    return f"{quantity(said, unit)} ÷ {quantity(value, unit)}{times}{fits}"


def beside_a_row(readings: Sequence[Reading]) -> str | None:
    """Samples that were read from the text against rows of a table."""
    rates = [one for one in readings if one.metric == "bandwidth" and one.origin == "published" and one.value]
    rows = [one for one in rates if one.quality != PROSE]
    told = [sentence for one in rates if one.quality == PROSE for sentence in _disagreements(one, rows)]
    return "; ".join(told) or None


def _disagreements(prose: Reading, rows: Sequence[Reading]) -> Iterator[str]:
    """A figure of two digits means what rounds to it; of several rows one that agrees is enough."""
    alike = [row for row in rows if _is_of_the_same(prose, row)]
    said, printed = prose.value or 0.0, printed_rate(prose.printed)
    step = said / printed.number * printed.step if printed and printed.number else 0.0
    nearest = min(alike, key=lambda one: abs((one.value or 0.0) - said), default=None)
    value = nearest.value if nearest else None
    if nearest and value and abs(said - value) > max(step, 1e-9 * said):
        yield f"text “{prose.printed}”, table “{nearest.printed}”: {_sums(said, value, 'B/s', prose.printed)}"


def _is_of_the_same(prose: Reading, row: Reading) -> bool:
    """Nothing is known to differ: neither the operation, nor the point, nor a fact of the run."""
    if prose.operation != row.operation or any(_differ(prose, row, name) for name in POINT):
        return False
    return prose.run == row.run or not any(_differ(prose, row, name) for name in prose.facts.keys() & row.facts.keys())


def _differ(one: Reading, other: Reading, name: str) -> bool:
    ours, theirs = one.of(name), other.of(name)
    return ours is not None and theirs is not None and ours != theirs


RULE = Rule(
    name="text_vs_table",
    title="Text and table disagree",
    text="The report says one figure in its sentences and another in its table.",
    of_reading=quoted,
    of_cell=beside_a_row,
)
