"""What the five reports' tests are called in our words: results.csv's `test` and `direction` → (operation, metric).

The unit of `value_si` there is that of the metric but for latencies, which are in seconds.
"""

_BONNIE = {
    "seq_write_char": "char_write", "seq_write_block": "write", "rewrite": "rewrite", "seq_read_char": "char_read",
    "seq_read_block": "read", "random_seeks": "seek", "create_files_seq": "create_seq", "read_files_seq": "stat_seq",
    "delete_files_seq": "delete_seq", "create_files_random": "create_rand", "read_files_random": "stat_rand",
    "delete_files_random": "delete_rand",
}  # fmt: skip
_RATES = {"seek", "create_seq", "stat_seq", "delete_seq", "create_rand", "stat_rand", "delete_rand"}
_IOZONE = {
    "write": "write", "rewrite": "rewrite", "read": "read", "reread": "reread", "random_read": "randread",
    "random_write": "randwrite", "bkwd_read": "backward_read", "record_rewrite": "record_rewrite",
    "stride_read": "stride_read", "fwrite": "fwrite", "frewrite": "frewrite", "fread": "fread", "freread": "freread",
}  # fmt: skip
_THROUGHPUT = {
    "children": "bandwidth", "parent": "bandwidth_parent", "min": "bandwidth_min", "max": "bandwidth_max",
    "avg": "bandwidth_mean", "min_xfer": "min_xfer",
}  # fmt: skip
_OTHERS = {
    "dd_write": "write", "dd_write_fdatasync": "write", "dd_write_dsync": "write", "dd_read": "read",
    "seq_write": "write", "seq_read": "read", "cp": "copy", "net_throughput": "net_send",
    # what a disk server sends while jobs read is what its network carries, and the other way round
    "chain_read_net": "net_send", "chain_read_disk": "read", "chain_write_net": "net_receive", "chain_write_disk": "write",
}  # fmt: skip
LATENCY = "_latency"


def measured(test: str, direction: str) -> tuple[str, str]:
    """KeyError for a test that no report has."""
    if test.endswith(LATENCY):
        return _BONNIE[test.removesuffix(LATENCY)], "latency_max"
    if test.startswith("iozone_throughput_"):
        return direction, _THROUGHPUT[test.removeprefix("iozone_throughput_")]
    if test.startswith("iozone_"):
        return _IOZONE[test.removeprefix("iozone_")], "bandwidth"
    operation = _BONNIE.get(test) or _OTHERS[test]
    return operation, "rate" if operation in _RATES else "bandwidth"
