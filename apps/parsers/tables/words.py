"""Operations and metrics as people write them over tables. The words themselves are those of `apps.runs.metrics`."""

import re

OPERATIONS = (
    "write", "read", "randwrite", "randread", "rewrite", "reread", "char_write", "char_read", "backward_read",
    "record_rewrite", "stride_read", "fwrite", "frewrite", "fread", "freread", "pread", "pwrite", "trim", "seek",
    "create_seq", "stat_seq", "delete_seq", "create_rand", "stat_rand", "delete_rand", "copy", "net_send",
    "net_receive", "net_request", "mixed", "sync", "cached_read",
)  # fmt: skip
METRICS = {  # → base unit
    "bandwidth": "B/s", "iops": "1/s", "rate": "1/s", "cpu": "fraction", "latency_mean": "ns", "latency_max": "ns",
    "latency_min": "ns", "latency_stdev": "ns", "clat_mean": "ns", "clat_min": "ns", "clat_max": "ns",
    "clat_stdev": "ns", "slat_mean": "ns", "slat_min": "ns", "slat_max": "ns", "slat_stdev": "ns", "jitter": "ns",
    "elapsed": "ns", "bandwidth_parent": "B/s", "bandwidth_min": "B/s", "bandwidth_max": "B/s",
    "bandwidth_mean": "B/s", "bandwidth_stdev": "B/s", "iops_min": "1/s", "iops_max": "1/s", "iops_mean": "1/s",
    "iops_stdev": "1/s", "io_bytes": "B", "min_xfer": "B", "lost": "fraction", "retransmits": "", "clat_p1": "ns",
    **{f"{kind}_p{p}": "ns" for kind in ("clat", "latency") for p in ("50", "90", "95", "99", "99_9", "99_99")},
}  # fmt: skip
METRIC_OF_BASE = {"B/s": "bandwidth"}  # the only base unit with one plain meaning

_NOT_WORDS = re.compile(r"[\s_\-.:()]+")
_SAID = {
    "sequential write": "write", "seq write": "write", "writing": "write", "writes": "write", "initial write": "write",
    "block write": "write", "seq write block": "write", "sequential output block": "write", "scrittura": "write",
    "schreiben": "write", "écriture": "write", "запись": "write", "sequential read": "read", "seq read": "read",
    "reading": "read", "reads": "read", "block read": "read", "seq read block": "read", "lettura": "read", "lesen": "read",
    "lecture": "read", "чтение": "read", "random write": "randwrite", "rand write": "randwrite", "rnd write": "randwrite",
    "randwrite": "randwrite", "random read": "randread", "rand read": "randread", "rnd read": "randread", "re write": "rewrite", "re read": "reread",
    "putc": "char_write", "per chr write": "char_write", "char write": "char_write", "seq write char": "char_write",
    "getc": "char_read", "per chr read": "char_read", "char read": "char_read", "seq read char": "char_read",
    "seeks": "seek", "random seeks": "seek", "bkwd read": "backward_read", "backward read": "backward_read",
    "seqrd": "read", "seqread": "read", "seqwr": "write", "seqwrite": "write", "seqrewr": "rewrite", "rndrd": "randread",
    "rndwr": "randwrite", "record rewrite": "record_rewrite", "stride read": "stride_read", "cp": "copy", "time cp": "copy",
}  # fmt: skip
_METRICS_SAID = {
    "bw": "bandwidth", "throughput": "bandwidth", "bandwidth": "bandwidth", "speed": "bandwidth", "io/s": "iops",
    "iops": "iops", "latency": "latency_mean", "mean latency": "latency_mean", "avg latency": "latency_mean",
    "average latency": "latency_mean", "elapsed time": "elapsed", "cpu": "cpu",
}  # fmt: skip


def plain(text: str) -> str:
    return _NOT_WORDS.sub(" ", text).strip().casefold()


def operation(text: str) -> str:
    """The operation that a word or heading means, '' where it is none of those known."""
    words = plain(text)
    return words.replace(" ", "_") if words.replace(" ", "_") in OPERATIONS else _SAID.get(words, "")


def metric(text: str) -> str:
    words = plain(text)
    return words.replace(" ", "_") if words.replace(" ", "_") in METRICS else _METRICS_SAID.get(words, "")
