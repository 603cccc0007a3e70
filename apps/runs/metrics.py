"""The field's operations and metrics: their words, base units, and whether higher is better."""

from dataclasses import dataclass

OPERATIONS = (
    "write", "read", "randwrite", "randread", "rewrite", "reread", "char_write", "char_read", "backward_read",
    "record_rewrite", "stride_read", "fwrite", "frewrite", "fread", "freread", "pread", "pwrite", "trim", "seek",
    "create_seq", "stat_seq", "delete_seq", "create_rand", "stat_rand", "delete_rand", "copy", "net_send",
    "net_receive",
)  # fmt: skip


@dataclass(frozen=True)
class Metric:
    name: str
    unit: str  # B/s, 1/s, ns, B, fraction
    higher_is_better: bool
    label: str


_FIXED = [
    Metric("bandwidth", "B/s", True, "Bandwidth"),
    Metric("iops", "1/s", True, "IOPS"),
    Metric("rate", "1/s", True, "Rate"),
    Metric("cpu", "fraction", False, "CPU of one core"),
    Metric("latency_mean", "ns", False, "Mean latency"),
    Metric("latency_max", "ns", False, "Largest latency"),
    Metric("clat_mean", "ns", False, "Mean completion latency"),
    Metric("clat_min", "ns", False, "Smallest completion latency"),
    Metric("clat_max", "ns", False, "Largest completion latency"),
    Metric("clat_stdev", "ns", False, "Spread of completion latency"),
    Metric("slat_mean", "ns", False, "Mean submission latency"),
    Metric("io_bytes", "B", True, "Bytes moved"),
]
PERCENTILES = ("50", "90", "95", "99", "99_9", "99_99")
_PERCENTILES = [
    Metric(f"clat_p{p}", "ns", False, f"{p.replace('_', '.')} % of completions within") for p in PERCENTILES
]
METRICS: dict[str, Metric] = {metric.name: metric for metric in [*_FIXED, *_PERCENTILES]}


def metric(name: str) -> Metric:
    """The metric of this name; a name nobody declared is an error that lists what there is."""
    try:
        return METRICS[name]
    except KeyError:
        raise ValueError(f"Unknown metric {name!r}, expected one of: {', '.join(METRICS)}") from None
