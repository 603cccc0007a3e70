"""A figure in a report's prose that disagrees with its table."""

from collections.abc import Sequence

from apps.comparison.caveats.printed import printed_rate
from apps.comparison.caveats.rule import BANDWIDTH, Rule
from apps.comparison.readings import Reading
from apps.lib.units import human, significant

PROSE = "read_from_text"


def check(readings: Sequence[Reading]) -> str | None:
    published = [one for one in readings if one.origin == "published" and one.value]
    prose = [one for one in published if one.quality == PROSE]
    table = [one for one in published if one.quality != PROSE]
    told = [_disagreement(one, table) for one in prose] if table else []
    return "; ".join(part for part in told if part) or None


def _disagreement(prose: Reading, table: Sequence[Reading]) -> str:
    """Against the nearest row; a figure of two digits means what rounds to it."""
    said = prose.value or 0.0
    row = min(table, key=lambda one: abs((one.value or 0.0) - said))
    value = row.value or 0.0
    printed = printed_rate(prose.printed)
    step = said / printed.number * printed.step if printed and printed.number else 0.0
    if abs(said - value) <= max(step, 1e-9 * said):
        return ""
    sums = f"{human(said, 'B/s')} ÷ {human(value, 'B/s')} = {significant(said / value)} ×"
    meant = next(printed.other_units(value), "") if printed else ""
    fits = f"; it fits where the unit means {meant}" if meant else ""
    return f"text “{prose.printed}”, table “{row.printed}”: {sums}{fits}"


RULE = Rule(
    name="text_vs_table",
    title="Text and table disagree",
    text="The report says one figure in its sentences and another in its table.",
    of_cell=check,
    metrics=BANDWIDTH,
)
