"""ioping's text, raw lines and JSON: versions that are not at hand, cut and bent outputs."""

import time

import pytest

from apps.parsers.core.models import ParsedRun, ParseError
from apps.parsers.core.source_text import SourceText
from apps.parsers.ioping import format as ioping_format
from apps.parsers.ioping import json as ioping_json
from tests.pace import within
from tests.sampling import for_each


def runs(text: str) -> tuple[ParsedRun, ...]:
    return ioping_format.parse(SourceText(text)).runs


def values(run: ParsedRun) -> dict[str, float | None]:
    return {sample.metric: sample.value for sample in run.samples}


def test_version_05_prints_rates_without_a_comma_and_mb_that_are_binary() -> None:
    (run,) = runs(
        "--- . ioping statistics ---\n5 requests completed in 4794.0 ms, 364 iops 1.4 mb/s\n"
        "min/avg/max/mdev = 0.2/2.8/12.7/5.0 ms\n"
    )
    assert values(run) == {
        "iops": 364, "bandwidth": 1.4 * 1024**2, "latency_min": 2e5, "latency_mean": 2.8e6, "latency_max": 12.7e6,
        "latency_stdev": 5e6,
    }  # fmt: skip
    assert run.target == "."


def test_version_07_says_kb_and_a_unit_per_latency() -> None:
    (run,) = runs(
        "4.0 kb from /mnt (ext4 /dev/sda1): request=1 time=93 us\n\n--- /mnt (ext4 /dev/sda1) ioping statistics ---\n"
        "1 requests completed in 1.2 ms, 10.8 k iops, 42.0 mb/s\nmin/avg/max/mdev = 93 us / 93 us / 1.2 min / 0 us\n"
    )
    assert run.samples[0].block_size == 4096
    assert values(run)["latency_max"] == 72e9
    assert values(run)["iops"] == 10_800


def test_writes_sync_and_direct_of_the_command_line_are_told() -> None:
    (run,) = runs(
        "root@n1:~# ioping -c 2 -WWW -D -y -L -s 64k /dev/sdb\n--- /dev/sdb (block device 1 TiB) ioping statistics ---\n"
        "1 requests completed in 1 ms, 64 KiB written, 1 k iops, 62.5 MiB/s\nmin/avg/max/mdev = 1 ms / 1 ms / 1 ms / 0 ns\n"
    )
    assert {sample.operation for sample in run.samples} == {"write"}
    told = {name: run.workload[name] for name in ("direct", "sync", "block_size")}
    assert told == {"direct": 1, "sync": "dsync", "block_size": 65536}
    assert not run.samples[0].note


def test_requests_without_statistics_keep_their_latencies_and_are_broken() -> None:
    parsed = ioping_format.parse(
        SourceText(
            "4 KiB <<< . (ext4 /dev/sda1): request=1 time=93 us\n4 KiB <<< . (ext4 /dev/sda1): request=2 time=1 ms\n"
        )
    )
    (run,) = parsed.runs
    assert [(one.operation, one.kind, one.bins) for one in run.histograms] == [
        ("randread", "lat", ((93_000, 1), (1_000_000, 1)))
    ]
    assert [(sample.value, bool(sample.missing_reason)) for sample in run.samples] == [(None, True)]
    assert parsed.broken[0].line == 2


def test_latencies_whose_block_somebody_left_out_are_those_of_the_command_above() -> None:
    text = (
        "# ioping -c9 /dev/sdq -D -WWW -s8k\n...\n  min/avg/max/mdev = 61.2 us / 75.4 us / 90.1 us / 7.70 us\n         ^^^^\n"
        "# ping -c2 n7\nrtt min/avg/max/mdev = 1.2/1.9/3.2/0.7 ms\n"
    )
    (run,) = runs(text)
    assert values(run) == {
        "latency_min": 61_200, "latency_mean": 75_400, "latency_max": 90_100, "latency_stdev": 7_700,
    }  # fmt: skip
    assert {(sample.operation, sample.block_size, sample.line) for sample in run.samples} == {("randwrite", 8192, 3)}
    assert ioping_format.looks_like(SourceText(text)) > 0.5


def test_latencies_of_nobody_knows_which_operation_are_not_read() -> None:
    text = "ioping: seek rate\nmin/avg/max/mdev = 61.2 us / 75.4 us / 90.1 us / 7.70 us\n"
    with pytest.raises(ParseError):
        runs(text)


