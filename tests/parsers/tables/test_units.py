"""Units: what a printed one can stand for, and factors by definition. Words are those of the runs' registry."""

from apps.parsers.tables.units import UNITS, find_unit, get_meanings
from apps.parsers.tables.words import METRICS, OPERATIONS
from apps.runs import metrics
from tests.sampling import for_each


def test_words_are_those_that_samples_can_have() -> None:
    """But for a kernel's count of a disk: in a table, `disk` is the name of a column."""
    assert (*OPERATIONS, "disk") == metrics.OPERATIONS
    known = {name: metric.unit for name, metric in metrics.METRICS.items()}
    assert {name: unit for name, unit in known.items() if not name.startswith("disk_")} == METRICS


@for_each("name, base, factor", [
        ("KB/s (1024)", "B/s", 1024), ("KB/s (1000)", "B/s", 1000), ("MB/s (1024)", "B/s", 1048576), ("GB/s (1000)", "B/s", 10**9),
        ("MB/s (1000 × 1024)", "B/s", 1_024_000), ("Gbit/s", "B/s", 125_000_000), ("Mbit/s", "B/s", 125_000), ("ms", "ns", 10**6),
        ("1/s", "1/s", 1), ("GB (1024)", "B", 2**30), ("us", "ns", 1000),
    ])  # fmt: skip
def test_a_unit_is_its_factor_to_the_base_unit(name: str, base: str, factor: int) -> None:
    assert (UNITS[name].base, UNITS[name].factor) == (base, factor)


@for_each("printed, names", [
        ("MB/s", ("MB/s (1000)", "MB/s (1024)")), ("MiB/s", ("MB/s (1024)",)), ("Kbyte/sec", ("KB/s (1000)", "KB/s (1024)")),
        ("K/s", ("KB/s (1000)", "KB/s (1024)")), ("Gb/s", ("Gbit/s", "GB/s (1000)", "GB/s (1024)")), ("Mbit/s", ("Mbit/s",)),
        ("Gbs", ("Gbit/s", "GB/s (1000)", "GB/s (1024)")), ("Mbps", ("Mbit/s", "MB/s (1000)", "MB/s (1024)")),
        ("IOPS", ("1/s",)), ("ops/sec", ("1/s",)), ("msec", ("ms",)), ("MB", ("MB (1000)", "MB (1024)")), ("GiB", ("GB (1024)",)),
        ("bytes", ("B",)), ("%", ("%",)), ("(MB/s)", ("MB/s (1000)", "MB/s (1024)")), ("KB/s (1024)", ("KB/s (1024)",)), ("furlong", ()), ("", ()),
        ("bytes/sec", ("B/s",)), ("Mbytes/second", ("MB/s (1000)", "MB/s (1024)")), ("kB/sec", ("KB/s (1000)", "KB/s (1024)")),
    ])  # fmt: skip
def test_a_printed_unit_has_all_the_meanings_that_tools_give_it(printed: str, names: tuple[str, ...]) -> None:
    assert get_meanings(printed) == names


@for_each("heading, unit", [
        ("Write (MB/s)", "MB/s"), ("read_MiB/s", "MiB/s"), ("Kbyte/sec", "Kbyte/sec"), ("file size MB", "MB"), ("mean latency [ms]", "ms"),
        ("file read per block - read() function\nKbyte/sec", "Kbyte/sec"), ("Gbs No Ottimi.", "Gbs"), ("Random IOPS", "IOPS"),
        ("san_net_MBs", "MBs"), ("sata raid1 sw", ""), ("%CPU", "%"), ("file_size_bytes", "bytes"), ("lat (usec)", "usec"),
    ])  # fmt: skip
def test_the_unit_is_found_in_a_heading(heading: str, unit: str) -> None:
    assert find_unit(heading) == unit
