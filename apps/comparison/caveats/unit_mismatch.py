"""A printed rate that is not the value in any base, and pages whose units look alike and count differently."""

from collections.abc import Mapping

from apps.comparison.caveats.printed_units import printed_rate
from apps.comparison.caveats.rule import BANDWIDTH, CaveatRule, Cells, Key
from apps.comparison.readings import Reading
from apps.core.units import exact, human, significant


def check(reading: Reading) -> str | None:
    """Compare a tool's printed rate with the quotient of the bytes and seconds that it printed."""
    printed = printed_rate(reading.printed)
    if printed is None or not reading.value:
        return None
    factors = printed.factors()
    if any(printed.fits(reading.value, factor) for factor in factors.values()):
        return None
    would_be = " or ".join(f"{human(printed.number * factor, 'B/s', base)}" for base, factor in factors.items())
    times = significant(reading.value / (printed.number * min(factors.values())))
    text = f"printed {reading.printed} would be {would_be}; {_value(reading)} is {times} × that"
    meant = next(printed.other_units(reading.value), "")
    return f"{text}; it fits {meant}" if meant else text


def _value(reading: Reading) -> str:
    seconds = reading.beside.get("elapsed")
    value = exact(round(reading.value or 0), "B/s")
    if not seconds or not reading.file_size:
        return f"the value {value}"
    return f"{exact(reading.file_size, 'B')} ÷ {significant(seconds / 1e9, 6)} s = {value}"


def mixed(cells: Cells) -> Mapping[Key, str]:
    """Report cells in which K, M or G count 1000 beside cells in which they count 1024."""
    units: dict[int, dict[str, None]] = {}
    where: dict[Key, int] = {}
    for key, readings in cells.items():
        for reading in readings:
            printed = printed_rate(reading.printed)
            base = printed.base_of(reading.value) if printed and reading.value else None
            if printed and base:
                units.setdefault(base, {})[printed.unit] = None
                where[key] = base
    if len(units) < 2:
        return {}
    text = "; ".join(f"{', '.join(names)} count {base}" for base, names in sorted(units.items()))
    return dict.fromkeys(where, f"printed units that look alike: {text}; here all are in one base")


RULE = CaveatRule(
    name="unit_mismatch",
    title="Units do not agree",
    text="What was printed is not the value in the unit that stands beside it, or K, M and G do not count the same "
    "everywhere here. The printed figures cannot be held against each other.",
    of_reading=check,
    of_cells=mixed,
    metrics=BANDWIDTH,
)