def test_no_counted_request_is_no_zero() -> None:
    (run,) = runs(
        "--- . (ext4 /dev/sda1) ioping statistics ---\n0 requests completed in 0 ns, 0 B read, 0 iops, 0 B/s\n"
        "generated 1 requests in 1 s, 4 KiB, 1 iops, 4 KiB/s\nmin/avg/max/mdev = 0 ns / 0 ns / 0 ns / 0 ns\n"
    )
    assert set(values(run).values()) == {None}
    assert {sample.missing_reason for sample in run.samples} == {"ioping counted no request"}


def test_raw_lines_tell_their_unit_by_their_own_arithmetic() -> None:
    ns = "3 689523 4351 17821015 201809 229841 269129 28613 4 158100098"
    us = "4 800 5000 20480000 100 200 300 50"
    (new,) = runs(f"$ ioping -B -c 4 .\n{ns}\n")
    (old,) = runs(f"$ ioping -B -W .\n{us}\n")
    assert values(new)["latency_mean"] == 229_841
    assert (values(old)["latency_mean"], old.samples[0].operation) == (200_000, "randwrite")


def test_raw_lines_alone_do_not_say_what_they_count() -> None:
    parsed = ioping_format.parse(SourceText("3 689523 4351 17821015 201809 229841 269129 28613 4 158100098\n"))
    assert not parsed.runs
    assert "reads or writes" in parsed.broken[0].message


def test_ten_numbers_that_do_not_agree_are_none_of_iopings() -> None:
    text = SourceText("1 2 3 4 5 6 7 8 9 10\n")
    assert ioping_format.looks_like(text) == 0
    with pytest.raises(ParseError):
        ioping_format.parse(text)


def test_two_runs_of_one_target_are_told_apart_by_the_number_of_the_request() -> None:
    line = "4 KiB <<< . (ext4 /dev/sda1): request={} time=93 us\n"
    assert len(runs(line.format(1) + line.format(2) + line.format(1))) == 2


def test_json_that_is_cut_off_keeps_its_requests() -> None:
    target = '"target": {"path": ".", "fstype": "ext4", "device": "/dev/vda"}'
    request = '"io": {"request": 1, "operation": "read", "size": 4096, "time": 127099, "ignored": true}'
    one = f'{{\n "timestamp": 1795277311.5, {target},\n {request}\n}}'
    parsed = ioping_json.parse(SourceText(f'[{one},{{\n "timestamp": 17952773'))
    (run,) = parsed.runs
    assert (run.series[0].values, run.started_at) == ((127_099,), 1795277311.5)
    assert parsed.broken


def test_a_key_that_stands_twice_with_two_values_is_told() -> None:
    text = '{"timestamp": 1795277311, "target": {"path": "."}, "stat": {"count": 1, "iops": 5, "iops": 6}}'
    parsed = ioping_json.parse(SourceText(text))
    assert [sample.value for sample in parsed.runs[0].samples if sample.metric == "iops"] == [None]
    assert "iops" in str(parsed.broken[0])


@pytest.mark.parametrize("word", ["nan", "1e999", "9" * 5000, "-1"])
def test_times_that_are_none_are_not_read(word: str) -> None:
    text = SourceText(f"4 KiB <<< . (ext4 /dev/sda1): request=1 time={word} us\n")
    with pytest.raises(ParseError):
        ioping_format.parse(text)


@pytest.mark.parametrize("stamp", ["9e18", "9223372036854775807", "253402300800", "-1", "1e999"])
def test_a_time_stamp_that_is_no_date_is_not_read(stamp: str) -> None:
    text = f'{{"timestamp": {stamp}, "target": {{"path": "."}}, "stat": {{"count": 1, "iops": 5}}}}'
    (run,) = ioping_json.parse(SourceText(text)).runs
    assert (run.started_at, run.ended_at) == (None, None)
    assert [sample.value for sample in run.samples if sample.metric == "iops"] == [5]


def test_requests_have_no_times_because_none_are_printed_and_what_ioping_does_not_count_is_left_out() -> None:
    line = "4 KiB <<< . (ext4 /dev/sda1): request={} time={}\n"
    text = (
        line.format(1, "900 us (warmup)")
        + line.format(2, "93 us")
        + line.format(3, "93 us (fast)")
        + line.format(4, "1 ms")
    )
    (run,) = runs(
        f"{text}\n--- . (ext4 /dev/sda1) ioping statistics ---\n"
        "3 requests completed in 1.19 ms, 12 KiB read, 2.53 k iops, 9.88 MiB/s\ngenerated 4 requests in 3.00 s, 16 KiB, 1 iops, 5.33 KiB/s\n"
        "min/avg/max/mdev = 93 us / 395.3 us / 1 ms / 427.6 us\n"
    )
    assert run.series == ()
    assert run.histograms[0].bins == ((93_000, 2), (1_000_000, 1))


