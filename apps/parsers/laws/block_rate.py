"""I/Os per second × bytes per I/O are the bytes per second, where all I/Os have the same size.

Short I/Os and blocks that a tool counts otherwise make small differences, hence a wide tolerance.
"""

from collections.abc import Iterator

from apps.parsers.laws.law import Contradiction, JobFigures, Law, LawEffect, write_figure

_TOLERANCE = 1.25


def _check(figures: JobFigures) -> Iterator[Contradiction]:
    rate, bandwidth, size = figures.value("iops"), figures.value("bandwidth"), figures.block_size
    if not rate or not bandwidth or not size:
        return
    product = rate * size
    if product <= bandwidth * _TOLERANCE and bandwidth <= product * _TOLERANCE:
        return
    errors = figures.error("iops") * size + figures.error("bandwidth")
    if product - errors > bandwidth * _TOLERANCE or bandwidth - errors > product * _TOLERANCE:
        printed = write_figure("bandwidth", bandwidth)
        reason = f"{write_figure('iops', rate)} × {size} B is {write_figure('bandwidth', product)}, not {printed}"
        yield Contradiction(("iops", "bandwidth"), reason, LawEffect.DOUBTED)


LAW = Law(
    name="block_rate",
    reason="IOPS × block size is the bandwidth, where all blocks have one size: else both are doubted",
    check=_check,
    metrics=frozenset({"iops"}),
)
