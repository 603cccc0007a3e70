"""Seed 003: dd oflag=dsync with blocks of 1 MiB, and of 1 GiB."""

from apps.comparison.caveats.sync_per_block import check
from tests.comparison.caveats.machines import plain
from tests.comparison.factories import GIB, MIB, reading

DSYNC = {"sync": "dsync"}


def test_dtns_10240_megabytes_each_wait_two_milliseconds() -> None:
    found = check(reading(1, 495_327_771.781, file_size=10 * GIB, block_size=MIB, facts=DSYNC))
    assert plain(found) == "dsync after every block: 10 240 waits, one each 2.12 ms (1 MiB ÷ 495 MB/s)"


def test_dtns_ten_gigabytes_wait_two_seconds_each_and_that_is_bandwidth() -> None:
    assert check(reading(1, 530_109_367.024, file_size=10 * GIB, block_size=GIB, facts=DSYNC)) is None


def test_one_sync_at_the_end_none_at_all_and_reads_are_silent() -> None:
    for sync in ("fdatasync", "fsync", "none", "direct"):
        assert check(reading(1, 1e9, block_size=MIB, facts={"sync": sync})) is None
    assert check(reading(1, 1e9, operation="read", block_size=MIB, facts=DSYNC)) is None


def test_threads_wait_at_the_same_time() -> None:
    assert check(reading(1, 1e9, block_size=16 * MIB, threads=8, facts=DSYNC)) is None
    assert check(reading(1, 1e9, block_size=16 * MIB, threads=1, facts=DSYNC))
