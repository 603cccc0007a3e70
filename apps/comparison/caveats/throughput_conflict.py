"""IOzone's throughput mode: what the children saw together and what the parent saw are not one thing."""

from apps.comparison.caveats.rule import BANDWIDTH, CaveatRule
from apps.comparison.readings import Reading
from apps.core.quantities import quantity
from apps.core.units import significant

FAR = 2.0


def check(reading: Reading) -> str | None:
    parent, slowest = reading.beside.get("bandwidth_parent"), reading.beside.get("bandwidth_min")
    if not reading.value:
        return None
    sentences = [_apart(reading.value, parent)]
    if slowest == 0:
        sentences.append("the slowest child 0 B/s")
    text = "; ".join(part for part in sentences if part)
    return f"{text}{_average(reading)}" if text else None


def _apart(children: float, parent: float | None) -> str:
    if not parent or 1 / FAR <= children / parent <= FAR:
        return ""
    times = max(children / parent, parent / children)
    text = f"children together {quantity(children, 'B/s')}, parent {quantity(parent, 'B/s')}"
    return f"{text}: {significant(times)} ×, more than {FAR:g} ×"


def _average(reading: Reading) -> str:
    mean, value, threads = reading.beside.get("bandwidth_mean"), reading.value or 0.0, reading.threads or 1
    if not mean or threads == 1 or abs(mean * threads - value) > 0.001 * value:
        return ""
    return f"; the average {quantity(mean, 'B/s')} = {quantity(value, 'B/s')} ÷ {threads} hides it"


RULE = CaveatRule(
    name="throughput_conflict",
    title="Children and parent disagree",
    text="The processes did not run side by side for the whole time: each child's rate counts its own seconds alone, so "
    "their sum was never carried.",
    of_reading=check,
    metrics=BANDWIDTH,
)
