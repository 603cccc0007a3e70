"""The operations and metrics of storage and network benchmarks: name, label, base unit, and whether more is better.

`create`, `stat` and `delete` are of files in the order in which a tool names them. `mixed` is what a tool counted over
reads and writes together, `sync` a flush, `cached_read` a read that is meant to come from memory (hdparm -T),
`net_request` one request and its answer (netperf's TCP_RR). In IOzone's throughput mode `bandwidth` is the sum that the
children saw, `bandwidth_parent` what the parent saw, `bandwidth_min`, `_max` and `_mean` are per child, and `min_xfer`
is what the slowest child moved. `disk` is what the kernel counted at a disk while the tool ran, each disk being a
section; like CPU time, less of it for the same work is better.
"""

import re
from dataclasses import dataclass
from typing import Protocol

from apps.core import units

OPERATIONS = (
    "write", "read", "randwrite", "randread", "rewrite", "reread", "char_write", "char_read", "backward_read",
    "record_rewrite", "stride_read", "fwrite", "frewrite", "fread", "freread", "pread", "pwrite", "trim", "seek",
    "create_seq", "stat_seq", "delete_seq", "create_rand", "stat_rand", "delete_rand", "create", "stat", "delete", "copy", "net_send",
    "net_receive", "net_request", "mixed", "sync", "cached_read", "disk",
)  # fmt: skip


DISK = "disk"


@dataclass(frozen=True)
class Metric:
    name: str
    unit: str  # B/s, 1/s, ns, B, fraction; empty for a plain count
    higher_is_better: bool
    label: str


_FIXED = [
    Metric("bandwidth", "B/s", True, "Bandwidth"),
    Metric("iops", "1/s", True, "IOPS"),
    Metric("rate", "1/s", True, "Rate"),
    Metric("cpu", "fraction", False, "CPU of one core"),
    Metric("latency_mean", "ns", False, "Mean latency"),
    Metric("latency_max", "ns", False, "Max latency"),
    Metric("clat_mean", "ns", False, "Mean completion latency"),
    Metric("clat_min", "ns", False, "Min completion latency"),
    Metric("clat_max", "ns", False, "Max completion latency"),
    Metric("clat_stdev", "ns", False, "Std dev of completion latency"),
    Metric("slat_mean", "ns", False, "Mean submission latency"),
    Metric("clat_p1", "ns", False, "p1 completion latency (clat)"),
    Metric("slat_min", "ns", False, "Min submission latency"),
    Metric("slat_max", "ns", False, "Max submission latency"),
    Metric("slat_stdev", "ns", False, "Std dev of submission latency"),
    Metric("latency_min", "ns", False, "Min latency"),
    Metric("latency_stdev", "ns", False, "Std dev of latency"),
    Metric("jitter", "ns", False, "Jitter"),
    Metric("elapsed", "ns", False, "Elapsed time"),
    Metric("bandwidth_parent", "B/s", True, "Aggregate bandwidth (parent)"),
    Metric("bandwidth_min", "B/s", True, "Min bandwidth"),
    Metric("bandwidth_max", "B/s", True, "Max bandwidth"),
    Metric("bandwidth_mean", "B/s", True, "Mean bandwidth per job or interval"),
    Metric("bandwidth_stdev", "B/s", False, "Std dev of bandwidth"),
    Metric("iops_min", "1/s", True, "Min IOPS"),
    Metric("iops_max", "1/s", True, "Max IOPS"),
    Metric("iops_mean", "1/s", True, "Mean IOPS per interval"),
    Metric("iops_stdev", "1/s", False, "Std dev of IOPS"),
    Metric("io_bytes", "B", True, "Bytes moved"),
    Metric("min_xfer", "B", True, "Bytes that the slowest child moved"),
    Metric("disk_reads", "", False, "Reads at the disk"),
    Metric("disk_writes", "", False, "Writes at the disk"),
    Metric("disk_bytes_read", "B", False, "Bytes read at the disk"),
    Metric("disk_bytes_written", "B", False, "Bytes written at the disk"),
    Metric("disk_util", "fraction", False, "Disk busy"),
    Metric("lost", "fraction", False, "Lost datagrams"),
    Metric("retransmits", "", False, "Retransmits"),
]
PERCENTILES = ("50", "90", "95", "99", "99_9", "99_99")
_PERCENTILES = [
    Metric(f"clat_p{p}", "ns", False, f"p{p.replace('_', '.')} completion latency (clat)") for p in PERCENTILES
]
_LATENCIES = [Metric(f"latency_p{p}", "ns", False, f"p{p.replace('_', '.')} total latency") for p in PERCENTILES]
_PERCENTILE = re.compile(r"(clat|slat|latency)_p[0-9_]+")
METRICS: dict[str, Metric] = {metric.name: metric for metric in [*_FIXED, *_PERCENTILES, *_LATENCIES]}


def is_percentile(name: str) -> bool:
    """Return whether a metric is a percentile, which is never averaged within a run."""
    return bool(_PERCENTILE.fullmatch(name))


def what(operation: str, note: str) -> str:
    """Return the operation, or for a disk's sample the note that names the disk (`disk sda`)."""
    return note if operation == DISK and note else operation


def metric(name: str) -> Metric:
    """Return the metric of this name.

    Raises:
        ValueError: There is no such metric; the message lists all.
    """
    try:
        return METRICS[name]
    except KeyError:
        raise ValueError(f"Unknown metric {name!r}, expected one of: {', '.join(METRICS)}") from None


class HasPoint(Protocol):
    """A `Point`, or a parsed sample."""

    @property
    def file_size(self) -> int | None: ...
    @property
    def block_size(self) -> int | None: ...
    @property
    def threads(self) -> int | None: ...
    @property
    def iodepth(self) -> int | None: ...


def point_text(point: HasPoint) -> str:
    """Return a workload point in words: `4 KiB blocks, 1 GiB file, 4 jobs, depth 16`."""
    parts = [
        f"{units.size(point.block_size)} blocks" if point.block_size else "",
        f"{units.size(point.file_size)} file" if point.file_size else "",
        f"{point.threads} {'job' if point.threads == 1 else 'jobs'}" if point.threads else "",
        f"depth {point.iodepth}" if point.iodepth else "",
    ]
    return ", ".join(part for part in parts if part)