BLOCK = "{0} requests completed in 15.9 ms, 40 KiB{1}, {0} iops, 24.5 MiB/s\nmin/avg/max/mdev = 85.2 us / 160.5 us / 1.2 ms / 110.3 us\n"


def test_blocks_without_their_titles_are_runs() -> None:
    text = "Before:\n" + BLOCK.format(10, " read") + "After:\n" + BLOCK.format(20, " written")
    assert ioping_format.looks_like(SourceText(text)) > 0.5
    found = [(run.samples[0].operation, values(run)["iops"], run.line, run.last_line) for run in runs(text)]
    assert found == [("randread", 10, 2, 3), ("randwrite", 20, 5, 6)]


def test_a_block_without_its_title_that_does_not_say_what_it_counted_is_broken() -> None:
    parsed = ioping_format.parse(SourceText(BLOCK.format(10, "")))
    assert (parsed.runs, [one.line for one in parsed.broken]) == ((), [1])
    (run,) = runs("$ ioping -c 11 -W /dev/sdq\n" + BLOCK.format(10, ""))
    assert {sample.operation for sample in run.samples} == {"randwrite"}


NENCH = (
    "ioping: seek rate\n    min/avg/max/mdev = 61.2 us / 75.4 us / 90.1 us / 7.70 us\n"
    "ioping: sequential read speed\n    generated 9.00 k requests in 5.00 s, 2.25 GiB, 1.80 k iops, 450.0 MiB/s\n\ndd: sequential write speed\n"
)


def test_the_two_runs_of_nench_are_random_and_sequential_reads() -> None:
    assert ioping_format.looks_like(SourceText(NENCH)) > 0.5
    seek, speed = runs(NENCH)
    assert values(seek) == {
        "latency_min": 61_200,
        "latency_mean": 75_400,
        "latency_max": 90_100,
        "latency_stdev": 7_700,
    }
    assert values(speed) == {"iops": 1800, "bandwidth": 450 * 1024**2, "io_bytes": 2.25 * 1024**3}
    assert [(run.samples[0].operation, run.line, run.last_line) for run in (seek, speed)] == [
        ("randread", 1, 2), ("read", 3, 4),
    ]  # fmt: skip


def test_nench_without_ioping_says_so_and_has_no_run() -> None:
    parsed = ioping_format.parse(SourceText(NENCH.replace("min/avg/max/mdev", "[ioping not available]")))
    assert [run.line for run in parsed.runs] == [3]
    parsed = ioping_format.parse(SourceText(NENCH.replace("generated", "made")))
    assert ([run.line for run in parsed.runs], [one.line for one in parsed.broken]) == ([1], [4])


TOTAL = "6 1379046 4351 17821015 201809 229841 269129 28613 8 7000000000\n"


def test_periods_stand_where_all_time_says_and_not_the_time_in_requests() -> None:
    line = "3 689523 4351 17821015 201809 229841 269129 28613 4 {}\n"
    (run,) = runs("$ ioping -p 4 .\n" + line.format(3_000_000_000) + line.format(4_000_000_000) + TOTAL)
    assert {tuple(one.times_s) for one in run.series} == {(3, 7)}


HOSTILE = {
    "blocks without titles": BLOCK.format(10, " read") * 8000,
    "headings of nench": "ioping: sequential read speed\n" * 20_000 + NENCH,
    "dashes": ("--- " * 1000 + "\n") * 250,
    "ends of titles": ("x ioping statistics ---" + " --- " * 800 + "\n") * 250,
    "raw lines": "$ ioping .\n" + "1 1000 1000000 1 1000 1000 1000 0\n" * 30_000,
    "one request again and again": "4 KiB <<< . (ext4 /dev/sda1): request=1 time=93 us\n" * 20_000,
}


@pytest.mark.slow
@for_each("name", HOSTILE, number=4)
def test_a_hostile_mebibyte_is_read_or_refused_within_two_seconds(name: str) -> None:
    before = time.process_time()
    try:
        assert ioping_format.parse(SourceText(HOSTILE[name])).runs
    except ParseError:
        pass
    assert within(time.process_time() - before, 2)


