"""Whatever moved bytes took time: a rate, a duration or a latency of 0 beside them is a clock that stood still."""

from collections.abc import Iterator

from apps.parsers.laws.law import KINDS, Contradiction, JobFigures, Law, LawEffect, write_figure

_RATES = ("bandwidth", "iops", "rate")
_WORDS = ("mean", "min", "max", "stdev")


def _check(figures: JobFigures) -> Iterator[Contradiction]:
    moved = figures.value("io_bytes")
    if moved:
        stopped = tuple(metric for metric in ("bandwidth", "elapsed", "iops") if figures.value(metric) == 0)
        if "bandwidth" in stopped or "elapsed" in stopped:
            reason = f"0 beside {write_figure('io_bytes', moved)} moved: no time was measured, or too little to print"
            yield Contradiction(stopped, reason, LawEffect.WITHHELD)
    elif figures.value("elapsed") == 0 and any(figures.value(metric) for metric in _RATES):
        yield Contradiction(("elapsed",), "0 beside a rate above 0: no time was measured", LawEffect.WITHHELD)
    if moved or any(figures.value(metric) for metric in _RATES):
        yield from _check_latencies(figures)


def _check_latencies(figures: JobFigures) -> Iterator[Contradiction]:
    for kind in KINDS:
        if figures.value(f"{kind}_mean") and figures.value(f"{kind}_max"):
            continue
        known = figures.select(f"{kind}_{word}" for word in _WORDS)
        is_measured = any(figures.value(metric) for metric in figures.of_kind(kind))
        if {f"{kind}_mean", f"{kind}_max"} & set(known) and not is_measured:
            reason = "0 throughout beside I/Os that took place: it was not measured"
            yield Contradiction(figures.of_kind(kind), reason, LawEffect.WITHHELD)


LAW = Law(
    name="stopped_clock",
    reason="bytes are not moved in no time, and no I/O takes 0: such rates, durations and latencies are withheld",
    check=_check,
    metrics=frozenset({"bandwidth", "elapsed", "iops", "rate"}),
)