def test_a_title_right_below_what_looks_like_statistics_stops_nothing() -> None:
    cut = b"4 KiB <<< . (ext4 /dev/vda 252.0 GiB): requ4 KiB <<< . (ext4 /dev/vda 252.0 GiB): request=3 time=192.1 us\n"
    title = b"\n--- . (ext4 /dev/vda 252.0 GiB) ioping statistics ---\n2 requests completed in 416.2 us, 8 KiB read, 4.80 k iops"
    text = SourceText(b'""}],' + cut + title + b"/dev/vda 252.0 GiB): requ" + cut + title + b"\n")
    assert ioping_format.parse(text).runs


def test_a_title_that_is_the_last_line_is_told_at_its_own_line() -> None:
    statistics = "9 requests completed in 2.71 ms, 36 KiB read, 3.32 k iops, 13.0 MiB/s"
    text = f"--- /mnt/t (ext4 /dev/sda1 931.5 GiB) ioping statistics ---\n{statistics}\n\n--- . (ext4 /dev/sda1) ioping statistics ---"
    parsed = ioping_format.parse(SourceText(text))
    assert len(parsed.runs) == 1
    assert [(one.message, one.line) for one in parsed.broken] == [("the statistics are cut off", 4)]


def test_a_command_line_is_found_behind_wide_prompts_and_in_other_folders() -> None:
    counted = "1 requests completed in 1 ms, 4 KiB written, 4.07 k iops, 62.5 MiB/s\nmin/avg/max/mdev = 1 ms / 1 ms / 1 ms / 0 ns\n"
    title = "--- . (tmpfs tmpfs) ioping statistics ---\n"
    for line in (
        "[root@n1 disk] #  ioping -L -W -s 8k .",
        "$ sudo ./ioping -LW -s8k .",
        "`/usr/bin/ioping -W -L -s 8k .`",
    ):
        (run,) = runs(f"{line}\n{title}{counted}")
        assert {sample.operation for sample in run.samples} == {"write"}
        assert run.workload["block_size"] == 8192
        assert run.samples[0].value == 4070
        assert run.host == ("n1" if "n1" in line else "")


def test_a_command_line_of_another_target_is_not_taken() -> None:
    text = (
        "$ ioping -L -s 64k /dev/sdb\n--- /srv (xfs /dev/sda1) ioping statistics ---\n"
        "2.2 k requests completed in 3.0 s, 738 iops, 2.9 MiB/s\nmin/avg/max/mdev = 1 ms / 1 ms / 1 ms / 0 ns\n"
    )
    (run,) = runs(text)
    assert (run.workload, run.samples[0].operation, run.samples[0].block_size) == ({"rw": "randread"}, "randread", None)
    (run,) = runs(text.replace("/dev/sdb", "$TARGET"))
    assert (run.samples[0].operation, run.samples[0].block_size) == ("read", 65536)


@pytest.mark.parametrize("mark", ["# ", "    > "])
def test_statistics_behind_a_mark_are_not_damaged(mark: str) -> None:
    statistics = (
        "--- . (ext4 /dev/sda2) ioping statistics ---",
        "9 requests completed in 10.9 ms, 72 KiB read, 823 iops, 6.43 MiB/s",
        "min/avg/max/mdev = 183.0 us / 1.21 ms / 7.68 ms / 2.31 ms",
    )
    found = ioping_format.parse(
        SourceText("```\nioping -q -c 10 .\n" + "".join(f"{mark}{line}\n" for line in statistics))
    )
    assert not found.broken
    assert values(found.runs[0])["iops"] == 823


@pytest.mark.parametrize("rates", ["", ", 689 iops 2.7 mb/s"])
def test_a_title_without_the_device_of_its_requests_is_theirs(rates: str) -> None:
    """As 0.4 and 0.5 print it."""
    rows = "".join(
        f"4096 bytes from /srv (ext4 /dev/vda): request={n} time={ms} ms\n" for n, ms in ((1, 0.1), (2, 5.4))
    )
    block = f"\n--- /srv ioping statistics ---\n2 requests completed in 106.3 ms{rates}\nmin/avg/max/mdev = 0.1/2.8/5.4/2.6 ms\n"
    found = ioping_format.parse(SourceText(rows + block))
    (run,) = found.runs
    assert (run.target, run.labels, run.line, run.last_line, found.broken) == (
        "/srv",
        {"device": "ext4 /dev/vda"},
        1,
        6,
        (),
    )
    assert [sum(count for _, count in one.bins) for one in run.histograms] == [2]


def test_periods_between_requests_are_a_series() -> None:
    request = "4 KiB <<< f (ext4 /dev/vda 252.0 GiB): request={} time=5.00 us{}\n"
    text = (
        request.format(1, " (warmup)") + "".join(request.format(number, "") for number in range(2, 7))
        + "5 27230 183621 752111642 4909 5446 5711 277 6 50130579\n"
        + "".join(request.format(number, "") for number in range(7, 12))
        + "5 27120 184366 755162242 4929 5424 6182 475 5 50004414\n"
        + "\n--- f (ext4 /dev/vda 252.0 GiB) ioping statistics ---\n"
        "10 requests completed in 54.4 us, 40 KiB read, 184.0 k iops, 718.7 MiB/s\n"
        "generated 11 requests in 100.1 ms, 44 KiB, 109 iops, 439.4 KiB/s\n"
        "min/avg/max/mdev = 4.91 us / 5.44 us / 6.18 us / 388 ns\n"
    )  # fmt: skip
    (run,) = runs(text)
    found = {s.metric: (s.operation, s.times_s, s.values) for s in run.series}
    assert found["iops"] == ("randread", (0.050130579, 0.100134993), (183621, 184366))
    assert set(found) == {"iops", "bandwidth", "latency_mean"}
    assert values(run)["iops"] == 184_000
    assert not run.problem


STATISTICS = """{{
  "timestamp": {0},
  "target": {{ "path": "f", "fstype": "ext4", "device": "/dev/vda" }},
  "stat": {{ "count": {1}, "size": {2}, "time": 640627769, "iops": 480608.5, "bps": 1968571450, "min": 591, "avg": 2081 }},
  "load": {{ "count": {3}, "size": 1261125632, "time": {4} }}
}}"""


def test_json_without_its_requests_says_by_its_command_what_it_counted() -> None:
    block = f"[{STATISTICS.format('1795617122.5', 307891, 1261121536, 307892, 1000000000)}]\n"
    (untold,) = (parsed := ioping_json.parse(SourceText(block))).runs
    assert {s.operation for s in untold.samples} == {"mixed"}
    assert untold.samples[0].note
    assert parsed.warnings[0].startswith("line 1: ")
    text = f"$ ioping -JR f\n{block}$ ioping -J -R -L -W f\n{block}"
    read, written = (told := ioping_json.parse(SourceText(text))).runs
    assert ({s.operation for s in read.samples}, {s.operation for s in written.samples}) == ({"randread"}, {"write"})
    assert {s.block_size for s in read.samples} == {4096}
    assert (read.started_at, read.ended_at) == (1795617121.5, 1795617122.5)
    assert written.workload["command"] == "ioping -J -R -L -W f"
    assert not told.warnings


def test_json_of_one_run_below_the_other_are_two() -> None:
    block = f"[{STATISTICS.format('1795617122.5', 2, 8192, 3, 1000000000)}]\n"
    assert len(ioping_json.parse(SourceText(block + block)).runs) == 2


def test_statistics_of_periods_in_json_are_series() -> None:
    periods = [
        STATISTICS.format("1795617122.5", 0, 0, 1, 500000000),
        STATISTICS.format("1795617123.5", 1, 4096, 1, 1000000000),
    ]
    whole = STATISTICS.format("1795617123.5", 1, 4096, 2, 1500000000)
    (run,) = ioping_json.parse(SourceText(f"$ ioping -qJP 1 f\n[{','.join([*periods, whole])}]\n")).runs
    series = next(one for one in run.series if one.metric == "iops")
    assert (run.started_at, series.operation, series.times_s, series.values[1]) == (
        1795617122,
        "randread",
        (0.5, 1.5),
        480608.5,
    )
    assert series.values[0] != series.values[0]  # no request was counted then
    (cut,) = ioping_json.parse(SourceText(f"$ ioping -qJP 1 f\n[{periods[1]},{periods[1]},")).runs
    assert [s.missing_reason for s in cut.samples] == ["only statistics of periods are printed, not of the whole run"]
    assert len(cut.series[0].values) == 2


def test_a_time_that_no_clock_counts_is_damage_and_the_other_requests_are_read() -> None:
    line = "4 KiB <<< . (ext4 /dev/sda1): request={} time={} us\n"
    found = ioping_format.parse(
        SourceText("".join(line.format(n, t) for n, t in ((1, 93), (2, 2**63), (3, 95), (4, 97))))
    )
    assert all(0 < value < 100_000 for run in found.runs for one in run.histograms for value, _ in one.bins)
    assert [(one.line, "9223372036854775808" in one.found) for one in found.broken if one.line == 2] == [(2, True)]
